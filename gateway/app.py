"""The application from ready services: both transports, the pages for people, and what surrounds every exchange.

From the outside in: the request id, the report of the exchange, the deadline and the client's presence, what foreign
pages may read, HEAD without a body, what is left of the rate limit, failures, the routes.
"""

import re
from collections.abc import Awaitable, Callable, Collection, Mapping
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
from gateway.http.exchanges import EVIDENCE_SURFACE, MEMORY_SURFACE, ExchangeMiddleware, Exchanges, NoExchanges
from gateway.http.head import HeadMiddleware
from gateway.http.origins import OriginsMiddleware
from gateway.http.policy import DEFAULT_POLICY, Policy
from gateway.http.presence import PresenceMiddleware
from gateway.http.request_id import RequestIdMiddleware
from gateway.rest.errors import FailureMiddleware
from gateway.rest.evidence_operations import EVIDENCE_OPERATIONS
from gateway.rest.evidence_routes import evidence_routes
from gateway.rest.health import health_routes
from gateway.rest.openapi import openapi_route
from gateway.rest.operations import MEMORIES_PATH
from gateway.rest.routes import memory_routes
from gateway.service.company import CompanyService
from gateway.service.errors import EVIDENCE_CODES, ErrorCode, Unavailable
from gateway.service.evidence import EvidenceService
from gateway.service.memories import PublicMemoryService
from gateway.service.tokens import TokenService
from gateway.web.pages import NO_PAGES, Pages

_CODES: Mapping[int, ErrorCode] = {status: code for code, status in STATUSES.items() if code not in EVIDENCE_CODES}
"""What the router's refusals are; the codes of evidence share statuses with others."""
_PATHS: Mapping[str, str] = {
    MEMORIES_PATH: MEMORY_SURFACE,
    **{operation.path: EVIDENCE_SURFACE for operation in EVIDENCE_OPERATIONS},
}
"""The surface of each path, or of all beneath it, by its name in reports."""


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
    derived: bool = False,
    evidence: EvidenceService | None = None,
    company: CompanyService | None = None,
    pages: Pages = NO_PAGES,
) -> Starlette:
    """The application; without `memories` nothing of the memory surface is registered or documented.

    With `derived` it serves derived records too, which the service must know; with `evidence` and `company` what
    records rest on, to whom they belong and to administrators. `ready` returns while the store can serve and raises
    otherwise; `exchanges` is told of every exchange, `count_document` of every GraphQL document, whether it was known.
    Raises InvalidManifest for a trusted document that the schema refuses. The `policy` holds for both transports. By
    `deadlines` the server tells that it stops. With `encoded_pages` off, pages are made of records alone, slower and
    the same. `pages` are shown to people.
    Source: Memory read API, Mounting.
    """
    reports, deadlines = exchanges or NoExchanges(), deadlines or Deadlines()
    admission = Admission(tokens, policy.rate_limits)
    routes = [
        *health_routes(ready=partial(_check_readiness, deadlines, ready)),
        openapi_route(memory=memories is not None, derived=derived, evidence=evidence is not None, version=version),
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
                derived=derived,
                evidence=evidence,
            )
        ),
    ]
    off = dict(_PATHS)
    if memories is not None:
        del off[MEMORIES_PATH]
        routes += memory_routes(memories=memories, admission=admission, encoded_pages=encoded_pages, derived=derived)
    if memories is not None and evidence is not None and company is not None:
        off.clear()
        routes += evidence_routes(evidence=evidence, company=company, admission=admission)
    routes += pages.routes()
    for route in routes:
        _match_whole(route)

    app = Starlette(
        routes=routes,
        middleware=_middleware(reports, deadlines, policy.origins),
        exception_handlers={HTTPException: _refusing(reports, off)},
    )
    # A path is one spelling: /graphql/ and /v1/memories/ are no routes.
    app.router.redirect_slashes = False
    return app


def _middleware(reports: Exchanges, deadlines: Deadlines, origins: Collection[str]) -> list[Middleware]:
    """What surrounds every exchange, from the outside in."""
    return [
        Middleware(RequestIdMiddleware),
        Middleware(ExchangeMiddleware, exchanges=reports),
        Middleware(PresenceMiddleware, deadlines=deadlines),
        *([Middleware(OriginsMiddleware, origins=origins)] if origins else ()),
        Middleware(HeadMiddleware),
        Middleware(RateLimitHeadersMiddleware),
        Middleware(FailureMiddleware),
    ]


def _refusing(reports: Exchanges, off: Mapping[str, str]) -> Callable[[Request, Exception], Awaitable[Response]]:
    """What answers the router's refusals; `off` names the surfaces that are off by the paths that are theirs."""

    async def refuse(request: Request, error: Exception) -> Response:
        """Hand a refusal of the router on as one of ours, which the failure middleware answers."""
        assert isinstance(error, HTTPException)
        surface = next((surface for path, surface in off.items() if _lies_under(path, request)), None)
        if surface is not None:
            reports.not_mounted(surface)
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


def _lies_under(path: str, request: Request) -> bool:
    asked: str = request.scope["path"]
    return asked == path or asked.startswith(f"{path}/")
