"""Signed tokens at a real server: the issuer's keys fetched, its failures survived, nothing of a token in the log."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from gateway.service.demonstration import DEMO_OWNERS
from tests.e2e.processes import Place, Server
from tests.issuers import AUDIENCE, ISSUER, Signer, key_set, signer

pytestmark = [pytest.mark.e2e, pytest.mark.postgres]

MARA = DEMO_OWNERS[0]


class KeyServer(ThreadingHTTPServer):
    """Serves what a test puts there, and counts how often it is asked."""

    status = 200
    content = b""
    requests = 0


class _Handler(BaseHTTPRequestHandler):
    server: KeyServer

    def do_GET(self) -> None:
        self.server.requests += 1
        self.send_response(self.server.status)
        self.send_header("location", "/elsewhere")
        self.send_header("content-length", str(len(self.server.content)))
        self.end_headers()
        self.wfile.write(self.server.content)

    def log_message(self, *_: Any) -> None:
        """Stay silent."""


@contextmanager
def key_server() -> Iterator[KeyServer]:
    with KeyServer(("127.0.0.1", 0), _Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def settings_of(keys: KeyServer) -> dict[str, str]:
    place = f"http://127.0.0.1:{keys.server_address[1]}/jwks.json"
    return {"oidc_issuer": ISSUER, "oidc_audience": AUDIENCE, "oidc_jwks": place, "log_level": "debug"}


def token_of(key: Signer, **changes: object) -> str:
    whose = {"sub": MARA.principal, "tenant": MARA.tenant} | changes
    return key.token(now=datetime.now(UTC), headers=None, **whose)


async def asked(server: Server, token: str) -> list[int]:
    """The statuses of the same page over REST and GraphQL."""
    query = {"query": "{ memories(ceiling: PUBLIC, first: 1) { nodes { id } } }"}
    async with server.client(token) as client:
        rest = await client.get("/v1/memories", params={"ceiling": "public"})
        graphql = await client.post("/graphql", json=query)
    return [rest.status_code, graphql.status_code]


async def test_signed_tokens_open_what_opaque_ones_do_on_both_transports(place: Place) -> None:
    key, stranger = signer("RS256"), signer("RS256")
    with key_server() as keys:
        async with place.serving(**settings_of(keys)) as server:
            keys.status = 500
            assert [503, 503] == await asked(server, token_of(key))
            assert [200, 200] == await asked(server, place.token(MARA))

        keys.status, keys.content = 200, key_set(key.entry)
        async with place.serving(**settings_of(keys)) as server:
            before = keys.requests
            assert [200, 200] == await asked(server, token_of(key))
            assert [401, 401] == await asked(server, token_of(stranger))
            assert [401, 401] == await asked(server, token_of(key, aud="another"))
            unknown = token_of(signer("RS256", id="unknown"))
            assert [401, 401] * 5 == [status for _ in range(5) for status in await asked(server, unknown)]
            async with server.client(token_of(key, scope="openid")) as client:
                refused = await client.get("/v1/memories", params={"ceiling": "public"})
            assert 1 == keys.requests - before

    assert 403 == refused.status_code
    assert "eyJ" not in server.log
    assert MARA.principal not in server.log


async def test_a_redirection_and_a_flood_bring_no_keys(place: Place) -> None:
    key = signer()
    with key_server() as keys:
        keys.status, keys.content = 302, key_set(key.entry)
        async with place.serving(**settings_of(keys)) as server:
            assert [503, 503] == await asked(server, token_of(key))
            assert 1 == keys.requests

        keys.status, keys.content = 200, key_set(key.entry) + b" " * 300_000
        async with place.serving(**settings_of(keys)) as server:
            assert [503, 503] == await asked(server, token_of(key))


async def test_an_issuer_is_named_whole_or_not_at_all(fresh: Place) -> None:
    finished = await fresh.run("serve", expect=2, oidc_issuer=ISSUER, oidc_audience=AUDIENCE)

    assert "AGENT_MEMORY_OIDC_JWKS" in finished.log

    finished = await fresh.run("serve", expect=2, oidc_jwks="http://issuer.test/jwks.json")

    assert "https://" in finished.log
