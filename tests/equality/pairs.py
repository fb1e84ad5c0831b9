"""Two gateways over one store, alike but for how pages are made, and what each of them answers and reports."""

import itertools
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import httpx

from store.domain.memories import MemoryRecord
from store.domain.owners import Owner
from store.domain.vocabulary import AccessScope, Sensitivity
from store.ports.store import Store
from tests.gateways import FULL, ORIGIN, Gateway, serving
from tests.worlds import keep

_example_numbers = itertools.count(1)


@dataclass(slots=True)
class Recorded:
    """Measures and reports, in the order in which they were made."""

    calls: list[tuple[object, ...]] = field(default_factory=list)

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

    async def ask(self, method: str, path: str, secret: str, **request: Any) -> tuple[object, ...]:  # Any: of httpx
        """Everything that a request leads to, to be compared whole."""
        self.recorded.calls.clear()
        headers = {"authorization": f"Bearer {secret}", "x-request-id": "same", **request.pop("headers", {})}
        transport = httpx.ASGITransport(app=self.gateway.app)
        async with httpx.AsyncClient(transport=transport, base_url=ORIGIN) as client:
            response = await client.request(method, path, headers=headers, **request)
        return response.status_code, response.content, response.headers.multi_items(), tuple(self.recorded.calls)


@dataclass(frozen=True, slots=True)
class Pair:
    """Both, over a store that holds a world of many examples, each in tenants of its own."""

    store: Store
    plain: Side
    fast: Side

    async def keep(self, world: Sequence[MemoryRecord]) -> int:
        """Store an example's world; its number."""
        number = next(_example_numbers)
        await keep(self.store, *(replace(record, owner=moved(record.owner, number)) for record in world))
        return number

    async def secret(self, owner: Owner, number: int, scopes: frozenset[AccessScope] = FULL) -> str:
        """A token of an owner of an example."""
        return await self.plain.gateway.secret(moved(owner, number), scopes)


def moved(owner: Owner, number: int) -> Owner:
    """The owner's namesake of one example."""
    return replace(owner, tenant=f"{owner.tenant} {number}")


@asynccontextmanager
async def paired(store: Store) -> AsyncIterator[Pair]:
    """Serve a store twice."""
    plain, fast = Recorded(), Recorded()
    async with (
        serving(store, measures=plain, encoded_pages=False) as first,
        serving(store, measures=fast) as second,
    ):
        yield Pair(store, Side(first, plain), Side(second, fast))
