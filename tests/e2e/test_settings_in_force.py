"""The program does what its settings say, and what it does beside the requests: each seen from outside of it.

What a setting means is tested where it is implemented; here, that the program hands it on.
"""

import json
import threading
from collections.abc import AsyncIterator, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import pytest

from gateway.graphql.documents import hash_of
from gateway.http.deadlines import DEADLINE_SECONDS
from gateway.service.demonstration import DEMO_OWNERS
from store.domain.vocabulary import MemoryStatus
from store.postgres.codes import STATUS_CODES
from tests.e2e.processes import Place, Server, new_place
from tests.faults.obstacles import Connection, blocked, connected, eventually

pytestmark = [pytest.mark.e2e, pytest.mark.postgres]

MARA = DEMO_OWNERS[0]
LIST = "/v1/memories?ceiling=restricted"
ORIGIN = "https://browser.example"
SCHEMA = "{ __schema { queryType { name } } }"
LIVE = [STATUS_CODES[status] for status in (MemoryStatus.PROVISIONAL, MemoryStatus.ACTIVE)]
DUE = "select true from beliefs where status = any($1) and ends_at <= now() limit 1"
CLEARED = "select vacuum_count > 0 from pg_stat_user_tables where relname = 'beliefs'"


@pytest.fixture
async def place() -> AsyncIterator[Place]:
    async with new_place() as place:
        yield place


class Collector(ThreadingHTTPServer):
    """Takes what OpenTelemetry sends, and keeps it by its path."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.received: list[tuple[str, bytes]] = []


class _Handler(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers["content-length"]))
        self.server.received.append((self.path, content))
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Stay silent."""


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    """A collector of traces, which the environment names."""
    with Collector() as collector:
        thread = threading.Thread(target=collector.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{collector.server_address[1]}")
        try:
            yield collector
        finally:
            collector.shutdown()
            thread.join()


async def status_without_credential(server: Server, address: str) -> int:
    """The status of a request with a wrong token that a proxy says is from an address."""
    async with server.client("wrong") as client:
        return (await client.get(LIST, headers={"x-forwarded-for": address})).status_code


async def test_strangers_may_do_what_the_settings_say_and_are_traced(
    place: Place, own_database_url: str, collector: Collector
) -> None:
    manifest = place.directory / "manifest.json"
    manifest.write_text(json.dumps({hash_of(SCHEMA): SCHEMA}))
    settings = {
        "documents": str(manifest),
        "documents_mode": "only",
        "introspection": "public",
        "cors_origins": ORIGIN,
        "trusted_proxies": "127.0.0.0/8",
        "rate_limit_failed_authentications_per_minute": "3",
        "browser_enabled": "false",
    }
    async with place.serving(database_url=own_database_url, **settings) as server:
        trusted = {"documentId": f"sha256:{hash_of(SCHEMA)}"}
        async with server.client() as stranger, server.client(place.token(MARA)) as client:
            told = (await stranger.post("/graphql", json=trusted)).json()
            [refused] = (await client.post("/graphql", json={"query": "{ viewer { scopes } }"})).json()["errors"]
            shown = await client.get(LIST, headers={"origin": ORIGIN})
            page = await stranger.get("/")
            # Public introspection counted as one request of no credential, of the address that asked.
            statuses = [await status_without_credential(server, "192.0.2.1") for _ in range(4)]
            elsewhere = await status_without_credential(server, "192.0.2.2")

    assert {"__schema": {"queryType": {"name": "Query"}}} == told["data"]
    assert "PERSISTED_QUERY_NOT_FOUND" == refused["extensions"]["classification"]
    assert ORIGIN == shown.headers["access-control-allow-origin"]
    assert 404 == page.status_code
    assert ([401, 401, 401, 429], 401) == (statuses, elsewhere)
    assert {"/v1/traces"} == {path for path, _ in collector.received}
    spans = b"".join(content for _, content in collector.received)
    assert all(name in spans for name in (b"POST /graphql", b"GET /v1/memories", b"store memories.browse_encoded"))
    item = shown.json()["items"][0]
    assert [] == [name for name in ("id", "subject", "statement") if item[name].encode() in spans]


def values(metrics: str, name: str) -> dict[str, float]:
    """The samples of a metric at /metrics by their labels, as they are written there."""
    lines = [line.removeprefix(name).rpartition(" ") for line in metrics.splitlines() if line.startswith(f"{name}{{")]
    return {labels: float(value) for labels, _, value in lines}


async def is_counted(server: Server, name: str, labels: str) -> bool:
    """Whether a sample is there and is not 0."""
    return values(await server.metrics(), name).get(labels, 0) > 0


async def is_kept_in_order(connection: Connection) -> bool:
    """Whether nothing that has run out is stored as live, and the table was cleared."""
    return not await connection.fetchval(DUE, LIVE) and bool(await connection.fetchval(CLEARED))


async def is_reviewed(client: httpx.AsyncClient, id: str) -> bool:
    """Whether a review that needs the hash key is taken; the gateway refuses it until it has taken the key up."""
    target, headers = f"/v1/memories/{id}/review?ceiling=restricted", {"idempotency-key": "untrue"}
    answer = await client.post(target, headers=headers, json={"outcome": "untrue"})
    assert answer.status_code in {200, 503}
    return answer.status_code == 200


async def test_work_is_bounded_as_the_settings_say_and_goes_on_beside_the_requests(
    place: Place, own_database_url: str
) -> None:
    settings = {
        "rate_limit_cost_per_minute": "1234567",
        "request_deadline_seconds": "2",
        "pool_size": "3",
        "pool_wait_seconds": "60",
        "introspection": "off",
    }
    async with (
        place.serving(database_url=own_database_url, **settings) as server,
        server.client(place.token(MARA)) as client,
        connected(own_database_url) as connection,
    ):
        await eventually(lambda: is_kept_in_order(connection))
        page = await client.get(LIST)
        async with blocked(own_database_url, "beliefs"):
            # Long before the deadline that a request has by default.
            late = await client.get(LIST, timeout=DEADLINE_SECONDS / 2)
        [refused] = (await client.post("/graphql", json={"query": SCHEMA})).json()["errors"]
        # Of one look: a task in the background may take a connection between two.
        connections = values(await server.metrics(), "belief_gateway_pool_connections")

        await eventually(lambda: is_counted(server, "belief_gateway_swept_total", '{kind="expired"}'))
        await eventually(lambda: is_counted(server, "belief_gateway_stored_beliefs", '{sensitivity="restricted"}'))
        await place.run("key", "rotate", database_url=own_database_url)
        key = (await place.run("key", "activate", database_url=own_database_url)).output.strip()
        id = page.json()["items"][0]["id"]
        await eventually(lambda: is_reviewed(client, id))
        hashed_with = await connection.fetchval("select key_id from rejections where memory_id::text = $1", id)

    assert (200, "1234567") == (page.status_code, page.headers["ratelimit-limit"])
    assert (503, "the request took too long") == (late.status_code, late.json()["error"]["message"])
    assert "introspection is off at this server" == refused["message"]
    assert 3 == sum(connections.values())
    assert key == hashed_with
