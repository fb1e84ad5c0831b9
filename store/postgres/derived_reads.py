"""Derived records as they are shown, read from PostgreSQL. Every statement names the owner and the ceiling."""

from collections.abc import Collection, Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import text

from store.domain.derived import DerivedRecord
from store.domain.owners import Owner
from store.domain.vocabulary import Sensitivity
from store.ports.derived import DerivedBrowseResult
from store.ports.memories import MemoryBrowseQuery, MemoryFilter
from store.postgres.browsing import page_parameters
from store.postgres.classes import filter_parameters
from store.postgres.derived_browsing import (
    derived_count_statement,
    derived_page_shape,
    derived_page_statement,
    derived_shape,
    selects_derived,
)
from store.postgres.derived_rows import (
    DERIVED_COLUMNS_COUNT,
    derived_by_key,
    derived_columns,
    derived_record_of,
    stands_or_is_retired,
    with_sources,
)
from store.postgres.predicates import owned, visible, visible_parameters
from store.postgres.sessions import Session

FIND = text(f"""
    select {derived_columns("m")} from derived_records m {with_sources("m")}
    where {visible("m")} and m.id = :id and {stands_or_is_retired("m")}
""")
FIND_STORED = text(f"""
    select {derived_columns("m")}
    from {derived_by_key("m", "unnest(CAST(:ids AS uuid[])) wanted (id)", "wanted")} {with_sources("m")}
    where m.sensitivity <= :ceiling order by m.id
""")
# One row for each step away from the ids asked: what it reaches for the first time, and all that was reached so far.
CLOSURE = text(f"""
    with recursive walk (depth, ids, met) as (
        select 0, asked.ids, asked.ids from (select array(
            select distinct root.id from unnest(CAST(:ids AS uuid[])) root (id)
            order by root.id limit CAST(:limit AS integer)
        ) as ids) asked
        union all
        select walk.depth + 1, step.ids, walk.met || step.ids
        from walk cross join lateral (select array(
            select distinct held.source_id
            from unnest(walk.ids) reached (id)
            cross join lateral (
                select stored.id from derived_records stored
                where {visible("stored")} and stored.id = reached.id offset 0
            ) m
            cross join lateral (
                select direct.source_id from derived_sources direct
                where {owned("direct")} and direct.derived_id = m.id and direct.is_direct offset 0
            ) held
            where held.source_id <> all (walk.met)
            order by held.source_id limit CAST(:limit AS integer) - cardinality(walk.met)
        ) as ids) step
        where walk.depth < CAST(:depth AS integer) and cardinality(step.ids) > 0
    )
    select reached.id from walk cross join unnest(walk.ids) reached (id) order by walk.depth, reached.id
""")


class PostgresDerivedReads:
    """The DerivedReads of a session."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def find(self, owner: Owner, id: UUID, *, ceiling: Sensitivity, now: datetime) -> DerivedRecord | None:
        """The record where it stands or is retired; the same statement for all that is absent or withheld."""
        rows = await self._session.fetch(FIND, {**visible_parameters(owner, ceiling), "id": id, "now": now})
        return derived_record_of(rows[0]) if rows else None

    async def browse(self, query: MemoryBrowseQuery) -> DerivedBrowseResult:
        """One page of those that stand, limit + 1 rows in the order walked."""
        opposite = False if query.with_opposite else None
        if not selects_derived(query.filter):
            return DerivedBrowseResult(records=(), opposite=opposite)
        shape = derived_page_shape(query)
        parameters = {**filter_parameters(query.filter), **page_parameters(query)}
        rows = await self._session.fetch(derived_page_statement(shape), parameters)
        if shape.with_opposite:
            opposite = rows[0][DERIVED_COLUMNS_COUNT]
        return DerivedBrowseResult(
            records=tuple(derived_record_of(row) for row in rows if row[0] is not None), opposite=opposite
        )

    async def count(self, filter: MemoryFilter) -> int:
        """How many of those that stand the filter selects."""
        if not selects_derived(filter):
            return 0
        statement = derived_count_statement(derived_shape(filter))
        return int(await self._session.fetch_value(statement, filter_parameters(filter)))

    async def closure(
        self, owner: Owner, ids: Collection[UUID], *, ceiling: Sensitivity, depth: int, limit: int
    ) -> Sequence[UUID]:
        """The ids and those of what they rest on, in one recursive statement that knows what it has met.

        Only what the ceiling shows is followed: what lies above it has no sources for who asks.
        """
        parameters = {**visible_parameters(owner, ceiling), "ids": list(set(ids)), "depth": depth, "limit": limit}
        return [row[0] for row in await self._session.fetch(CLOSURE, parameters)]

    async def find_stored(self, owner: Owner, ids: Collection[UUID], *, ceiling: Sensitivity) -> list[DerivedRecord]:
        """Those of the ids that are the owner's at or below the ceiling, by id, withheld or not."""
        rows = await self._session.fetch(FIND_STORED, {**visible_parameters(owner, ceiling), "ids": list(set(ids))})
        return [derived_record_of(row) for row in rows]
