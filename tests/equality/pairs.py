"""Two gateways over one store, alike but for how pages are made, and what each of them answers and reports."""

import asyncio
import itertools
import logging
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from typing import TypeAlias
from urllib.parse import urlsplit

from starlette.types import Message

from gateway.http.exchanges import NoExchanges
from store.domain.derived import DerivedRecord
from store.domain.memories import MemoryRecord
from store.domain.owners import Owner
from store.domain.vocabulary import AccessScope, Sensitivity
from store.ports.store import Store
from tests.gateways import FULL, Gateway, serving
from tests.worlds import keep, keep_derived

Answer: TypeAlias = tuple[int, bytes, list[tuple[bytes, bytes]], list[tuple[object, ...]]]
"""Status, body, headers, and what was reported; to be compared whole."""

_example_numbers = itertools.count(1)


@dataclass(slots=True)
class Recorded(NoExchanges):
    """Measures, reports of exchanges and lines of the log, in the order in which they were made."""

    calls: list[tuple[object, ...]] = field(default_factory=list)

    def record(self, route: str, method: str, status: int, seconds: float, *, operation: str) -> None:
        self.calls.append(("exchange", route, method, status, operation))

    def limit_exceeded(self, limit: str) -> None:
        self.calls.append(("limit_exceeded", limit))

    def operation(self, operation: str, *, outcome: str, ceiling: Sensitivity) -> None:
        self.calls.append(("operation", operation, outcome, ceiling))

    def page(self, *, size: int, continued: bool) -> None:
        self.calls.append(("page", size, continued))

    def text_query(self, *, has_lexemes: bool) -> None:
        self.calls.append(("text_query", has_lexemes))

    def cursor_rejected(self, *, reason: str) -> None:
        self.calls.append(("cursor_rejected", reason))


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two."""

    gateway: Gateway
    recorded: Recorded

    async def ask(
        self, method: str, path: str, secret: str, *, content: bytes = b"", headers: Mapping[str, str] | None = None
    ) -> Answer:
        """Everything that a request leads to."""
        # Without a client, which would take longer than all the rest.
        calls = self.recorded.calls = []
        given = {"authorization": f"Bearer {secret}", "x-request-id": "same", **(headers or {})}
        target = urlsplit(path)
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": target.path,
            "raw_path": target.path.encode(),
            "query_string": target.query.encode(),
            "root_path": "",
            "headers": [(b"host", b"gateway.test"), *((name.encode(), given[name].encode()) for name in given)],
            "client": ("127.0.0.1", 1),
            "server": ("gateway.test", 80),
        }
        sent: list[Message] = []
        bodies = iter([content])
        is_answered = asyncio.Event()

        async def receive() -> Message:
            for body in bodies:
                return {"type": "http.request", "body": body, "more_body": False}
            # A caller who stays says nothing more: what answers at once is taken for one who speaks on and on.
            await is_answered.wait()
            return {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            sent.append(message)
            if message["type"] == "http.response.body" and not message.get("more_body", False):
                is_answered.set()

        before = asyncio.all_tasks()
        with _heard(calls):
            await self.gateway.app(scope, receive, send)
            # What a refused answer leaves running reports as well, to whoever is asked next if nobody waits for it.
            if left := asyncio.all_tasks() - before:
                await asyncio.wait(left)
        start, *rest = sent
        return start["status"], b"".join(message.get("body", b"") for message in rest), start["headers"], calls


@dataclass(frozen=True, slots=True)
class Pair:
    """Both, over a store that holds a world of many examples, each in tenants of its own."""

    store: Store
    plain: Side
    fast: Side

    async def keep(self, world: Sequence[MemoryRecord], derived: Sequence[DerivedRecord] = ()) -> int:
        """Store an example's world; its number."""
        number = next(_example_numbers)
        await keep(self.store, *(replace(record, owner=moved(record.owner, number)) for record in world))
        await keep_derived(self.store, *(replace(record, owner=moved(record.owner, number)) for record in derived))
        return number

    async def secret(self, owner: Owner, number: int, scopes: frozenset[AccessScope] = FULL) -> str:
        """A token of an owner of an example."""
        return await self.plain.gateway.secret(moved(owner, number), scopes)


class _Ear(logging.Handler):
    def __init__(self, calls: list[tuple[object, ...]]) -> None:
        super().__init__()
        self._calls = calls

    def emit(self, record: logging.LogRecord) -> None:
        self._calls.append(("log", record.levelname, record.getMessage()))


@contextmanager
def _heard(calls: list[tuple[object, ...]]) -> Iterator[None]:
    """Add to the calls what the gateway logs meanwhile."""
    ear, logger = _Ear(calls), logging.getLogger("gateway")
    logger.addHandler(ear)
    try:
        yield
    finally:
        logger.removeHandler(ear)


def moved(owner: Owner, number: int) -> Owner:
    """The owner's namesake of one example."""
    return replace(owner, tenant=f"{owner.tenant} {number}")


@asynccontextmanager
async def paired(store: Store, twin: Store | None = None) -> AsyncIterator[Pair]:
    """Serve a store twice; or beside it one that is alike, where what is asked changes something.

    Every surface is on, so that all is there that can be asked for.
    """
    plain, fast = Recorded(), Recorded()
    async with (
        serving(store, measures=plain, exchanges=plain, encoded_pages=False, derived=True, evidence=True) as first,
        serving(twin or store, measures=fast, exchanges=fast, derived=True, evidence=True) as second,
    ):
        yield Pair(store, Side(first, plain), Side(second, fast))
