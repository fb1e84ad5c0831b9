"""The request id: the caller's own where it is sound, else a fresh one; in every response and log line."""

import re
from contextvars import ContextVar
from uuid import uuid4

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

REQUEST_ID_HEADER = "x-request-id"
REQUEST_ID_LENGTH_MAX = 128
_VISIBLE = re.compile(rf"[\x21-\x7e]{{1,{REQUEST_ID_LENGTH_MAX}}}", re.ASCII)

current_request_id: ContextVar[str] = ContextVar("current_request_id", default="-")


class RequestIdMiddleware:
    """Gives every HTTP exchange its id: `scope["request_id"]`, the context variable, the response header."""

    def __init__(self, app: ASGIApp) -> None:
        """Wrap an application."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one exchange."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = Headers(scope=scope).getlist(REQUEST_ID_HEADER)
        request_id = given[0] if len(given) == 1 and _VISIBLE.fullmatch(given[0]) else str(uuid4())
        scope["request_id"] = request_id
        reset = current_request_id.set(request_id)

        async def send_with_id(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)[REQUEST_ID_HEADER] = request_id
            await send(message)

        try:
            await self._app(scope, receive, send_with_id)
        finally:
            current_request_id.reset(reset)
