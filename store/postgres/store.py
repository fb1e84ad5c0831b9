"""The store on PostgreSQL: snapshots and transactions over one pool of connections."""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from sqlalchemy import QueuePool

from store.ports.errors import StoreContention
from store.ports.store import Result, Transaction
from store.postgres.decisions import PostgresDecisions
from store.postgres.derived_reads import PostgresDerivedReads
from store.postgres.derived_writes import PostgresDerivedWrites
from store.postgres.direct import DirectSession
from store.postgres.encoding import RecurringShapes
from store.postgres.engine import create_engine
from store.postgres.facts import PostgresFactReads, PostgresFactWrites
from store.postgres.failures import judged_failures
from store.postgres.journal_reads import PostgresJournalReads
from store.postgres.journal_writes import PostgresJournalWrites
from store.postgres.memories_reads import PostgresMemoryReads
from store.postgres.memories_writes import PostgresMemoryWrites
from store.postgres.migrating import check_revision
from store.postgres.sequences import Sequences
from store.postgres.sessions import Session, open_session
from store.postgres.tokens import PostgresTokenReads, PostgresTokenWrites
from store.postgres.turns import Turns

ATTEMPTS_MAX = 5
PAUSE_SECONDS_MAX = 0.02
"""How long the second attempt waits at most; each further one twice as long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionCounts:
    """Places for connections in a pool: those that a snapshot or a transaction holds, and those that are free."""

    in_use: int
    free: int


@dataclass(frozen=True, slots=True)
class PostgresSnapshot:
    """One consistent view: the first operation opens it, the others see the same."""

    memories: PostgresMemoryReads
    derived: PostgresDerivedReads
    journal: PostgresJournalReads
    tokens: PostgresTokenReads
    facts: PostgresFactReads


@dataclass(frozen=True, slots=True)
class PostgresTransaction:
    """One atomic write. Each statement sees what was committed before it, so what is locked is read after the lock."""

    memories: PostgresMemoryWrites
    shown: PostgresMemoryReads
    derived: PostgresDerivedWrites
    shown_derived: PostgresDerivedReads
    journal: PostgresJournalWrites
    decisions: PostgresDecisions
    tokens: PostgresTokenWrites
    facts: PostgresFactWrites


class PostgresStore:
    """A belief store in the database of a SQLAlchemy URL (postgresql+asyncpg), which `migrate` has prepared.

    At most `pool_size` snapshots and transactions are under way at once; the others wait for at most
    `pool_timeout_seconds`. Connections are made when they are needed.
    """

    def __init__(self, url: str, *, pool_size: int = 10, pool_timeout_seconds: float = 5.0) -> None:
        self._engine = create_engine(url, pool_size=pool_size, pool_timeout_seconds=pool_timeout_seconds)
        self._turns = Turns(pool_size, pool_timeout_seconds)
        self._reading = self._engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
        self._single = self._engine.execution_options(isolation_level="AUTOCOMMIT")
        self._writing = self._engine.execution_options(isolation_level="READ COMMITTED")
        self._shapes = RecurringShapes()

    @property
    def connections(self) -> ConnectionCounts:
        """How many connections are held at the moment, and how many more could be."""
        pool = self._engine.pool
        assert isinstance(pool, QueuePool), "the engine is made with a pool that queues"
        return ConnectionCounts(in_use=pool.checkedout(), free=pool.size() - pool.checkedout())

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[PostgresSnapshot]:
        """Open a consistent read view. It takes a connection with its first operation."""
        async with open_session(self._reading, self._turns) as session:
            yield _snapshot(session, self._shapes)

    @asynccontextmanager
    async def single_read(self) -> AsyncIterator[PostgresSnapshot]:
        """Open a view for one operation, which is one statement: without BEGIN and ROLLBACK, each a round trip."""
        async with open_session(self._single, self._turns, DirectSession) as session:
            yield _snapshot(session, self._shapes)

    async def transact(self, work: Callable[[Transaction], Awaitable[Result]]) -> Result:
        """Run the work in one transaction and commit; run it again, from the start, after a contention.

        What the work raises is raised, after a rollback. Cancelled before the commit, nothing is kept; a commit under
        way is awaited and its result returned. When the connection breaks during the commit, what was written may be
        kept or not: StoreUnavailable is raised, and the idempotency key tells on the next try.
        """
        for attempt in range(ATTEMPTS_MAX - 1):
            try:
                return await self._attempt(work)
            except StoreContention:
                # Jittered, so that the two that met do not meet again.
                await asyncio.sleep(random.uniform(0, PAUSE_SECONDS_MAX * 2**attempt))  # noqa: S311 (no secret)
        return await self._attempt(work)

    async def check(self) -> None:
        """Return if the store answers and is of this program's schema version. Raises StoreError."""
        await self._turns.take()
        try:
            with judged_failures():
                async with self._engine.connect() as connection:
                    await check_revision(connection)
        finally:
            self._turns.end()

    async def close(self) -> None:
        """Give back every connection."""
        with judged_failures():
            await self._engine.dispose()

    async def _attempt(self, work: Callable[[Transaction], Awaitable[Result]]) -> Result:
        async with open_session(self._writing, self._turns) as session:
            result = await work(_transaction(session, self._shapes))
            await session.commit()
            return result


def _snapshot(session: Session, shapes: RecurringShapes) -> PostgresSnapshot:
    return PostgresSnapshot(
        memories=PostgresMemoryReads(session, shapes),
        derived=PostgresDerivedReads(session),
        journal=PostgresJournalReads(session),
        tokens=PostgresTokenReads(session),
        facts=PostgresFactReads(session),
    )


def _transaction(session: Session, shapes: RecurringShapes) -> PostgresTransaction:
    sequences = Sequences(session)
    return PostgresTransaction(
        memories=PostgresMemoryWrites(session, sequences),
        shown=PostgresMemoryReads(session, shapes),
        derived=PostgresDerivedWrites(session),
        shown_derived=PostgresDerivedReads(session),
        journal=PostgresJournalWrites(session, sequences),
        decisions=PostgresDecisions(session, sequences),
        tokens=PostgresTokenWrites(session),
        facts=PostgresFactWrites(session),
    )
