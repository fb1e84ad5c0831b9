"""What a request reads of the database does not grow by what is hidden: every statement of every read, as it ran.

But for a search by text, which walks along everything that was formed and stops early: what it may read is bounded by
`tests/integration/test_plans.py`, whatever is hidden.
"""

import json

import asyncpg
import httpx
import pytest
from sqlalchemy.engine import make_url
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine

from gateway.observability.metrics import GatewayMetrics
from store.postgres.store import PostgresStore
from tests.gateways import serving
from tests.outsiders.watching import Sent, watching
from tests.plans import Plan, World, fill

pytestmark = pytest.mark.postgres

ROWS, SHOWN_OF = 12_000, 120
"""One row in so many is shown, and lies on a page of its own."""
WORLD = World(
    name="ada", rows=ROWS, sensitivity=f"case when i % {SHOWN_OF} = 0 then 0 else 3 end", status="2", flagged="true"
)
SPARE = 12
"""Pages of indexes that are higher for more rows."""
PAGE_SIZE = 10
SHOWN = ROWS // SHOWN_OF
QUERIES = {
    "page": (
        "memories(ceiling: PUBLIC, first: 10) { nodes { id supersedes { id } conflictsWithMemories { id } } }",
        PAGE_SIZE,
    ),
    "page back": (
        "memories(ceiling: PUBLIC, last: 10) { pageInfo { hasNextPage hasPreviousPage } nodes { id } }",
        PAGE_SIZE,
    ),
    "flagged": ("memories(ceiling: PUBLIC, first: 10, flagged: true) { nodes { id } }", PAGE_SIZE),
    "count": ("memories(ceiling: PUBLIC, first: 1) { totalCount }", SHOWN),
    "overview": ("memoryOverview(ceiling: PUBLIC) { flaggedForReview statuses { count } months { count } }", SHOWN),
}
"""What is asked, and how many pages may lie apart that lay together: one for each row that is looked at."""


@pytest.fixture
async def full_and_bare(postgres_store: PostgresStore, database_url: str, own_database_url: str) -> tuple[str, str]:
    """Two databases of the same rows, from the second of which the hidden ones are gone."""
    for url in (database_url, own_database_url):
        connection = await asyncpg.connect(
            make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
        )
        await fill(connection, WORLD)
        if url is own_database_url:
            await connection.execute("delete from beliefs where sensitivity > 0")
        await connection.execute("vacuum analyze beliefs")
        await connection.close()
    return database_url, own_database_url


async def plans(connection: AsyncConnection, sent: list[Sent]) -> list[Plan]:
    """How the statements of a request run."""
    explained = []
    for each in sent:
        if each.parameters is not None and each.statement.lstrip().lower().startswith(("select", "with")):
            answer = await connection.exec_driver_sql(
                f"explain (analyze, buffers, format json) {each.statement}", each.parameters
            )
            told = answer.scalar_one()
            explained.append(Plan((json.loads(told) if isinstance(told, str) else told)[0]["Plan"]))
    return explained


async def test_what_is_hidden_is_not_read(full_and_bare: tuple[str, str], postgres_store: PostgresStore) -> None:
    metrics = GatewayMetrics()
    async with serving(postgres_store, measures=metrics) as gateway, gateway.client() as client:
        client.headers["authorization"] = f"Bearer {await gateway.secret(WORLD.owner)}"
        sent = {name: await statements(client, metrics, query) for name, (query, _) in QUERIES.items()}
    told = {}
    for url in full_and_bare:
        engine = create_async_engine(url)
        async with engine.connect() as connection:
            told[url] = {name: await plans(connection, each) for name, each in sent.items()}
        await engine.dispose()
    full, bare = (told[url] for url in full_and_bare)
    for name, (_, rows) in QUERIES.items():
        assert full[name], name
        for with_hidden, without in zip(full[name], bare[name], strict=True):
            assert with_hidden.buffers <= without.buffers + rows + SPARE, name
            assert with_hidden.rows_removed <= without.rows_removed + SPARE, name


async def statements(client: httpx.AsyncClient, metrics: GatewayMetrics, query: str) -> list[Sent]:
    """What one question sends."""
    with watching(metrics) as traces:
        response = await client.post("/graphql", json={"query": f"{{ {query} }}"})
    assert {"data"} == set(response.json()), response.text
    return traces.statements
