"""A path and its methods: HEAD counts as its GET, OPTIONS tells what is allowed, anything else is refused.

Source: belief store decisions, Errors (order of failures).
"""

from collections.abc import Awaitable, Callable, Mapping

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from gateway.http.errors import TransportError
from gateway.http.presence import deadline_of
from gateway.rest.rendering import empty_response
from gateway.service.errors import ErrorCode

Handler = Callable[[Request], Awaitable[Response]]


class Resource:
    """The endpoint of one path. Methods are judged before credentials are looked at."""

    def __init__(self, handlers: Mapping[str, Handler]) -> None:
        """Serve these methods, in upper case."""
        self.handlers: Mapping[str, Handler] = (
            {"GET": handlers["GET"], "HEAD": handlers["GET"], **handlers} if "GET" in handlers else dict(handlers)
        )
        self.allow = ", ".join((*self.handlers, "OPTIONS"))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one exchange.

        Raises TransportError for a method that the path does not have, Unavailable at the deadline.
        """
        response = await self._answer(Request(scope, receive))
        await response(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        if request.method == "OPTIONS":
            return empty_response({"allow": self.allow})
        handler = self.handlers.get(request.method)
        if handler is None:
            raise TransportError(ErrorCode.METHOD_NOT_ALLOWED, f"this path allows {self.allow}", {"allow": self.allow})
        async with deadline_of(request).kept():
            return await handler(request)
