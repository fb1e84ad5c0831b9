"""The in-memory store: one state, read as it stands and replaced as a whole.

A transaction works on a clone under one lock and swaps it in when the work returns; what raises leaves the
state as it was, numbers of the sequences aside. A snapshot keeps the state of its opening, which nobody changes.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass

from store.inmemory.decisions import StepwiseDecisions
from store.inmemory.derived import InMemoryDerivedReads, InMemoryDerivedWrites
from store.inmemory.facts import InMemoryFactReads, InMemoryFactWrites
from store.inmemory.journal import InMemoryJournalReads, InMemoryJournalWrites
from store.inmemory.memories import InMemoryMemoryReads, InMemoryMemoryWrites
from store.inmemory.state import Sequences, State
from store.inmemory.tokens import InMemoryTokenReads, InMemoryTokenWrites
from store.ports.store import Result, Snapshot, Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class InMemorySnapshot:
    """The store as it stood at one moment."""

    memories: InMemoryMemoryReads
    derived: InMemoryDerivedReads
    journal: InMemoryJournalReads
    tokens: InMemoryTokenReads
    facts: InMemoryFactReads


@dataclass(frozen=True, slots=True, kw_only=True)
class InMemoryTransaction:
    """One atomic write over a clone of the state."""

    memories: InMemoryMemoryWrites
    shown: InMemoryMemoryReads
    derived: InMemoryDerivedWrites
    shown_derived: InMemoryDerivedReads
    journal: InMemoryJournalWrites
    decisions: StepwiseDecisions
    tokens: InMemoryTokenWrites
    facts: InMemoryFactWrites


class InMemoryStore:
    """A belief store that lives as long as the process, and answers as the PostgreSQL store does."""

    def __init__(self) -> None:
        self._state = State()
        self._sequences = Sequences()
        self._lock = asyncio.Lock()

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[Snapshot]:
        """Open a consistent read view: the state as it stands now."""
        state = self._state
        yield InMemorySnapshot(
            memories=InMemoryMemoryReads(state),
            derived=InMemoryDerivedReads(state),
            journal=InMemoryJournalReads(state),
            tokens=InMemoryTokenReads(state),
            facts=InMemoryFactReads(state),
        )

    def single_read(self) -> AbstractAsyncContextManager[Snapshot]:
        """Open a view for one operation."""
        return self.snapshot()

    async def transact(self, work: Callable[[Transaction], Awaitable[Result]]) -> Result:
        """Run the work in one transaction and commit. What the work raises is raised, after a rollback."""
        async with self._lock:
            state = self._state.clone()
            result = await work(_transaction(state, self._sequences))
            self._state = state
            return result

    async def check(self) -> None:
        """A store in memory always answers."""

    async def close(self) -> None:
        """A store in memory holds no connection."""


def _transaction(state: State, sequences: Sequences) -> InMemoryTransaction:
    memories = InMemoryMemoryWrites(state, sequences)
    shown = InMemoryMemoryReads(state)
    derived = InMemoryDerivedWrites(state)
    journal = InMemoryJournalWrites(state, sequences)
    facts = InMemoryFactWrites(state)
    return InMemoryTransaction(
        memories=memories,
        shown=shown,
        derived=derived,
        shown_derived=InMemoryDerivedReads(state),
        journal=journal,
        decisions=StepwiseDecisions(memories, shown, derived, journal, facts),
        tokens=InMemoryTokenWrites(state),
        facts=facts,
    )
