"""One connection, fed by hand: what bounds a head in size and in time, and what is left in peace."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
import uvicorn
from starlette.responses import Response
from starlette.types import Receive, Scope, Send
from uvicorn.server import ServerState

from gateway.cli.connections import HEAD_BYTES_MAX, HEAD_WAIT_SECONDS, IDLE_SECONDS, protocol_reporting_to
from gateway.http.exchanges import NoExchanges

GET = b"GET / HTTP/1.1\r\nhost: gateway.test\r\n"
END = b"\r\n"


class Told(NoExchanges):
    """Keeps what is told."""

    def __init__(self) -> None:
        self.limits: list[str] = []

    def limit_exceeded(self, limit: str) -> None:
        """One refusal."""
        self.limits.append(limit)


class Wire(asyncio.Transport):
    """The other end: what was written to it, and whether it was closed."""

    def __init__(self) -> None:
        super().__init__({"peername": ("192.0.2.1", 1), "sockname": ("192.0.2.2", 2)})
        self.written = b""
        self.closed = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Keep it."""
        self.written += bytes(data)

    def close(self) -> None:
        """Note it."""
        self.closed = True

    def is_closing(self) -> bool:
        """Whether it was closed."""
        return self.closed

    def pause_reading(self) -> None:
        """Nothing is read here."""

    def resume_reading(self) -> None:
        """Nothing is read here."""

    @property
    def answer(self) -> tuple[int, dict[str, str], Any]:  # Any: JSON
        """Status, headers and body of the only answer."""
        head, _, body = self.written.partition(b"\r\n\r\n")
        status, *lines = head.decode("ascii").split("\r\n")
        headers = dict(line.split(": ", 1) for line in lines)
        return int(status.split()[1]), headers, json.loads(body)


@dataclass
class Timer:
    """A call that is due after some seconds, unless it is cancelled."""

    seconds: float
    call: Callable[..., object]
    arguments: tuple[object, ...]
    cancelled: bool = False

    def cancel(self) -> None:
        """Take it back."""
        self.cancelled = True


@dataclass
class Clockwork:
    """The part of an event loop that a protocol uses; time passes when a test says so."""

    timers: list[Timer] = field(default_factory=list)

    def call_later(self, seconds: float, call: Callable[..., object], *arguments: object) -> Timer:
        """Keep the call."""
        self.timers.append(Timer(seconds, call, arguments))
        return self.timers[-1]

    def create_task(self, work: Any, **more: Any) -> "asyncio.Task[None]":  # Any: the server's own
        """Run it in the loop of the test."""
        return asyncio.get_running_loop().create_task(work, **more)

    def due(self) -> dict[float, int]:
        """How many calls are due after how many seconds."""
        seconds = [timer.seconds for timer in self.timers if not timer.cancelled]
        return {each: seconds.count(each) for each in seconds}

    def pass_by(self, seconds: float) -> None:
        """Make the calls that are due after so many seconds."""
        for timer in [timer for timer in self.timers if timer.seconds == seconds and not timer.cancelled]:
            self.timers.remove(timer)
            timer.call(*timer.arguments)


@dataclass
class Connection:
    """A connection under test; the application answers each request when it is let to."""

    told: Told = field(default_factory=Told)
    wire: Wire = field(default_factory=Wire)
    clockwork: Clockwork = field(default_factory=Clockwork)
    served: list[str] = field(default_factory=list)
    may_answer: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.may_answer.set()

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            self.served.append(scope["path"])
            await self.may_answer.wait()
            await Response("ok")(scope, receive, send)

        config = uvicorn.Config(app, lifespan="off", ws="none", log_config=None, timeout_keep_alive=IDLE_SECONDS)
        protocol = protocol_reporting_to(self.told)
        # The clockwork is as much of a loop as the protocol asks for.
        self.protocol = protocol(config, ServerState(), {}, self.clockwork)  # type: ignore[arg-type]
        self.protocol.connection_made(self.wire)

    def feed(self, *chunks: bytes) -> None:
        """Receive some bytes, chunk by chunk, until the connection is closed."""
        for chunk in chunks:
            if not self.wire.closed:
                self.protocol.data_received(chunk)

    async def settle(self) -> None:
        """Let the application run."""
        for _ in range(5):
            await asyncio.sleep(0)


@pytest.fixture
async def connection() -> Connection:
    return Connection()


async def test_a_request_is_served_and_the_connection_waits_for_another(connection: Connection) -> None:
    connection.feed(GET + END)
    await connection.settle()
    assert connection.wire.written.startswith(b"HTTP/1.1 200")
    assert {IDLE_SECONDS: 1} == connection.clockwork.due()
    connection.feed(GET.replace(b"/ ", b"/other "), END)
    await connection.settle()
    assert ["/", "/other"] == connection.served
    connection.clockwork.pass_by(IDLE_SECONDS)
    assert connection.wire.closed


@pytest.mark.parametrize(
    "chunks",
    [
        [GET + b"x: " + b"y" * HEAD_BYTES_MAX + END + END],
        [GET + b"x: ", *[b"y" * 1_000] * 10_000],
        [GET + b"".join(b"x%d: y\r\n" % number for number in range(5_000)) + END],
        [GET, *(b"x%d: y\r\n" % number for number in range(50_000))],
        [b"GET /" + b"y" * HEAD_BYTES_MAX + b" HTTP/1.1\r\n" + END],
        [b"GET /", *[b"y" * 1_000] * 10_000],
        [b"G" * 1_000, *[b"E" * 1_000] * 10_000],
    ],
)
async def test_a_head_that_is_too_large_is_refused_while_it_arrives(
    connection: Connection, chunks: list[bytes]
) -> None:
    fed = 0
    for chunk in chunks:
        if not connection.wire.closed:
            connection.feed(chunk)
            fed += len(chunk)
    assert [] == connection.served
    assert connection.wire.closed
    assert fed <= max(HEAD_BYTES_MAX + 2 * 1_024, len(chunks[0]))
    status, headers, body = connection.wire.answer
    if chunks[0].startswith(b"GET"):
        assert (431, "malformed_request") == (status, body["error"]["code"])
        assert f"must not exceed {HEAD_BYTES_MAX} bytes" in body["error"]["message"]
        assert ["head_bytes"] == connection.told.limits
    assert headers["x-request-id"] == body["error"]["request_id"]
    assert "close" == headers["connection"]
    assert {} == connection.clockwork.due()


async def test_a_head_at_the_bound_is_served(connection: Connection) -> None:
    connection.feed(GET + b"x: " + b"y" * (HEAD_BYTES_MAX - 100) + END + END)
    await connection.settle()
    assert ["/"] == connection.served


async def test_a_large_body_is_not_counted(connection: Connection) -> None:
    post = b"POST /one HTTP/1.1\r\nhost: gateway.test\r\ncontent-length: 500000\r\n\r\n"
    connection.feed(
        post, *[b"y" * 10_000] * 49, b"y" * 10_000 + b"GET /two HTTP/1.1\r\nhost: ", b"gateway.test\r\n\r\n"
    )
    await connection.settle()
    assert ["/one", "/two"] == connection.served


@pytest.mark.parametrize(
    "content",
    [b"\x00\x01\x02\x03\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"GET / HTTP/1.1\r\nx\r\n\r\n"],
)
async def test_what_is_no_request_is_answered_in_the_envelope(connection: Connection, content: bytes) -> None:
    connection.feed(content)
    status, headers, body = connection.wire.answer
    assert (400, "malformed_request") == (status, body["error"]["code"])
    assert "the request is not valid HTTP" == body["error"]["message"]
    assert "application/json" == headers["content-type"]
    assert "private, no-store" == headers["cache-control"]
    assert connection.wire.closed


async def test_a_head_that_does_not_end_in_time_is_refused(connection: Connection) -> None:
    [timer] = connection.clockwork.timers
    connection.feed(GET, *[b"x: y\r\n"] * 10)
    # What arrives meanwhile does not put it off.
    assert {HEAD_WAIT_SECONDS: 1} == connection.clockwork.due()
    assert not timer.cancelled
    connection.clockwork.pass_by(HEAD_WAIT_SECONDS)
    status, _, body = connection.wire.answer
    assert (408, "request_timeout") == (status, body["error"]["code"])
    assert connection.wire.closed
    assert ["head_seconds"] == connection.told.limits


async def test_a_connection_without_a_request_is_closed_silently(connection: Connection) -> None:
    connection.clockwork.pass_by(HEAD_WAIT_SECONDS)
    assert connection.wire.closed
    assert b"" == connection.wire.written
    assert [] == connection.told.limits


async def test_line_breaks_between_requests_do_not_keep_a_connection_open(connection: Connection) -> None:
    connection.feed(GET + END)
    await connection.settle()
    connection.feed(b"\r\n", b"\r\n", b"\r\n")
    assert {HEAD_WAIT_SECONDS: 1} == connection.clockwork.due()
    connection.clockwork.pass_by(HEAD_WAIT_SECONDS)
    assert connection.wire.closed


async def test_an_answer_under_way_is_not_cut_short_by_the_next_head(connection: Connection) -> None:
    connection.may_answer.clear()
    connection.feed(GET + END + b"GET /slow HT")
    await connection.settle()
    connection.clockwork.pass_by(HEAD_WAIT_SECONDS)
    assert not connection.wire.closed
    connection.may_answer.set()
    await connection.settle()
    assert connection.wire.written.endswith(b"ok")
    connection.clockwork.pass_by(HEAD_WAIT_SECONDS)
    assert connection.wire.closed


async def test_a_body_that_breaks_off_in_mid_frame_is_answered(connection: Connection) -> None:
    connection.may_answer.clear()
    connection.feed(b"POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n", b"heliotrope\r\n")
    assert connection.wire.written.startswith(b"HTTP/1.1 400")
    assert connection.wire.closed


async def test_an_upgrade_is_not_taken_up(connection: Connection) -> None:
    connection.feed(GET + b"connection: upgrade\r\nupgrade: websocket\r\n" + END)
    await connection.settle()
    assert connection.wire.written.startswith(b"HTTP/1.1 200")


async def test_a_lost_connection_waits_for_nothing(connection: Connection) -> None:
    connection.feed(GET)
    connection.protocol.connection_lost(None)
    assert {} == connection.clockwork.due()
