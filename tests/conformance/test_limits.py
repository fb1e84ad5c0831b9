"""Limits that only a socket shows: heads that are too large or no HTTP, and whose address a request counts for."""

import json
import socket
import time
from collections.abc import Iterator

import pytest

from gateway.cli.connections import HEAD_BYTES_MAX, HEAD_WAIT_SECONDS
from gateway.http.bodies import BODY_WAIT_SECONDS
from gateway.http.exchanges import NoExchanges
from gateway.http.policy import Policy
from gateway.http.rate_limits import RateLimits
from gateway.http.rate_windows import ProcessStorage
from tests.conformance.serving import WAIT_SECONDS, Served, served

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("conformance")]

HEAD = b"GET /livez HTTP/1.1\r\nhost: gateway.test\r\n"
FLOOD_BYTES = 40 * 1024 * 1024


def connect(gateway: Served) -> socket.socket:
    return socket.create_connection(("127.0.0.1", gateway.port), timeout=WAIT_SECONDS)


def received(connection: socket.socket) -> bytes:
    """Everything until the other end closes."""
    content = b""
    try:
        while chunk := connection.recv(65_536):
            content += chunk
    except ConnectionResetError:
        pass
    return content


def ask(gateway: Served, content: bytes) -> bytes:
    with connect(gateway) as connection:
        connection.sendall(content)
        return received(connection)


def test_a_request_at_the_bound_is_answered(gateway: Served) -> None:
    answer = ask(gateway, HEAD + b"connection: close\r\nx: " + b"y" * (HEAD_BYTES_MAX - 100) + b"\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 200 ")


def test_headers_beyond_the_bound_are_refused_in_the_envelope(gateway: Served) -> None:
    answer = ask(gateway, HEAD + b"x: " + b"y" * HEAD_BYTES_MAX + b"\r\n\r\n")
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 431 ")
    assert b"date: " in head
    error = json.loads(body)["error"]
    assert "malformed_request" == error["code"]
    assert f"x-request-id: {error['request_id']}".encode() in head


def test_a_flood_of_headers_is_cut_off(gateway: Served) -> None:
    sent = 0
    with connect(gateway) as connection:
        connection.sendall(HEAD)
        try:
            while sent < FLOOD_BYTES:
                sent += connection.send(b"x: " + b"y" * 8_000 + b"\r\n")
        except (BrokenPipeError, ConnectionResetError):
            pass
    # What the sockets on both sides hold on the way has been sent, and is never read.
    assert sent < FLOOD_BYTES / 2


def test_what_is_no_http_is_answered_and_others_are_served_meanwhile(gateway: Served) -> None:
    assert ask(gateway, b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n").startswith(b"HTTP/1.1 400 ")
    assert b'"code":"malformed_request"' in ask(gateway, b"heliotrope\r\n\r\n")
    with gateway.client() as client:
        assert 200 == client.get("/livez").status_code


def test_requests_in_one_packet_are_answered_in_their_order(gateway: Served) -> None:
    answer = ask(gateway, HEAD + b"\r\n" + HEAD.replace(b"livez", b"nothing") + b"connection: close\r\n\r\n")
    assert 0 < answer.index(b"HTTP/1.1 200 ") + 1 < answer.index(b"HTTP/1.1 404 ")


@pytest.mark.long
def test_a_slow_head_is_cut_off_in_time(gateway: Served) -> None:
    began_at = time.monotonic()
    with connect(gateway) as slow, connect(gateway) as silent:
        slow.sendall(HEAD)
        assert received(slow).startswith(b"HTTP/1.1 408 ")
        assert b"" == received(silent)
    assert HEAD_WAIT_SECONDS - 1 < time.monotonic() - began_at < HEAD_WAIT_SECONDS + 5


@pytest.mark.long
@pytest.mark.parametrize("target", ["/graphql", "/v1/memories/1/review?ceiling=public"])
def test_a_slow_body_is_cut_off_in_time(gateway: Served, target: str) -> None:
    lines = (
        f"POST {target} HTTP/1.1",
        *("host: gateway.test", f"authorization: Bearer {gateway.token}", "idempotency-key: slow"),
        *("content-type: application/json", "content-length: 100", "", "{"),
    )
    began_at = time.monotonic()
    answer = ask(gateway, "\r\n".join(lines).encode())
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b'"request_timeout"' in answer
    assert BODY_WAIT_SECONDS - 1 < time.monotonic() - began_at < BODY_WAIT_SECONDS + 5


def strict() -> Policy:
    limits = RateLimits(ProcessStorage(), cost_per_minute=0, failed_authentications_per_minute=2, reports=NoExchanges())
    return Policy(rate_limits=limits)


@pytest.fixture(params=[(), ("127.0.0.0/8",)], ids=["nobody", "this machine"])
def trusted_proxies(request: pytest.FixtureRequest) -> tuple[str, ...]:
    proxies: tuple[str, ...] = request.param
    return proxies


@pytest.fixture
def behind_a_proxy(trusted_proxies: tuple[str, ...]) -> Iterator[Served]:
    with served(policy=strict(), trusted_proxies=trusted_proxies) as served_gateway:
        yield served_gateway


def test_a_proxy_is_believed_only_where_it_is_trusted(behind_a_proxy: Served, trusted_proxies: tuple[str, ...]) -> None:
    def status(client_address: str) -> int:
        headers = {"authorization": "Bearer wrong", "x-forwarded-for": client_address}
        with behind_a_proxy.client() as client:
            return client.get("/v1/memories?ceiling=public", headers=headers).status_code

    assert [401, 401, 429] == [status("192.0.2.1") for _ in range(3)]
    assert (401 if trusted_proxies else 429) == status("192.0.2.2")
    # The address farthest from us is what anybody can write; the proxy adds the one it sees.
    assert 429 == status("198.51.100.7, 192.0.2.1")
    with behind_a_proxy.client() as client:
        assert 200 == client.get("/v1/memories?ceiling=public").status_code
