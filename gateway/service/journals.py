"""The journal as operators read it: the events of all owners, by time and kind, and as they come.

Source: belief store decisions, Review and delete (events).
"""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from uuid import UUID

from gateway.service.errors import MalformedRequest
from store.domain.journal import Event, EventFilter
from store.domain.owners import Owner
from store.ports.store import Store

ENTRIES_MAX = 10_000
FOLLOW_INTERVAL_SECONDS = 1.0
LATE_SECONDS = 90.0
"""How much later an event with a smaller number may be seen: longer than a transaction may stand idle."""

EventKey = tuple[Owner, UUID, int]


class JournalService:
    """Reads the journal of a store."""

    def __init__(self, store: Store, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        """`monotonic` counts seconds."""
        self._store = store
        self._monotonic = monotonic

    async def last(self, filter: EventFilter, *, limit: int) -> list[Event]:
        """The last events that are meant, the oldest first. Raises MalformedRequest for a limit out of range."""
        if not 1 <= limit <= ENTRIES_MAX:
            raise MalformedRequest("limit", f"must be from 1 to {ENTRIES_MAX}")
        return await self._entries(filter, start=None, limit=limit)

    async def follow(
        self, filter: EventFilter, *, pause: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> AsyncIterator[Event]:
        """Every event that is written from now on, each once, about in the order of its number; without end.

        A number is taken before its transaction ends, so smaller ones may come after larger ones: those of the last
        while are asked for again.
        """
        last = await self._entries(EventFilter(), start=None, limit=1)
        floor = last[-1].number if last else 0
        seen: dict[EventKey, float] = {_key(event): self._monotonic() for event in last}
        passed: deque[tuple[float, EventKey]] = deque((at, key) for key, at in seen.items())
        while True:
            found = await self._entries(filter, start=floor, limit=ENTRIES_MAX)
            now = self._monotonic()
            for event in found:
                key = _key(event)
                if key not in seen:
                    seen[key] = now
                    passed.append((now, key))
                    yield event
            while passed and now - passed[0][0] > LATE_SECONDS:
                key = passed.popleft()[1]
                del seen[key]
                floor = max(floor, key[2] + 1)
            if len(found) == ENTRIES_MAX:
                floor = max(floor, found[-1].number)
                continue
            await pause(FOLLOW_INTERVAL_SECONDS)

    async def _entries(self, filter: EventFilter, *, start: int | None, limit: int) -> list[Event]:
        async with self._store.snapshot() as snapshot:
            return await snapshot.journal.entries(filter, start=start, limit=limit)


def _key(event: Event) -> EventKey:
    return event.owner, event.session_id, event.number
