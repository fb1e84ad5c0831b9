"""Whatever is sent to the server is answered soon, is no failure of ours, and leaves no word in a log or a metric."""

import io
import logging
import re
import socket
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from prometheus_client import generate_latest

from gateway.observability.exchanges import ExchangeReports
from gateway.observability.logs import log_handler
from gateway.observability.metrics import GatewayMetrics
from tests.conformance.serving import Served, served
from tests.factories import memory
from tests.outsiders.hostility import HostileRequest, hostile_requests
from tests.outsiders.oddities import CANARY

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.xdist_group("outsiders"),
    # Of a request that fails all parts are shown, and some are long.
    pytest.mark.filterwarnings("ignore:Generating overly large repr"),
]

WAIT_SECONDS = 8.0
"""For the end of an answer: less than the server waits for a head or a body, so that its waiting counts as a hang."""
STATUS = re.compile(rb"^HTTP/1\.1 (\d{3}) ", re.MULTILINE)
LEAKS = re.compile(
    rb"Traceback|object of type|recursion depth|KeyError|invalid literal|codec can|asyncpg|starlette|strawberry"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """A gateway whose log and metrics are kept."""

    served: Served
    log: io.StringIO
    metrics: GatewayMetrics

    def told(self) -> str:
        """Everything that its operator could read."""
        return self.log.getvalue() + generate_latest(self.metrics.registry).decode()


@pytest.fixture
def watched() -> Iterator[Watched]:
    """A gateway at its most talkative, with a belief to be asked for."""
    log, metrics, root = io.StringIO(), GatewayMetrics(), logging.getLogger()
    handler = log_handler(log, as_json=False, request_id=lambda: None)
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        with served(memory(), exchanges=ExchangeReports(metrics)) as gateway:
            yield Watched(served=gateway, log=log, metrics=metrics)
    finally:
        root.removeHandler(handler)
        root.setLevel(level)


def answer(gateway: Served, request: HostileRequest) -> bytes:
    """What comes back until the other end closes; raises TimeoutError if it does not."""
    received = b""
    with socket.create_connection(("127.0.0.1", gateway.port), timeout=WAIT_SECONDS) as connection:
        try:
            connection.sendall(request.content)
            if request.is_cut:
                # Refused by what came before the cut, the connection may be gone already.
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_WR)
            while chunk := connection.recv(65_536):
                received += chunk
        except (BrokenPipeError, ConnectionResetError):
            # It was refused before all of it was sent.
            pass
    return received


def examine(watched: Watched, count: int) -> None:
    sent = 0

    @settings(
        max_examples=count,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(request=hostile_requests(watched.served.token))
    def check(request: HostileRequest) -> None:
        nonlocal sent
        sent += 1
        assert CANARY.encode() in request.content
        response = answer(watched.served, request)
        statuses = [int(status) for status in STATUS.findall(response)]
        assert statuses or request.is_cut or not response
        assert [] == [status for status in statuses if status >= 500]
        assert LEAKS.search(response) is None

    check()
    assert sent >= count
    with watched.served.client() as client:
        assert 200 == client.get("/livez").status_code
    told = watched.told()
    assert "exchange" in told
    assert CANARY not in told
    assert "unexpected failure" not in told
    assert "a library reported a problem" not in told


def test_hostile_http_is_answered_and_not_told(watched: Watched) -> None:
    examine(watched, 600)


@pytest.mark.long
def test_much_hostile_http_is_answered_and_not_told(watched: Watched) -> None:
    examine(watched, 10_000)
