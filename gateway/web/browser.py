"""The memory browser: one page, and the files that it consists of.

The page is a client of the GraphQL API and nothing more. It asks with the documents of `documents.json`, which the
server trusts, so that the page works as well where only trusted documents are executed.
"""

import json
from collections.abc import Collection
from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gateway.web.assets import Assets, read_files
from gateway.web.exposition import Shown, shown_file, shown_page

PATH = "/"
ASSETS_PATH = "/browser"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""No script, style or connection but to this server; no frame, no form, no word of markup that is executed."""
_DOCUMENTS = "documents.json"


class MemoryBrowser:
    """The page as it was when it was read."""

    def __init__(self) -> None:
        """Read the files that come with the program."""
        found = read_files(files("gateway").joinpath("web", "page"))
        self._assets = Assets(ASSETS_PATH, found)
        self.documents: Collection[str] = tuple(json.loads(found[_DOCUMENTS]).values())
        """The texts of the GraphQL documents that the page asks with."""

    def routes(self) -> list[Route]:
        """The page at the root, and its files."""
        return [
            Route(PATH, Shown(self._show_page)),
            Route(f"{ASSETS_PATH}/{{release}}/{{name:path}}", Shown(self._show_file)),
        ]

    def _show_page(self, request: Request) -> Response:
        return shown_page(request, self._assets, policy=POLICY)

    def _show_file(self, request: Request) -> Response:
        return shown_file(request, self._assets, policy=POLICY)
