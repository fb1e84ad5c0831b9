"""The memory of the process is flat over many requests, hostile ones among them."""

import asyncio
import itertools
import json
import random
from collections import Counter
from collections.abc import Callable
from uuid import UUID, uuid4

import httpx
import psutil
import pytest

from tests.e2e.processes import new_place
from tests.faults.loads import OWNER, load_of

pytestmark = [pytest.mark.e2e, pytest.mark.postgres]

CLIENTS = 4
GROWTH_BYTES_MAX = 24 * 1024 * 1024
Request = tuple[str, str, dict[str, str], bytes]
JSON = {"content-type": "application/json"}


def graphql(query: str, **variables: object) -> Request:
    return "POST", "/graphql", JSON, json.dumps({"query": query, "variables": variables}).encode()


def requests_of(ids: list[UUID], number: int) -> Request:
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
        lambda: graphql(f"query Q{fresh} {{ memories(ceiling: RESTRICTED, first: 20) {{ nodes {{ id statement }} }} }}"),
        lambda: graphql(f"{{ {fresh[:8]}: nothing{fresh} }}"),
        lambda: graphql("{" + "a{" * 2_000),
        lambda: graphql("query ($id: ID!) { memory(id: $id, ceiling: PUBLIC) { id } }", id=fresh, **{fresh: fresh}),
        lambda: graphql(" ".join(f"fragment F{n} on Query {{ ...F{n + 1} ...F{n + 1} }}" for n in range(20))),
        lambda: ("POST", "/graphql", JSON, b"[" * 5_000),
        lambda: ("POST", "/graphql", JSON, b'{"query": "' + b"x" * 100_000),
    ]
    return chance.choice(kinds)()


async def send(client: httpx.AsyncClient, ids: list[UUID], numbers: "itertools.count[int]", last: int) -> Counter[int]:
    statuses: Counter[int] = Counter()
    while (number := next(numbers)) < last:
        method, target, headers, content = requests_of(ids, number)
        answer = await client.request(method, target, headers=headers, content=content)
        statuses[answer.status_code] += 1
    return statuses


@pytest.mark.parametrize("count", [5_000, pytest.param(100_000, marks=pytest.mark.long)])
async def test_memory_is_flat(count: int) -> None:
    async with new_place() as place, place.started(log_level="error") as server:
        async with place.connected() as connection:
            ids = (await load_of(connection)).ids
        process = psutil.Process(server.process.pid)

        async def burst(first: int, last: int) -> Counter[int]:
            numbers = itertools.count(first)
            async with server.client(place.token(OWNER)) as client:
                parts = await asyncio.gather(*(send(client, ids, numbers, last) for _ in range(CLIENTS)))
            return sum(parts, Counter())

        # Caches fill, pools open, and the allocator settles.
        await burst(0, count // 2)
        before = process.memory_info().rss
        statuses = await burst(count // 2, count)
        grown = process.memory_info().rss - before
        await server.stop()
    assert grown < GROWTH_BYTES_MAX
    assert {200, 400, 401, 404} <= set(statuses)
    assert not [status for status in statuses if status >= 500], statuses
    print(f"grew by {grown / 1024 / 1024:.1f} MiB over {count // 2} requests")
