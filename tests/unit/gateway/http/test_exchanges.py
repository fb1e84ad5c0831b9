"""What is told of an exchange: its template, method, status and duration, once, whatever became of it."""

import itertools

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gateway.http.exchanges import ExchangeMiddleware, NoExchanges


class Recorded(NoExchanges):
    """Keeps what is told."""

    def __init__(self) -> None:
        self.told: list[tuple[str, str, int, float, str]] = []

    def record(self, route: str, method: str, status: int, seconds: float, *, operation: str) -> None:
        """One exchange."""
        self.told.append((route, method, status, seconds, operation))


async def show(request: Request) -> Response:
    if request.path_params["id"] == "broken":
        raise LookupError
    return Response("shown", status_code=202)


@pytest.mark.parametrize(
    ("method", "path", "told"),
    [
        ("GET", "/things/heliotrope", ("/things/{id}", "GET", 202, 1.5, "none")),
        ("HEAD", "/things/heliotrope", ("/things/{id}", "HEAD", 202, 1.5, "none")),
        ("POST", "/things/heliotrope", ("/things/{id}", "POST", 405, 1.5, "none")),
        ("HELIOTROPE", "/things/heliotrope", ("/things/{id}", "OTHER", 405, 1.5, "none")),
        ("GET", "/heliotrope", ("none", "GET", 404, 1.5, "none")),
        ("GET", "/things/broken", ("/things/{id}", "GET", 500, 1.5, "none")),
    ],
)
async def test_an_exchange_is_told_once(method: str, path: str, told: tuple[str, str, int, float, str]) -> None:
    recorded = Recorded()
    ticks = itertools.count(10.0, 1.5)
    app = ExchangeMiddleware(Starlette(routes=[Route("/things/{id}", show)]), recorded, monotonic=lambda: next(ticks))
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)

    async with httpx.AsyncClient(transport=transport, base_url="http://gateway.test") as client:
        await client.request(method, path)

    assert [told] == recorded.told
