"""A client that goes away: its statement ends in PostgreSQL, its connection is free again, its write is whole or not.

Source: GraphQL over HTTP, Time and sockets.
"""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import asdict
from functools import partial
from typing import Any
from uuid import uuid4

import pytest

from gateway.http.presence import CLIENT_GONE
from gateway.observability.exchanges import ExchangeReports
from gateway.observability.metrics import GatewayMetrics
from store.domain.memories import MemoryRecord
from store.postgres.store import PostgresStore
from tests.factories import memory, owner
from tests.faults.listening import Listening, listening, request
from tests.faults.obstacles import blocked, connected, until, until_idle, until_waiting
from tests.gateways import serving
from tests.worlds import find

pytestmark = [pytest.mark.e2e, pytest.mark.postgres]

ADA = owner()
POOL_SIZE = 2
BROWSE = "{ memories(ceiling: RESTRICTED) { nodes { id conflictsWithMemories { id } } } }"
REVIEW = """mutation ($id: ID!, $key: String!) {
  reviewMemory(input: {id: $id, ceiling: RESTRICTED, outcome: UNTRUE, idempotencyKey: $key}) { memory { id } }
}"""


@pytest.fixture
async def store(own_database_url: str) -> AsyncIterator[PostgresStore]:
    store = PostgresStore(own_database_url, pool_size=POOL_SIZE)
    yield store
    await store.close()


@pytest.fixture
def metrics(store: PostgresStore) -> GatewayMetrics:
    metrics = GatewayMetrics()
    metrics.watch_pool(lambda: asdict(store.connections))
    return metrics


@pytest.fixture
async def listener(store: PostgresStore, metrics: GatewayMetrics) -> AsyncIterator[Listening]:
    async with serving(store, exchanges=ExchangeReports(metrics)) as gateway, listening(gateway) as listener:
        # The first use of a token is written, which takes a connection.
        await gateway.tokens.resolve(await gateway.secret(ADA))
        await gateway.tokens.close()
        yield listener


def in_use(metrics: GatewayMetrics) -> float | None:
    return metrics.registry.get_sample_value("belief_gateway_pool_connections", {"state": "in_use"})


def abandoned(metrics: GatewayMetrics) -> float:
    samples = [sample for family in metrics.registry.collect() for sample in family.samples]
    return sum(
        sample.value
        for sample in samples
        if sample.name == "belief_gateway_http_exchange_seconds_count" and sample.labels["status"] == str(CLIENT_GONE)
    )


def has_abandoned(metrics: GatewayMetrics, count: int) -> bool:
    return abandoned(metrics) == count


async def reads(listener: Listening) -> dict[str, bytes]:
    secret = await listener.gateway.secret(ADA)
    return {
        "REST": request("GET", "/v1/memories?ceiling=restricted", secret=secret),
        "GraphQL by POST": request("POST", "/graphql", secret=secret, body={"query": BROWSE}),
        "GraphQL by GET": request("GET", "/graphql?query={memoryOverview(ceiling:PUBLIC){statuses{count}}}", secret=secret),
    }


async def writes(listener: Listening, record: MemoryRecord, key: str) -> dict[str, bytes]:
    secret = await listener.gateway.secret(ADA)
    target = f"/v1/memories/{record.id}"
    headers = {"idempotency-key": key}
    body: dict[str, Any] = {"query": REVIEW, "variables": {"id": str(record.id), "key": key}}
    return {
        "review": request(
            "POST",
            f"{target}/review?ceiling=restricted",
            secret=secret,
            headers=headers,
            body={"outcome": "untrue"},
        ),
        "delete": request("DELETE", f"{target}?ceiling=restricted", secret=secret, headers=headers),
        "GraphQL": request("POST", "/graphql", secret=secret, body=body),
    }


@pytest.mark.parametrize("kind", ["REST", "GraphQL by POST", "GraphQL by GET"])
async def test_who_leaves_takes_the_statement_along_and_frees_the_connection(
    listener: Listening, store: PostgresStore, metrics: GatewayMetrics, own_database_url: str, kind: str
) -> None:
    await listener.gateway.keep(memory(owner=ADA))
    sent = (await reads(listener))[kind]
    async with blocked(own_database_url, "beliefs"):
        servers: list[int] = []
        for _ in range(2 * POOL_SIZE):
            async with listener.sending(sent):
                servers += await until_waiting(own_database_url, 1)
                assert 1 == in_use(metrics)
            await until_waiting(own_database_url, 0)
            await until_idle(store)
            assert 0 == in_use(metrics)
        await until(partial(has_abandoned, metrics, 2 * POOL_SIZE))
        # Thrown away, each of them: no connection was used again.
        assert len(set(servers)) == len(servers)
    async with listener.gateway.client() as client:
        headers = {"authorization": f"Bearer {await listener.gateway.secret(ADA)}"}
        page = await client.get("/v1/memories", params={"ceiling": "restricted"}, headers=headers)
    assert 1 == len(page.json()["items"])


async def test_who_waits_for_a_connection_and_leaves_is_forgotten(
    listener: Listening, store: PostgresStore, metrics: GatewayMetrics, own_database_url: str
) -> None:
    sent = (await reads(listener))["REST"]
    async with blocked(own_database_url, "beliefs"), listener.sending(sent), listener.sending(sent):
        await until_waiting(own_database_url, POOL_SIZE)
        for left in (1, 2, 3):
            async with listener.sending(sent):
                await asyncio.sleep(0.02)
            await until(partial(has_abandoned, metrics, left))
    await until_idle(store)


@pytest.mark.parametrize("kind", ["review", "delete", "GraphQL"])
async def test_a_write_whose_client_leaves_is_undone_whole(
    listener: Listening, store: PostgresStore, own_database_url: str, kind: str
) -> None:
    [record] = await listener.gateway.keep(memory(owner=ADA))
    key = str(uuid4())
    # The receipt is written, the belief is locked; what stands in the way comes after them.
    async with blocked(own_database_url, "events"):
        async with listener.sending((await writes(listener, record, key))[kind]):
            await until_waiting(own_database_url, 1)
        await until_waiting(own_database_url, 0)
        await until_idle(store)
    async with connected(own_database_url) as connection:
        assert 0 == await connection.fetchval("select count(*) from receipts")
        assert 0 == await connection.fetchval("select count(*) from rejections")
        assert 0 == await connection.fetchval("select count(*) from tombstones")
    assert record == await find(store, ADA, record.id)


@pytest.mark.parametrize("kind", ["review", "delete", "GraphQL"])
async def test_a_write_whose_client_leaves_at_any_moment_is_there_with_its_receipt_or_not_at_all(
    listener: Listening, store: PostgresStore, own_database_url: str, kind: str
) -> None:
    records = await listener.gateway.keep(*(memory(f"Rows boat {number}", owner=ADA) for number in range(40)))
    for number, record in enumerate(records):
        async with listener.sending((await writes(listener, record, str(record.id)))[kind]):
            await asyncio.sleep(number / 4000)
    await until_idle(store)
    async with connected(own_database_url) as connection:
        receipts = {row["memory_id"] for row in await connection.fetch("select memory_id from receipts")}
        written = {row["memory_id"] for row in await connection.fetch("select memory_id from events")}
        untouched = {row["id"] for row in await connection.fetch("select id from beliefs where revision = 1")}
    assert receipts == written
    assert {record.id for record in records} == receipts ^ untouched
