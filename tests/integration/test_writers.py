"""Writers beside others on PostgreSQL: whom they keep waiting, whom not, and what they find when they have waited."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import pytest

from gateway.service.errors import NotFound, Unavailable
from gateway.service.memory_requests import MemoryReview
from store.domain.keyring import lock_number
from store.domain.vocabulary import EventKind, MemoryStatus, ReviewOutcome, Sensitivity
from store.postgres.codes import STATUS_CODES
from store.postgres.store import PostgresStore
from tests.factories import candidate, identifier, memory
from tests.faults.obstacles import WAIT_SECONDS, connected, until_waiting
from tests.gateways import serving
from tests.services.deployment import ADA, Deployment, as_principal
from tests.worlds import KEYRING, collected, keep

pytestmark = pytest.mark.postgres

POOL = 8
REVIEWERS = 200
OUTCOMES = (ReviewOutcome.UNTRUE, ReviewOutcome.NOT_HERE)
RESTRICTED = {"ceiling": "restricted"}
OVERVIEW = {"query": "{ memoryOverview(ceiling: RESTRICTED) { flaggedForReview statuses { status count } } }"}
CONNECTIONS = """
    select count(*) from pg_stat_activity
    where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()
"""
UNDER_WAY = f"{CONNECTIONS} and xact_start is not null"


TRACES_OF_WRITES = """
    with refused as (
        insert into rejections (tenant_id, principal_id, statement_hash, kind, key_id, memory_id, created_at)
        select $1, $2, hash, kind, '?', gen_random_uuid(), now()
        from unnest($3::bytea[]) asked (hash) cross join unnest(array['untrue', 'not_here']) named (kind)
    )
    insert into tombstones (tenant_id, principal_id, statement_hash, key_id, created_at)
    select $1, $2, hash, '?', now() from unnest($3::bytea[]) asked (hash)
"""
"""Written and not kept: who is to write the same waits for it, having changed the rows of beliefs by then."""


@asynccontextmanager
async def held(url: str, statement: str, *arguments: object) -> AsyncIterator[None]:
    """What a statement locks, until the block is left. Nothing of it is kept."""
    async with connected(url) as connection:
        holding = connection.transaction()
        await holding.start()
        await connection.execute(statement, *arguments)
        yield
        await holding.rollback()


def held_traces(url: str, statements: Sequence[str]) -> AbstractAsyncContextManager[None]:
    """Keep the writers of these statements waiting in the middle of their work."""
    hashes = [KEYRING.statement_hash(ADA, statement) for statement in statements]
    return held(url, TRACES_OF_WRITES, ADA.tenant, ADA.principal, hashes)


async def test_readers_of_an_owner_wait_for_none_of_his_writers(
    postgres_store: PostgresStore, database_url: str
) -> None:
    deployment = await Deployment(postgres_store).prepare()
    statements = [f"Sails on day {number}" for number in range(4)]
    ids = [await deployment.formed(candidate(statement)) for statement in statements]
    async with serving(postgres_store) as gateway, gateway.client() as client:
        client.headers["authorization"] = f"Bearer {await gateway.secret(ADA)}"

        async def read() -> list[Any]:
            answers = [
                await client.get("/v1/memories", params=RESTRICTED),
                *[await client.get(f"/v1/memories/{id}", params=RESTRICTED) for id in ids],
                await client.post("/graphql", json=OVERVIEW),
            ]
            return [(answer.status_code, answer.json()) for answer in answers]

        before = await read()
        assert [200] * 6 == [status for status, _ in before]
        # Rows are locked, rewritten and removed by then.
        async with held_traces(database_url, statements):
            writers = [
                asyncio.create_task(deployment.review(ids[0], ReviewOutcome.UNTRUE)),
                asyncio.create_task(deployment.review(ids[1], ReviewOutcome.NOT_HERE)),
                asyncio.create_task(deployment.delete(ids[2])),
            ]
            await until_waiting(database_url, len(writers))
            async with asyncio.timeout(WAIT_SECONDS):
                assert before == await read()
            await until_waiting(database_url, len(writers))
        await asyncio.gather(*writers)
        assert [200, 200, 200, 404, 200, 200] == [status for status, _ in await read()]


async def test_reviewers_of_different_beliefs_work_at_once_within_the_pool(own_database_url: str) -> None:
    store = PostgresStore(own_database_url, pool_size=POOL, pool_timeout_seconds=WAIT_SECONDS)
    deployment = await Deployment(store).prepare()
    ids = [identifier(number) for number in range(1, REVIEWERS + 1)]
    records = [memory(f"Day {id}", id=id, owner=ADA) for id in ids]
    await keep(store, *records)

    async def review(number: int) -> None:
        outcome = OUTCOMES[number % 2]
        request = MemoryReview(
            id=str(ids[number]), ceiling=Sensitivity.RESTRICTED, outcome=outcome, idempotency_key=f"key-{number}"
        )
        await deployment.memories.review(as_principal(ADA), request)

    async with connected(own_database_url) as watching:
        async with held_traces(own_database_url, [record.statement for record in records]):
            reviewers = [asyncio.create_task(review(number)) for number in range(REVIEWERS)]
            # Each holds its belief, and none waits for another.
            await until_waiting(own_database_url, POOL)
            assert POOL == await watching.fetchval(UNDER_WAY) - 1
        await asyncio.gather(*reviewers)
        # The pool closes no connection: there were never more.
        assert POOL == await watching.fetchval(CONNECTIONS)

    events = await deployment.events()
    assert sorted(ids) == sorted(event.memory_id for event in events if event.memory_id is not None)
    assert {EventKind.REJECTED} == {event.kind for event in events}
    async with store.snapshot() as snapshot:
        receipts = await collected(snapshot.journal.receipts(ADA))
        reviewed = [record for record, _ in await collected(snapshot.memories.export(ADA))]
    assert REVIEWERS == len(receipts) == len(reviewed) == len({record.store_position for record in reviewed})
    assert {2} == {record.revision for record in reviewed}
    await store.close()


Change = Callable[[Deployment, Any], Awaitable[object]]  # Any: a connection past the gateway


@asynccontextmanager
async def waiting_for_its_statement(
    store: PostgresStore, url: str, change: Change
) -> AsyncIterator[tuple[Deployment, "asyncio.Task[Any]"]]:
    """A review that has read its belief, waited for its statement's lock, and met a change by then."""
    deployment = await Deployment(store).prepare()
    id = await deployment.formed(candidate("Sails"))
    [hash] = KEYRING.statement_hashes(ADA, "Sails")
    async with held(url, "select pg_advisory_xact_lock($1)", lock_number(ADA, hash)):
        review = asyncio.create_task(deployment.review(id, ReviewOutcome.UNTRUE))
        await until_waiting(url, 1)
        async with connected(url) as connection:
            await change(deployment, connection)
    yield deployment, review


async def test_a_review_that_waited_for_its_statement_goes_on_from_what_the_belief_has_become(
    postgres_store: PostgresStore, database_url: str
) -> None:
    """Nothing of the other review is lost, and the numbers drawn before it are not used."""

    async def localise(deployment: Deployment, _: Any) -> None:
        [formed] = await deployment.events()
        assert formed.memory_id is not None
        await deployment.review(formed.memory_id, ReviewOutcome.NOT_HERE)

    async with waiting_for_its_statement(postgres_store, database_url, localise) as (deployment, review):
        view = await review

    stored = await deployment.get(view.id)
    assert (MemoryStatus.RETIRED, "local", 3) == (stored.status, stored.portability.value, stored.revision)
    events = await deployment.events()
    assert [EventKind.FORMED, EventKind.REJECTED, EventKind.REJECTED] == [event.kind for event in events]
    assert ["not_here", "untrue"] == [event.payload["outcome"] for event in events[1:]]


async def test_a_review_that_waited_for_its_statement_keeps_what_a_sweep_wrote(
    postgres_store: PostgresStore, database_url: str
) -> None:
    """A sweep moves no position."""

    async def expire(_: Deployment, connection: Any) -> None:
        expired = STATUS_CODES[MemoryStatus.EXPIRED]
        await connection.execute("update beliefs set status = $1, revision = revision + 1", expired)

    async with waiting_for_its_statement(postgres_store, database_url, expire) as (deployment, review):
        assert 3 == (await deployment.get((await review).id)).revision


async def test_a_review_that_waited_for_its_statement_finds_the_belief_gone(
    postgres_store: PostgresStore, database_url: str
) -> None:
    async def erase(_: Deployment, connection: Any) -> None:
        await connection.execute("delete from beliefs")

    async with waiting_for_its_statement(postgres_store, database_url, erase) as (deployment, review):
        with pytest.raises(NotFound):
            await review
    assert [EventKind.FORMED] == [event.kind for event in await deployment.events()]


async def test_a_review_that_waited_for_its_statement_meets_another_hash_key(
    postgres_store: PostgresStore, database_url: str
) -> None:
    """Who makes another key current takes the same locks: what is hashed under the old one would never be found."""

    async def rotate(_: Deployment, connection: Any) -> None:
        await connection.execute("update store_facts set value = 'another' where name = 'key_id'")

    async with waiting_for_its_statement(postgres_store, database_url, rotate) as (deployment, review):
        with pytest.raises(Unavailable):
            await review
    assert [EventKind.FORMED] == [event.kind for event in await deployment.events()]


async def test_reviewers_of_one_belief_are_all_answered(own_database_url: str) -> None:
    """They wait for each other, and none is refused: nobody tries again and again."""
    store = PostgresStore(own_database_url, pool_size=POOL, pool_timeout_seconds=WAIT_SECONDS)
    deployment = await Deployment(store).prepare()
    id = await deployment.formed(candidate("Sails"))

    await asyncio.gather(*(deployment.review(id, ReviewOutcome.UNTRUE) for _ in range(4 * POOL)))

    rejected = [event for event in await deployment.events() if event.kind is EventKind.REJECTED]
    assert 4 * POOL == len(rejected)
    assert 2 == (await deployment.get(id)).revision
    await store.close()


FACTS = "select memory_id, person_key, statement from people_facts order by memory_id"


async def test_the_copy_of_a_person_linked_statement_follows_a_review_and_a_deletion(
    postgres_store: PostgresStore, database_url: str
) -> None:
    deployment = await Deployment(postgres_store).prepare()
    ids = [identifier(number) for number in range(1, 6)]
    people = ["person:kai", "person:ada"]
    told, refuted, *same = [
        memory(text, id=id, owner=ADA, subject=subject, store_position=number)
        for number, (id, text, subject) in enumerate(
            zip(ids, ["Rows", "Swims", "Sails", "Sails", "Sails"], [*people, *people, "Boats"], strict=True), start=1
        )
    ]
    await keep(postgres_store, told, refuted, *same)
    async with connected(database_url) as connection:

        async def copied() -> list[Any]:
            return [row["memory_id"] for row in await connection.fetch(FACTS)]

        assert ids[:4] == await copied()
        await connection.execute("delete from people_facts where memory_id = $1", told.id)
        await deployment.review(told.id, ReviewOutcome.NOT_HERE)
        assert ids[:4] == await copied()
        await deployment.review(refuted.id, ReviewOutcome.UNTRUE)
        assert [ids[0], *ids[2:4]] == await copied()
        # A copy that its row has lost goes with the statement too.
        await connection.execute("update people_facts set memory_id = $1 where memory_id = $2", ids[4], ids[3])
        await deployment.delete(ids[2])
        assert [ids[0]] == await copied()


async def test_a_review_that_waited_for_its_belief_goes_on_from_what_it_has_become(
    postgres_store: PostgresStore, database_url: str
) -> None:
    """What changes nothing when it is asked for may change something once the other writer has ended."""
    deployment = await Deployment(postgres_store).prepare()
    id = identifier(1)
    await keep(postgres_store, memory(id=id, owner=ADA, flagged_for_review=False, store_position=1))
    async with connected(database_url) as connection:
        async with connection.transaction():
            await connection.execute("update beliefs set flagged_for_review = true, revision = 7")
            review = asyncio.create_task(deployment.review(id, ReviewOutcome.DISMISS))
            await until_waiting(database_url, 1)
        view = await review

    stored = await deployment.get(id)
    assert (False, False, 7) == (view.flagged_for_review, stored.flagged_for_review, stored.revision)
    assert [EventKind.REVIEWED] == [event.kind for event in await deployment.events()]
