"""Pages of named origins may read answers, never with the browser's credentials; to all others nothing is said."""

from collections.abc import AsyncIterator

import httpx
import pytest

from gateway.http.policy import Policy
from store.inmemory.store import InMemoryStore
from tests.factories import identifier, owner
from tests.gateways import Gateway, serving

ORIGIN = "https://browser.example"
PATHS = ("/graphql", "/v1/memories", f"/v1/memories/{identifier(1)}", f"/v1/memories/{identifier(1)}/review", "/livez")


@pytest.fixture
async def gateway() -> AsyncIterator[Gateway]:
    async with serving(InMemoryStore(), policy=Policy(origins=(ORIGIN,))) as gateway:
        yield gateway


async def preflight(gateway: Gateway, path: str, origin: str, method: str = "POST", **more: str) -> httpx.Response:
    headers = {"origin": origin, "access-control-request-method": method, **more}
    async with gateway.client() as client:
        return await client.options(path, headers=headers)


def told(response: httpx.Response) -> dict[str, str]:
    """What a browser is told about other origins."""
    return {name: value for name, value in response.headers.items() if name.startswith("access-control-")}


@pytest.mark.parametrize("path", PATHS)
async def test_a_preflight_of_a_named_origin_is_allowed_on_every_path(gateway: Gateway, path: str) -> None:
    asked = {"access-control-request-headers": "authorization, content-type, idempotency-key, x-query-cost"}
    response = await preflight(gateway, path, ORIGIN, **asked)
    assert (204, b"") == (response.status_code, response.content)
    assert ORIGIN == response.headers["access-control-allow-origin"]
    assert "DELETE" in response.headers["access-control-allow-methods"]
    assert "access-control-allow-credentials" not in response.headers
    assert "Origin" in response.headers["vary"]
    assert response.headers["x-request-id"]


@pytest.mark.parametrize(
    ("origin", "method", "more"),
    [
        ("https://evil.example", "POST", {}),
        ("null", "POST", {}),
        (f"{ORIGIN}.evil.example", "POST", {}),
        ("http://browser.example", "POST", {}),
        (ORIGIN, "PUT", {}),
        (ORIGIN, "POST", {"access-control-request-headers": "cookie"}),
    ],
)
async def test_any_other_preflight_is_told_nothing(
    gateway: Gateway, origin: str, method: str, more: dict[str, str]
) -> None:
    response = await preflight(gateway, "/graphql", origin, method, **more)
    assert (204, b"", {}) == (response.status_code, response.content, told(response))


async def test_answers_and_refusals_can_be_read_by_a_page_of_a_named_origin(gateway: Gateway) -> None:
    headers = {"origin": ORIGIN, "authorization": f"Bearer {await gateway.secret(owner())}"}
    async with gateway.client() as client:
        answers = [
            await client.post("/graphql", json={"query": "{ viewer { scopes } }"}, headers=headers),
            await client.get("/v1/memories?ceiling=public", headers=headers),
            await client.get("/v1/memories?ceiling=public", headers={"origin": ORIGIN}),
            await client.get("/nothing", headers=headers),
        ]
        foreign = await client.get("/v1/memories", headers={**headers, "origin": "https://evil.example"})
    assert [200, 200, 401, 404] == [answer.status_code for answer in answers]
    for answer in answers:
        assert ORIGIN == answer.headers["access-control-allow-origin"]
        exposed = answer.headers["access-control-expose-headers"]
        assert {"X-Request-Id", "Retry-After", "RateLimit-Remaining"} <= set(exposed.split(", "))
        assert "access-control-allow-credentials" not in answer.headers
        assert "Origin" in answer.headers["vary"]
    assert "access-control-allow-origin" not in foreign.headers


async def test_by_default_no_origin_is_told_anything() -> None:
    async with serving(InMemoryStore()) as gateway:
        for path in PATHS:
            assert {} == told(await preflight(gateway, path, ORIGIN))
        async with gateway.client() as client:
            assert {} == told(await client.get("/v1/memories", headers={"origin": ORIGIN}))
