"""Connections, transactions and failures of the PostgreSQL adapter."""

import asyncio
import traceback
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal

import pytest
from sqlalchemy import make_url, text
from sqlalchemy.ext.asyncio import create_async_engine

from store.domain.memories import MemoryRecord
from store.ports.errors import StoreContention, StoreInconsistent, StoreUnavailable
from store.ports.store import Store, Transaction
from store.postgres.failures import StatementRefused
from store.postgres.store import ATTEMPTS_MAX, PostgresStore
from tests.factories import NOW, memory, owner
from tests.worlds import everything, find, keep, selected

pytestmark = pytest.mark.postgres

ADA = owner()
SECRET = "Keeps a secret rowing boat"


async def end_other_connections(url: str) -> None:
    """Break every connection to the database but our own."""
    engine = create_async_engine(url)
    async with engine.connect() as connection:
        await connection.execute(
            text(
                "select pg_terminate_backend(pid) from pg_stat_activity"
                " where datname = current_database() and pid <> pg_backend_pid()"
            )
        )
    await engine.dispose()


def adding(record: MemoryRecord) -> Callable[[Transaction], Awaitable[None]]:
    """A work that adds a record."""

    async def work(transaction: Transaction) -> None:
        await transaction.memories.add(record, statement_hash=b"?")

    return work


async def test_many_tasks_ask_one_view_and_are_answered_one_after_the_other(postgres_store: PostgresStore) -> None:
    await keep(postgres_store, memory(owner=ADA))

    async with postgres_store.snapshot() as snapshot:
        counted = await asyncio.gather(*(snapshot.memories.count(everything(ADA)) for _ in range(20)))
        assert 1 == postgres_store.connections.in_use

    assert [1] * 20 == counted


async def test_what_postgresql_refuses_is_never_told(postgres_store: Store) -> None:
    record = memory(SECRET, owner=ADA)

    with pytest.raises(StoreInconsistent) as refusal:
        await postgres_store.transact(adding(replace(record, confidence=Decimal(2))))

    assert SECRET not in "".join(traceback.format_exception(refusal.value))
    assert "23514" in str(refusal.value)
    assert refusal.value.__cause__ is None


async def test_what_the_driver_refuses_is_never_told(postgres_store: Store) -> None:
    record = memory(SECRET, owner=ADA)

    with pytest.raises(StatementRefused) as refusal:
        await postgres_store.transact(adding(replace(record, store_position=2**63)))

    assert SECRET not in "".join(traceback.format_exception(refusal.value))
    assert str(2**63) not in "".join(traceback.format_exception(refusal.value))


async def test_a_row_that_stands_is_not_added_again(postgres_store: Store) -> None:
    record = memory(owner=ADA)
    await keep(postgres_store, record)

    with pytest.raises(StoreInconsistent):
        await keep(postgres_store, record)


async def test_a_database_that_is_not_there_is_unavailable() -> None:
    store = PostgresStore("postgresql+asyncpg://nobody@127.0.0.1:1/nothing", pool_timeout_seconds=1)

    with pytest.raises(StoreUnavailable):
        await store.check()
    with pytest.raises(StoreUnavailable):
        await selected(store, everything(ADA))


async def test_who_waits_too_long_for_a_connection_is_told(database_url: str) -> None:
    store = PostgresStore(database_url, pool_size=1, pool_timeout_seconds=0.05)
    async with store.snapshot() as snapshot:
        await snapshot.memories.count(everything(ADA))
        with pytest.raises(StoreUnavailable):
            await selected(store, everything(ADA))
    assert [] == await selected(store, everything(ADA))
    await store.close()


async def test_a_connection_that_died_in_the_pool_is_replaced(postgres_store: Store, database_url: str) -> None:
    await selected(postgres_store, everything(ADA))
    await end_other_connections(database_url)
    assert [] == await selected(postgres_store, everything(ADA))

    await end_other_connections(database_url)
    await keep(postgres_store, memory(owner=ADA))
    assert 1 == len(await selected(postgres_store, everything(ADA)))


async def test_a_connection_that_breaks_undoes_its_transaction(postgres_store: Store, database_url: str) -> None:
    async def work(transaction: Transaction) -> None:
        await transaction.memories.add(memory(owner=ADA), statement_hash=b"?")
        await end_other_connections(database_url)
        await transaction.memories.next_positions(1)

    with pytest.raises(StoreUnavailable):
        await postgres_store.transact(work)

    assert [] == await selected(postgres_store, everything(ADA))


async def test_a_snapshot_sees_one_moment(postgres_store: Store) -> None:
    first, second = memory(owner=ADA), memory(owner=ADA)
    await keep(postgres_store, first)

    async with postgres_store.snapshot() as snapshot:
        assert 1 == await snapshot.memories.count(everything(ADA))
        await keep(postgres_store, second)
        assert 1 == await snapshot.memories.count(everything(ADA))
        assert await snapshot.memories.find(ADA, second.id, ceiling=second.sensitivity) is None


async def test_a_single_read_holds_no_transaction(postgres_store: Store) -> None:
    async with postgres_store.single_read() as snapshot:
        assert 0 == await snapshot.memories.count(everything(ADA))
        await keep(postgres_store, memory(owner=ADA))
        # Asked against the rule, a second question sees what was written meanwhile.
        assert 1 == await snapshot.memories.count(everything(ADA))


async def test_a_single_read_replaces_a_connection_that_died_in_the_pool(
    postgres_store: Store, database_url: str
) -> None:
    await keep(postgres_store, memory(owner=ADA))
    for _ in range(2):
        async with postgres_store.single_read() as snapshot:
            assert 1 == await snapshot.memories.count(everything(ADA))
        await end_other_connections(database_url)


@pytest.mark.parametrize(
    ("query", "kept"), [({}, 1), ({"prepared_statement_cache_size": "0"}, 0)], ids=["usual", "none"]
)
async def test_the_driver_keeps_prepared_statements_unless_the_url_forbids_them(
    database_url: str, query: dict[str, str], kept: int
) -> None:
    url = make_url(database_url).update_query_dict(query)
    store = PostgresStore(url.render_as_string(hide_password=False), pool_size=1)
    async with store.single_read() as snapshot:
        assert 0 == await snapshot.memories.count(everything(ADA))
    async with store._engine.connect() as connection:
        asked = text("select count(*) from pg_prepared_statements where statement like :pattern")
        assert kept == (await connection.execute(asked, {"pattern": "%from beliefs%"})).scalar()
    await store.close()


async def test_a_single_read_that_is_cancelled_gives_its_connection_back(database_url: str) -> None:
    store = PostgresStore(database_url, pool_size=1, pool_timeout_seconds=2)

    async def read() -> int:
        async with store.single_read() as snapshot:
            return await snapshot.memories.count(everything(ADA))

    for steps in range(8):
        reading = asyncio.ensure_future(read())
        for _ in range(steps):
            await asyncio.sleep(0)
        reading.cancel()
        with suppress(asyncio.CancelledError):
            await reading
    assert 0 == await read()
    # A transaction is one again, on the connection that had none.
    async with store.snapshot() as snapshot:
        assert 0 == await snapshot.memories.count(everything(ADA))
    await store.close()


async def test_operations_of_one_snapshot_run_one_after_the_other(postgres_store: Store) -> None:
    await keep(postgres_store, memory(owner=ADA))

    async with postgres_store.snapshot() as snapshot:
        counts = await asyncio.gather(*(snapshot.memories.count(everything(ADA)) for _ in range(20)))

    assert [1] * 20 == counts


async def test_work_is_run_again_after_a_contention(postgres_store: Store) -> None:
    attempts = 0

    async def work(transaction: Transaction) -> int:
        nonlocal attempts
        attempts += 1
        await transaction.memories.add(memory(owner=ADA), statement_hash=b"?")
        if attempts < ATTEMPTS_MAX:
            raise StoreContention
        return attempts

    assert ATTEMPTS_MAX == await postgres_store.transact(work)
    assert 1 == len(await selected(postgres_store, everything(ADA)))


async def test_work_that_always_meets_a_contention_is_given_up(postgres_store: Store) -> None:
    attempts = 0

    async def work(_: Transaction) -> None:
        nonlocal attempts
        attempts += 1
        raise StoreContention

    with pytest.raises(StoreContention):
        await postgres_store.transact(work)
    assert attempts == ATTEMPTS_MAX


async def test_two_that_lock_each_others_rows_both_succeed(postgres_store: Store) -> None:
    rows = [memory(owner=ADA), memory(owner=ADA)]
    await keep(postgres_store, *rows)
    both_hold_one = asyncio.Barrier(2)

    async def lock(first: MemoryRecord, second: MemoryRecord) -> None:
        is_first_attempt = True

        async def work(transaction: Transaction) -> None:
            nonlocal is_first_attempt
            for row in (first, second):
                await transaction.memories.find_for_update(ADA, row.id, ceiling=row.sensitivity)
                if is_first_attempt:
                    is_first_attempt = False
                    await both_hold_one.wait()

        await postgres_store.transact(work)

    await asyncio.gather(lock(rows[0], rows[1]), lock(rows[1], rows[0]))


async def test_who_waits_for_a_row_reads_what_was_written_meanwhile(postgres_store: Store) -> None:
    rows = sorted((memory(owner=ADA), memory(owner=ADA)), key=lambda row: row.id)
    await keep(postgres_store, *rows)
    is_written = asyncio.Event()

    async def write(transaction: Transaction) -> None:
        (row, _) = await transaction.memories.find_many_for_update(ADA, [row.id for row in rows])
        await transaction.memories.put(replace(row, revision=7))
        is_written.set()
        # The other transaction is under way to the lock by the time that these have been answered.
        for _ in range(20):
            await transaction.memories.next_positions(1)

    async def wait(transaction: Transaction) -> list[int]:
        await is_written.wait()
        return [row.revision for row in await transaction.memories.find_many_for_update(ADA, [row.id for row in rows])]

    _, revisions = await asyncio.gather(postgres_store.transact(write), postgres_store.transact(wait))

    assert [7, 1] == revisions


async def test_a_sweep_leaves_out_what_another_one_holds(postgres_store: Store) -> None:
    due = [memory(owner=ADA, expires_at=NOW), memory(owner=ADA, expires_at=NOW)]
    await keep(postgres_store, *due)

    async def inner(transaction: Transaction) -> list[MemoryRecord]:
        return await transaction.memories.find_due_for_update(ADA.tenant, now=NOW, limit=10)

    async def outer(transaction: Transaction) -> tuple[list[MemoryRecord], list[MemoryRecord]]:
        held = await transaction.memories.find_due_for_update(ADA.tenant, now=NOW, limit=1)
        return held, await postgres_store.transact(inner)

    held, others = await postgres_store.transact(outer)

    assert 1 == len(held) == len(others)
    assert {row.id for row in due} == {row.id for row in (*held, *others)}


async def test_a_cancelled_read_gives_its_connection_back(database_url: str) -> None:
    store = PostgresStore(database_url, pool_size=1, pool_timeout_seconds=2)
    await keep(store, memory(owner=ADA))
    for _ in range(5):
        reading = asyncio.ensure_future(selected(store, everything(ADA)))
        await asyncio.sleep(0)
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
    assert 1 == len(await selected(store, everything(ADA)))
    assert await find(store, ADA, memory().id) is None
    await store.close()
