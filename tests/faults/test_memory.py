"""The memory of the process is flat over many requests, hostile ones among them."""

import asyncio
import itertools
import json
import random
from asyncio import StreamReader, StreamWriter
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
from uuid import UUID, uuid4

import psutil
import pytest

from tests.e2e.processes import Server, demo_place
from tests.faults.listening import read_answer, request
from tests.faults.loads import OWNER, load_of

pytestmark = [pytest.mark.e2e, pytest.mark.postgres]

CLIENTS = 4
UNLIMITED = {"rate_limit_cost_per_minute": "0", "rate_limit_failed_authentications_per_minute": "0"}
GROWTH_BYTES_MAX = 24 * 1024 * 1024
Request = tuple[str, str, dict[str, str], bytes]
JSON = {"content-type": "application/json"}


def graphql(query: str, **variables: object) -> Request:
    return "POST", "/graphql", JSON, json.dumps({"query": query, "variables": variables}).encode()


def request_of(ids: list[UUID], number: int) -> Request:
    """One request of a mix in which no two documents, ids, keys, paths or tokens need be the same."""
    chance = random.Random(number)
    id, fresh = chance.choice(ids), uuid4().hex
    kinds: list[Callable[[], Request]] = [
        lambda: ("GET", f"/v1/memories?ceiling=restricted&limit={chance.randint(1, 50)}", {}, b""),
        lambda: ("GET", f"/v1/memories?ceiling=internal&text={fresh}", {}, b""),
        lambda: ("GET", f"/v1/memories/{id}?ceiling=restricted", {}, b""),
        lambda: ("GET", f"/v1/memories/{uuid4()}?ceiling=restricted", {}, b""),
        lambda: ("GET", f"/{fresh}", {}, b""),
        lambda: ("GET", "/v1/memories?ceiling=public", {"authorization": f"Bearer {fresh}"}, b""),
        lambda: (f"X{fresh}"[:12], "/v1/memories", {}, b""),
        lambda: (
            "POST",
            f"/v1/memories/{id}/review?ceiling=restricted",
            {**JSON, "idempotency-key": fresh},
            b'{"outcome": "untrue"}',
        ),
        lambda: ("POST", f"/v1/memories/{id}/review?ceiling=restricted", JSON, b"\xff" * 4096),
        lambda: graphql(
            f"query Q{fresh} {{ memories(ceiling: RESTRICTED, first: 20) {{ nodes {{ id statement }} }} }}"
        ),
        lambda: graphql(f"{{ {fresh[:8]}: nothing{fresh} }}"),
        lambda: graphql("{" + "a{" * 2_000),
        lambda: graphql("query ($id: ID!) { memory(id: $id, ceiling: PUBLIC) { id } }", id=fresh, **{fresh: fresh}),
        lambda: graphql(" ".join(f"fragment F{n} on Query {{ ...F{n + 1} ...F{n + 1} }}" for n in range(20))),
        lambda: ("POST", "/graphql", JSON, b"[" * 5_000),
        lambda: ("POST", "/graphql", JSON, b'{"query": "' + b"x" * 100_000),
    ]
    return chance.choice(kinds)()


async def send(server: Server, token: str, ids: list[UUID], numbers: Iterator[int]) -> Counter[int]:
    """Send requests on one connection after the other, by hand: a client library takes longer than the gateway."""
    statuses: Counter[int] = Counter()
    async with AsyncExitStack() as stack:
        connection: tuple[StreamReader, StreamWriter] | None = None
        for number in numbers:
            if connection is None:
                connection = await asyncio.open_connection(*server.address)
                stack.callback(connection[1].close)
            reader, writer = connection
            method, target, headers, body = request_of(ids, number)
            writer.write(request(method, target, secret=token, headers=headers, content=body))
            status, answered, _ = await read_answer(reader)
            statuses[status] += 1
            if answered.get("connection") == "close":
                writer.close()
                connection = None
    return statuses


@pytest.mark.parametrize("count", [5_000, pytest.param(100_000, marks=pytest.mark.long)])
async def test_memory_is_flat(count: int) -> None:
    async with demo_place() as place, place.started(log_level="error", **UNLIMITED) as server:
        async with place.connected() as connection:
            ids = (await load_of(connection)).ids
        process = psutil.Process(server.process.pid)
        numbers = iter(range(count))

        async def burst(length: int) -> Counter[int]:
            shared = itertools.islice(numbers, length)
            parts = await asyncio.gather(*(send(server, place.token(OWNER), ids, shared) for _ in range(CLIENTS)))
            return sum(parts, Counter())

        # Caches fill, pools open, and the allocator settles.
        await burst(count // 2)
        before = process.memory_info().rss
        statuses = await burst(count // 2)
        grown = process.memory_info().rss - before
        await server.stop()
    assert grown < GROWTH_BYTES_MAX
    assert {200, 400, 401, 404} <= set(statuses)
    assert not [status for status in statuses if status >= 500], statuses
