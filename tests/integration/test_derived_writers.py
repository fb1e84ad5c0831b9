"""What an erasure on PostgreSQL makes of derived records beside other writers: it locks all before it writes one."""

import asyncio
from collections.abc import Sequence
from uuid import UUID

import pytest

from store.domain.derived import DerivedRecord, DerivedStatus, retired
from store.domain.memories import MemoryRecord
from store.domain.vocabulary import Sensitivity
from store.ports.store import Transaction
from store.postgres.store import PostgresStore
from tests.factories import NOW, derived, identifier, memory, owner
from tests.faults.obstacles import Connection, connected, until_waiting
from tests.worlds import KEYRING, ask, keep, keep_derived

pytestmark = pytest.mark.postgres

ADA = owner()
BELIEFS = [memory(f"Sails on day {number}", id=identifier(number), store_position=number) for number in range(1, 9)]
DERIVED = [
    derived(
        *(BELIEFS[(number + step) % len(BELIEFS)] for step in range(4)),
        statement=f"Sails {number}",
        id=identifier(100 + number),
        store_position=100 + number,
    )
    for number in range(16)
]
LOCK = "select from derived_records where id = $1 for update"
FREE = "select id from derived_records where id = any ($1::uuid[]) for update skip locked"
DEADLOCKS = "select deadlocks from pg_stat_database where datname = current_database()"


async def deleted(store: PostgresStore, belief: MemoryRecord) -> None:
    """Erase one statement with all that rests on it."""
    hashes = KEYRING.statement_hashes(ADA, belief.statement)

    async def work(transaction: Transaction) -> None:
        locked = await transaction.decisions.lock_rows(ADA, hashes)
        assert await transaction.decisions.erase_rows(ADA, hashes, [], locked=locked, at=NOW)

    await store.transact(work)


async def stored(store: PostgresStore, records: Sequence[DerivedRecord]) -> list[DerivedRecord]:
    ids = [record.id for record in records]
    return await ask(store, lambda snapshot: snapshot.derived.find_stored(ADA, ids, ceiling=Sensitivity.RESTRICTED))


async def free(connection: Connection, records: Sequence[DerivedRecord]) -> list[UUID]:
    """The ids of those that nobody has locked."""
    found = await connection.fetch(FREE, [record.id for record in records])
    return sorted(row["id"] for row in found)


async def test_who_waits_for_one_record_has_locked_those_before_it_alone(
    postgres_store: PostgresStore, database_url: str
) -> None:
    await keep(postgres_store, *BELIEFS)
    await keep_derived(postgres_store, *DERIVED)
    resting = [record for record in DERIVED if BELIEFS[0].id in {source.id for source in record.sources}]
    first, held, *later = resting
    async with connected(database_url) as holding, connected(database_url) as looking:
        holder = holding.transaction()
        await holder.start()
        await holding.execute(LOCK, held.id)
        deletion = asyncio.create_task(deleted(postgres_store, BELIEFS[0]))
        await until_waiting(database_url, 1)

        assert [record.id for record in later] == await free(looking, [first, *later])
        assert resting == await stored(postgres_store, resting)

        await holder.rollback()
    await deletion
    assert [retired(record, position=record.store_position, now=NOW) for record in resting] == await stored(
        postgres_store, resting
    )


async def test_deletions_with_common_dependents_end_without_a_deadlock(own_database_url: str) -> None:
    store = PostgresStore(own_database_url, pool_size=len(BELIEFS))
    await keep(store, *BELIEFS)
    await keep_derived(store, *DERIVED)

    await asyncio.gather(*(deleted(store, belief) for belief in BELIEFS))

    left = await stored(store, DERIVED)
    # Each is retired once, however many of its sources go.
    assert [(2, DerivedStatus.RETIRED)] * len(DERIVED) == [(record.revision, record.status) for record in left]
    await store.close()
    async with connected(own_database_url) as connection:
        assert 0 == await connection.fetchval(DEADLOCKS)
        assert 0 == await connection.fetchval("select count(*) from derived_sources")


async def test_who_waited_for_a_record_that_was_retired_meanwhile_finds_a_shell(
    postgres_store: PostgresStore, database_url: str
) -> None:
    await keep(postgres_store, *BELIEFS)
    await keep_derived(postgres_store, *DERIVED)
    [record, *_] = DERIVED
    shell = retired(record, position=200, now=NOW)

    async def find(transaction: Transaction) -> list[DerivedRecord | None]:
        found = await transaction.derived.find_for_update(ADA, record.id, ceiling=Sensitivity.RESTRICTED, now=NOW)
        return [found, *await transaction.derived.find_many_for_update(ADA, [record.id])]

    waiting: list[asyncio.Task[list[DerivedRecord | None]]] = []

    async def retire(transaction: Transaction) -> None:
        await transaction.derived.put(shell)
        waiting.append(asyncio.create_task(postgres_store.transact(find)))
        await until_waiting(database_url, 1)

    await postgres_store.transact(retire)
    assert [shell, shell] == await waiting[0]
