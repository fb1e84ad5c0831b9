"""A gateway that is told to stop: not ready first, then no new work, and what is under way ends within a bound."""

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from uuid import uuid4

import httpx
import pytest

from gateway.http.deadlines import Deadlines
from gateway.service.demonstration import DEMO_OWNERS
from store.postgres.store import PostgresStore
from tests.e2e.processes import Place, Server, new_place
from tests.factories import memory, owner
from tests.faults.listening import Listening, listening, read_answer, request
from tests.faults.obstacles import blocked, connected, eventually, until_idle, until_waiting
from tests.gateways import serving

pytestmark = [pytest.mark.e2e, pytest.mark.postgres]

ADA = owner()
GRACE_SECONDS = 0.5
BROWSE = "/v1/memories?ceiling=restricted"
CLIENTS = 4
ATTEMPTS_MAX = 200


@pytest.fixture
async def store(own_database_url: str) -> AsyncIterator[PostgresStore]:
    store = PostgresStore(own_database_url)
    yield store
    await store.close()


@pytest.fixture
def deadlines() -> Deadlines:
    return Deadlines(30)


@pytest.fixture
async def listener(store: PostgresStore, deadlines: Deadlines) -> AsyncIterator[Listening]:
    async with serving(store, deadlines=deadlines) as gateway, listening(gateway) as listener:
        await gateway.keep(memory(owner=ADA))
        await gateway.tokens.resolve(await gateway.secret(ADA))
        yield listener


async def test_it_is_not_ready_before_it_takes_no_more(listener: Listening, deadlines: Deadlines) -> None:
    secret = await listener.gateway.secret(ADA)
    before = request("GET", "/readyz", secret=secret)
    async with listener.sending(before) as reader:
        assert 200 == (await read_answer(reader))[0]
    deadlines.announce_end()
    answers = []
    for target in ("/readyz", "/livez", BROWSE):
        async with listener.sending(request("GET", target, secret=secret)) as reader:
            answers.append(await read_answer(reader))
            # Whoever keeps connections is to make the next one elsewhere.
            assert b"" == await reader.read()
    assert [503, 200, 200] == [status for status, _, _ in answers]
    assert ["close"] * 3 == [headers["connection"] for _, headers, _ in answers]


async def test_what_is_under_way_ends_and_nothing_else_is_begun(
    listener: Listening, deadlines: Deadlines, own_database_url: str
) -> None:
    sent = request("GET", BROWSE, secret=await listener.gateway.secret(ADA))
    async with AsyncExitStack() as stack:
        async with blocked(own_database_url, "beliefs"):
            reader = await stack.enter_async_context(listener.sending(sent, sent))
            idle = await stack.enter_async_context(listener.sending())
            await until_waiting(own_database_url, 1)
            deadlines.end(30)
            listener.server.end()
            with pytest.raises(OSError, match="Connect call failed"):
                await asyncio.open_connection("127.0.0.1", listener.port)
            assert b"" == await idle.read()
        status, headers, _ = await read_answer(reader)
        # Behind an answer that closes the connection nothing was begun: it may be sent again elsewhere.
        assert b"" == await reader.read()
    assert (200, "close") == (status, headers["connection"])


async def test_a_request_that_comes_in_nevertheless_is_refused(listener: Listening, deadlines: Deadlines) -> None:
    deadlines.end(30)
    async with listener.gateway.client() as client:
        client.headers["authorization"] = f"Bearer {await listener.gateway.secret(ADA)}"
        answers = [
            await client.get(BROWSE),
            await client.delete(f"/v1/memories/{uuid4()}?ceiling=public", headers={"idempotency-key": "a-key"}),
            await client.post("/graphql", json={"query": "{ gateway { version } }"}),
        ]
    for answer in answers:
        assert (503, "close", "1") == (answer.status_code, answer.headers["connection"], answer.headers["retry-after"])
        assert '"unavailable"' in answer.text


@pytest.mark.parametrize("target", [BROWSE, "/graphql?query={memoryOverview(ceiling:PUBLIC){statuses{count}}}"])
async def test_what_takes_longer_than_the_grace_is_unavailable(
    listener: Listening, deadlines: Deadlines, store: PostgresStore, own_database_url: str, target: str
) -> None:
    sent = request("GET", target, secret=await listener.gateway.secret(ADA))
    async with blocked(own_database_url, "beliefs"), listener.sending(sent) as reader:
        await until_waiting(own_database_url, 1)
        deadlines.end(GRACE_SECONDS)
        listener.server.end()
        async with asyncio.timeout(GRACE_SECONDS + 2):
            status, headers, body = await read_answer(reader)
        await until_waiting(own_database_url, 0)
        await until_idle(store)
    assert (503, "close", "1") == (status, headers["connection"], headers["retry-after"])
    assert b'"unavailable"' in body


@pytest.fixture
async def place() -> AsyncIterator[Place]:
    async with new_place() as place:
        yield place


async def is_not_ready(server: Server) -> bool:
    return (await server.ask("GET", "/readyz")).status_code == 503


async def test_a_signal_leaves_time_to_be_taken_out(place: Place, own_database_url: str) -> None:
    async with place.started(database_url=own_database_url, drain_seconds="2") as server:
        server.process.terminate()
        await eventually(lambda: is_not_ready(server))
        assert 200 == (await server.ask("GET", "/livez")).status_code
        await server.stop()


class Retrying:
    """A client of several gateways that goes to the next one when a connection fails, and never for an answer."""

    def __init__(self, servers: list[Server], token: str) -> None:
        self._servers = servers
        self._token = token
        self.retried = 0

    async def send(self, method: str, target: str, key: str) -> httpx.Response:
        for attempt in range(ATTEMPTS_MAX):
            server = self._servers[attempt % len(self._servers)]
            try:
                async with server.client(self._token) as client:
                    return await client.request(method, target, headers={"idempotency-key": key})
            except httpx.TransportError:
                self.retried += 1
                await asyncio.sleep(0.01)
        raise AssertionError("no gateway took the request")


async def test_a_rolling_restart_loses_no_request(place: Place, own_database_url: str) -> None:
    # Without a rate limit: one principal asks as fast as the servers answer.
    settings = {"database_url": own_database_url, "log_level": "warning", "rate_limit_cost_per_minute": "0"}
    async with AsyncExitStack() as stack:
        servers = [await stack.enter_async_context(place.started(**settings)) for _ in range(2)]
        token = place.token(DEMO_OWNERS[0])
        async with connected(own_database_url) as connection:
            rows = await connection.fetch(
                "select id from beliefs where tenant_id = $1 and principal_id = $2",
                DEMO_OWNERS[0].tenant,
                DEMO_OWNERS[0].principal,
            )
        deletable = [row["id"] for row in rows][:40]
        has_restarted = asyncio.Event()
        statuses: list[int] = []
        clients = [Retrying(servers, token) for _ in range(CLIENTS)]

        async def ask(client: Retrying) -> None:
            for number in itertools.count():
                if has_restarted.is_set():
                    return
                writes = number % 5 == 0 and deletable
                method, target = ("DELETE", f"/v1/memories/{deletable.pop()}") if writes else ("GET", "/v1/memories")
                answer = await client.send(method, f"{target}?ceiling=restricted", str(uuid4()))
                statuses.append(answer.status_code)
                assert answer.status_code == 204 or answer.json()["items"]

        asking = asyncio.gather(*map(ask, clients))
        for number in range(2):
            await servers[number].stop()
            servers[number] = await stack.enter_async_context(place.started(**settings))
        has_restarted.set()
        await asking
    assert {200, 204} == set(statuses)
    assert sum(client.retried for client in clients)
