"""What the fields of one operation share: who asks, and the reads and writes made for them.

A query reads from one snapshot. After each mutation what it shows is read from a snapshot opened after its write.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from typing import TypeVar

from gateway.graphql.answer_size import AnswerSize
from gateway.graphql.enumerations import Surface
from gateway.graphql.loaders import MemoryLinks
from gateway.http.deadlines import Deadline
from gateway.service.derived_reading import ItemReading
from gateway.service.errors import Unavailable
from gateway.service.evidence import EvidenceService
from gateway.service.memories import PublicMemoryService
from gateway.service.memory_reading import MemoryReading
from gateway.service.principal import Principal

Answer = TypeVar("Answer")

_log = logging.getLogger(__name__)


class MemoryReads:
    """One snapshot, opened at the first read; reads follow one another, as its connection demands."""

    def __init__(self, memories: PublicMemoryService, principal: Principal, deadline: Deadline) -> None:
        """Read on behalf of a principal, until the deadline."""
        self.principal = principal
        self.links = MemoryLinks(self.ask, principal)
        self._memories = memories
        self._deadline = deadline
        self._lock = asyncio.Lock()
        self._stack = AsyncExitStack()
        self._items: ItemReading | None = None
        self._failure: Exception | None = None
        self._closed = False

    async def ask(self, question: Callable[[MemoryReading], Awaitable[Answer]]) -> Answer:
        """Ask one thing about beliefs of the snapshot. Raises as `ask_items` does."""
        return await self.ask_items(lambda items: question(items.memories))

    async def ask_items(self, question: Callable[[ItemReading], Awaitable[Answer]]) -> Answer:
        """Ask one thing of the snapshot. One that could not be opened stays failed, for the same reason.

        Raises Unavailable at the deadline.
        """
        async with self._deadline.kept(), self._lock:
            assert not self._closed, "read after the answer was complete"
            if self._failure is not None:
                # Every further field would wait for a connection as long as the first one did.
                raise self._failure
            if self._items is None:
                try:
                    self._items = await self._stack.enter_async_context(self._memories.reading_items())
                except Exception as error:
                    self._failure = error
                    raise
            return await question(self._items)

    async def close(self) -> None:
        """Let go of the snapshot, after the read under way."""
        async with self._lock:
            self._closed = True
            try:
                await self._stack.aclose()
            except Exception as error:  # noqa: BLE001
                # Everything was read, and a mutation shown by it stays applied: nothing to tell the caller.
                _log.warning("a snapshot did not close: %s", type(error).__name__)


class Exchange:
    """The context value of one operation."""

    def __init__(
        self,
        principal: Principal,
        memories: PublicMemoryService | None,
        version: str,
        deadline: Deadline,
        surfaces: Sequence[Surface],
        *,
        evidence: EvidenceService | None = None,
    ) -> None:
        """Serve a principal until the deadline; a service is None where its surface is off, and nothing asks for it."""
        self.principal = principal
        self.version = version
        self.surfaces = surfaces
        self.size = AnswerSize()
        self._memories = memories
        self._evidence = evidence
        self._deadline = deadline
        self._reads: MemoryReads | None = None
        self._has_ended = False

    @property
    def memories(self) -> PublicMemoryService:
        """The service; only fields of the memory surface ask for it."""
        assert self._memories is not None, "a memory field without the memory surface"
        return self._memories

    @property
    def evidence(self) -> EvidenceService:
        """The service; only fields of evidence ask for it."""
        assert self._evidence is not None, "a field of evidence without its surface"
        return self._evidence

    @property
    def reads(self) -> MemoryReads:
        """The reads of a query, or those that show what the latest mutation did. Raises Unavailable after the end."""
        if self._has_ended:
            raise Unavailable("the operation has ended")
        if self._reads is None:
            self._reads = MemoryReads(self.memories, self.principal, self._deadline)
        return self._reads

    async def ask_once(self, question: Callable[[MemoryReading], Awaitable[Answer]], *, single: bool) -> Answer:
        """Ask the only question of an operation; `single` as `PublicMemoryService.reading` has it.

        Raises Unavailable at the deadline.
        """
        async with self._deadline.kept(), self.memories.reading(single=single) as reading:
            return await question(reading)

    async def write(self, change: Callable[[PublicMemoryService], Awaitable[Answer]]) -> Answer:
        """Make one change. What it made before the deadline is told, whatever becomes of the next one.

        Raises Unavailable at the deadline, with nothing changed.
        """
        # What an earlier mutation showed is shown: its snapshot is older than this write, and holds a connection.
        await self.close()
        async with self._deadline.kept():
            return await change(self.memories)

    async def close(self) -> None:
        """Let go of the snapshot, if one is open; the next read opens another."""
        reads, self._reads = self._reads, None
        if reads is not None:
            await reads.close()

    async def end(self) -> None:
        """Let go of everything for good: of a query that is refused as a whole, other fields may still be under way."""
        self._has_ended = True
        await self.close()
