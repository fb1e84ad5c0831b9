"""How an answer leaves: in one piece where it can, and whole whatever becomes of it."""

import asyncio

import pytest
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.config import Config
from uvicorn.server import ServerState

from gateway.cli.connections import BoundedProtocol

GET = b"GET / HTTP/1.1\r\nhost: gateway.test\r\n\r\n"
HEAD = GET.replace(b"GET", b"HEAD")
EXPECTING = b"POST / HTTP/1.1\r\nhost: gateway.test\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n"


class Wire(asyncio.Transport):
    """Keeps what is sent, piece by piece."""

    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[bytes] = []
        self.closed = asyncio.Event()

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """One piece."""
        self.pieces.append(bytes(data))

    def is_closing(self) -> bool:
        """Whether it was closed."""
        return self.closed.is_set()

    def close(self) -> None:
        """Take no more."""
        self.closed.set()

    def pause_reading(self) -> None:
        """Nothing is read from it."""

    def resume_reading(self) -> None:
        """As above."""


async def sent(app: ASGIApp, *received: bytes) -> Wire:
    """What a connection sends for what it receives, one after the other; it is closed by the application's end."""
    done = asyncio.Event()

    async def served(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await app(scope, receive, send)
        finally:
            done.set()

    state, wire = ServerState(), Wire()
    protocol = BoundedProtocol(Config(served, log_config=None, lifespan="off"), state, {})
    protocol.connection_made(wire)
    for data in received:
        protocol.data_received(data)
        await asyncio.sleep(0)
    await done.wait()
    await asyncio.gather(*state.tasks)
    protocol.connection_lost(None)
    return wire


async def show(_: Scope, receive: Receive, send: Send) -> None:
    await receive()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"5")]})
    await send({"type": "http.response.body", "body": b"sh", "more_body": True})
    await send({"type": "http.response.body", "body": b"own"})


async def show_nothing(_: Scope, __: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body", "body": b""})


async def break_off(_: Scope, __: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"5")]})
    raise LookupError


async def test_the_head_leaves_with_the_first_of_the_body() -> None:
    wire = await sent(show, GET)
    first, second = wire.pieces
    assert first.endswith(b"content-length: 5\r\n\r\nsh")
    assert b"own" == second


@pytest.mark.parametrize(("app", "request_bytes"), [(show, HEAD), (show_nothing, GET)])
async def test_an_answer_without_a_body_leaves(app: ASGIApp, request_bytes: bytes) -> None:
    wire = await sent(app, request_bytes)
    assert b"".join(wire.pieces).endswith(b"\r\n\r\n")


async def test_the_leave_to_send_a_body_is_not_held_back() -> None:
    wire = await sent(show, EXPECTING, b"{}")
    assert b"HTTP/1.1 100 Continue\r\n\r\n" == wire.pieces[0]
    assert wire.pieces[1].startswith(b"HTTP/1.1 200 OK\r\n")


async def test_what_was_begun_leaves_before_the_connection_is_closed() -> None:
    wire = await sent(break_off, GET)
    (head,) = wire.pieces
    assert head.startswith(b"HTTP/1.1 200 OK\r\n")
    assert wire.is_closing()


async def test_requests_of_one_piece_are_answered_in_turn() -> None:
    alone = await sent(show, GET)
    together = await sent(show, GET + GET)
    assert 2 * alone.pieces == together.pieces
