"""A whole gateway in this process: the application over a store, a clock to be set, and a token for each caller."""

from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from uuid import uuid4

import httpx
from starlette.applications import Starlette

from gateway.app import build_app
from gateway.graphql.documents import NO_TRUSTED_DOCUMENTS, CountDocument, TrustedDocuments
from gateway.http.deadlines import Deadlines
from gateway.http.exchanges import Exchanges
from gateway.http.policy import DEFAULT_POLICY, Policy
from gateway.service.company import CompanyService
from gateway.service.environment import Environment, Measures, NoMeasures
from gateway.service.evidence import EvidenceService
from gateway.service.memories import PublicMemoryService
from gateway.service.tokens import TokenService
from gateway.web.pages import NO_PAGES, Pages
from store.domain.derived import DerivedRecord
from store.domain.lexical import LEXICAL_VERSION
from store.domain.memories import MemoryRecord
from store.domain.owners import Owner
from store.domain.vocabulary import AccessScope
from store.ports.store import Store, StoreFact, Transaction
from tests.factories import NOW
from tests.worlds import KEYRING, keep, keep_derived

ORIGIN = "http://gateway.test"
READ = frozenset({AccessScope.MEMORY_READ})
WRITE = frozenset({AccessScope.MEMORY_WRITE})
FULL = READ | WRITE


@dataclass(slots=True)
class Clock:
    """A clock that stands still until a test moves it."""

    now: datetime = NOW

    def __call__(self) -> datetime:
        return self.now

    def advance(self, by: timedelta) -> None:
        """Let time pass."""
        self.now += by


@dataclass(frozen=True, slots=True, kw_only=True)
class Gateway:
    """An application under test and what it rests on."""

    store: Store
    app: Starlette
    tokens: TokenService
    clock: Clock
    _secrets: dict[tuple[Owner, frozenset[AccessScope]], str] = field(default_factory=dict)

    def client(self) -> httpx.AsyncClient:
        """A client that speaks to the application without a network."""
        return httpx.AsyncClient(transport=httpx.ASGITransport(app=self.app), base_url=ORIGIN)

    async def secret(self, owner: Owner, scopes: Collection[AccessScope] = FULL) -> str:
        """The secret of a token with exactly these scopes, made when it is first asked for."""
        key = (owner, frozenset(scopes))
        if key not in self._secrets:
            _, self._secrets[key] = await self.tokens.create(owner, scopes=key[1], label="test", expires_at=None)
        return self._secrets[key]

    async def keep(self, *records: MemoryRecord) -> list[MemoryRecord]:
        """Store records at fresh positions, the oldest first; as they are kept."""

        positions = await self._positions(len(records))
        kept = [replace(record, store_position=position) for record, position in zip(records, positions, strict=True)]
        await keep(self.store, *kept)
        return kept

    async def keep_derived(self, *records: DerivedRecord) -> list[DerivedRecord]:
        """Store derived records in the same way; each rests on what its sources rest on."""
        positions = await self._positions(len(records))
        kept = [replace(record, store_position=position) for record, position in zip(records, positions, strict=True)]
        await keep_derived(self.store, *kept)
        return kept

    async def _positions(self, count: int) -> Sequence[int]:
        return await self.store.transact(lambda transaction: transaction.memories.next_positions(count))


async def prepare(store: Store) -> None:
    """Write the facts that a start writes: the key that statements are hashed with, the rules of the lexemes."""

    async def work(transaction: Transaction) -> None:
        await transaction.facts.claim(StoreFact.KEY_ID, KEYRING.current.id)
        await transaction.facts.claim(StoreFact.LEXICAL_VERSION, LEXICAL_VERSION)

    await store.transact(work)


@asynccontextmanager
async def serving(
    store: Store,
    *,
    memory: bool = True,
    exchanges: Exchanges | None = None,
    measures: Measures | None = None,
    count_document: CountDocument = lambda _: None,
    trusted: TrustedDocuments = NO_TRUSTED_DOCUMENTS,
    policy: Policy = DEFAULT_POLICY,
    deadlines: Deadlines | None = None,
    encoded_pages: bool = True,
    derived: bool = False,
    evidence: bool = False,
    pages: Pages = NO_PAGES,
) -> AsyncIterator[Gateway]:
    """Serve a store until the block is left; without `memory` the memory surface is off, and all others with it."""
    await prepare(store)
    clock = Clock()
    tokens = TokenService(store, clock=clock, new_id=uuid4)
    environment = Environment(keyring=KEYRING, clock=clock, measures=measures or NoMeasures())
    graphs = EvidenceService(store, environment)
    app = build_app(
        memories=PublicMemoryService(store, environment, derived=derived) if memory else None,
        tokens=tokens,
        ready=store.check,
        version="1.2.3",
        exchanges=exchanges,
        trusted=trusted,
        count_document=count_document,
        policy=policy,
        deadlines=deadlines,
        encoded_pages=encoded_pages,
        derived=derived,
        evidence=graphs if evidence else None,
        company=CompanyService(store, environment, graphs) if evidence else None,
        pages=pages,
    )
    try:
        yield Gateway(store=store, app=app, tokens=tokens, clock=clock)
    finally:
        await tokens.close()
