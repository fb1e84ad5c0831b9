"""The pages that a gateway shows: those that are switched on."""

from collections.abc import Iterable
from dataclasses import dataclass

from starlette.routing import Route

from gateway.web.browser import MemoryBrowser
from gateway.web.graphiql import GraphiQL


@dataclass(frozen=True, slots=True, kw_only=True)
class Pages:
    """Each page that is on; of one that is off no path is known."""

    browser: MemoryBrowser | None = None
    graphiql: GraphiQL | None = None

    def routes(self) -> list[Route]:
        """The paths of the pages and of their files."""
        return [route for page in (self.browser, self.graphiql) if page is not None for route in page.routes()]

    def before(self, routes: Iterable[Route]) -> list[Route]:
        """The routes of GraphQL, which who opens one in a browser sees a page at."""
        if self.graphiql is None:
            return list(routes)
        return [Route(route.path, self.graphiql.before(route.app)) for route in routes]


NO_PAGES = Pages()
