"""What a derivation waits for, and what waits for it: every right to form or delete what it touches is one.

On PostgreSQL alone: the other store does one thing after the other.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import pytest

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
async def held(deployment: Deployment, hash: bytes) -> AsyncIterator[None]:
    """Another transaction has the right of this hash until the block is left."""
    holds, ends = asyncio.Event(), asyncio.Event()

    async def hold(transaction: Transaction) -> None:
        await transaction.journal.lock_statements(ADA, [hash])
        holds.set()
        await ends.wait()

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


async def test_a_source_that_appears_meanwhile_is_waited_for_too(deployment: Deployment) -> None:
    bees, late = await deployment.formed(candidate(BEES)), identifier()
    async with held(deployment, deployment.keyring.statement_hash(ADA, COOKS)):
        async with held(deployment, deployment.keyring.statement_hash(ADA, BEES)):
            work = asyncio.create_task(deployment.derivation.derive(ADA, proposal((BEES, [bees]), omitted=[late])))
            assert await waits(work)
            await keep(deployment.store, memory(COOKS, id=late, store_position=10_000))
        assert await waits(work)

    assert DerivationOutcome.DERIVED is (await work).outcome
