"""An exception that nobody foresaw is logged without its words, wherever it arises."""

import io
import logging
from collections.abc import Iterator

import pytest
from starlette.types import Message, Receive, Scope, Send

from gateway.http.exchanges import NoExchanges
from gateway.observability.logs import log_handler
from store.inmemory.store import InMemoryStore
from tests.factories import memory, owner
from tests.faults.listening import listening, read_answer, request
from tests.gateways import Gateway, serving

pytestmark = pytest.mark.e2e

SECRET = "Keeps a secret rowing boat"


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """Everything that the program's own handler writes, at the lowest level."""
    written = io.StringIO()
    root = logging.getLogger()
    handler = log_handler(written, as_json=False, request_id=lambda: None)
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield written
    root.removeHandler(handler)
    root.setLevel(level)


class FailingExchanges(NoExchanges):
    """Reports that fail, outside of everything that answers failures."""

    def record(self, route: str, method: str, status: int, seconds: float, *, operation: str) -> None:
        raise RuntimeError(SECRET)


async def answered(gateway: Gateway) -> list[int]:
    """The statuses of one page on each transport."""
    secret = await gateway.secret(owner())
    sent = [
        request("GET", "/v1/memories?ceiling=restricted", secret=secret),
        request("POST", "/graphql", secret=secret, body={"query": "{ memories(ceiling: PUBLIC) { nodes { id } } }"}),
    ]
    statuses = []
    async with listening(gateway) as listener:
        for each in sent:
            async with listener.sending(each) as reader:
                statuses.append((await read_answer(reader))[0])
    return statuses


async def test_what_fails_in_the_surroundings_of_an_exchange_is_logged_without_its_words(log: io.StringIO) -> None:
    async with serving(InMemoryStore(), exchanges=FailingExchanges()) as gateway:
        await gateway.keep(memory(SECRET, owner=owner()))
        await answered(gateway)

    assert "RuntimeError" in log.getvalue()
    assert SECRET not in log.getvalue()


async def test_what_fails_outside_of_the_application_is_logged_without_its_words(log: io.StringIO) -> None:
    async with serving(InMemoryStore()) as gateway:
        inner = gateway.app.build_middleware_stack()

        async def fail(scope: Scope, receive: Receive, send: Send) -> None:
            async def send_nothing(message: Message) -> None:
                raise ValueError(f"{SECRET}: {message}")

            await inner(scope, receive, send_nothing)

        gateway.app.middleware_stack = fail
        statuses = await answered(gateway)

    assert [500, 500] == statuses
    assert "ValueError" in log.getvalue()
    assert SECRET not in log.getvalue()
