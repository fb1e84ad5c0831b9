"""Clearing the files of a database: what VACUUM, REINDEX, checkpoints and a cycled write-ahead log each remove.

VACUUM removes deleted rows from tables and B-trees; an index of lexemes keeps their words until it is rebuilt; the
write-ahead log keeps whatever was written until its segments are used again, so it is switched as often as there are
segments. Each statement runs by itself, on a connection of its own without the time limit of requests.
Source: The store on PostgreSQL, Erasure on disk.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sqlalchemy import NullPool, text
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine

from store.domain.maintenance import Compaction
from store.ports.errors import StoreUnavailable
from store.postgres.derived_tables import derived_records, derived_sources
from store.postgres.engine import unnamed_statements
from store.postgres.failures import judged_failures
from store.postgres.tables import belief_evidence, beliefs, people, people_facts, receipts, rejections

CLEARED_TABLES = tuple(
    table.name
    for table in (
        beliefs,
        belief_evidence,
        derived_records,
        derived_sources,
        people_facts,
        people,
        rejections,
        receipts,
    )
)
"""The tables that rows are deleted from."""
LEXEME_INDEXES = {"beliefs_search": beliefs.name, "derived_records_search": derived_records.name}
"""Each by its name, and its table."""
VACUUM_SECONDS_MAX = 600
"""How long clearing one table beside the requests may take; what is left is done the next time."""
LOG_SWITCHES_MAX = 256
"""Segments of the log that a compaction writes at most: 4 GB of the usual size."""
_VACUUM_LOCK = 0x62656C6965667332
_COST_DELAY = "2ms"

# A retired record is not deleted: it loses its content where it is written over.
_TOUCHED = text(f"""
    select relname, n_tup_del + case when relname = '{derived_records.name}' then n_tup_upd else 0 end
    from pg_stat_user_tables
    where schemaname = current_schema() and relname = any (CAST(:tables AS text[]))
        and (n_dead_tup > 0 or coalesce(last_vacuum, last_autovacuum) is null)
""")
_DEAD_ROWS = text("""
    select coalesce(sum(n_dead_tup), 0)::bigint from pg_stat_user_tables
    where schemaname = current_schema() and relname = any (CAST(:tables AS text[]))
""")
_READERS = text("""
    select count(*) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and backend_xmin is not null
        and backend_type = 'client backend'
""")
_MAY_CYCLE_LOG = text("""
    select has_function_privilege('pg_switch_wal()', 'execute') and has_function_privilege('pg_ls_waldir()', 'execute')
        and ((select rolsuper from pg_roles where rolname = current_user) or exists (
            select from pg_roles permission
            where permission.rolname = 'pg_checkpoint' and pg_has_role(permission.oid, 'usage')
        ))
""")
_UNFINISHED_INDEXES = text("""
    select indexrelid::regclass::text from pg_index
    where not indisvalid and indrelid = to_regclass(CAST(:table AS text)) and indexrelid::regclass::text like :name
""")


class PostgresMaintenance:
    """The Maintenance of a database. Raises StoreError from every method.

    Behind a pooler, which hands a server connection on with its settings and locks, nothing is vacuumed or compacted.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._deleted: dict[str, int] = {}

    async def vacuum(self) -> bool:
        """Clear deleted rows from the tables that had any since the last time; whether one of them was cleared."""
        async with self._connection() as connection:
            if await _is_pooled(connection):
                return False
            await _limit(connection, VACUUM_SECONDS_MAX)
            if not await connection.scalar(text(f"select pg_try_advisory_lock({_VACUUM_LOCK})")):
                return False
            touched = await _touched(connection)
            due = [name for name, deleted in touched.items() if deleted != self._deleted.get(name)]
            await connection.execute(text(f"set vacuum_cost_delay = '{_COST_DELAY}'"))
            for name in due:
                await connection.execute(text(f"vacuum (skip_locked) {name}"))
            # A table that was locked, or whose deleted rows somebody can still see, stays due.
            left = await _touched(connection)
            cleared = [name for name in due if name not in left]
            self._deleted |= {name: touched[name] for name in cleared}
            return bool(cleared)

    async def compact(self, *, full: bool) -> Compaction:
        """Clear deleted rows from tables, indexes and the write-ahead log; see Maintenance.

        Raises StoreUnavailable behind a pooler.
        """
        async with self._connection() as connection:
            if await _is_pooled(connection):
                raise StoreUnavailable("a pooler stands before the server, and this needs a connection to itself")
            await _limit(connection, 0)
            readers = int(await connection.scalar(_READERS) or 0)
            for name in CLEARED_TABLES:
                await connection.execute(text(f"vacuum ({'full' if full else 'index_cleanup on'}) {name}"))
            if not full:
                await _rebuild_lexemes(connection)
            cleared = bool(await connection.scalar(_MAY_CYCLE_LOG))
            if cleared:
                await _cycle_log(connection)
            return Compaction(log_cleared=cleared, readers=readers)

    async def dead_rows(self) -> int:
        """About how many deleted or rewritten rows are still in the tables' files, as the server counts them."""
        async with self._connection() as connection:
            return int(await connection.scalar(_DEAD_ROWS, {"tables": [*CLEARED_TABLES]}) or 0)

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[AsyncConnection]:
        """A connection of its own on which each statement is a transaction."""
        engine = create_async_engine(
            self._url,
            poolclass=NullPool,
            isolation_level="AUTOCOMMIT",
            hide_parameters=True,
            connect_args=unnamed_statements(self._url),
        )
        try:
            with judged_failures():
                async with engine.connect() as connection:
                    yield connection
        finally:
            await engine.dispose()


async def _is_pooled(connection: AsyncConnection) -> bool:
    """Whether who answers is another process than the one that let us in, which a pooler names as it likes."""
    held = await connection.get_raw_connection()
    driver = held.driver_connection
    assert driver is not None, "it is connected"
    return bool(await connection.scalar(text("select pg_backend_pid()")) != driver.get_server_pid())


async def _limit(connection: AsyncConnection, seconds: int) -> None:
    """Let each statement take so long; 0 is no limit."""
    await connection.execute(text(f"set statement_timeout = '{seconds}s'"))


async def _touched(connection: AsyncConnection) -> dict[str, int]:
    """The tables that hold rows to be cleared, or were never cleared, and how often each has lost any in all."""
    return {row[0]: row[1] for row in await connection.execute(_TOUCHED, {"tables": [*CLEARED_TABLES]})}


async def _rebuild_lexemes(connection: AsyncConnection) -> None:
    """Rebuild the indexes of lexemes beside the requests, after dropping what a broken rebuild left."""
    for index, table in LEXEME_INDEXES.items():
        left = await connection.scalars(_UNFINISHED_INDEXES, {"name": f"{index}_cc%", "table": table})
        for unfinished in left.all():
            await connection.execute(text(f"drop index concurrently {unfinished}"))
        await connection.execute(text(f"reindex index concurrently {index}"))


async def _cycle_log(connection: AsyncConnection) -> None:
    """Write through every segment of the log, those too that wait under a later name with their old content.

    A switch fills the rest of a segment with zeros; the checkpoint before it gives it something to switch for. A
    segment with old content is given a name behind the last one, once: twice as many switches as segments reach it.
    """
    await connection.execute(text("checkpoint"))
    segments = int(await connection.scalar(text("select count(*) from pg_ls_waldir()")) or 0)
    for _ in range(min(2 * segments + 2, LOG_SWITCHES_MAX)):
        await connection.execute(text("select pg_switch_wal()"))
        await connection.execute(text("checkpoint"))
