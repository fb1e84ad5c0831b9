"""A store that can't answer is a failure on both transports, never an empty page; a write is repeated with its key."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager

import pytest

from store.inmemory.store import InMemoryStore
from store.ports.errors import StoreInconsistent, StoreUnavailable
from store.ports.store import Result, Snapshot, Transaction
from tests.factories import memory, owner
from tests.gateways import Gateway, serving
from tests.parity.clients import RestTransport, Transport

ADA = owner()


class BreakableStore:
    """An adapter over a store in memory, which fails as long as it is told to."""

    def __init__(self) -> None:
        self._store = InMemoryStore()
        self.failure: Exception | None = None

    def snapshot(self) -> AbstractAsyncContextManager[Snapshot]:
        """Open a view, or fail."""
        self._fail()
        return self._store.snapshot()

    def single_read(self) -> AbstractAsyncContextManager[Snapshot]:
        """Open a view, or fail."""
        return self.snapshot()

    async def transact(self, work: Callable[[Transaction], Awaitable[Result]]) -> Result:
        """Run the work, or fail."""
        self._fail()
        return await self._store.transact(work)

    async def check(self) -> None:
        """Answer, or fail."""
        self._fail()

    async def close(self) -> None:
        """Nothing is held."""

    def _fail(self) -> None:
        if self.failure is not None:
            raise self.failure


@pytest.fixture
def store() -> BreakableStore:
    return BreakableStore()


@pytest.fixture
async def gateway(store: BreakableStore) -> AsyncIterator[Gateway]:
    async with serving(store) as gateway:
        yield gateway


@pytest.mark.parametrize("secret", ["remembered", "never seen"])
async def test_a_read_from_a_broken_store_is_unavailable(
    transport: Transport, store: BreakableStore, secret: str
) -> None:
    [record] = await transport.gateway.keep(memory("Keeps a heliotrope"))
    known = await transport.gateway.secret(ADA)
    await transport.browse(known, {"ceiling": "public"})
    store.failure = StoreUnavailable("heliotrope in the driver's words")
    asking = known if secret == "remembered" else secret

    answers = [
        await transport.browse(asking, {"ceiling": "public"}),
        await transport.read(asking, str(record.id), {"ceiling": "public"}),
    ]

    for answer in answers:
        assert ("unavailable", 503, "1") == (
            answer.code,
            answer.response.status_code,
            answer.response.headers["retry-after"],
        )
        assert "heliotrope" not in answer.response.text


async def test_a_write_to_a_broken_store_can_be_repeated(transport: Transport, store: BreakableStore) -> None:
    [record] = await transport.gateway.keep(memory(flagged_for_review=True))
    secret = await transport.gateway.secret(ADA)
    await transport.browse(secret, {"ceiling": "public"})
    write = {"ceiling": "public", "idempotency_key": "key"}
    store.failure = StoreUnavailable()

    refused = await transport.review(secret, str(record.id), {**write, "outcome": "dismiss"})
    store.failure = None
    applied = await transport.review(secret, str(record.id), {**write, "outcome": "dismiss"})

    assert "unavailable" == refused.code
    assert applied.row["flagged_for_review"] is False


@pytest.mark.parametrize("failure", [StoreInconsistent("heliotrope"), RuntimeError("heliotrope")])
async def test_what_nobody_foresaw_is_told_without_its_words(
    transport: Transport, store: BreakableStore, failure: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    secret = await transport.gateway.secret(ADA)
    await transport.browse(secret, {"ceiling": "public"})
    store.failure = failure

    answer = await transport.browse(secret, {"ceiling": "public"})

    assert ("internal_error", "an internal error occurred") == (answer.code, answer.message)
    assert "heliotrope" not in answer.response.text + caplog.text
    if isinstance(transport, RestTransport):
        assert 500 == answer.response.status_code
