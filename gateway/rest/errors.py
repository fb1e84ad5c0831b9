"""Failures as REST shows them, and the one place where an application's exceptions become responses.

Source: belief store decisions, Errors.
"""

from collections.abc import Mapping

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateway.http.errors import Failure, failure_of
from gateway.rest.operations import IDEMPOTENCY_KEY_HEADER
from gateway.rest.pages import Error, ErrorEnvelope
from gateway.rest.rendering import json_response

PARAMETER_NAMES: Mapping[str, str] = {
    "id": "memory_id",
    "first": "limit",
    "after": "cursor",
    "statuses": "status",
    "belief_types": "belief_type",
    "idempotency_key": IDEMPOTENCY_KEY_HEADER,
}
"""REST's own names of the parameters that the services name neutrally; the others are spelled alike."""


def failure_response(failure: Failure, request_id: str) -> Response:
    """The envelope of a failure with its status and headers."""
    error = Error(code=failure.code, message=failure.message, details={}, request_id=request_id)
    return json_response(ErrorEnvelope(error=error), status=failure.status, headers=failure.headers)


class FailureMiddleware:
    """Answers every exception of an application with the envelope; nothing of it goes further.

    It belongs inside the middleware that gives the request its id.
    """

    def __init__(self, app: ASGIApp) -> None:
        """Wrap an application."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one exchange."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = False

        async def send_noting(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self._app(scope, receive, send_noting)
        except Exception as error:  # noqa: BLE001 - whatever it is, a server must not log its text or show it
            failure = failure_of(error, PARAMETER_NAMES)
            # An answer that has begun can't be taken back: the server ends the connection.
            if not started:
                await failure_response(failure, scope["request_id"])(scope, receive, send)
