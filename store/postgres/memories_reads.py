"""Beliefs as they are shown, read from PostgreSQL. Every statement names the owner and the ceiling."""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import text

from store.domain.encodings import RowShape
from store.domain.journal import EvidenceReference
from store.domain.memories import MemoryRecord
from store.domain.overviews import MemoryOverview
from store.domain.owners import Owner
from store.domain.vocabulary import Sensitivity
from store.ports.memories import (
    SUPERSEDES_SHOWN_MAX,
    Direction,
    EncodedPage,
    EncodedRow,
    MemoryBrowseQuery,
    MemoryBrowseResult,
    MemoryFilter,
    encoded_page,
)
from store.postgres.browsing import (
    count_statement,
    encoded_page_statement,
    page_parameters,
    page_shape,
    page_statement,
)
from store.postgres.classes import filter_parameters, shape_of
from store.postgres.encoding import SEPARATOR, RecurringShapes
from store.postgres.exporting import export_memories
from store.postgres.overviews import OVERVIEW, overview_of
from store.postgres.predicates import visible, visible_parameters
from store.postgres.rows import RECORD_COLUMNS_COUNT, record_of, rows_by_key, shown_columns
from store.postgres.sessions import Session

FIND = text(f"""
    select {shown_columns("m")} from {rows_by_key("m", "unnest(CAST(:ids AS uuid[])) wanted (id)", "wanted")}
    where m.sensitivity <= :ceiling order by m.id
""")

# The nearest come first, so sixteen of each belief suffice for the sixteen of a line.
_REPLACED = f"""(
        select earlier.id from beliefs earlier where {visible("earlier")} and earlier.superseded_by = %s
        order by earlier.id limit {SUPERSEDES_SHOWN_MAX}
    ) replaced"""

FIND_SUPERSEDED = text(f"""
    with recursive line (root, id, depth, met) as (
        select root.id, replaced.id, 1, array[root.id, replaced.id]
        from {rows_by_key("root", "unnest(CAST(:ids AS uuid[])) wanted (id)", "wanted")}
        cross join lateral {_REPLACED % "root.id"}
        where root.sensitivity <= :ceiling
        union all
        select line.root, replaced.id, line.depth + 1, line.met || replaced.id
        from line cross join lateral {_REPLACED % "line.id"}
        where line.depth < {SUPERSEDES_SHOWN_MAX} and replaced.id <> all (line.met)
    ),
    ranked as (
        select root, id, depth, row_number() over (partition by root order by depth, id) as rank
        from (select distinct on (root, id) root, id, depth from line order by root, id, depth) once
    )
    select {shown_columns("m")}, shown.root
    from {rows_by_key("m", f"(select * from ranked where rank <= {SUPERSEDES_SHOWN_MAX}) shown", "shown")}
    where m.sensitivity <= :ceiling order by shown.root, shown.rank
""")


class PostgresMemoryReads:
    """The MemoryReads of a session."""

    def __init__(self, session: Session, shapes: RecurringShapes) -> None:
        """`shapes` counts for all sessions of a store."""
        self._session = session
        self._shapes = shapes

    async def find(self, owner: Owner, id: UUID, *, ceiling: Sensitivity) -> MemoryRecord | None:
        """The belief, or None if it is absent, foreign or above the ceiling; the same statement for all three."""
        found = await self.find_many(owner, [id], ceiling=ceiling)
        return found[0] if found else None

    async def find_many(self, owner: Owner, ids: Collection[UUID], *, ceiling: Sensitivity) -> list[MemoryRecord]:
        """Those of the ids that are the owner's at or below the ceiling, by id."""
        rows = await self._session.fetch(FIND, {**visible_parameters(owner, ceiling), "ids": list(set(ids))})
        return [record_of(row) for row in rows]

    async def find_superseded(
        self, owner: Owner, ids: Collection[UUID], *, ceiling: Sensitivity
    ) -> Mapping[UUID, Sequence[MemoryRecord]]:
        """For each id the beliefs that it replaced, nearest first, then by id; at most 16.

        Each line is followed back only through visible rows, the first one included.
        """
        parameters = {**visible_parameters(owner, ceiling), "ids": list(set(ids))}
        lines: dict[UUID, list[MemoryRecord]] = {}
        for row in await self._session.fetch(FIND_SUPERSEDED, parameters):
            lines.setdefault(row[RECORD_COLUMNS_COUNT], []).append(record_of(row))
        return lines

    async def browse(self, query: MemoryBrowseQuery) -> MemoryBrowseResult:
        """One page of the filtered set, limit + 1 rows in the order walked."""
        shape = page_shape(query)
        parameters = {**filter_parameters(query.filter), **page_parameters(query)}
        rows = await self._session.fetch(page_statement(shape), parameters)
        opposite = False if query.with_opposite else None
        if shape.with_opposite:
            opposite = rows[0][RECORD_COLUMNS_COUNT]
        return MemoryBrowseResult(
            records=tuple(record_of(row) for row in rows if row[0] is not None), opposite=opposite
        )

    async def browse_encoded(self, query: MemoryBrowseQuery, shape: RowShape) -> EncodedPage:
        """The page that `browse` returns, each record as JSON: written by PostgreSQL where the shape recurs."""
        if not self._shapes.recurs(shape):
            return encoded_page(await self.browse(query), shape, query.filter.now)
        parameters = {**filter_parameters(query.filter), **page_parameters(query)}
        statement = encoded_page_statement(page_shape(query), shape)
        [(contents, ranks, ids, holds)] = await self._session.fetch(statement, parameters)
        opposite = bool(holds) if query.with_opposite else None
        if contents is None:
            return EncodedPage(rows=(), opposite=opposite)
        rows = sorted(
            zip(ranks, ids, contents.split(SEPARATOR), strict=True), reverse=query.direction is Direction.BACKWARD
        )
        return EncodedPage(rows=tuple(EncodedRow(content, -rank, id) for rank, id, content in rows), opposite=opposite)

    async def count(self, filter: MemoryFilter) -> int:
        """How many beliefs the filter selects, exactly: its cost is that of the rows counted."""
        number = await self._session.fetch_value(count_statement(shape_of(filter)), filter_parameters(filter))
        return int(number)

    async def overview(self, owner: Owner, *, ceiling: Sensitivity, now: datetime) -> MemoryOverview:
        """The counts of MemoryOverview, in one pass over the owner's visible rows."""
        return overview_of(await self._session.fetch(OVERVIEW, {**visible_parameters(owner, ceiling), "now": now}))

    def export(self, owner: Owner) -> AsyncIterator[tuple[MemoryRecord, tuple[EvidenceReference, ...]]]:
        """Every belief of one owner with all its links and references, by ascending position, in batches."""
        return export_memories(self._session, owner)
