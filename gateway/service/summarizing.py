"""Deriving for a principal as a whole: by the extractive method, or from the proposals of an external deriver.

The extractive method sums up what each session brought, these by month, and these again, each time for one scope and
one sensitivity. What says something alone stands for itself: a summary over one source would say it once more. A
session's summary rests on the first 16 of its live beliefs that are not retracted; one over summaries on the newest of
them that fit, so that what is left out is what was summed up longest ago. Run again it changes nothing.
Source: belief store decisions, Derived records; LoCoMo, Mapping to beliefs.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from graphlib import CycleError, TopologicalSorter
from typing import TypeAlias
from uuid import UUID

from gateway.service.derived_requests import parse_proposal
from gateway.service.derived_rows import DERIVED_BATCH, all_derived, all_withheld
from gateway.service.deriving import DerivationService
from gateway.service.environment import Environment
from gateway.service.errors import MalformedRequest
from gateway.service.records import ERRORS_KEPT_MAX
from store.domain.derived import ANCESTORS_MAX, SOURCES_MAX, DerivedRecord, RecordKind
from store.domain.deriving import (
    DerivationOutcome,
    DerivationProposal,
    Source,
    belief_source,
    can_be_source,
    derived_source,
)
from store.domain.memories import InvalidRecord
from store.domain.owners import Owner
from store.domain.summaries import (
    EXTRACTIVE_METHOD,
    MONTH_ANCESTORS_MAX,
    Extract,
    Group,
    belief_extract,
    extractive_proposal,
    newest_fitting,
    renewal,
    summary_extract,
)
from store.domain.vocabulary import SENSITIVITY_ORDER, Polarity, Sensitivity
from store.ports.errors import StoreInconsistent
from store.ports.memories import Direction, Keyset, MemoryBrowseQuery, MemoryFilter
from store.ports.store import Store, Transaction

Sessions: TypeAlias = dict[UUID, list[Extract]]


@dataclass(slots=True)
class DerivationReport:
    """What was derived, and what was not: proposals by outcome, and lines that were refused, with the reason.

    `withheld` counts the records that do not stand any more and are left for whoever derived them.
    """

    derived: int = 0
    unchanged: int = 0
    blocked: int = 0
    refused: int = 0
    withheld: int = 0
    errors: list[tuple[int, str]] = field(default_factory=list)

    def count(self, outcome: DerivationOutcome) -> None:
        """Note the outcome of one proposal."""
        match outcome:
            case DerivationOutcome.DERIVED:
                self.derived += 1
            case DerivationOutcome.UNCHANGED:
                self.unchanged += 1
            case DerivationOutcome.BLOCKED:
                self.blocked += 1

    def refuse(self, number: int, reason: str) -> None:
        """Note one line that was refused."""
        self.refused += 1
        if len(self.errors) < ERRORS_KEPT_MAX:
            self.errors.append((number, reason))

    def add(self, other: "DerivationReport") -> None:
        """Take over another report's numbers."""
        self.derived += other.derived
        self.unchanged += other.unchanged
        self.blocked += other.blocked
        self.refused += other.refused
        self.withheld += other.withheld
        self.errors = (self.errors + other.errors)[:ERRORS_KEPT_MAX]


class SummaryService:
    """Derives for one principal after the other."""

    def __init__(self, store: Store, environment: Environment, derivation: DerivationService) -> None:
        """Write to a store through the governed derivation."""
        self._store = store
        self._environment = environment
        self._derivation = derivation

    async def owners(self, tenant: str) -> list[Owner]:
        """Every principal of a tenant."""
        async with self._store.snapshot() as snapshot:
            return [owner for owner in await snapshot.journal.owners() if owner.tenant == tenant]

    async def take(
        self, owner: Owner, lines: Iterable[bytes], *, progress: Callable[[int], None] = lambda _: None
    ) -> DerivationReport:
        """Derive what the lines propose; `progress` is told how many were taken.

        One that can't be taken is reported by number and leaves nothing behind; the others are taken.
        """
        report = DerivationReport()
        for number, line in enumerate(lines, 1):
            content = line.rstrip(b"\r\n")
            if content.strip():
                try:
                    report.count((await self._derivation.derive(owner, parse_proposal(content))).outcome)
                except MalformedRequest as error:
                    report.refuse(number, error.message)
                except InvalidRecord as error:
                    report.refuse(number, str(error))
            progress(number)
        report.withheld = await self._count_withheld(owner)
        return report

    async def sum_up(self, owner: Owner) -> DerivationReport:
        """Bring the summaries of the extractive method up to date, and make withheld ones of others anew."""
        former = {record.id async for record in all_derived(self._store, owner) if _is_extractive(record)}
        run = _Run(self._store, self._environment, self._derivation, owner)
        for _, sessions in sorted((await run.sessions()).items(), key=_strictest_last):
            await run.sum_up_group(sessions)
        for id in sorted(former - run.current):
            await self._derivation.retire(owner, id)
        await run.renew()
        run.report.withheld = await self._count_withheld(owner)
        return run.report

    async def _count_withheld(self, owner: Owner) -> int:
        withheld = all_withheld(self._store, owner, now=self._environment.clock())
        return len([record async for record in withheld])


class _Run:
    """One run of the extractive method for one principal: what it reports, and the summaries that are its result."""

    def __init__(self, store: Store, environment: Environment, derivation: DerivationService, owner: Owner) -> None:
        self._store = store
        self._environment = environment
        self._derivation = derivation
        self._owner = owner
        self.report = DerivationReport()
        self.current: set[UUID] = set()

    async def sessions(self) -> Mapping[Group, Sessions]:
        """The first live beliefs of each session, oldest first, by what they must share."""
        groups: dict[Group, Sessions] = {}
        filter = MemoryFilter(owner=self._owner, ceiling=Sensitivity.RESTRICTED, now=self._environment.clock())
        keyset: Keyset | None = None
        while True:
            query = MemoryBrowseQuery(filter=filter, limit=DERIVED_BATCH, keyset=keyset, direction=Direction.BACKWARD)
            async with self._store.snapshot() as snapshot:
                found = (await snapshot.memories.browse(query)).records
            for record in found[:DERIVED_BATCH]:
                if record.polarity is Polarity.ASSERT:
                    group = Group(scope=record.scope, sensitivity=record.sensitivity)
                    extracts = groups.setdefault(group, {}).setdefault(record.source_session_id, [])
                    if len(extracts) < SOURCES_MAX:
                        extracts.append(belief_extract(record))
            if len(found) <= DERIVED_BATCH:
                return groups
            last = found[DERIVED_BATCH - 1]
            keyset = Keyset(position=last.store_position, id=last.id)

    async def sum_up_group(self, sessions: Sessions) -> None:
        """Sum up each session, each month, and all months."""
        months: dict[str, list[Extract]] = {}
        for session_id, beliefs in sessions.items():
            summary = await self._sum_up(beliefs, evidence_ref=f"session:{session_id}", place=str(session_id))
            if summary is not None:
                months.setdefault(_month(summary), []).append(summary)
        summaries = []
        for month, extracts in sorted(months.items()):
            chosen = newest_fitting(extracts, ancestors_max=MONTH_ANCESTORS_MAX)
            summary = await self._sum_up(chosen, evidence_ref=f"month:{month}", place=month)
            if summary is not None:
                summaries.append(summary)
        await self._sum_up(newest_fitting(summaries, ancestors_max=ANCESTORS_MAX), evidence_ref="all", place="all")

    async def renew(self) -> None:
        """Retire withheld summaries, sources first, and make those anew whose clauses still stand."""
        now = self._environment.clock()
        withheld = {
            record.id: record
            async for record in all_withheld(self._store, self._owner, now=now)
            if record.record_kind is RecordKind.SUMMARY
        }
        order = TopologicalSorter({id: [source.id for source in record.sources] for id, record in withheld.items()})
        renewed: dict[UUID, UUID] = {}
        try:
            in_order = [withheld[id] for id in order.static_order() if id in withheld]
        except CycleError as error:
            raise StoreInconsistent("derived records rest on each other") from error
        for record in in_order:
            ids = {renewed.get(source.id, source.id) for source in record.sources}
            sources = await self._store.transact(partial(_standing, owner=self._owner, ids=ids, now=now))
            proposal = renewal(record, sources, now)
            anew = None if proposal is None else await self._derive(proposal)
            if anew is not None:
                renewed[record.id] = anew
            await self._derivation.retire(self._owner, record.id)

    async def _sum_up(self, extracts: Sequence[Extract], *, evidence_ref: str, place: str) -> Extract | None:
        """What says all of these: their summary, or the only one there is; None where there is none."""
        if len(extracts) == 1:
            return extracts[0]
        proposal = extractive_proposal(extracts, evidence_ref=evidence_ref)
        id = None if proposal is None else await self._derive(proposal)
        if id is None:
            return None
        self.current.add(id)
        return await self._store.transact(partial(_extract, owner=self._owner, id=id, place=place))

    async def _derive(self, proposal: DerivationProposal) -> UUID | None:
        try:
            result = await self._derivation.derive(self._owner, proposal)
        except InvalidRecord:
            # What it was to rest on has changed since it was read: the next run finds it as it is.
            self.report.refused += 1
            return None
        self.report.count(result.outcome)
        return result.id


async def _extract(transaction: Transaction, *, owner: Owner, id: UUID, place: str) -> Extract | None:
    """What a summary gives to one over it; None where it is retired already."""
    ancestors = await transaction.derived.find_ancestors(owner, [id])
    [record] = await transaction.shown_derived.find_stored(owner, [id], ceiling=Sensitivity.RESTRICTED)
    if record.content is None:
        return None
    return summary_extract(record, record.content, place=place, ancestor_count=len(ancestors[id]))


async def _standing(transaction: Transaction, *, owner: Owner, ids: Collection[UUID], now: datetime) -> list[Source]:
    """Those of the ids that can be sources."""
    beliefs = await transaction.shown.find_many(owner, ids, ceiling=Sensitivity.RESTRICTED)
    sources = [belief_source(belief) for belief in beliefs if can_be_source(belief, now)]
    for id in sorted(set(ids) - {belief.id for belief in beliefs}):
        found = await transaction.shown_derived.find(owner, id, ceiling=Sensitivity.RESTRICTED, now=now)
        if found is not None and found.content is not None:
            sources.append(derived_source(found, found.content, ancestors=(), depth=1))
    return sources


def _strictest_last(item: tuple[Group, Sessions]) -> tuple[int, str]:
    group, _ = item
    return SENSITIVITY_ORDER[group.sensitivity], group.scope


def _is_extractive(record: DerivedRecord) -> bool:
    return record.content is not None and record.content.method == EXTRACTIVE_METHOD


def _month(extract: Extract) -> str:
    return f"{extract.at.year:04}-{extract.at.month:02}"
