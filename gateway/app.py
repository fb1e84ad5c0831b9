"""The application from ready services: both transports, the pages for people, and what surrounds every exchange.

From the outside in: the request id, the report of the exchange, the deadline and the client's presence, what foreign
pages may read, HEAD without a body, what is left of the rate limit, failures, the routes.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from http import HTTPStatus

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gateway.graphql.documents import NO_TRUSTED_DOCUMENTS, CountDocument, TrustedDocuments
from gateway.graphql.endpoint import graphql_routes
from gateway.http.admission import Admission, RateLimitHeadersMiddleware
from gateway.http.deadlines import Deadlines
from gateway.http.errors import STATUSES, TransportError
from gateway.http.exchanges import MEMORY_SURFACE, ExchangeMiddleware, Exchanges, NoExchanges
from gateway.http.head import HeadMiddleware
from gateway.http.origins import OriginsMiddleware
from gateway.http.policy import DEFAULT_POLICY, Policy
from gateway.http.presence import PresenceMiddleware
from gateway.http.request_id import RequestIdMiddleware
from gateway.rest.errors import FailureMiddleware
from gateway.rest.health import health_routes
from gateway.rest.openapi import openapi_route
from gateway.rest.operations import MEMORIES_PATH
from gateway.rest.routes import memory_routes
from gateway.service.errors import ErrorCode, Unavailable
from gateway.service.memories import PublicMemoryService
from gateway.service.tokens import TokenService
from gateway.web.pages import NO_PAGES, Pages

_CODES: Mapping[int, ErrorCode] = {status: code for code, status in STATUSES.items()}


def build_app(  # noqa: PLR0913 # everything that a deployment decides
    *,
    memories: PublicMemoryService | None,
    tokens: TokenService,
    ready: Callable[[], Awaitable[None]],
    version: str,
    exchanges: Exchanges | None = None,
    trusted: TrustedDocuments = NO_TRUSTED_DOCUMENTS,
    count_document: CountDocument = lambda _: None,
    policy: Policy = DEFAULT_POLICY,
    deadlines: Deadlines | None = None,
    encoded_pages: bool = True,
    pages: Pages = NO_PAGES,
) -> Starlette:
    """The application; without `memories` nothing of the memory surface is registered or documented.

    `ready` returns while the store can serve and raises otherwise; `exchanges` is told of every exchange,
    `count_document` of every GraphQL document, whether it was known. Raises InvalidManifest for a trusted document
    that the schema refuses. The `policy` holds for both transports. By `deadlines` the server tells that it stops.
    With `encoded_pages` off, pages are made of records alone, slower and the same. `pages` are shown to people.
    Source: Memory read API, Mounting.
    """
    reports, deadlines = exchanges or NoExchanges(), deadlines or Deadlines()
    admission = Admission(tokens, policy.rate_limits)
    routes = [
        *health_routes(ready=partial(_check_readiness, deadlines, ready)),
        openapi_route(memory=memories is not None, version=version),
        *pages.before(
            graphql_routes(
                memories=memories,
                admission=admission,
                version=version,
                trusted=trusted,
                count_document=count_document,
                introspection=policy.introspection,
                reports=reports,
                encoded_pages=encoded_pages,
            )
        ),
        *(
            []
            if memories is None
            else memory_routes(memories=memories, admission=admission, encoded_pages=encoded_pages)
        ),
        *pages.routes(),
    ]
    for route in routes:
        _match_whole(route)

    app = Starlette(
        routes=routes,
        middleware=[
            Middleware(RequestIdMiddleware),
            Middleware(ExchangeMiddleware, exchanges=reports),
            Middleware(PresenceMiddleware, deadlines=deadlines),
            *([Middleware(OriginsMiddleware, origins=policy.origins)] if policy.origins else ()),
            Middleware(HeadMiddleware),
            Middleware(RateLimitHeadersMiddleware),
            Middleware(FailureMiddleware),
        ],
        exception_handlers={HTTPException: _refusing(reports, memory=memories is not None)},
    )
    # A path is one spelling: /graphql/ and /v1/memories/ are no routes.
    app.router.redirect_slashes = False
    return app


def _refusing(reports: Exchanges, *, memory: bool) -> Callable[[Request, Exception], Awaitable[Response]]:
    """What answers the router's refusals; `memory` tells whether that surface is on."""

    async def refuse(request: Request, error: Exception) -> Response:
        """Hand a refusal of the router on as one of ours, which the failure middleware answers."""
        assert isinstance(error, HTTPException)
        if not memory and _lies_under_memories(request):
            reports.not_mounted(MEMORY_SURFACE)
        code = _CODES.get(error.status_code, ErrorCode.INTERNAL_ERROR)
        message = "no such path" if code is ErrorCode.NOT_FOUND else HTTPStatus(error.status_code).phrase.lower()
        raise TransportError(code, message, error.headers) from error

    return refuse


async def _check_readiness(deadlines: Deadlines, ready: Callable[[], Awaitable[None]]) -> None:
    """Return while new work belongs here. Raises Unavailable before the server stops, and what `ready` raises."""
    if deadlines.is_ending:
        raise Unavailable("the server is stopping")
    await ready()


def _match_whole(route: Route) -> None:
    """Match the path to its very end: the router's `$` would also match before a last line break."""
    route.path_regex = re.compile(route.path_regex.pattern.removesuffix("$") + r"\Z")


def _lies_under_memories(request: Request) -> bool:
    path: str = request.scope["path"]
    return path == MEMORIES_PATH or path.startswith(f"{MEMORIES_PATH}/")
