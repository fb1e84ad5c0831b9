"""The load generator: one thread that keeps some connections busy, or sends at a fixed rate, and counts.

It is a process of its own, over plain sockets and the standard library, so that its cost is small, is known, and falls
on nobody's event loop. Requests are bytes that were made beforehand. Every loop is bounded in requests and in time.
It speaks to this machine alone. A job comes as JSON on standard input, its outcome goes to standard output.

An answer counts as wrong if its status is not 200, if its size differs from that of the first answer to the same
request, or if that first one (with `distinct` every one) holds GraphQL errors. At a fixed rate a latency begins when
the request was due, not when a connection became free: a stall is seen by everybody who waited.
"""

import gc
import json
import resource
import selectors
import socket
import subprocess
import sys
import time
from base64 import b64decode, b64encode
from collections import deque
from collections.abc import Sequence
from dataclasses import asdict, dataclass

RECEIVE_BYTES = 1 << 20
ANSWER_BYTES_MAX = 64 << 20
HEAD_BYTES_MAX = 1 << 16
REQUESTS_MAX = 2_000_000
SECONDS_MAX = 600.0
SIZE_TOLERANCE_BYTES = 16
"""By how much answers to one request may differ: a head may tell what is left of a limit, in more digits or fewer."""
STALLED_SECONDS = 60.0
"""How long the last answers may take after the end; the address is this machine's."""
HOST = "127.0.0.1"


class LoadFailed(Exception):
    """The generator could not do its job: a connection was refused, closed or answered with no HTTP."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What to send: the requests in turn, until `seconds` have passed or `count` were sent.

    `rate` is requests a second over all connections; None: as fast as the answers come. `distinct` requests are sent
    once each, and every answer is looked into.
    """

    port: int
    requests: Sequence[bytes]
    connections: int
    seconds: float
    count: int = REQUESTS_MAX
    rate: float | None = None
    distinct: bool = False

    def __post_init__(self) -> None:
        assert self.requests
        assert 0 < self.seconds <= SECONDS_MAX
        assert 0 < self.count <= REQUESTS_MAX


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came back. Times are seconds; `cpu_seconds` is the generator's own."""

    answers: int
    wrong: int
    seconds: float
    cpu_seconds: float
    answer_bytes: int
    latencies: Sequence[float]

    @property
    def rate(self) -> float:
        """Right answers a second."""
        return (self.answers - self.wrong) / self.seconds

    def percentile_ms(self, share: float) -> float:
        """The latency in milliseconds that this share of the answers did not exceed."""
        ordered = sorted(self.latencies)
        return 1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def start(job: Job) -> "subprocess.Popen[str]":
    """Start a generator, and return once it is connected; `finish` waits for its end."""
    content = asdict(job) | {"requests": [b64encode(request).decode() for request in job.requests]}
    process = subprocess.Popen(
        [sys.executable, "-EP", __file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    process.stdin.write(json.dumps(content))
    process.stdin.close()
    process.stdin = None
    assert process.stdout is not None
    process.stdout.readline()
    return process


def finish(process: "subprocess.Popen[str]") -> Outcome:
    """The outcome of a generator. Raises LoadFailed."""
    output, log = process.communicate(timeout=SECONDS_MAX + 2 * STALLED_SECONDS)
    if process.returncode != 0:
        raise LoadFailed(log.strip().rpartition("\n")[2])
    return Outcome(**json.loads(output))


def drive(job: Job) -> Outcome:
    """Run a job to its end in a process of its own. Raises LoadFailed."""
    return finish(start(job))


class _Connection:
    """One connection that has at most one request under way."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection((HOST, port), timeout=STALLED_SECONDS)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.setblocking(False)
        self.request = 0
        self.began_at = 0.0
        self._head = bytearray()
        self._kept = bytearray()
        self._received = 0
        self._whole: int | None = None
        self._is_chunked = False
        self.is_good = False

    def send(self, request: int, content: bytes, began_at: float) -> None:
        """Send a request; it is smaller than the empty buffer of the socket."""
        self.request, self.began_at = request, began_at
        self._head, self._kept, self._received, self._whole = bytearray(), bytearray(), 0, None
        self.socket.sendall(content)

    def receive(self, buffer: memoryview, *, keep: bool) -> int | None:
        """Take what is there: the size of the answer once it is whole, else None."""
        count = self.socket.recv_into(buffer)
        if count == 0:
            raise LoadFailed("the server closed a connection")
        self._received += count
        if self._whole is None:
            self._head += buffer[:count]
            self._read_head()
        if keep or self._is_chunked:
            self._kept += buffer[:count]
        if self._received > ANSWER_BYTES_MAX:
            raise LoadFailed("an answer is larger than 64 MiB")
        if self._is_chunked:
            return self._received if self._kept.endswith(b"\r\n0\r\n\r\n") else None
        return self._received if self._received == self._whole else None

    def answered(self, sample: bytes) -> bool:
        """Whether the answer that was kept holds these bytes."""
        return sample in self._kept

    def _read_head(self) -> None:
        end = self._head.find(b"\r\n\r\n")
        if end < 0:
            if len(self._head) > HEAD_BYTES_MAX:
                raise LoadFailed("an answer is no HTTP")
            return
        head = bytes(self._head[:end]).lower()
        self.is_good = head.startswith(b"http/1.1 200")
        _, found, rest = head.partition(b"\r\ncontent-length:")
        self._is_chunked = not found
        if self._is_chunked and b"\r\ntransfer-encoding: chunked" not in head:
            raise LoadFailed("an answer has no length")
        self._whole = end + 4 + int(rest.partition(b"\r\n")[0]) if found else ANSWER_BYTES_MAX


class _Run:
    """One job under way."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._selector = selectors.DefaultSelector()
        self._idle: deque[_Connection] = deque(_Connection(job.port) for _ in range(job.connections))
        for connection in self._idle:
            self._selector.register(connection.socket, selectors.EVENT_READ, connection)
        self._buffer = memoryview(bytearray(RECEIVE_BYTES))
        self._sizes: dict[int, int] = {}
        self._count = min(job.count, len(job.requests)) if job.distinct else job.count
        self._sent = 0
        self._wrong = 0
        self._bytes = 0
        self._latencies: list[float] = []

    def outcome(self) -> Outcome:
        used_before = _cpu_seconds()
        began_at = time.perf_counter()
        self._ends_at = began_at + self._job.seconds
        self._send_what_is_due(began_at, began_at)
        while len(self._idle) < self._job.connections or self._may_send(time.perf_counter()):
            events = self._selector.select(self._wait_seconds(began_at))
            for key, _ in events:
                self._receive(key.data)
            now = time.perf_counter()
            if not events and now > self._ends_at + STALLED_SECONDS:
                raise LoadFailed("the server does not answer any more")
            self._send_what_is_due(began_at, now)
        seconds = time.perf_counter() - began_at
        return Outcome(
            answers=len(self._latencies),
            wrong=self._wrong,
            seconds=seconds,
            cpu_seconds=_cpu_seconds() - used_before,
            answer_bytes=self._bytes,
            latencies=self._latencies,
        )

    def _may_send(self, now: float) -> bool:
        return self._sent < self._count and now < self._ends_at

    def _wait_seconds(self, began_at: float) -> float:
        if self._job.rate is None or not self._idle:
            return 1.0
        return max(0.0, began_at + self._sent / self._job.rate - time.perf_counter())

    def _send_what_is_due(self, began_at: float, now: float) -> None:
        rate = self._job.rate
        while self._idle and self._may_send(now):
            due_at = now if rate is None else began_at + self._sent / rate
            if due_at > now:
                return
            request = self._sent % len(self._job.requests)
            self._sent += 1
            self._idle.popleft().send(request, self._job.requests[request], due_at)
            if rate is None:
                now = time.perf_counter()

    def _receive(self, connection: _Connection) -> None:
        looked_into = self._job.distinct or connection.request not in self._sizes
        size = connection.receive(self._buffer, keep=looked_into)
        if size is None:
            return
        self._latencies.append(time.perf_counter() - connection.began_at)
        self._idle.append(connection)
        self._bytes += size
        expected = self._sizes.setdefault(connection.request, size)
        strange = looked_into and connection.answered(b'"errors":')
        if (
            not connection.is_good
            or strange
            or (abs(size - expected) > SIZE_TOLERANCE_BYTES and not self._job.distinct)
        ):
            self._wrong += 1


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _main() -> None:
    content = json.load(sys.stdin)
    content["requests"] = [b64decode(request) for request in content["requests"]]
    gc.disable()
    run = _Run(Job(**content))
    print("connected", flush=True)
    json.dump(asdict(run.outcome()), sys.stdout)


if __name__ == "__main__":
    _main()
