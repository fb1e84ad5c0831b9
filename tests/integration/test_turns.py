"""Who waits for a connection has it in turn: nobody who came later is served before, however many they are."""

import asyncio

import pytest

from store.domain.vocabulary import Sensitivity
from store.ports.errors import StoreUnavailable
from store.postgres.store import PostgresStore
from store.postgres.turns import Turns
from tests.factories import identifier, owner

ADA = owner()
ROUNDS = 40


async def test_turns_are_had_in_the_order_in_which_they_were_asked_for() -> None:
    turns, served = Turns(1, 5), list[int]()

    async def visit(number: int) -> None:
        await turns.take()
        served.append(number)
        await asyncio.sleep(0)
        turns.end()
        # Somebody new asks at the moment at which a turn ends: he waits behind all that wait already.
        if number < ROUNDS:
            visits.append(asyncio.create_task(visit(number + ROUNDS)))

    visits = [asyncio.create_task(visit(number)) for number in range(ROUNDS)]
    while not all(each.done() for each in visits):
        await asyncio.wait(visits)
    assert list(range(2 * ROUNDS)) == served


async def test_who_waits_too_long_is_told_and_takes_no_turn() -> None:
    turns = Turns(1, 0.01)
    await turns.take()
    with pytest.raises(StoreUnavailable, match="in use"):
        await turns.take()
    turns.end()
    await turns.take()


async def test_who_stops_waiting_leaves_the_turn_to_the_next() -> None:
    turns = Turns(1, 5)
    await turns.take()
    leaving, staying = (asyncio.create_task(turns.take()) for _ in range(2))
    await asyncio.sleep(0)
    turns.end()
    leaving.cancel()
    await asyncio.wait([leaving, staying], timeout=5)
    assert leaving.cancelled()
    assert staying.done()


@pytest.mark.postgres
async def test_reads_of_all_kinds_share_the_turns_and_give_them_back(own_database_url: str) -> None:
    store = PostgresStore(own_database_url, pool_size=2, pool_timeout_seconds=5)

    async def single() -> None:
        async with store.single_read() as snapshot:
            assert await snapshot.memories.find(ADA, identifier(1), ceiling=Sensitivity.PUBLIC) is None

    async def several() -> None:
        async with store.snapshot() as snapshot:
            for number in range(2):
                assert await snapshot.memories.find(ADA, identifier(number), ceiling=Sensitivity.PUBLIC) is None

    await asyncio.gather(*(ask() for _ in range(50) for ask in (single, several, store.check)))
    assert (0, 2) == (store.connections.in_use, store.connections.free)
    await store.close()
