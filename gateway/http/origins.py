"""Cross-origin requests: from the origins that the operator names, and never with credentials of the browser's own.

A preflight is answered on every path, with 204 as any OPTIONS is. One that is not allowed is told nothing, which is
what a browser takes for no.
"""

from collections.abc import Collection

from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import Response
from starlette.types import ASGIApp

from gateway.http.admission import RATE_LIMIT_HEADERS

METHODS = ("GET", "HEAD", "POST", "DELETE", "OPTIONS")
REQUEST_HEADERS = ("Authorization", "Idempotency-Key", "X-Request-Id", "X-Query-Cost")
"""Beside those that need no leave."""
RESPONSE_HEADERS = ("X-Request-Id", "Retry-After", "WWW-Authenticate", "Allow", *RATE_LIMIT_HEADERS)
"""What a page may read of an answer's headers, beside those that need no leave."""
PREFLIGHT_SECONDS = 600


class OriginsMiddleware(CORSMiddleware):
    """Lets pages of some origins read answers."""

    def __init__(self, app: ASGIApp, origins: Collection[str]) -> None:
        """Wrap an application; an origin is written as browsers send it, `https://example.org`."""
        super().__init__(
            app,
            allow_origins=tuple(origins),
            allow_methods=METHODS,
            allow_headers=REQUEST_HEADERS,
            expose_headers=RESPONSE_HEADERS,
            max_age=PREFLIGHT_SECONDS,
        )

    def preflight_response(self, request_headers: Headers) -> Response:
        """204, with what is allowed if the request is."""
        judged = super().preflight_response(request_headers)
        headers = {"vary": judged.headers["vary"]}
        if judged.status_code == 200:
            headers |= {name: value for name, value in judged.headers.items() if name.startswith("access-control-")}
        return Response(status_code=204, headers=headers)
