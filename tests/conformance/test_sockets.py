"""What a client does to its connection: bodies without end or broken off, and the wish to be a WebSocket."""

import logging
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from starlette.routing import WebSocketRoute
from starlette.types import Message

from gateway.http.bodies import BODY_BYTES_MAX
from store.inmemory.store import InMemoryStore
from tests.conformance.serving import WAIT_SECONDS, Served
from tests.gateways import serving

CHUNK = b"10000\r\n" + b" " * 0x10000 + b"\r\n"

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("conformance")]


@contextmanager
def connected(gateway: Served, *headers: str, method: str = "POST") -> Iterator[socket.socket]:
    """A connection on which a head with these headers has been sent."""
    with socket.create_connection(("127.0.0.1", gateway.port), timeout=WAIT_SECONDS) as connection:
        lines = (
            f"{method} /graphql HTTP/1.1",
            "host: 127.0.0.1",
            f"authorization: Bearer {gateway.token}",
            *headers,
            "\r\n",
        )
        connection.sendall("\r\n".join(lines).encode())
        yield connection


def read_to_the_end(connection: socket.socket) -> bytes:
    """Everything that comes until the server closes."""
    received = b""
    while part := connection.recv(65_536):
        received += part
    return received


def test_a_body_without_end_is_413_while_it_is_sent(gateway: Served) -> None:
    with connected(gateway, "content-type: application/json", "transfer-encoding: chunked") as connection:
        for _ in range(BODY_BYTES_MAX // 0x10000):
            connection.sendall(CHUNK)
        # One byte too many and no more: what the server leaves unread would reset the connection under its answer.
        connection.sendall(b"1\r\n \r\n")
        answer = read_to_the_end(connection)
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b"connection: close" in answer.lower()
    assert b'"payload_too_large"' in answer


def test_a_body_that_is_broken_off_is_no_failure_of_the_server(
    gateway: Served, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        with connected(gateway, "content-type: application/json", "content-length: 100") as connection:
            connection.sendall(b'{"query":')
            connection.shutdown(socket.SHUT_WR)
            read_to_the_end(connection)
        with gateway.client() as client:
            assert 200 == client.post("/graphql", json={"query": "{ viewer { scopes } }"}).status_code
    assert [] == caplog.records


@pytest.mark.parametrize("protocol", ["graphql-transport-ws", "graphql-ws"])
def test_nobody_is_upgraded_to_a_web_socket(gateway: Served, protocol: str) -> None:
    wish = (
        "connection: Upgrade, close",
        "upgrade: websocket",
        "sec-websocket-version: 13",
        "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
        f"sec-websocket-protocol: {protocol}",
    )
    with connected(gateway, *wish, method="GET") as connection:
        answer = connection.recv(65_536)
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"sec-websocket-accept" not in answer.lower()


async def test_the_application_has_no_route_for_a_web_socket() -> None:
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "websocket.connect"}

    async def send(message: Message) -> None:
        sent.append(message)

    async with serving(InMemoryStore()) as gateway:
        assert not any(isinstance(route, WebSocketRoute) for route in gateway.app.routes)
        scope = {"type": "websocket", "path": "/graphql", "headers": [], "query_string": b"", "subprotocols": []}
        await gateway.app(scope, receive, send)
    assert ["websocket.close"] == [message["type"] for message in sent]
