"""What is told of each HTTP exchange: the route's template, never the target, and nothing of its content.

Source: belief store decisions, Metrics.
"""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

from starlette.types import ASGIApp, Message, Receive, Scope, Send

NO_ROUTE = "none"
"""The template of an exchange that met no route."""
OTHER_METHOD = "OTHER"
"""A method that HTTP does not know: a label must not hold what a caller made up."""
NO_OPERATION = "none"
"""The operation of an exchange that is none of GraphQL's."""
OTHER_OPERATION = "other"
"""An operation whose name a caller may have made up: it is in no document that the operator trusts."""
MEMORY_SURFACE = "memory"
"""How reports name the surface of beliefs: what lies under /v1/memories, and its root fields in GraphQL."""
DERIVED_SURFACE = "derived"
"""How reports name the surface of derived records: its root fields in GraphQL."""
EVIDENCE_SURFACE = "evidence"
"""How reports name the surface of evidence: what lies under /api/v1, and its root field in GraphQL."""
METHODS = frozenset({"CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE"})

_OPERATION_KEY = "graphql_operation"


class Exchanges(Protocol):
    """Where exchanges are reported, for logs, metrics and traces."""

    def under_way(self) -> AbstractContextManager[None]:
        """What surrounds one exchange, its record included."""
        ...

    def record(self, route: str, method: str, status: int, seconds: float, *, operation: str) -> None:
        """One exchange: the template of its route, its method, the status answered, how long it took.

        `operation` is the name of a GraphQL operation that the operator trusts, or says that it is none.
        """
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

    def under_way(self) -> AbstractContextManager[None]:
        """Surround the exchange with nothing."""
        return nullcontext()

    def record(self, route: str, method: str, status: int, seconds: float, *, operation: str) -> None:
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

        with self._exchanges.under_way():
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
                    operation=scope.get(_OPERATION_KEY, NO_OPERATION),
                )


def note_operation(scope: Scope, operation: str) -> None:
    """Have the exchange of this scope reported as one of a GraphQL operation."""
    scope[_OPERATION_KEY] = operation
