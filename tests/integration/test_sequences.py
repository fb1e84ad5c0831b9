"""The numbers of the journal on PostgreSQL while many write and an import brings numbers of its own."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from store.domain.journal import Event
from store.domain.vocabulary import EventKind
from store.ports.store import Store, Transaction
from store.postgres.engine import create_engine
from store.postgres.sequences import Sequences
from store.postgres.sessions import open_session
from store.postgres.turns import Turns
from tests.factories import NOW, SESSION, event, identifier, owner
from tests.faults.obstacles import connected, until_waiting
from tests.worlds import ask, collected

pytestmark = pytest.mark.postgres

ADA = owner()
DRAWING = 2
ROUNDS = 10
AT_A_TIME = 2_000


@pytest.fixture
async def engine(own_database_url: str) -> AsyncIterator[AsyncEngine]:
    engine = create_engine(own_database_url, pool_size=DRAWING + 2, pool_timeout_seconds=60)
    yield engine
    await engine.dispose()


async def draw(engine: AsyncEngine, count: int = AT_A_TIME) -> list[int]:
    """Numbers as one writer gets them."""
    async with open_session(engine, Turns(1, 5)) as session:
        return await Sequences(session).next_numbers(count)


async def rise(engine: AsyncEngine, number: int) -> list[int]:
    """Let the sequence rise above a number; the one drawn right after that."""
    async with open_session(engine, Turns(1, 5)) as session:
        sequences = Sequences(session)
        await sequences.rise_above(number)
        return [await sequences.next_number()]


async def test_no_number_is_drawn_twice_while_the_sequence_rises(engine: AsyncEngine, own_database_url: str) -> None:
    """Imports look at the sequence, and are held up before they set it, while others draw more than they saw."""
    drawn = await draw(engine, 1)
    for _ in range(ROUNDS):
        imported = drawn[-1] + 5
        async with connected(own_database_url) as holding, holding.transaction():
            # It lets others look at the sequence and keeps them from drawing on it. Nothing else may be altered: the
            # sequence would be written to another file, and who has looked once would go on looking at the old one.
            await holding.execute("alter sequence event_numbers owned by none")
            tasks = [asyncio.create_task(draw(engine)) for _ in range(DRAWING)]
            await until_waiting(own_database_url, DRAWING)
            tasks += [asyncio.create_task(rise(engine, imported + ahead)) for ahead in range(2)]
            await until_waiting(own_database_url, DRAWING + 2)
        *written, first, second = await asyncio.gather(*tasks)
        assert first[0] > imported
        assert second[0] > imported + 1
        drawn += sorted([*first, *second, *(number for numbers in written for number in numbers)])
        drawn += await draw(engine, AT_A_TIME)

    assert len(set(drawn)) == len(drawn)


async def test_the_first_number_of_all_may_be_imported(engine: AsyncEngine) -> None:
    async with open_session(engine, Turns(1, 5)) as session:
        sequences = Sequences(session)
        await sequences.rise_above(1)
        assert await sequences.next_number() > 1


async def append(transaction: Transaction) -> None:
    await transaction.journal.append(
        ADA, EventKind.DELETED, session_id=SESSION, memory_id=identifier(1), at=NOW, payload={}
    )


async def journal(store: Store) -> list[Event]:
    return await ask(store, lambda snapshot: collected(snapshot.journal.events(ADA)))


async def test_an_event_whose_number_an_import_took_meanwhile_gets_another(postgres_store: Store) -> None:
    await postgres_store.transact(append)
    [first] = await journal(postgres_store)
    imported = event(first.number + 1, owner=ADA)
    attempts = 0

    async def write(transaction: Transaction) -> None:
        nonlocal attempts
        attempts += 1
        # A number for the event comes with the position, and is not written yet.
        await transaction.memories.next_positions(1)
        if attempts == 1:
            assert await postgres_store.transact(lambda importing: importing.journal.restore_event(imported))
        await append(transaction)

    await postgres_store.transact(write)

    assert 2 == attempts
    events = await journal(postgres_store)
    assert [first, imported] == events[:2]
    assert [EventKind.DELETED] == [each.kind for each in events[2:]]
