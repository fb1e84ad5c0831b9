"""Whether the server lives, and whether it can serve: questions of the machines around it, without credentials."""

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gateway.http.errors import failure_of
from gateway.rest.pages import Health
from gateway.rest.rendering import json_response
from gateway.rest.resources import Resource
from gateway.service.errors import Unavailable

OK = Health(status="ok")


def health_routes(*, ready: Callable[[], Awaitable[None]]) -> list[Route]:
    """/livez, which always answers, and /readyz, which answers while `ready` raises nothing."""

    async def live(_: Request) -> Response:
        return json_response(OK)

    async def readiness(_: Request) -> Response:
        try:
            await ready()
        except Exception as error:
            # Reported where it is unknown; whatever it is, this server can't serve now.
            failure_of(error, {})
            raise Unavailable("the store is not ready") from error
        return json_response(OK)

    return [
        Route("/livez", Resource({"GET": live}), name="livez"),
        Route("/readyz", Resource({"GET": readiness}), name="readyz"),
    ]
