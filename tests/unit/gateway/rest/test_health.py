"""Whether the server lives and can serve, and how every path answers HEAD, OPTIONS and what it does not allow."""

import logging

import httpx
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware

from gateway.http.deadlines import Deadlines
from gateway.http.head import HeadMiddleware
from gateway.http.presence import PresenceMiddleware
from gateway.http.request_id import RequestIdMiddleware
from gateway.rest.errors import FailureMiddleware
from gateway.rest.health import health_routes
from store.ports.errors import StoreInconsistent, StoreUnavailable


def client(failure: Exception | None = None) -> httpx.AsyncClient:
    """A client of the health routes over a store that answers, or fails like this."""

    async def ready() -> None:
        if failure is not None:
            raise failure

    layers = [
        Middleware(RequestIdMiddleware),
        Middleware(PresenceMiddleware, deadlines=Deadlines()),
        Middleware(HeadMiddleware),
        Middleware(FailureMiddleware),
    ]
    app = Starlette(routes=health_routes(ready=ready), middleware=layers)
    return httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://gateway.test")


@pytest.mark.parametrize("path", ["/livez", "/readyz"])
async def test_a_healthy_server_says_so(path: str) -> None:
    async with client() as healthy:
        response = await healthy.get(path)

    assert (200, {"status": "ok"}) == (response.status_code, response.json())
    assert "private, no-store" == response.headers["cache-control"]


@pytest.mark.parametrize("failure", [StoreUnavailable("gone"), StoreInconsistent("old"), RuntimeError("secret words")])
async def test_a_server_without_its_store_is_alive_and_not_ready(
    failure: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        async with client(failure) as failing:
            alive = await failing.get("/livez")
            response = await failing.get("/readyz")

    assert 200 == alive.status_code
    assert 503 == response.status_code
    assert {
        "code": "unavailable",
        "message": "the store is not ready",
        "details": {},
        "request_id": response.headers["x-request-id"],
    } == response.json()["error"]
    assert "1" == response.headers["retry-after"]
    assert "secret words" not in response.text + caplog.text


async def test_head_counts_as_its_get() -> None:
    async with client() as healthy:
        got = await healthy.get("/livez", headers={"x-request-id": "one"})
        head = await healthy.head("/livez", headers={"x-request-id": "one"})

    assert (200, got.headers, b"") == (head.status_code, head.headers, head.content)
    assert str(len(got.content)) == head.headers["content-length"]


async def test_a_path_tells_what_it_allows() -> None:
    async with client() as healthy:
        options = await healthy.options("/livez")
        posted = await healthy.post("/livez")

    assert (204, "GET, HEAD, OPTIONS", b"") == (options.status_code, options.headers["allow"], options.content)
    assert (405, "GET, HEAD, OPTIONS") == (posted.status_code, posted.headers["allow"])
    assert "method_not_allowed" == posted.json()["error"]["code"]
