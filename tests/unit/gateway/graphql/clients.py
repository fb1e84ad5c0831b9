"""A GraphQL deployment over a store in memory, and a client that speaks to it."""

from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, cast
from urllib.parse import urlencode

import httpx
from starlette.applications import Starlette
from starlette.middleware import Middleware

from gateway.graphql.documents import NO_TRUSTED_DOCUMENTS, CountDocument, TrustedDocuments
from gateway.graphql.endpoint import graphql_routes
from gateway.http.admission import Admission
from gateway.http.deadlines import Deadlines
from gateway.http.policy import DEFAULT_POLICY, Policy
from gateway.http.presence import PresenceMiddleware
from gateway.service.environment import Environment
from gateway.service.memories import PublicMemoryService
from gateway.service.tokens import TokenService
from store.domain.encodings import RowShape
from store.domain.lexical import LEXICAL_VERSION
from store.domain.memories import MemoryRecord
from store.domain.owners import Owner
from store.domain.vocabulary import AccessScope
from store.inmemory.store import InMemoryStore
from store.ports.derived import DerivedReads
from store.ports.errors import StoreUnavailable
from store.ports.memories import EncodedPage, MemoryBrowseQuery, MemoryBrowseResult, MemoryReads
from store.ports.store import Result, Snapshot, StoreFact, Transaction
from tests import factories
from tests.worlds import KEYRING, keep

GRAPHQL_RESPONSE = "application/graphql-response+json"


class CountedReads:
    """The reads of a snapshot, each counted under its name."""

    def __init__(self, reads: MemoryReads, store: "ObservedStore") -> None:
        self._reads = reads
        self._store = store

    def __getattr__(self, name: str) -> object:
        self._store.note(name)
        return getattr(self._reads, name)

    async def browse(self, query: MemoryBrowseQuery) -> MemoryBrowseResult:
        """One page, whose query is kept."""
        self._store.note("browse")
        self._store.browsed.append(query)
        return await self._reads.browse(query)

    async def browse_encoded(self, query: MemoryBrowseQuery, shape: RowShape) -> EncodedPage:
        """One page, counted as the other form of it is."""
        self._store.note("browse")
        self._store.browsed.append(query)
        return await self._reads.browse_encoded(query, shape)


class CountedDerivedReads:
    """The reads of derived records, each counted under its name behind `derived.`."""

    def __init__(self, reads: DerivedReads, store: "ObservedStore") -> None:
        self._reads = reads
        self._store = store

    def __getattr__(self, name: str) -> object:
        self._store.note(f"derived.{name}")
        return getattr(self._reads, name)


class ObservedStore(InMemoryStore):
    """A store that counts what it is asked, and that fails at `snapshot` or at the read of that name."""

    def __init__(self) -> None:
        super().__init__()
        self.reads: Counter[str] = Counter()
        self.browsed: list[MemoryBrowseQuery] = []
        self.open_snapshots = 0
        self.snapshots = 0
        self.failing = ""
        self.failure: Exception = StoreUnavailable()

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[Snapshot]:
        """A snapshot whose reads of beliefs are counted; or the failure."""
        if self.failing == "snapshot":
            raise self.failure
        self.snapshots += 1
        async with super().snapshot() as snapshot:
            self.open_snapshots += 1
            try:
                # Every attribute but the reads is the adapter's own.
                yield replace(
                    snapshot,  # type: ignore[type-var]
                    memories=CountedReads(snapshot.memories, self),
                    derived=CountedDerivedReads(snapshot.derived, self),
                )
            finally:
                self.open_snapshots -= 1

    def note(self, name: str) -> None:
        """Count one read, or fail."""
        if name == self.failing:
            raise self.failure
        self.reads[name] += 1

    async def transact(self, work: Callable[[Transaction], Awaitable[Result]]) -> Result:
        """A transaction, which must find no snapshot open: each would hold a connection."""
        assert self.open_snapshots == 0
        return await super().transact(work)


@dataclass
class Client:
    """Asks over HTTP with one token, and keeps the store at hand."""

    store: ObservedStore
    http: httpx.AsyncClient
    token: str
    other_tokens: Mapping[str, str] = field(default_factory=dict)

    async def post(self, query: str, variables: Mapping[str, object] | None = None, **more: object) -> httpx.Response:
        """A query or a mutation by POST, answered in the media type of GraphQL."""
        content = {"query": query, "variables": variables, **more}
        return await self.http.post("/graphql", json=content, headers=self.headers(accept=GRAPHQL_RESPONSE))

    async def get(self, **parameters: str) -> httpx.Response:
        """A query by GET."""
        return await self.http.get(f"/graphql?{urlencode(parameters)}", headers=self.headers(accept=GRAPHQL_RESPONSE))

    async def data(self, query: str, variables: Mapping[str, object] | None = None) -> dict[str, Any]:  # Any: JSON
        """The data of an answer without errors."""
        response = await self.post(query, variables)
        body = response.json()
        assert "errors" not in body, body
        assert 200 == response.status_code
        return cast("dict[str, Any]", body["data"])  # Any: JSON

    async def error(self, query: str, variables: Mapping[str, object] | None = None) -> dict[str, Any]:  # Any: JSON
        """The one error of an answer."""
        [error] = (await self.post(query, variables)).json()["errors"]
        return cast("dict[str, Any]", error)  # Any: JSON

    def headers(self, **more: str) -> dict[str, str]:
        """The headers of a request with the token."""
        return {"authorization": f"Bearer {self.token}", **more}

    def acting(self, scope: str) -> "Client":
        """The same client with a token of that one scope."""
        return replace(self, token=self.other_tokens[scope])


@asynccontextmanager
async def deployment(
    *records: MemoryRecord,
    memory: bool = True,
    trusted: TrustedDocuments = NO_TRUSTED_DOCUMENTS,
    count_document: CountDocument = lambda _: None,
    policy: Policy = DEFAULT_POLICY,
    derived: bool = False,
) -> AsyncIterator[Client]:
    """A client of a gateway that holds these beliefs, with a full token of the owner that factories make."""
    store = ObservedStore()

    async def claim(transaction: Transaction) -> None:
        await transaction.facts.claim(StoreFact.KEY_ID, KEYRING.current.id)
        await transaction.facts.claim(StoreFact.LEXICAL_VERSION, LEXICAL_VERSION)

    await store.transact(claim)
    await keep(store, *records)
    # A store of their own, so that the store of beliefs alone is counted and fails.
    tokens = TokenService(InMemoryStore(), clock=lambda: factories.NOW, new_id=factories.identifier)
    environment = Environment(keyring=KEYRING, clock=lambda: factories.NOW)
    memories = PublicMemoryService(store, environment, derived=derived) if memory else None
    routes = graphql_routes(
        memories=memories,
        admission=Admission(tokens, policy.rate_limits),
        version="1.2.3",
        trusted=trusted,
        count_document=count_document,
        introspection=policy.introspection,
        derived=derived,
    )
    app = Starlette(routes=routes, middleware=[Middleware(PresenceMiddleware, deadlines=Deadlines())])
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://gateway") as http:
        granted = {scope.value: await _token(tokens, factories.owner(), {scope.value}) for scope in AccessScope}
        full = await _token(tokens, factories.owner(), {"memory.read", "memory.write"})
        yield Client(store=store, http=http, token=full, other_tokens=granted)
    await tokens.close()


async def _token(tokens: TokenService, owner: Owner, scopes: Collection[str]) -> str:
    _, secret = await tokens.create(owner, scopes=scopes, label="test", expires_at=None)
    return secret


def chain(*records: MemoryRecord) -> Iterator[MemoryRecord]:
    """The records, each in conflict with its neighbours."""
    for index, record in enumerate(records):
        neighbours = records[max(index - 1, 0) : index] + records[index + 1 : index + 2]
        yield replace(record, conflicts_with=tuple(sorted(neighbour.id for neighbour in neighbours)))
