"""GraphiQL: shown to who opens /graphql in a browser and to nobody else, out of the data directory alone."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from gateway.web.graphiql import PACKAGES, POLICY, GraphiQL, GraphiQLMissing, is_installed
from gateway.web.pages import Pages
from store.inmemory.store import InMemoryStore
from tests.factories import owner
from tests.gateways import serving

BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8"
INSTALLED = (
    "graphiql/graphiql.min.css",
    "graphiql/graphiql.min.js",
    "react/umd/react.production.min.js",
    "react-dom/umd/react-dom.production.min.js",
)


@pytest.fixture
def data_directory(tmp_path: Path) -> Path:
    """A data directory that GraphiQL is installed in, each file of it holding its name."""
    for name in INSTALLED:
        path = tmp_path / "graphiql" / "node_modules" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(path.name)
    return tmp_path


@asynccontextmanager
async def showing(data_directory: Path) -> AsyncIterator[httpx.AsyncClient]:
    """A client with a token of a gateway that shows GraphiQL."""
    pages = Pages(graphiql=GraphiQL(data_directory))
    async with serving(InMemoryStore(), pages=pages) as gateway, gateway.client() as client:
        client.headers["authorization"] = f"Bearer {await gateway.secret(owner())}"
        yield client


async def test_a_browser_that_opens_the_path_is_shown_it_without_credentials(data_directory: Path) -> None:
    async with showing(data_directory) as client:
        del client.headers["authorization"]
        page = await client.get("/graphql", headers={"accept": BROWSER})
        head = await client.head("/graphql", headers={"accept": BROWSER})
        paths = re.findall(r'(?:src|href)="(/[^"]+)"', page.text)
        shown = [await client.get(path) for path in paths]

    assert (200, "text/html; charset=utf-8") == (page.status_code, page.headers["content-type"])
    assert ("Accept", "no-cache", POLICY) == tuple(
        page.headers[name] for name in ("vary", "cache-control", "content-security-policy")
    )
    assert (200, b"", page.headers["content-length"]) == (
        head.status_code,
        head.content,
        head.headers["content-length"],
    )
    assert {Path(name).name for name in INSTALLED} < {path.rpartition("/")[2] for path in paths}
    assert [200] * len(paths) == [response.status_code for response in shown]
    for path, response in zip(paths, shown, strict=True):
        own = response.text == path.rpartition("/")[2]
        assert own or path.endswith(("/page.css", "/boot.js"))
        assert "public, max-age=31536000, immutable" == response.headers["cache-control"]


def test_its_policy_allows_styles_and_fonts_beyond_the_browsers_and_no_inline_script() -> None:
    directives = dict(directive.split(maxsplit=1) for directive in POLICY.split("; "))
    assert ("'none'", "'self'", "'self'") == tuple(
        directives[name] for name in ("default-src", "script-src", "connect-src")
    )
    assert ["style-src"] == [name for name, sources in directives.items() if "unsafe" in sources]
    assert "http" not in POLICY


@pytest.mark.parametrize(
    ("method", "target", "accept"),
    [
        ("GET", "/graphql", None),
        ("GET", "/graphql", "*/*"),
        ("GET", "/graphql", "application/json"),
        ("GET", "/graphql", "application/graphql-response+json, text/html"),
        ("GET", "/graphql", "text/html;q=0.8, application/json"),
        ("GET", "/graphql", "text/html;q=0, */*;q=0"),
        ("GET", "/graphql", "text/html;q=0.5, */*;q=0.8"),
        ("GET", "/graphql?query={viewer{scopes}}", BROWSER),
        ("GET", "/graphql?query=", BROWSER),
        ("GET", "/graphql?documentId=sha256:0", BROWSER),
        ("GET", "/graphql?extensions={}", BROWSER),
        ("HEAD", "/graphql?query={viewer{scopes}}", BROWSER),
        ("POST", "/graphql", BROWSER),
        ("OPTIONS", "/graphql", BROWSER),
        ("DELETE", "/graphql", BROWSER),
    ],
)
async def test_every_other_request_is_answered_as_without_it(
    method: str, target: str, accept: str | None, data_directory: Path
) -> None:
    async def answer(client: httpx.AsyncClient) -> tuple[int, bytes, dict[str, str]]:
        del client.headers["accept"]
        response = await client.request(method, target, headers={} if accept is None else {"accept": accept})
        told = {name: value for name, value in response.headers.items() if name != "x-request-id"}
        return response.status_code, response.content, told

    async with showing(data_directory) as client:
        with_it = await answer(client)
    async with serving(InMemoryStore()) as gateway, gateway.client() as client:
        client.headers["authorization"] = f"Bearer {await gateway.secret(owner())}"
        assert await answer(client) == with_it


async def test_without_it_a_browser_is_answered_as_a_client() -> None:
    async with serving(InMemoryStore()) as gateway, gateway.client() as client:
        answer = await client.get("/graphql", headers={"accept": BROWSER})
    assert (401, "application/json; charset=utf-8") == (answer.status_code, answer.headers["content-type"])


@pytest.mark.parametrize("name", ["graphiql.js", "index.html", "../node_modules/react/package.json"])
async def test_nothing_else_of_what_is_installed_is_shown(name: str, data_directory: Path) -> None:
    data_directory.joinpath("graphiql", "node_modules", "graphiql", "graphiql.js").write_text("1")
    async with showing(data_directory) as client:
        page = await client.get("/graphql", headers={"accept": BROWSER})
        [path] = set(re.findall(r"/graphiql/[0-9a-f]{16}", page.text))
        assert 404 == (await client.get(f"{path}/{name}")).status_code


@pytest.mark.parametrize("missing", INSTALLED)
def test_where_anything_is_missing_the_refusal_says_what_installs_it(missing: str, data_directory: Path) -> None:
    assert is_installed(data_directory)
    data_directory.joinpath("graphiql", "node_modules", missing).unlink()
    assert not is_installed(data_directory)
    with pytest.raises(GraphiQLMissing) as refusal:
        GraphiQL(data_directory)
    assert "No such file or directory" in str(refusal.value)
    assert str(refusal.value).endswith(f"--prefix {data_directory}/graphiql {' '.join(PACKAGES)}")
