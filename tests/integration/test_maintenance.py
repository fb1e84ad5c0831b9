"""Deleted rows are cleared beside the requests, once, by one process at a time."""

import asyncpg
import pytest

from store.postgres.maintenance import CLEARED_TABLES, PostgresMaintenance
from store.postgres.store import PostgresStore
from tests.factories import NOW, derived, memory, owner
from tests.worlds import keep, keep_derived

pytestmark = pytest.mark.postgres

ADA = owner()


async def flushed(url: str) -> None:
    """Wait for what sessions counted to be known to all: each tells it when it ends."""
    connection = await asyncpg.connect(url.replace("+asyncpg", ""))
    await connection.execute("select pg_stat_clear_snapshot()")
    await connection.close()


async def test_what_was_deleted_is_cleared_once(own_database_url: str) -> None:
    store = PostgresStore(own_database_url)
    records = [memory(owner=ADA) for _ in range(50)]
    await keep(store, *records)
    maintenance = PostgresMaintenance(own_database_url)
    await maintenance.vacuum()
    await store.transact(lambda transaction: transaction.memories.erase(ADA, [record.id for record in records]))
    await store.close()
    await flushed(own_database_url)
    assert 50 <= await maintenance.dead_rows()

    assert await maintenance.vacuum()

    assert 0 == await maintenance.dead_rows()
    assert not await maintenance.vacuum()


async def test_what_a_retired_record_said_and_rested_on_is_cleared(own_database_url: str) -> None:
    store = PostgresStore(own_database_url)
    belief = memory(owner=ADA)
    records = [derived(belief) for _ in range(20)]
    await keep(store, belief)
    await keep_derived(store, *records)
    maintenance = PostgresMaintenance(own_database_url)
    await maintenance.vacuum()
    await store.transact(lambda transaction: transaction.derived.retire_dependents(ADA, [belief.id], at=NOW))
    await store.close()
    await flushed(own_database_url)
    assert 40 <= await maintenance.dead_rows()

    assert await maintenance.vacuum()

    assert 0 == await maintenance.dead_rows()


@pytest.mark.parametrize("obstacle", ["lock table beliefs in access exclusive mode", "select count(*) from beliefs"])
async def test_what_could_not_be_cleared_is_cleared_the_next_time(own_database_url: str, obstacle: str) -> None:
    store = PostgresStore(own_database_url)
    record = memory(owner=ADA)
    await keep(store, record)
    maintenance = PostgresMaintenance(own_database_url)
    await maintenance.vacuum()
    connection = await asyncpg.connect(own_database_url.replace("+asyncpg", ""))
    transaction = connection.transaction(isolation="repeatable_read")
    if obstacle.startswith("select"):
        # A reader from before the deletion can still see the row.
        await transaction.start()
        await connection.execute(obstacle)
    await store.transact(lambda opened: opened.memories.erase(ADA, [record.id]))
    await store.close()
    await flushed(own_database_url)
    if obstacle.startswith("lock"):
        await transaction.start()
        await connection.execute(obstacle)

    await maintenance.vacuum()
    assert 0 < await maintenance.dead_rows()
    await transaction.rollback()
    await connection.close()

    assert await maintenance.vacuum()
    assert 0 == await maintenance.dead_rows()


async def test_one_process_clears_at_a_time(own_database_url: str) -> None:
    connection = await asyncpg.connect(own_database_url.replace("+asyncpg", ""))
    await connection.execute("select pg_advisory_lock($1)", 0x62656C6965667332)

    assert not await PostgresMaintenance(own_database_url).vacuum()

    await connection.close()
    assert await PostgresMaintenance(own_database_url).vacuum()


async def test_a_role_that_may_not_cycle_the_log_clears_the_rest(own_database_url: str) -> None:
    connection = await asyncpg.connect(own_database_url.replace("+asyncpg", ""))
    try:
        await connection.execute("drop role if exists belief_gateway_plain")
        await connection.execute("create role belief_gateway_plain login")
        for table in CLEARED_TABLES:
            await connection.execute(f"alter table {table} owner to belief_gateway_plain")
        await connection.execute("grant all on schema public to belief_gateway_plain")
        plain = own_database_url.replace("postgres@", "belief_gateway_plain@")

        done = await PostgresMaintenance(plain).compact(full=False)

        assert not done.log_cleared
    finally:
        await connection.execute("reassign owned by belief_gateway_plain to current_user")
        await connection.execute("drop owned by belief_gateway_plain")
        await connection.execute("drop role belief_gateway_plain")
        await connection.close()


async def test_an_open_transaction_is_told_of(own_database_url: str) -> None:
    connection = await asyncpg.connect(own_database_url.replace("+asyncpg", ""))
    transaction = connection.transaction(isolation="repeatable_read")
    await transaction.start()
    await connection.fetchval("select txid_current_snapshot()::text")

    done = await PostgresMaintenance(own_database_url).compact(full=True)

    assert 1 == done.readers
    await transaction.rollback()
    await connection.close()
