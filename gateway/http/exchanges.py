"""What is told of each HTTP exchange: the route's template, never the target, and nothing of its content.

Source: belief store decisions, Metrics.
"""

import time
from collections.abc import Callable
from typing import Protocol

from starlette.types import ASGIApp, Message, Receive, Scope, Send

NO_ROUTE = "none"
"""The template of an exchange that met no route."""
OTHER_METHOD = "OTHER"
"""A method that HTTP does not know: a label must not hold what a caller made up."""
METHODS = frozenset({"CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE"})


class Exchanges(Protocol):
    """Where exchanges are reported, for logs and metrics."""

    def record(self, route: str, method: str, status: int, seconds: float) -> None:
        """One exchange: the template of its route, its method, the status answered, how long it took."""
        ...

    def not_mounted(self, surface: str) -> None:
        """One request for a surface that this server knows and does not serve."""
        ...

    def limit_exceeded(self, limit: str) -> None:
        """One request refused for its size, by the name of the limit."""
        ...

    def rate_limited(self, limit: str) -> None:
        """One request refused for `cost` or `failed_authentications` within the window."""
        ...

    def rate_limits_failed(self) -> None:
        """One failure of the storage in which the rate limits are counted."""
        ...


class NoExchanges:
    """Reports nothing."""

    def record(self, route: str, method: str, status: int, seconds: float) -> None:
        """Report nothing."""

    def not_mounted(self, surface: str) -> None:
        """Report nothing."""

    def limit_exceeded(self, limit: str) -> None:
        """Report nothing."""

    def rate_limited(self, limit: str) -> None:
        """Report nothing."""

    def rate_limits_failed(self) -> None:
        """Report nothing."""


class ExchangeMiddleware:
    """Reports every HTTP exchange once, when it has ended; one without an answer counts as 500."""

    def __init__(self, app: ASGIApp, exchanges: Exchanges, monotonic: Callable[[], float] = time.perf_counter) -> None:
        """Wrap an application; `monotonic` counts seconds."""
        self._app = app
        self._exchanges = exchanges
        self._monotonic = monotonic

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one exchange."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status = 500
        began_at = self._monotonic()

        async def send_noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, send_noting)
        finally:
            # The router has left its route in the scope, which it shares with us.
            route = scope.get("route")
            method = scope["method"]
            self._exchanges.record(
                NO_ROUTE if route is None else route.path_format,
                method if method in METHODS else OTHER_METHOD,
                status,
                self._monotonic() - began_at,
            )
