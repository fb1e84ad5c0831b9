"""One deployment in a test: a store, its services, a clock that stands until it is moved, known identifiers."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

from gateway.service.derived_reading import MemoryItemView
from gateway.service.derived_rows import all_derived
from gateway.service.deriving import DerivationResult, DerivationService
from gateway.service.environment import Environment
from gateway.service.exporting import ExportService
from gateway.service.formation import FormationResult, FormationService
from gateway.service.importing import ImportService
from gateway.service.memories import PublicMemoryService
from gateway.service.memory_requests import MemoryDelete, MemoryReview
from gateway.service.operators import OperatorService
from gateway.service.people import PeopleService
from gateway.service.principal import Principal
from gateway.service.summarizing import DerivationReport, SummaryService
from gateway.service.sweeps import RECEIPT_RETENTION_MIN, SweepService
from gateway.views.derived import DerivedView
from gateway.views.memories import MemoryView
from store.domain.derived import DerivedRecord
from store.domain.deriving import DerivationProposal
from store.domain.formation import Candidate
from store.domain.journal import Event
from store.domain.keyring import Keyring
from store.domain.lexical import LEXICAL_VERSION
from store.domain.memories import MemoryRecord
from store.domain.owners import Owner
from store.domain.vocabulary import AccessScope, ReviewOutcome, Sensitivity
from store.ports.store import Store, StoreFact, Transaction
from tests.factories import NOW, identifier, keyring, owner

ADA = owner()
SCOPES = frozenset({AccessScope.MEMORY_READ, AccessScope.MEMORY_WRITE})


@dataclass
class Clock:
    """A clock that stands still until it is moved."""

    now: datetime = NOW

    def __call__(self) -> datetime:
        return self.now

    def advance(self, delta: timedelta = timedelta(minutes=1)) -> None:
        self.now += delta


@dataclass
class Deployment:
    """Everything that a gateway composes over a store, for one test."""

    store: Store
    keyring: Keyring = field(default_factory=keyring)
    clock: Clock = field(default_factory=Clock)
    ids: Iterator[UUID] = field(default_factory=lambda: map(identifier, itertools.count(1)))
    keys: Iterator[str] = field(default_factory=lambda: map("key-{}".format, itertools.count(1)))
    derived: bool = True

    def __post_init__(self) -> None:
        self.environment = Environment(keyring=self.keyring, clock=self.clock, new_id=lambda: next(self.ids))
        self.formation = FormationService(self.store, self.environment)
        self.memories = PublicMemoryService(self.store, self.environment, derived=self.derived)
        self.derivation = DerivationService(self.store, self.environment)
        self.summaries = SummaryService(self.store, self.environment, self.derivation)
        self.imports = ImportService(self.store, self.environment, self.formation)
        self.exports = ExportService(self.store)
        self.people = PeopleService(self.store)
        self.operators = OperatorService(self.store, self.environment, self.memories)
        self.sweeps = SweepService(self.store, self.environment, receipt_retention=RECEIPT_RETENTION_MIN)

    async def prepare(self) -> "Deployment":
        """Write the facts that a start writes."""

        async def work(transaction: Transaction) -> None:
            await transaction.facts.claim(StoreFact.KEY_ID, self.keyring.current.id)
            await transaction.facts.claim(StoreFact.LEXICAL_VERSION, LEXICAL_VERSION)

        await self.store.transact(work)
        return self

    async def form(self, candidate: Candidate, *, of: Owner = ADA) -> FormationResult:
        """Form a candidate, a minute after what went before."""
        self.clock.advance()
        return await self.formation.form(of, candidate)

    async def formed(self, candidate: Candidate, *, of: Owner = ADA) -> UUID:
        """Form a candidate that is not blocked; the belief's id."""
        result = await self.form(candidate, of=of)
        assert result.id is not None
        return result.id

    async def find(
        self, id: UUID, *, of: Owner = ADA, ceiling: Sensitivity = Sensitivity.RESTRICTED
    ) -> MemoryRecord | None:
        """The record as it is shown under a ceiling."""
        async with self.store.snapshot() as snapshot:
            return await snapshot.memories.find(of, id, ceiling=ceiling)

    async def get(self, id: UUID, *, of: Owner = ADA, ceiling: Sensitivity = Sensitivity.RESTRICTED) -> MemoryRecord:
        """The record, which must be there."""
        record = await self.find(id, of=of, ceiling=ceiling)
        assert record is not None
        return record

    async def review(
        self,
        id: UUID,
        outcome: ReviewOutcome,
        *,
        of: Owner = ADA,
        ceiling: Sensitivity = Sensitivity.RESTRICTED,
        key: str | None = None,
    ) -> MemoryView:
        """Review a belief under a fresh key, a minute after what went before."""
        view = await self._review(id, outcome, of=of, ceiling=ceiling, key=key)
        assert isinstance(view, MemoryView)
        return view

    async def review_derived(
        self,
        id: UUID,
        outcome: ReviewOutcome,
        *,
        of: Owner = ADA,
        ceiling: Sensitivity = Sensitivity.RESTRICTED,
        key: str | None = None,
    ) -> DerivedView:
        """Review a derived record under a fresh key, a minute after what went before."""
        view = await self._review(id, outcome, of=of, ceiling=ceiling, key=key)
        assert isinstance(view, DerivedView)
        return view

    async def _review(
        self, id: UUID, outcome: ReviewOutcome, *, of: Owner, ceiling: Sensitivity, key: str | None
    ) -> MemoryItemView:
        self.clock.advance()
        request = MemoryReview(id=str(id), ceiling=ceiling, outcome=outcome, idempotency_key=key or next(self.keys))
        return await self.memories.review(as_principal(of), request)

    async def derive(self, proposal: DerivationProposal, *, of: Owner = ADA) -> DerivationResult:
        """Derive what is proposed, a minute after what went before."""
        self.clock.advance()
        return await self.derivation.derive(of, proposal)

    async def derived_id(self, proposal: DerivationProposal, *, of: Owner = ADA) -> UUID:
        """Derive what is not blocked; the record's id."""
        result = await self.derive(proposal, of=of)
        assert result.id is not None
        return result.id

    async def sum_up(self, *, of: Owner = ADA) -> DerivationReport:
        """Run the extractive method, a minute after what went before."""
        self.clock.advance()
        return await self.summaries.sum_up(of)

    async def find_derived(
        self, id: UUID, *, of: Owner = ADA, ceiling: Sensitivity = Sensitivity.RESTRICTED
    ) -> DerivedRecord | None:
        """The derived record as it is shown under a ceiling."""
        async with self.store.snapshot() as snapshot:
            return await snapshot.derived.find(of, id, ceiling=ceiling, now=self.clock.now)

    async def stored_derived(self, *, of: Owner = ADA) -> list[DerivedRecord]:
        """Every derived record, standing, withheld or retired, by id."""
        return [record async for record in all_derived(self.store, of)]

    async def delete(
        self, id: UUID, *, of: Owner = ADA, ceiling: Sensitivity = Sensitivity.RESTRICTED, key: str | None = None
    ) -> UUID:
        """Delete a belief under a fresh key, a minute after what went before."""
        self.clock.advance()
        request = MemoryDelete(id=str(id), ceiling=ceiling, idempotency_key=key or next(self.keys))
        return await self.memories.delete(as_principal(of), request)

    async def events(self, *, of: Owner = ADA) -> list[Event]:
        """The owner's journal in the order written."""
        async with self.store.snapshot() as snapshot:
            events = [event async for event in snapshot.journal.events(of)]
        return sorted(events, key=lambda event: event.number)


def as_principal(of: Owner) -> Principal:
    """The owner as a caller who may read and write."""
    return Principal(owner=of, scopes=SCOPES)
