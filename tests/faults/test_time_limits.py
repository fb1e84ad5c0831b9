"""Whoever waits too long is told so whole: a deadline, the server's own limits, the wait for a connection.

Source: belief store decisions, Errors (unavailable); GraphQL over HTTP, Time and sockets.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from enum import Enum
from uuid import UUID, uuid4

import httpx
import pytest

from gateway.http.deadlines import Deadlines
from store.domain.journal import Receipt
from store.domain.memories import MemoryRecord
from store.domain.vocabulary import ReceiptKind
from store.ports.errors import StoreUnavailable
from store.postgres.store import PostgresStore
from tests.factories import NOW, memory, owner
from tests.faults.listening import listening, request
from tests.faults.obstacles import Connection, blocked, connected, eventually, until, until_idle, until_waiting
from tests.gateways import Gateway, serving
from tests.worlds import everything, find

pytestmark = [pytest.mark.e2e, pytest.mark.postgres]

ADA = owner()
CEILING = {"ceiling": "restricted"}
QUERY = "{ viewer { scopes } overview: memoryOverview(ceiling: PUBLIC) { statuses { count } } gateway { version } }"
REVIEW = "reviewMemory(input: {id: $%s, ceiling: RESTRICTED, outcome: UNTRUE, idempotencyKey: $%s}) { memory { id } }"
TWO_REVIEWS = f"""mutation ($one: ID!, $two: ID!, $first: String!, $second: String!) {{
  one: {REVIEW % ("one", "first")}
  two: {REVIEW % ("two", "second")}
}}"""
# At the end of the transaction, while it is committed, and longer than the deadline.
SLOW_COMMITS = """
    create function linger() returns trigger language plpgsql as $$ begin perform pg_sleep(1); return null; end $$;
    create constraint trigger lingering after insert on receipts deferrable initially deferred
        for each row execute function linger();
"""
LINGERS = "select true from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'"
IS_ALONE = """
    select count(*) = 0 from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'
"""


class Limit(Enum):
    """What ends the wait."""

    DEADLINE = "deadline"
    STATEMENT_TIMEOUT = "statement_timeout"
    LOCK_TIMEOUT = "lock_timeout"
    POOL_WAIT = "pool_wait"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A gateway with a client that has a token."""

    gateway: Gateway
    client: httpx.AsyncClient
    store: PostgresStore


async def set_for_everybody(url: str, setting: str, value: str) -> None:
    """Give a setting to the sessions that begin from now on in this database."""
    async with connected(url) as connection:
        database = await connection.fetchval("select current_database()")
        await connection.execute(f"alter role current_user in database {database} set {setting} = '{value}'")


@asynccontextmanager
async def asking(
    url: str, *, deadline_seconds: float = 30, pool_size: int = 4, wait_seconds: float = 30
) -> AsyncIterator[Asked]:
    store = PostgresStore(url, pool_size=pool_size, pool_timeout_seconds=wait_seconds)
    async with serving(store, deadlines=Deadlines(deadline_seconds)) as gateway, gateway.client() as client:
        secret = await gateway.secret(ADA)
        await gateway.tokens.resolve(secret)
        await gateway.tokens.close()
        client.headers["authorization"] = f"Bearer {secret}"
        yield Asked(gateway=gateway, client=client, store=store)
    await store.close()


@asynccontextmanager
async def limited(limit: Limit, url: str) -> AsyncIterator[Asked]:
    """A gateway whose statements about beliefs have to wait, and whose wait ends by this limit."""
    if limit in {Limit.STATEMENT_TIMEOUT, Limit.LOCK_TIMEOUT}:
        await set_for_everybody(url, limit.value, "300ms")
    async with AsyncExitStack() as stack:
        asked = await stack.enter_async_context(
            asking(
                url,
                deadline_seconds=0.5 if limit is Limit.DEADLINE else 30,
                pool_size=1 if limit is Limit.POOL_WAIT else 4,
                wait_seconds=0.3 if limit is Limit.POOL_WAIT else 30,
            )
        )
        await stack.enter_async_context(blocked(url, "beliefs"))
        if limit is Limit.POOL_WAIT:
            holding = asyncio.create_task(asked.client.get("/v1/memories", params=CEILING))
            stack.push_async_callback(asyncio.wait, [holding])
            stack.callback(holding.cancel)
            await until_waiting(url, 1)
        yield asked


def is_unavailable(response: httpx.Response) -> bool:
    """Whether it is nothing but that, on either transport."""
    content = response.json()
    error = content["errors"][0]["extensions"] if "errors" in content else content["error"]
    assert "data" not in content
    assert "items" not in content
    return (503, "1", "unavailable") == (response.status_code, response.headers["retry-after"], error["code"])


async def asks(connection: Connection, question: str) -> bool:
    return bool(await connection.fetchval(question))


async def until_committing(connection: Connection) -> None:
    """Return when a commit lingers."""
    await eventually(lambda: asks(connection, LINGERS))


def review_of(record: MemoryRecord, key: str) -> dict[str, object]:
    return {
        "url": f"/v1/memories/{record.id}/review",
        "params": CEILING,
        "headers": {"idempotency-key": key},
        "json": {"outcome": "untrue"},
    }


def two_reviews(one: MemoryRecord, two: MemoryRecord) -> dict[str, object]:
    keys = {"first": str(uuid4()), "second": str(uuid4())}
    return {"query": TWO_REVIEWS, "variables": {"one": str(one.id), "two": str(two.id), **keys}}


@pytest.mark.parametrize("limit", Limit)
async def test_a_wait_that_is_too_long_is_unavailable_and_nothing_else(own_database_url: str, limit: Limit) -> None:
    id = UUID(int=1)
    async with limited(limit, own_database_url) as asked:
        answers = [
            await asked.client.get("/v1/memories", params=CEILING),
            await asked.client.get(f"/v1/memories/{id}", params=CEILING),
            await asked.client.post("/graphql", json={"query": QUERY}),
            await asked.client.get("/graphql", params={"query": QUERY}),
            await asked.client.request("POST", **review_of(memory(id=id), "a-key")),  # type: ignore[arg-type]
        ]
    assert [True] * len(answers) == [is_unavailable(answer) for answer in answers]


@pytest.mark.parametrize("limit", [Limit.DEADLINE, Limit.STATEMENT_TIMEOUT, Limit.LOCK_TIMEOUT])
async def test_mutations_that_were_applied_before_keep_their_answers(own_database_url: str, limit: Limit) -> None:
    if limit is not Limit.DEADLINE:
        await set_for_everybody(own_database_url, limit.value, "300ms")
    deadline_seconds = 2 if limit is Limit.DEADLINE else 30
    async with asking(own_database_url, deadline_seconds=deadline_seconds) as asked:
        one, two = await asked.gateway.keep(memory(owner=ADA), memory("Rows", owner=ADA))
        body = two_reviews(one, two)
        async with connected(own_database_url) as connection, connection.transaction():
            await connection.execute("select from beliefs where id = $1 for update", two.id)
            answer = (await asked.client.post("/graphql", json=body)).json()
        await until_idle(asked.store)
        again = (await asked.client.post("/graphql", json=body)).json()
        kept = await find(asked.store, ADA, two.id)
    assert {"one": {"memory": {"id": str(one.id)}}, "two": None} == answer["data"]
    [error] = answer["errors"]
    assert (["two"], "unavailable") == (error["path"], error["extensions"]["code"])
    assert [str(one.id), str(two.id)] == [each["memory"]["id"] for each in again["data"].values()]
    assert kept is not None
    assert 2 == kept.revision


async def test_a_write_that_is_being_committed_at_the_deadline_is_acknowledged(own_database_url: str) -> None:
    async with asking(own_database_url, deadline_seconds=0.8) as asked:
        one, two, three = await asked.gateway.keep(*(memory(f"Rows {number}", owner=ADA) for number in range(3)))
        async with connected(own_database_url) as connection:
            await connection.execute(SLOW_COMMITS)
        rest = await asked.client.request("POST", **review_of(one, "a-key"))  # type: ignore[arg-type]
        graphql = (await asked.client.post("/graphql", json=two_reviews(two, three))).json()
        found = [await find(asked.store, ADA, record.id) for record in (one, two, three)]
    assert 200 == rest.status_code
    assert {"one": {"memory": {"id": str(two.id)}}, "two": None} == graphql["data"]
    assert ["unavailable"] == [error["extensions"]["code"] for error in graphql["errors"]]
    assert [2, 2, 1] == [record.revision for record in found if record is not None]


async def test_a_write_that_is_being_committed_when_its_client_leaves_is_kept(own_database_url: str) -> None:
    async with asking(own_database_url) as asked, listening(asked.gateway) as listener:
        [record] = await asked.gateway.keep(memory(owner=ADA))
        async with connected(own_database_url) as connection:
            await connection.execute(SLOW_COMMITS)
        sent = request(
            "POST",
            f"/v1/memories/{record.id}/review?ceiling=restricted",
            secret=await asked.gateway.secret(ADA),
            headers={"idempotency-key": "a-key"},
            body={"outcome": "untrue"},
        )
        async with connected(own_database_url) as connection:
            async with listener.sending(sent):
                await until_committing(connection)
            await until_idle(asked.store)
            assert 1 == await connection.fetchval("select count(*) from receipts")
        kept = await find(asked.store, ADA, record.id)
    assert kept is not None
    assert 2 == kept.revision


async def test_work_that_is_cancelled_while_it_commits_ends_at_its_next_wait(own_database_url: str) -> None:
    """The background and the commands rely on it: a cancellation is not lost by a commit that it does not break off."""
    store = PostgresStore(own_database_url)
    async with connected(own_database_url) as connection:
        await connection.execute(SLOW_COMMITS)
    receipt = Receipt(
        owner=ADA,
        key="a-key",
        kind=ReceiptKind.REVIEW_COMPLETED,
        request_hash=b"?",
        memory_id=UUID(int=1),
        created_at=NOW,
    )

    async def write() -> None:
        assert await store.transact(lambda transaction: transaction.journal.add_receipt(receipt))
        is_acknowledged.set()
        await asyncio.Event().wait()

    is_acknowledged = asyncio.Event()
    task = asyncio.create_task(write())
    async with connected(own_database_url) as connection:
        await until_committing(connection)
    task.cancel()
    await until(task.done)
    assert task.cancelled()
    assert is_acknowledged.is_set()
    async with connected(own_database_url) as connection:
        assert 1 == await connection.fetchval("select count(*) from receipts")
    await store.close()


async def test_a_transaction_that_idles_too_long_is_unavailable(own_database_url: str) -> None:
    await set_for_everybody(own_database_url, "idle_in_transaction_session_timeout", "100ms")
    store = PostgresStore(own_database_url)
    async with connected(own_database_url) as connection, store.snapshot() as snapshot:
        await snapshot.memories.count(everything(ADA))
        await eventually(lambda: asks(connection, IS_ALONE))
        with pytest.raises(StoreUnavailable):
            await snapshot.memories.count(everything(ADA))
    async with store.snapshot() as snapshot:
        assert 0 == await snapshot.memories.count(everything(ADA))
    await store.close()


async def test_many_fields_of_a_query_wait_no_longer_than_one(own_database_url: str) -> None:
    fields = " ".join(f"f{number}: memoryOverview(ceiling: PUBLIC) {{ statuses {{ count }} }}" for number in range(5))
    async with limited(Limit.DEADLINE, own_database_url) as asked:
        began_at = asyncio.get_running_loop().time()
        answer = await asked.client.post("/graphql", json={"query": f"{{ {fields} }}"})
        assert asyncio.get_running_loop().time() - began_at < 3
        await until(lambda: asked.store.connections.in_use == 0)
    assert is_unavailable(answer)
