"""How many statements reach PostgreSQL for one answer, counted where the driver is handed them."""

import pytest

from gateway.observability.exchanges import ExchangeReports
from gateway.observability.metrics import GatewayMetrics
from store.domain.vocabulary import STORED_STATUSES, MemoryStatus
from store.postgres.store import PostgresStore
from tests.factories import identifier, memory, owner
from tests.gateways import serving
from tests.outsiders.watching import watching
from tests.worlds import keep

pytestmark = pytest.mark.postgres

PAGE = 200
QUERY = """query($statuses: [MemoryStatus!]) {
    memories(ceiling: RESTRICTED, first: 200, statuses: $statuses) {
        nodes {
            id
            conflictsWithMemories { id statement }
            supersededByMemory { id statement }
            supersedes { id statement }
        }
    }
}"""


async def test_a_page_of_200_with_all_its_links_takes_at_most_four_statements(postgres_store: PostgresStore) -> None:
    ids = [identifier(number) for number in range(1, PAGE + 1)]
    # Each belief conflicts with its neighbour; every fourth is superseded by the one before it.
    records = [
        memory(
            f"Fact {number}",
            id=id,
            conflicts_with=(ids[number ^ 1],),
            status=MemoryStatus.SUPERSEDED if number % 4 == 3 else MemoryStatus.ACTIVE,
            superseded_by=ids[number - 1] if number % 4 == 3 else None,
        )
        for number, id in enumerate(ids)
    ]
    metrics = GatewayMetrics()
    async with serving(postgres_store, exchanges=ExchangeReports(metrics), measures=metrics) as gateway:
        await keep(postgres_store, *records)
        body = {"query": QUERY, "variables": {"statuses": [status.name for status in sorted(STORED_STATUSES)]}}
        async with gateway.client() as client:
            client.headers["authorization"] = f"Bearer {await gateway.secret(owner())}"
            await client.post("/graphql", json={"query": "{ viewer { scopes } }"})
            with watching(metrics) as traces:
                answer = await client.post("/graphql", json=body)

    nodes = answer.json()["data"]["memories"]["nodes"]
    assert len(nodes) == PAGE
    assert sum(len(node["conflictsWithMemories"]) for node in nodes) == PAGE
    assert sum(node["supersededByMemory"] is not None for node in nodes) == PAGE // 4
    assert sum(len(node["supersedes"]) for node in nodes) == PAGE // 4
    [transaction] = traces.transactions
    assert len(transaction[:-1]) <= 4
