"""Lexemes made anew for another version: nobody compares or writes them meanwhile, and a broken run is gone on with."""

import asyncio
import json

import pytest

from gateway.service.errors import Conflict, Unavailable
from gateway.service.memory_requests import MemoryPaging, MemorySelection
from gateway.service.reindexing import REINDEX_BATCH, Reindexing, ReindexService, rebuild_batch
from store.domain.lexical import LEXICAL_VERSION
from store.domain.owners import WHOLE_STORE, Owner
from store.domain.vocabulary import Sensitivity
from store.ports.store import StoreFact, Transaction
from tests.factories import candidate, memory, owner
from tests.services.deployment import ADA, Deployment, as_principal
from tests.worlds import keep

OLD = "0/9.9.9"
BO = owner("bo")


class Broken(Exception):
    """A run that a test breaks off."""


@pytest.fixture
def reindexing(deployment: Deployment) -> ReindexService:
    return ReindexService(deployment.store, deployment.environment)


async def put(deployment: Deployment, fact: StoreFact, value: str) -> None:
    await deployment.store.transact(lambda transaction: transaction.facts.put(fact, value))


async def version(deployment: Deployment) -> str | None:
    async with deployment.store.snapshot() as snapshot:
        return await snapshot.facts.find(StoreFact.LEXICAL_VERSION)


async def found(deployment: Deployment, text: str, *, of: Owner = ADA) -> int:
    async with deployment.memories.reading() as reading:
        selection = MemorySelection(ceiling=Sensitivity.RESTRICTED, text=text)
        page = await reading.browse(as_principal(of), selection, MemoryPaging())
    return len(page.edges)


async def test_a_store_of_this_version_is_left_alone(deployment: Deployment, reindexing: ReindexService) -> None:
    assert Reindexing(rows=0, resumed=False) == await reindexing.run()
    assert [] == await deployment.events(of=WHOLE_STORE)


async def test_every_owner_is_found_again(deployment: Deployment, reindexing: ReindexService) -> None:
    await deployment.formed(candidate("Keeps bees"))
    await deployment.formed(candidate("Keeps bees"), of=BO)
    await put(deployment, StoreFact.LEXICAL_VERSION, OLD)
    for refused in (found(deployment, "bees"), deployment.form(candidate("Sails"))):
        with pytest.raises(Unavailable):
            await refused

    assert Reindexing(rows=2, resumed=False) == await reindexing.run()

    assert LEXICAL_VERSION == await version(deployment)
    assert [1, 1] == [await found(deployment, "bees", of=of) for of in (ADA, BO)]
    acts = [event.payload for event in await deployment.events(of=WHOLE_STORE)]
    assert [{"action": "reindex_begin"}, {"action": "reindex_end", "rows": 2}] == acts


async def test_a_run_that_was_broken_off_is_gone_on_with(deployment: Deployment, reindexing: ReindexService) -> None:
    await keep(deployment.store, *(memory(store_position=number) for number in range(1, REINDEX_BATCH + 8)))
    await put(deployment, StoreFact.LEXICAL_VERSION, OLD)

    def break_off(_: int, __: int) -> None:
        raise Broken

    with pytest.raises(Broken):
        await reindexing.run(progress=break_off)
    with pytest.raises(Unavailable):
        await found(deployment, "bees")
    with pytest.raises(Unavailable):
        await deployment.form(candidate("Sails"))

    assert Reindexing(rows=7, resumed=True) == await reindexing.run()

    assert LEXICAL_VERSION == await version(deployment)
    await deployment.formed(candidate("Sails"))


async def test_another_programs_rebuild_is_begun_anew(deployment: Deployment, reindexing: ReindexService) -> None:
    last = await deployment.formed(candidate("Keeps bees"))
    await put(deployment, StoreFact.LEXICAL_VERSION, "reindexing 9/99.0.0")
    await put(deployment, StoreFact.LEXICAL_PROGRESS, json.dumps([ADA.tenant, ADA.principal, str(last)]))

    assert Reindexing(rows=1, resumed=False) == await reindexing.run()

    assert LEXICAL_VERSION == await version(deployment)


async def test_a_batch_is_not_written_once_another_program_took_over(deployment: Deployment) -> None:
    await deployment.formed(candidate("Keeps bees"))
    await put(deployment, StoreFact.LEXICAL_VERSION, "reindexing 9/99.0.0")

    with pytest.raises(Conflict):
        await deployment.store.transact(rebuild_batch)


async def test_two_runs_at_once_do_it_once_or_twice(deployment: Deployment, reindexing: ReindexService) -> None:
    await deployment.formed(candidate("Keeps bees"))
    await put(deployment, StoreFact.LEXICAL_VERSION, OLD)

    await asyncio.gather(reindexing.run(), reindexing.run(), return_exceptions=True)

    assert LEXICAL_VERSION == await version(deployment)
    assert 1 == await found(deployment, "bees")


@pytest.mark.postgres
async def test_a_belief_under_way_is_waited_for(deployment: Deployment, reindexing: ReindexService) -> None:
    """A transaction that saw the old version must end before the first row is rewritten."""
    await deployment.formed(candidate("Keeps bees"))
    holds, ends = asyncio.Event(), asyncio.Event()

    async def slow(transaction: Transaction) -> None:
        assert await transaction.facts.hold(StoreFact.LEXICAL_VERSION) == LEXICAL_VERSION
        holds.set()
        await ends.wait()

    writing = asyncio.create_task(deployment.store.transact(slow))
    await holds.wait()
    replaced = asyncio.create_task(
        deployment.store.transact(
            lambda transaction: transaction.facts.replace(
                StoreFact.LEXICAL_VERSION, expected=LEXICAL_VERSION, value=OLD
            )
        )
    )
    _, waiting = await asyncio.wait([replaced], timeout=0.2)
    assert {replaced} == waiting

    ends.set()
    await writing

    assert await replaced
