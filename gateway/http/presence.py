"""Watches beside the work whether the client is still there, and gives the work its deadline.

One that has gone takes the deadline with it. It is told only to who waits for the next message of the client, so the
watch begins where no message but that one can come: at once for a method whose body nobody reads, else behind the body.
Source: GraphQL over HTTP, Time and sockets.
"""

import asyncio

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateway.http.deadlines import Deadline, Deadlines

CLIENT_GONE = 499
"""What is reported for an answer that nobody received; nothing of this status is ever sent."""

_SCOPE_KEY = "deadline"
_BODILESS_METHODS = frozenset({"DELETE", "GET", "HEAD", "OPTIONS"})


def deadline_of(request: HTTPConnection) -> Deadline:
    """The deadline that the middleware gave the request, whichever transport serves it."""
    deadline: Deadline = request.scope[_SCOPE_KEY]
    return deadline


class PresenceMiddleware:
    """Gives every HTTP exchange its deadline, and abandons it when the client goes.

    While the server is about to stop, every answer closes its connection. It belongs inside what reports exchanges.
    """

    def __init__(self, app: ASGIApp, deadlines: Deadlines) -> None:
        """Wrap an application."""
        self._app = app
        self._deadlines = deadlines

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one exchange."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        with self._deadlines.begun() as deadline:
            scope[_SCOPE_KEY] = deadline

            async def send_noting(message: Message) -> None:
                if message["type"] == "http.response.start":
                    if deadline.is_abandoned:
                        message = {**message, "status": CLIENT_GONE}
                    elif self._deadlines.is_ending:
                        MutableHeaders(scope=message)["connection"] = "close"
                await send(message)

            client = _Client(receive, deadline)
            if scope["method"] in _BODILESS_METHODS:
                client.watch()
            try:
                await self._app(scope, client.receive, send_noting)
            finally:
                client.leave()


class _Client:
    """The client of one exchange: its body, and then whether it is still there."""

    def __init__(self, receive: Receive, deadline: Deadline) -> None:
        self._receive = receive
        self._deadline = deadline
        self._watching: asyncio.Task[None] | None = None

    async def receive(self) -> Message:
        """The next message, as the application asks for it."""
        if self._watching is not None:
            await asyncio.wait([self._watching])
            return {"type": "http.disconnect"}
        message = await self._receive()
        if message["type"] == "http.request" and not message.get("more_body", False):
            self.watch()
        return message

    def watch(self) -> None:
        """Watch from now on; what else of a body comes is dropped."""
        self._watching = asyncio.create_task(self._watch())

    def leave(self) -> None:
        """Watch no more."""
        if self._watching is not None:
            self._watching.cancel()

    async def _watch(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self._deadline.abandon()
