"""The memory browser as it is served: to anybody, kept by its release, closed by its headers, and absent when off."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.resources import files

import httpx
import pytest

from gateway.graphql.documents import TrustedDocuments, hash_of
from gateway.http.exchanges import NoExchanges
from gateway.http.policy import Policy
from gateway.http.rate_limits import RateLimits
from gateway.http.rate_windows import ProcessStorage
from gateway.web.assets import read_files
from gateway.web.browser import POLICY, MemoryBrowser
from gateway.web.pages import NO_PAGES, Pages
from store.inmemory.store import InMemoryStore
from tests.factories import owner
from tests.gateways import Gateway, serving

CLOSING = {
    "content-security-policy": POLICY,
    "cross-origin-opener-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}
NAMES = sorted(set(read_files(files("gateway").joinpath("web", "page"))) - {"index.html"})


@asynccontextmanager
async def showing(pages: Pages | None = None) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a gateway that shows the memory browser, or these pages."""
    shown = Pages(browser=MemoryBrowser()) if pages is None else pages
    async with serving(InMemoryStore(), pages=shown) as gateway, gateway.client() as client:
        yield client


async def assets_path(client: httpx.AsyncClient) -> str:
    """Where the page says that its files are."""
    found = re.search(r"/browser/[0-9a-f]{16}", (await client.get("/")).text)
    assert found is not None
    return found[0]


def is_not_found(response: httpx.Response) -> bool:
    """Whether the answer is the one to a path that there is not."""
    body = response.json()
    return (404, "no such path") == (response.status_code, body["error"]["message"])


async def test_the_page_is_shown_to_anybody_under_headers_that_close_it() -> None:
    async with showing() as client:
        page = await client.get("/")

    assert (200, "text/html; charset=utf-8") == (page.status_code, page.headers["content-type"])
    assert "no-cache" == page.headers["cache-control"]
    assert CLOSING == {name: page.headers.get(name) for name in CLOSING}
    assert "{{" not in page.text
    assert [] == [name for name in page.headers if name.startswith(("access-control", "ratelimit", "set-cookie"))]


def test_the_policy_lets_nothing_in_from_elsewhere_and_nothing_inline() -> None:
    directives = dict(directive.split(maxsplit=1) for directive in POLICY.split("; "))
    assert "'none'" == directives["default-src"]
    assert {"'none'", "'self'", "data:"} == {source for sources in directives.values() for source in sources.split()}
    assert "'self' data:" == directives["img-src"]
    for directive in ("base-uri", "form-action", "frame-ancestors"):
        assert "'none'" == directives[directive]


async def test_every_file_is_shown_under_its_release_and_kept_for_ever() -> None:
    directory = files("gateway").joinpath("web", "page")
    async with showing() as client:
        path = await assets_path(client)
        shown = {name: await client.get(f"{path}/{name}") for name in NAMES}

    assert {"documents.json"} <= set(shown)
    for name, response in shown.items():
        assert (200, directory.joinpath(name).read_bytes()) == (response.status_code, response.content)
        assert "public, max-age=31536000, immutable" == response.headers["cache-control"]
        assert CLOSING == {header: response.headers.get(header) for header in CLOSING}


@pytest.mark.parametrize(
    "name",
    ["nothing.js", "", "index.html", "../browser.py", "..%2fbrowser.py", "%2e%2e/browser.py", "documents.json%00"],
)
async def test_any_other_name_is_not_found(name: str) -> None:
    async with showing() as client:
        assert is_not_found(await client.get(f"{await assets_path(client)}/{name}"))


async def test_another_release_is_not_found() -> None:
    async with showing() as client:
        for path in ("/browser/0000000000000000/documents.json", "/browser/documents.json", "/browser", "/browser/"):
            assert is_not_found(await client.get(path))


@pytest.mark.parametrize("path", ["/", "/documents.json"])
async def test_what_a_browser_has_is_not_sent_again(path: str) -> None:
    async with showing() as client:
        target = path if path == "/" else await assets_path(client) + path
        first = await client.get(target)
        etag = first.headers["etag"]
        for known in (etag, f"W/{etag}", f'"other", {etag}', "*"):
            again = await client.get(target, headers={"if-none-match": known})
            assert (304, b"", etag) == (again.status_code, again.content, again.headers["etag"])
            assert first.headers["cache-control"] == again.headers["cache-control"]
            assert POLICY == again.headers["content-security-policy"]
        assert 200 == (await client.get(target, headers={"if-none-match": '"other"'})).status_code


@pytest.mark.parametrize("path", ["/", "/documents.json"])
async def test_other_methods_are_answered_as_everywhere(path: str) -> None:
    async with showing() as client:
        target = path if path == "/" else await assets_path(client) + path
        shown, head = await client.get(target), await client.head(target)
        options, post = await client.options(target), await client.post(target, json={})

    own = {"x-request-id"}
    assert {n: v for n, v in shown.headers.items() if n not in own} == {
        n: v for n, v in head.headers.items() if n not in own
    }
    assert b"" == head.content
    assert (204, "GET, HEAD, OPTIONS") == (options.status_code, options.headers["allow"])
    assert (405, "GET, HEAD, OPTIONS") == (post.status_code, post.headers["allow"])


async def test_with_the_page_off_no_path_of_it_is_known() -> None:
    async with showing() as client:
        path = await assets_path(client)
    async with showing(NO_PAGES) as client:
        for target in ("/", f"{path}/documents.json"):
            assert is_not_found(await client.get(target))


async def test_the_page_counts_for_no_rate() -> None:
    limits = RateLimits(
        ProcessStorage(), cost_per_minute=1_000_000, failed_authentications_per_minute=1, reports=NoExchanges()
    )
    pages = Pages(browser=MemoryBrowser())
    async with serving(InMemoryStore(), pages=pages, policy=Policy(rate_limits=limits)) as gateway:
        async with gateway.client() as client:
            opened = [(await client.get("/")).status_code for _ in range(3)]
            strangers = [(await client.get("/v1/memories?ceiling=public")).status_code for _ in range(2)]
        await limits.close()

    assert ([200] * 3, [401, 429]) == (opened, strangers)


async def ask(gateway: Gateway, query: str, **more: object) -> dict[str, object]:
    """The answer to a document that is sent as the page sends it."""
    headers = {"authorization": f"Bearer {await gateway.secret(owner())}"}
    async with gateway.client() as client:
        answer = await client.post("/graphql", json={"query": query, **more}, headers=headers)
    body: dict[str, object] = answer.json()
    return body


SURFACES = {
    "memoryItems": "derived",
    "derivedMemory(": "derived",
    "evidenceGraph": "evidence",
}
"""The surface that a document needs beside that of beliefs, by what it asks for."""


@pytest.mark.parametrize("surfaces", [set(), {"memory"}, {"memory", "derived"}, {"memory", "derived", "evidence"}])
async def test_the_documents_of_the_page_are_trusted_as_far_as_they_can_be_asked(surfaces: set[str]) -> None:
    trusted = TrustedDocuments(own=MemoryBrowser().documents, only=True)
    async with serving(
        InMemoryStore(),
        memory="memory" in surfaces,
        derived="derived" in surfaces,
        evidence="evidence" in surfaces,
        trusted=trusted,
    ) as gateway:
        answers = {query: await ask(gateway, query) for query in trusted.own}
        other = await ask(gateway, "{ viewer { scopes } }")

    known = {query for query, answer in answers.items() if "PERSISTED_QUERY_NOT_FOUND" not in str(answer)}
    assert "PERSISTED_QUERY_NOT_FOUND" in str(other)
    assert {query for query in answers if needed(query) <= surfaces} == known
    assert 1 == sum(not needed(query) for query in answers)


def needed(query: str) -> set[str]:
    """The surfaces that a document of the page asks for."""
    if query.startswith("query Server"):
        return set()
    return {"memory"} | {surface for name, surface in SURFACES.items() if name in query}


async def test_documents_of_our_own_stand_beside_the_operators() -> None:
    mine, theirs = "{ gateway { version } }", "{ viewer { scopes } }"
    trusted = TrustedDocuments({hash_of(theirs): theirs}, own=[mine, theirs], only=True)
    async with serving(InMemoryStore(), trusted=trusted) as gateway:
        assert [True, True] == ["data" in await ask(gateway, query) for query in (mine, theirs)]
