"""The pages of the real program: the demo shows them, their documents are always trusted, GraphiQL must be there."""

import json
from pathlib import Path

import pytest

from gateway.graphql.documents import hash_of
from gateway.service.demonstration import DEMO_OWNERS
from gateway.web.browser import MemoryBrowser
from tests.e2e.processes import Place, Server

pytestmark = [pytest.mark.e2e, pytest.mark.postgres]

BROWSER = {"accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
INSTALLED = (
    "graphiql/graphiql.min.css",
    "graphiql/graphiql.min.js",
    "react/umd/react.production.min.js",
    "react-dom/umd/react-dom.production.min.js",
)


def install_graphiql(data_directory: Path) -> None:
    """Put empty files where npm puts those of GraphiQL."""
    for name in INSTALLED:
        path = data_directory / "graphiql" / "node_modules" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


async def media_types(server: Server) -> list[str]:
    """What a browser is answered with at the root and at the path of GraphQL."""
    async with server.client() as browser:
        answers = [await browser.get(path, headers=BROWSER) for path in ("/", "/graphql")]
    return [answer.headers["content-type"].partition(";")[0] for answer in answers]


async def test_the_demo_shows_the_pages_that_are_there_and_says_how_to_sign_in(place: Place) -> None:
    token = place.token(DEMO_OWNERS[0])
    async with place.serving() as server:
        without_graphiql = await media_types(server)
    lines = server.output.splitlines()
    install_graphiql(place.data)
    async with place.serving() as server:
        with_graphiql = await media_types(server)
    async with place.serving(graphiql_enabled="false", browser_enabled="false") as off:
        with_nothing = await media_types(off)

    assert ["text/html", "application/json"] == without_graphiql
    assert ["text/html", "text/html"] == with_graphiql
    assert ["application/json", "application/json"] == with_nothing
    assert "Browser" == lines[1].split()[0]
    url = lines[1].split()[1]
    begin = lines.index(f"Open {url} in a browser, and sign in with this token of riverside/mara:")
    # Alone in its line, as it is copied.
    assert ["", token, ""] == lines[begin + 1 : begin + 4]
    assert not [line for line in off.output.splitlines() if "browser" in line.lower()]


async def test_the_documents_of_the_page_are_trusted_where_only_the_operators_are(place: Place) -> None:
    theirs = "{ viewer { scopes } }"
    manifest = place.directory / "manifest.json"
    manifest.write_text(json.dumps({hash_of(theirs): theirs}))
    [asked] = [text for text in MemoryBrowser().documents if text.startswith("query Server")]
    settings = {"documents": str(manifest), "documents_mode": "only", "api_enabled": "false"}
    async with place.serving(**settings) as server, server.client(place.token(DEMO_OWNERS[0])) as client:
        answers = [
            (await client.post("/graphql", json={"query": query})).json()
            for query in (theirs, asked, "{ gateway { version } }")
        ]

    assert [True, True, False] == ["data" in answer for answer in answers]


async def test_graphiql_that_is_wished_for_and_not_installed_keeps_the_program_from_serving(fresh: Place) -> None:
    refused = await fresh.run("serve", "--port", "0", "--metrics-port", "0", expect=1, graphiql_enabled="true")
    assert "AGENT_MEMORY_GRAPHIQL_ENABLED is true. GraphiQL is not installed" in refused.log
    assert f"npm install --ignore-scripts --prefix {fresh.data}/graphiql graphiql@" in refused.log
