"""The program with its page, on a database to which persons are added, each with beliefs and tokens of their own."""

import itertools
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from uuid import UUID, uuid4

from gateway.service.deriving import DerivationService
from gateway.service.environment import Environment
from gateway.service.keys import write_key_file
from gateway.service.tokens import TokenService
from store.domain.derived import DerivedRecord
from store.domain.deriving import DerivationProposal
from store.domain.memories import MemoryRecord
from store.domain.owners import Owner
from store.domain.vocabulary import AccessScope, Sensitivity
from store.ports.store import Transaction
from store.postgres.store import PostgresStore
from tests.databases import DatabaseServer
from tests.e2e.processes import Place, Server, new_place
from tests.factories import NOW
from tests.gateways import FULL
from tests.worlds import KEYRING, everything, find, keep, walk

_numbers = itertools.count(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody of whom something is believed, and the token that opens it."""

    owner: Owner
    token: str
    records: list[MemoryRecord] = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """A program that serves the page, and the store behind it."""

    place: Place
    server: Server
    store: PostgresStore
    database_url: str
    tokens: TokenService
    derivation: DerivationService

    @property
    def url(self) -> str:
        """Where the page is."""
        return self.server.url

    async def person(self, *records: MemoryRecord, scopes: Collection[AccessScope] = FULL) -> Person:
        """Somebody new, of whom this is believed; the oldest belief first."""
        owner = Owner(tenant="harbour", principal=f"person-{next(_numbers)}")
        return Person(owner=owner, token=await self.token(owner, scopes), records=await self._kept(owner, records))

    async def token(self, owner: Owner, scopes: Collection[AccessScope] = FULL) -> str:
        """A further token of somebody."""
        _, secret = await self.tokens.create(owner, scopes=frozenset(scopes), label="browser", expires_at=None)
        return secret

    async def stored(self, person: Person, record: MemoryRecord) -> MemoryRecord | None:
        """The belief as it stands in the store now."""
        return await find(self.store, person.owner, record.id)

    async def derive(self, person: Person, proposal: DerivationProposal) -> DerivedRecord:
        """Derive from what is believed of somebody; as of the clock that the program goes by."""
        result = await self.derivation.derive(person.owner, proposal)
        assert result.id is not None
        derived = await self.stored_derived(person, result.id)
        assert derived is not None
        return derived

    async def stored_derived(self, person: Person, id: UUID) -> DerivedRecord | None:
        """The derived record as it stands in the store now, withheld or not."""
        async with self.store.snapshot() as snapshot:
            found = await snapshot.derived.find_stored(person.owner, [id], ceiling=Sensitivity.RESTRICTED)
        return found[0] if found else None

    async def live(self, person: Person, *, ceiling: Sensitivity = Sensitivity.RESTRICTED) -> list[MemoryRecord]:
        """What the store shows of somebody under a ceiling, newest first."""
        filter = replace(everything(person.owner, ceiling=ceiling), now=NOW)
        return await walk(self.store, filter, limit=200)

    async def _kept(self, owner: Owner, records: Collection[MemoryRecord]) -> list[MemoryRecord]:
        async def work(transaction: Transaction) -> list[int]:
            return list(await transaction.memories.next_positions(len(records)))

        positions = await self.store.transact(work) if records else []
        kept = [
            replace(record, owner=owner, store_position=position)
            for record, position in zip(records, positions, strict=True)
        ]
        await keep(self.store, *kept)
        return kept


@asynccontextmanager
async def served_site(
    databases: DatabaseServer, *, graphiql: Path | None = None, **settings: str
) -> AsyncIterator[Site]:
    """The program with the demo on a database of its own, until the block is left; with GraphiQL, if it is given."""
    database_url = await databases.create()
    async with new_place() as place:
        write_key_file(place.data / "key", KEYRING, replacing=False)
        if graphiql is not None:
            (place.data / "graphiql").symlink_to(graphiql)
        store = PostgresStore(database_url)
        tokens = TokenService(store, clock=lambda: NOW, new_id=uuid4)
        try:
            async with place.started(database_url=database_url, **settings) as server:
                yield Site(
                    place=place,
                    server=server,
                    store=store,
                    database_url=database_url,
                    tokens=tokens,
                    derivation=DerivationService(store, Environment(keyring=KEYRING)),
                )
                await server.stop()
        finally:
            await tokens.close()
            await store.close()
            await databases.drop(database_url)
