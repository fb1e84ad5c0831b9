"""Reading beliefs: pages, single ones, counts, links. One snapshot and one clock a request.

Source: Memory read API, The routes, Pagination, hard gates 1 to 5; belief store decisions, Reading.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias
from uuid import UUID

from gateway.service.cursors import encode_cursor, encode_cursors
from gateway.service.environment import Measures
from gateway.service.errors import GatewayError, NotFound
from gateway.service.guards import require_lexical_version
from gateway.service.identifiers import parse_identifier
from gateway.service.memory_requests import MemoryPaging, MemorySelection, check_text
from gateway.service.principal import Principal
from gateway.views.memories import MemoryView, memory_view
from gateway.views.overview import OverviewView, overview_view
from store.domain.encodings import RowShape
from store.domain.vocabulary import AccessScope, Sensitivity, sensitivities_within
from store.ports.errors import StoreError
from store.ports.memories import Direction, EncodedRow, MemoryBrowseQuery
from store.ports.store import Snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryEdge:
    """One belief of a page and the cursor that stands for its place."""

    cursor: str
    node: MemoryView


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryPage:
    """Beliefs, newest first. The flag of the side that was not walked is None unless it was asked for."""

    edges: tuple[MemoryEdge, ...]
    has_next_page: bool | None
    has_previous_page: bool | None

    @property
    def next_cursor(self) -> str | None:
        """The cursor of the next page; None on the last one and only there."""
        return self.edges[-1].cursor if self.has_next_page and self.edges else None


MemoryRow: TypeAlias = EncodedRow
"""One belief of a page as JSON; `cursors_of` tells its cursor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodedMemoryPage:
    """What MemoryPage holds, each view as JSON."""

    rows: Sequence[MemoryRow]
    has_next_page: bool | None
    has_previous_page: bool | None

    @property
    def next_cursor(self) -> str | None:
        """The cursor of the next page; None on the last one and only there."""
        return cursors_of(self.rows[-1:])[0].decode() if self.has_next_page and self.rows else None


def cursors_of(rows: Sequence[MemoryRow]) -> list[bytes]:
    """The cursors of rows, in ASCII."""
    return encode_cursors((position, id) for _, position, id in rows)


@contextmanager
def measured(measures: Measures, operation: str, ceiling: Sensitivity) -> Iterator[None]:
    """Report the operation's outcome: `ok`, or the code of its failure."""
    outcome = "internal_error"
    try:
        yield
        outcome = "ok"
    except GatewayError as error:
        outcome = error.code.value
        raise
    except StoreError:
        outcome = "unavailable"
        raise
    finally:
        measures.operation(operation, outcome=outcome, ceiling=ceiling)


class MemoryReading:
    """The read operations on one snapshot. Every one requires memory.read and names the ceiling."""

    def __init__(self, snapshot: Snapshot, *, now: datetime, measures: Measures) -> None:
        """Read from the snapshot as of one moment."""
        self._snapshot = snapshot
        self._now = now
        self._measures = measures

    @property
    def snapshot(self) -> Snapshot:
        """What is read from: a service that reads more for the same request reads it from here."""
        return self._snapshot

    @property
    def now(self) -> datetime:
        """The one moment as of which everything is read."""
        return self._now

    async def browse(
        self, principal: Principal, selection: MemorySelection, paging: MemoryPaging, *, with_opposite: bool = False
    ) -> MemoryPage:
        """One page of the principal's beliefs at or below the ceiling, newest first.

        Shape: at most 200 edges (50 unless told), by store position descending, then id.
        `with_opposite` asks for the flag of the side that is not walked.
        Raises: AuthorizationError; MalformedRequest for a limit below 1, mixed directions, a cursor that
        does not decode, a text beyond its limits. Source: Memory read API, Pagination and hard gates 2 to 5.
        """
        with measured(self._measures, "list", selection.ceiling):
            query = await self.query(principal, selection, paging, with_opposite=with_opposite)
            page = MemoryPage(edges=(), has_next_page=False, has_previous_page=False)
            if not selection.matches_nothing():
                page = await self._page(query)
            self._measures.page(size=len(page.edges), continued=query.keyset is not None)
            return page

    async def browse_encoded(
        self,
        principal: Principal,
        selection: MemorySelection,
        paging: MemoryPaging,
        shape: RowShape,
        *,
        with_opposite: bool = False,
    ) -> EncodedMemoryPage:
        """The page that `browse` returns, each view as the shape's JSON. Measures and raises as browse does."""
        with measured(self._measures, "list", selection.ceiling):
            query = await self.query(principal, selection, paging, with_opposite=with_opposite)
            page = EncodedMemoryPage(rows=(), has_next_page=False, has_previous_page=False)
            if not selection.matches_nothing():
                page = await self._encoded_page(query, shape)
            self._measures.page(size=len(page.rows), continued=query.keyset is not None)
            return page

    async def count(self, principal: Principal, selection: MemorySelection) -> int:
        """How many beliefs the selection has under its ceiling. Raises as browse does."""
        selection.check_types()
        principal.require(AccessScope.MEMORY_READ)
        filter = selection.filter(principal.owner, self._now)
        if selection.matches_nothing():
            return 0
        if filter.text is not None:
            await require_lexical_version(self._snapshot.facts)
        return await self._snapshot.memories.count(filter)

    async def read(self, principal: Principal, id: str, ceiling: Sensitivity) -> MemoryView:
        """One belief. Raises NotFound alike for absent, foreign and above the ceiling (hard gate 2)."""
        with measured(self._measures, "detail", ceiling):
            check_text(name="id", value=id)
            principal.require(AccessScope.MEMORY_READ)
            identifier = parse_identifier(id)
            if identifier is None:
                raise NotFound
            record = await self._snapshot.memories.find(principal.owner, identifier, ceiling=ceiling)
            if record is None:
                raise NotFound
            return memory_view(record, self._now)

    async def overview(self, principal: Principal, ceiling: Sensitivity) -> OverviewView:
        """The counts of everything at or below the ceiling, in one statement."""
        with measured(self._measures, "overview", ceiling):
            principal.require(AccessScope.MEMORY_READ)
            overview = await self._snapshot.memories.overview(principal.owner, ceiling=ceiling, now=self._now)
            return overview_view(overview, sensitivities_within(ceiling))

    async def find_many(
        self, principal: Principal, ids: Collection[UUID], ceiling: Sensitivity
    ) -> Mapping[UUID, MemoryView]:
        """Those of the ids that the principal may see, in one statement; the others are absent."""
        principal.require(AccessScope.MEMORY_READ)
        records = await self._snapshot.memories.find_many(principal.owner, ids, ceiling=ceiling)
        return {record.id: memory_view(record, self._now) for record in records}

    async def find_superseded(
        self, principal: Principal, ids: Collection[UUID], ceiling: Sensitivity
    ) -> Mapping[UUID, Sequence[MemoryView]]:
        """The beliefs that each id replaced, nearest first, at most 16, never past a hidden one; one statement."""
        principal.require(AccessScope.MEMORY_READ)
        chains = await self._snapshot.memories.find_superseded(principal.owner, ids, ceiling=ceiling)
        return {id: [memory_view(record, self._now) for record in chain] for id, chain in chains.items()}

    async def query(
        self, principal: Principal, selection: MemorySelection, paging: MemoryPaging, *, with_opposite: bool
    ) -> MemoryBrowseQuery:
        """What a page asks of the store, after every check on it."""
        selection.check_types()
        paging.check_types()
        principal.require(AccessScope.MEMORY_READ)
        place = paging.check_rules(self._measures)
        filter = selection.filter(principal.owner, self._now)
        if filter.text is not None:
            self._measures.text_query(has_lexemes=any(filter.text.terms))
            await require_lexical_version(self._snapshot.facts)
        return MemoryBrowseQuery(
            filter=filter,
            limit=place.limit,
            keyset=place.keyset,
            direction=place.direction,
            with_opposite=with_opposite,
        )

    async def _page(self, query: MemoryBrowseQuery) -> MemoryPage:
        result = await self._snapshot.memories.browse(query)
        more = len(result.records) > query.limit
        edges = tuple(
            MemoryEdge(cursor=encode_cursor(record.store_position, record.id), node=memory_view(record, self._now))
            for record in result.records[: query.limit]
        )
        if query.direction is Direction.FORWARD:
            return MemoryPage(edges=edges, has_next_page=more, has_previous_page=result.opposite)
        return MemoryPage(edges=edges[::-1], has_next_page=result.opposite, has_previous_page=more)

    async def _encoded_page(self, query: MemoryBrowseQuery, shape: RowShape) -> EncodedMemoryPage:
        result = await self._snapshot.memories.browse_encoded(query, shape)
        more = len(result.rows) > query.limit
        rows = result.rows[: query.limit]
        if query.direction is Direction.FORWARD:
            return EncodedMemoryPage(rows=rows, has_next_page=more, has_previous_page=result.opposite)
        return EncodedMemoryPage(rows=rows[::-1], has_next_page=result.opposite, has_previous_page=more)
