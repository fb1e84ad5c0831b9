"""One browser and one served page for a worker's tests; a visitor for each test."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest_asyncio
from playwright.async_api import Browser

from tests.browser.chromium import started_chromium
from tests.browser.graphiql_files import installed_graphiql
from tests.browser.site import Site, served_site
from tests.browser.visits import Visitor
from tests.databases import DatabaseServer


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def chromium() -> AsyncIterator[Browser]:
    """The browser."""
    async with started_chromium() as browser:
        yield browser


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def site(postgres_server: DatabaseServer) -> AsyncIterator[Site]:
    """The program with the demo and its page; each test adds a person of its own."""
    async with served_site(postgres_server, graphiql=installed_graphiql(), log_level="debug") as site:
        yield site


@pytest_asyncio.fixture(loop_scope="session")
async def visitor(chromium: Browser, site: Site) -> AsyncIterator[Visitor]:
    """Somebody at the browser; at the end, no page has done what it may not."""
    async with AsyncExitStack() as stack:
        visitor = Visitor(chromium, site, stack)
        yield visitor
        visitor.check()
