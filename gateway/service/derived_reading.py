"""Reading beliefs and derived records together: pages, single ones, counts. One snapshot and one clock a request.

A page holds both in the one order of beliefs. Source: belief store decisions, Derived records.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import TypeAlias
from uuid import UUID

from gateway.service.cursors import encode_cursor
from gateway.service.environment import Measures
from gateway.service.errors import NotFound
from gateway.service.identifiers import parse_identifier
from gateway.service.memory_reading import MemoryReading, measured
from gateway.service.memory_requests import MemoryPaging, MemorySelection, check_text
from gateway.service.principal import Principal
from gateway.views.derived import DerivedView, derived_view
from gateway.views.memories import MemoryView, memory_view
from store.domain.derived import DerivedRecord
from store.domain.memories import MemoryRecord
from store.domain.vocabulary import AccessScope, Sensitivity
from store.ports.memories import Direction, MemoryBrowseQuery
from store.ports.store import Snapshot

MemoryItemView: TypeAlias = MemoryView | DerivedView
"""What a page that holds both is made of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryItemEdge:
    """One belief or derived record of a page and the cursor that stands for its place."""

    cursor: str
    node: MemoryItemView


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryItemPage:
    """Beliefs and derived records, newest first; the flags are those of MemoryPage."""

    edges: tuple[MemoryItemEdge, ...]
    has_next_page: bool | None
    has_previous_page: bool | None

    @property
    def next_cursor(self) -> str | None:
        """The cursor of the next page; None on the last one and only there."""
        return self.edges[-1].cursor if self.has_next_page and self.edges else None


class ItemReading:
    """The read operations that know derived records, on one snapshot. Each raises as that of MemoryReading does."""

    def __init__(self, snapshot: Snapshot, *, now: datetime, measures: Measures) -> None:
        """Read from the snapshot as of one moment."""
        self._snapshot = snapshot
        self._memories = MemoryReading(snapshot, now=now, measures=measures)
        self._now = now
        self._measures = measures

    @property
    def memories(self) -> MemoryReading:
        """The read operations that know beliefs alone, on the same snapshot and of the same moment."""
        return self._memories

    async def browse(
        self, principal: Principal, selection: MemorySelection, paging: MemoryPaging, *, with_opposite: bool = False
    ) -> MemoryItemPage:
        """One page of the principal's beliefs and of the derived records that stand, at or below the ceiling."""
        with measured(self._measures, "list", selection.ceiling):
            query = await self._memories.query(principal, selection, paging, with_opposite=with_opposite)
            page = MemoryItemPage(edges=(), has_next_page=False, has_previous_page=False)
            if not selection.matches_nothing():
                page = await self._page(query)
            self._measures.page(size=len(page.edges), continued=query.keyset is not None)
            return page

    async def count(self, principal: Principal, selection: MemorySelection) -> int:
        """How many beliefs and derived records that stand the selection has under its ceiling."""
        beliefs = await self._memories.count(principal, selection)
        if selection.matches_nothing():
            return beliefs
        return beliefs + await self._snapshot.derived.count(selection.filter(principal.owner, self._now))

    async def read_derived(self, principal: Principal, id: str, ceiling: Sensitivity) -> DerivedView:
        """One derived record, standing or retired. Raises NotFound alike for all that is not shown."""
        with measured(self._measures, "detail", ceiling):
            record = await self._find_derived(principal, _identifier(principal, id), ceiling)
            return derived_view(record)

    async def read(self, principal: Principal, id: str, ceiling: Sensitivity) -> MemoryItemView:
        """One belief or derived record. Raises NotFound alike for all that is not shown."""
        with measured(self._measures, "detail", ceiling):
            identifier = _identifier(principal, id)
            belief = await self._snapshot.memories.find(principal.owner, identifier, ceiling=ceiling)
            if belief is not None:
                return memory_view(belief, self._now)
            return derived_view(await self._find_derived(principal, identifier, ceiling))

    async def _find_derived(self, principal: Principal, id: UUID, ceiling: Sensitivity) -> DerivedRecord:
        record = await self._snapshot.derived.find(principal.owner, id, ceiling=ceiling, now=self._now)
        if record is None:
            raise NotFound
        return record

    async def _page(self, query: MemoryBrowseQuery) -> MemoryItemPage:
        beliefs = await self._snapshot.memories.browse(query)
        derived = await self._snapshot.derived.browse(query)
        forward = query.direction is Direction.FORWARD
        met = _in_order((*beliefs.records, *derived.records), forward=forward)
        edges = tuple(
            MemoryItemEdge(cursor=encode_cursor(record.store_position, record.id), node=self._view(record))
            for record in islice(met, query.limit)
        )
        more = len(met) > query.limit
        opposite = beliefs.opposite or derived.opposite
        if forward:
            return MemoryItemPage(edges=edges, has_next_page=more, has_previous_page=opposite)
        return MemoryItemPage(edges=edges[::-1], has_next_page=opposite, has_previous_page=more)

    def _view(self, record: MemoryRecord | DerivedRecord) -> MemoryItemView:
        return derived_view(record) if isinstance(record, DerivedRecord) else memory_view(record, self._now)


def _identifier(principal: Principal, id: str) -> UUID:
    check_text(name="id", value=id)
    principal.require(AccessScope.MEMORY_READ)
    identifier = parse_identifier(id)
    if identifier is None:
        raise NotFound
    return identifier


def _in_order(records: Iterable[MemoryRecord | DerivedRecord], *, forward: bool) -> list[MemoryRecord | DerivedRecord]:
    """By store position descending, then id; the other way round where the page is walked back."""
    return sorted(records, key=lambda record: (-record.store_position, record.id), reverse=not forward)
