"""The port of a store: consistent read views, atomic writes, and a few facts about the store itself.

Source: belief store decisions, The predicate; Reading.
"""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from enum import StrEnum
from typing import Protocol, TypeVar

from store.ports.decisions import Decisions
from store.ports.derived import DerivedReads, DerivedWrites
from store.ports.journal import JournalReads, JournalWrites
from store.ports.memories import MemoryReads, MemoryWrites
from store.ports.tokens import TokenReads, TokenWrites

Result = TypeVar("Result")


class StoreFact(StrEnum):
    """What a store remembers about itself, each at most once."""

    KEY_ID = "key_id"
    LEXICAL_VERSION = "lexical_version"
    LEXICAL_PROGRESS = "lexical_progress"
    DEMO_LOADED = "demo_loaded"
    COMPACTED = "compacted"


class FactReads(Protocol):
    """Facts as they are read."""

    async def find(self, fact: StoreFact) -> str | None:
        """The value of a fact."""
        ...

    async def import_offset(self, file_hash: str) -> int:
        """How many bytes of a file of this hash were imported: 0 if it was never begun."""
        ...


class FactWrites(FactReads, Protocol):
    """Facts as they are written."""

    async def claim(self, fact: StoreFact, value: str) -> str:
        """Write a fact unless it stands; the value that stands afterwards."""
        ...

    async def hold(self, fact: StoreFact) -> str | None:
        """The value of a fact, which nobody replaces until the transaction ends."""
        ...

    async def put(self, fact: StoreFact, value: str) -> None:
        """Write a fact, whatever stands."""
        ...

    async def replace(self, fact: StoreFact, *, expected: str, value: str) -> bool:
        """Write a fact where the expected value stands; False where another one does, or none.

        Waits for the transactions that hold it, and lets none hold it before this one ends.
        """
        ...

    async def put_import_offset(self, file_hash: str, offset: int, *, at: datetime) -> None:
        """Remember how many bytes of a file were imported."""
        ...


class Snapshot(Protocol):
    """One consistent view of the store. Its operations run one after the other."""

    @property
    def memories(self) -> MemoryReads:
        """Beliefs."""
        ...

    @property
    def derived(self) -> DerivedReads:
        """Derived records."""
        ...

    @property
    def journal(self) -> JournalReads:
        """Events, receipts, tombstones, rejections, people."""
        ...

    @property
    def tokens(self) -> TokenReads:
        """Access tokens."""
        ...

    @property
    def facts(self) -> FactReads:
        """Facts about the store."""
        ...


class Transaction(Protocol):
    """One atomic write: all of it is kept when the work returns, nothing of it when it raises."""

    @property
    def memories(self) -> MemoryWrites:
        """Beliefs."""
        ...

    @property
    def shown(self) -> MemoryReads:
        """Beliefs as they are shown, as this transaction has left them."""
        ...

    @property
    def derived(self) -> DerivedWrites:
        """Derived records."""
        ...

    @property
    def shown_derived(self) -> DerivedReads:
        """Derived records as they are shown, as this transaction has left them."""
        ...

    @property
    def journal(self) -> JournalWrites:
        """Events, receipts, tombstones, rejections, people."""
        ...

    @property
    def decisions(self) -> Decisions:
        """Reviewing and deleting in few steps."""
        ...

    @property
    def tokens(self) -> TokenWrites:
        """Access tokens."""
        ...

    @property
    def facts(self) -> FactWrites:
        """Facts about the store."""
        ...


class Store(Protocol):
    """A belief store. Every operation may raise StoreUnavailable."""

    def snapshot(self) -> AbstractAsyncContextManager[Snapshot]:
        """Open a consistent read view."""
        ...

    def single_read(self) -> AbstractAsyncContextManager[Snapshot]:
        """Open a view for one operation at most, which is its own snapshot; cheaper than one for several."""
        ...

    async def transact(self, work: Callable[[Transaction], Awaitable[Result]]) -> Result:
        """Run the work in one transaction and commit; run it again, from the start, after a contention.

        What the work raises is raised, after a rollback.
        """
        ...

    async def check(self) -> None:
        """Return if the store answers and is of this program's schema version."""
        ...

    async def close(self) -> None:
        """Give back every connection."""
        ...
