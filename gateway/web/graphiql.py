"""GraphiQL for developers: what a browser that opens /graphql is shown, where it is switched on.

It is other people's code, so it is no part of this program: npm installs it into the data directory, and it is served
from there, never from a network of others. Its own Content-Security-Policy gives it what it needs beyond the memory
browser's: styles that it makes itself, and fonts within its styles. No inline script: a module of ours starts it.
"""

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from gateway.http.accepting import accepted_weights
from gateway.web.assets import Assets, read_files
from gateway.web.exposition import Shown, shown_file, shown_page

ASSETS_PATH = "/graphiql"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; "
    "img-src 'self' data:; font-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
PACKAGES = ("graphiql@3.9.0", "react@18.3.1", "react-dom@18.3.1")
"""Releases that come as files which a browser takes as they are: the later ones must be bundled first."""
_DIRECTORY = "graphiql"
_INSTALLED: Mapping[str, str] = {
    "graphiql.min.css": "graphiql/graphiql.min.css",
    "graphiql.min.js": "graphiql/graphiql.min.js",
    "react.production.min.js": "react/umd/react.production.min.js",
    "react-dom.production.min.js": "react-dom/umd/react-dom.production.min.js",
}
"""What is served of the packages, by the name it is served under."""
_REQUEST_MEMBERS = frozenset({"query", "documentId", "extensions"})
"""What makes a GET a request of GraphQL, whoever sends it."""
_ANSWERS = ("application/json", "application/graphql-response+json")


class GraphiQLMissing(Exception):
    """GraphiQL is not installed; the message says how it is."""


class GraphiQL:
    """The page as it was when it was read."""

    def __init__(self, data_directory: Path) -> None:
        """Read the page, and what npm has installed into the data directory. Raises GraphiQLMissing."""
        found = {**read_files(files("gateway").joinpath("web", "graphiql_page")), **_read_installed(data_directory)}
        self._assets = Assets(ASSETS_PATH, found)

    def routes(self) -> list[Route]:
        """The files of the page; the page itself stands before an endpoint of GraphQL."""
        return [Route(f"{ASSETS_PATH}/{{release}}/{{name:path}}", Shown(self._show_file))]

    def before(self, endpoint: ASGIApp) -> ASGIApp:
        """Show the page to who opens the path of an endpoint in a browser, and hand on all other requests."""
        return _Before(endpoint, Shown(self._show_page))

    def _show_page(self, request: Request) -> Response:
        return shown_page(request, self._assets, policy=POLICY, vary="Accept")

    def _show_file(self, request: Request) -> Response:
        return shown_file(request, self._assets, policy=POLICY)


class _Before:
    """Two endpoints of one path, of which the request's own head decides."""

    def __init__(self, endpoint: ASGIApp, page: ASGIApp) -> None:
        self._endpoint = endpoint
        self._page = page

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await (self._page if _is_opened(Request(scope)) else self._endpoint)(scope, receive, send)


def is_installed(data_directory: Path) -> bool:
    """Whether everything of GraphiQL that is served is in the data directory."""
    return all(path.is_file() for path in _installed(data_directory).values())


def _installed(data_directory: Path) -> Mapping[str, Path]:
    modules = data_directory / _DIRECTORY / "node_modules"
    return {name: modules / path for name, path in _INSTALLED.items()}


def _read_installed(data_directory: Path) -> Mapping[str, bytes]:
    try:
        return {name: path.read_bytes() for name, path in _installed(data_directory).items()}
    except OSError as error:
        command = f"npm install --ignore-scripts --prefix {data_directory / _DIRECTORY} {' '.join(PACKAGES)}"
        raise GraphiQLMissing(f"GraphiQL is not installed ({error.strerror}). This does it: {command}") from error


def _is_opened(request: Request) -> bool:
    """Whether a browser opens the path, rather than a client of GraphQL asking something or asking wrongly."""
    if request.method not in {"GET", "HEAD"} or not _prefers_html(request):
        return False
    names = (name for name, _ in parse_qsl(request.scope["query_string"].decode("latin-1"), keep_blank_values=True))
    return _REQUEST_MEMBERS.isdisjoint(names)


def _prefers_html(request: Request) -> bool:
    """Whether HTML is accepted by name, and more gladly than any answer of GraphQL."""
    weights = accepted_weights(request, ("text/html", *_ANSWERS, "application/*", "*/*"))
    others = weights.get("application/*", weights.get("*/*", 0.0))
    return weights.get("text/html", 0.0) > max(weights.get(answer, others) for answer in _ANSWERS)
