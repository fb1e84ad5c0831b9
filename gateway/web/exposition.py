"""How pages and their files are answered: to anybody, by GET and HEAD, under headers that close whatever they can.

Nothing here looks at credentials or counts a rate: what is shown is the same for everybody and lies in memory.
"""

from collections.abc import Callable, Mapping

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from gateway.http.errors import TransportError
from gateway.service.errors import ErrorCode
from gateway.web.assets import Asset, Assets

ALLOWED = "GET, HEAD, OPTIONS"
REVALIDATED = "no-cache"
"""A page is asked for anew whenever it is opened, since it names the release of its files."""
KEPT = "public, max-age=31536000, immutable"
"""A file never changes under the name of its release."""
CLOSING_HEADERS: Mapping[str, str] = {
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}


class Shown:
    """The endpoint of a path that is shown to anybody."""

    def __init__(self, answer: Callable[[Request], Response]) -> None:
        """Answer GET and HEAD."""
        self._answer = answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one exchange. Raises TransportError for another method, and what the answer raises."""
        request = Request(scope, receive)
        if request.method == "OPTIONS":
            response = Response(status_code=204, headers={"allow": ALLOWED, "cache-control": "no-store"})
        elif request.method in {"GET", "HEAD"}:
            response = self._answer(request)
        else:
            message = f"this path allows {ALLOWED}"
            raise TransportError(ErrorCode.METHOD_NOT_ALLOWED, message, {"allow": ALLOWED})
        await response(scope, receive, send)


def shown_page(request: Request, assets: Assets, *, policy: str, vary: str | None = None) -> Response:
    """The page under a Content-Security-Policy; 304 to a browser that has it."""
    headers = {} if vary is None else {"vary": vary}
    return _shown(request, assets.page, {"cache-control": REVALIDATED, "content-security-policy": policy, **headers})


def shown_file(request: Request, assets: Assets, *, policy: str) -> Response:
    """The file that the path of a request names. Raises TransportError for one that there is not."""
    asset = assets.find(request.path_params["release"], request.path_params["name"])
    if asset is None:
        raise TransportError(ErrorCode.NOT_FOUND, "no such path")
    return _shown(request, asset, {"cache-control": KEPT, "content-security-policy": policy})


def _shown(request: Request, asset: Asset, headers: Mapping[str, str]) -> Response:
    headers = {**CLOSING_HEADERS, **headers, "etag": asset.etag}
    known = ",".join(request.headers.getlist("if-none-match")).split(",")
    if {asset.etag, "*"} & {tag.strip().removeprefix("W/") for tag in known}:
        return Response(status_code=304, headers=headers)
    return Response(asset.content, headers={**headers, "content-type": asset.media_type})
