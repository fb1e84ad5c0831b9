"""What a derivation waits for, and what waits for it: every right to form or delete what it touches is one.

On PostgreSQL alone: the other store does one thing after the other.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import pytest

from gateway.service.summarizing import DerivationReport
from store.domain.derived import DerivedRecord, DerivedStatus, retired
from store.domain.deriving import DerivationOutcome
from store.domain.vocabulary import ReviewOutcome
from store.ports.store import Transaction
from store.postgres.store import PostgresStore
from tests.factories import candidate, identifier, memory
from tests.services.deployment import ADA, Deployment
from tests.services.derivations import proposal
from tests.worlds import keep

pytestmark = pytest.mark.postgres

Result = TypeVar("Result")
BEES, BOATS, COOKS = "Keeps bees", "Keeps a rowing boat", "Cooks"


@pytest.fixture
async def deployment(postgres_store: PostgresStore) -> Deployment:
    return await Deployment(postgres_store).prepare()


@asynccontextmanager
async def held(deployment: Deployment, hash: bytes, *, retiring: DerivedRecord | None = None) -> AsyncIterator[None]:
    """Another transaction has the right of this hash until the block is left; a record is then retired by it."""
    holds, ends = asyncio.Event(), asyncio.Event()

    async def hold(transaction: Transaction) -> None:
        await transaction.journal.lock_statements(ADA, [hash])
        holds.set()
        await ends.wait()
        if retiring is not None:
            [position] = await transaction.memories.next_positions(1)
            await transaction.derived.put(retired(retiring, position=position, now=deployment.clock.now))

    holding = asyncio.create_task(deployment.store.transact(hold))
    await holds.wait()
    try:
        yield
    finally:
        ends.set()
        await holding


async def waits(work: "asyncio.Task[Result]") -> bool:
    """Whether the work is not done within a while."""
    _, waiting = await asyncio.wait([work], timeout=0.2)
    return bool(waiting)


@pytest.mark.parametrize("of", ["a belief behind", "a derivation between", "a clause", "the statement", "itself"])
async def test_a_derivation_waits_for_whoever_may_delete_what_it_rests_on_or_says(
    deployment: Deployment, of: str
) -> None:
    bees, boats, cooks = [await deployment.formed(candidate(text)) for text in (BEES, BOATS, COOKS)]
    below = await deployment.derived_id(proposal((BEES, [bees]), omitted=[cooks]))
    ring = deployment.keyring
    hash = {
        "a belief behind": ring.statement_hash(ADA, COOKS),
        "a derivation between": ring.derivation_hash(ADA, [BEES]),
        "a clause": ring.statement_hash(ADA, BEES),
        "the statement": ring.statement_hash(ADA, f"{BEES} {BOATS}"),
        "itself": ring.derivation_hash(ADA, [BOATS, BEES]),
    }[of]
    async with held(deployment, hash):
        wish = proposal((BEES, [below]), (BOATS, [boats]))
        work = asyncio.create_task(deployment.derivation.derive(ADA, wish))
        assert await waits(work)

    assert DerivationOutcome.DERIVED is (await work).outcome


@pytest.mark.parametrize("forbidding", ["untrue", "delete"])
async def test_what_forbids_a_derivation_waits_for_one(deployment: Deployment, forbidding: str) -> None:
    bees = await deployment.formed(candidate(BEES))
    id = await deployment.derived_id(proposal((BEES, [bees])))
    work: asyncio.Task[Any]  # whichever it is
    async with held(deployment, deployment.keyring.derivation_hash(ADA, [BEES])):
        if forbidding == "delete":
            work = asyncio.create_task(deployment.delete(id))
        else:
            work = asyncio.create_task(deployment.review_derived(id, ReviewOutcome.UNTRUE))
        assert await waits(work)

    await work
    assert all(record.content is None for record in await deployment.stored_derived())


@pytest.mark.parametrize("forbidding", ["untrue", "delete"])
async def test_what_is_retired_while_it_is_forbidden_does_not_come_back(
    deployment: Deployment, forbidding: str
) -> None:
    """Between look and lock it has become a shell: what was seen of it is forbidden."""
    for text in (BEES, BOATS):
        await deployment.formed(candidate(text))
    assert DerivationReport(derived=1) == await deployment.sum_up()
    [record] = await deployment.stored_derived()
    work: asyncio.Task[Any]  # whichever it is
    async with held(deployment, deployment.keyring.derivation_hash(ADA, [BEES, BOATS]), retiring=record):
        if forbidding == "delete":
            work = asyncio.create_task(deployment.delete(record.id))
        else:
            work = asyncio.create_task(deployment.review_derived(record.id, ReviewOutcome.UNTRUE))
        assert await waits(work)

    answer = await work
    if forbidding == "delete":
        assert (record.id, []) == (answer, await deployment.stored_derived())
    else:
        [shell] = await deployment.stored_derived()
        assert (record.id, DerivedStatus.RETIRED, None) == (answer.id, shell.status, shell.content)
    assert DerivationReport(blocked=1) == await deployment.sum_up()
    assert [] == [record for record in await deployment.stored_derived() if record.content is not None]


async def test_a_source_that_appears_meanwhile_is_waited_for_too(deployment: Deployment) -> None:
    bees, late = await deployment.formed(candidate(BEES)), identifier()
    async with held(deployment, deployment.keyring.statement_hash(ADA, COOKS)):
        async with held(deployment, deployment.keyring.statement_hash(ADA, BEES)):
            work = asyncio.create_task(deployment.derivation.derive(ADA, proposal((BEES, [bees]), omitted=[late])))
            assert await waits(work)
            await keep(deployment.store, memory(COOKS, id=late, store_position=10_000))
        assert await waits(work)

    assert DerivationOutcome.DERIVED is (await work).outcome
