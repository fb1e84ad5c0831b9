"""Derived records as they are written to PostgreSQL, locked until the transaction ends.

Rows are locked in id order, each found by its primary key inside a fence, so that no plan locks in another order. Each
operation but the rewriting of lexemes is one statement.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import text

from store.domain.derived import Ancestor, DerivedRecord, DerivedStatus
from store.domain.owners import Owner
from store.domain.vocabulary import Sensitivity
from store.ports.derived import DerivedWrite
from store.ports.errors import StoreInconsistent
from store.ports.memories import MemoryKey
from store.postgres.codes import subject_key
from store.postgres.derived_erasure import WITHOUT_CONTENT, derived_gone
from store.postgres.derived_rows import (
    RETIRED,
    added_values,
    changed_values,
    columns_without_sources,
    derived_columns,
    derived_lexemes,
    derived_record_of,
    rests_on_what_is_there,
    source_values,
    stands_or_is_retired,
    with_sources,
)
from store.postgres.derived_tables import DERIVED_TO_BE_SWEPT, derived_records
from store.postgres.predicates import owned, owner_parameters, visible, visible_parameters
from store.postgres.sessions import Session

_LOCKED = f"""(
        select * from derived_records stored where {owned("stored")} and stored.id = wanted.id for update offset 0
    ) m"""
FIND_FOR_UPDATE = text(f"""
    select {derived_columns("m")} from (
        select * from derived_records stored where {visible("stored")} and stored.id = :id for update offset 0
    ) m {with_sources("m")} where {stands_or_is_retired("m")}
""")
FIND_MANY_FOR_UPDATE = text(f"""
    select {derived_columns("m")} from (
        select wanted.id from unnest(CAST(:ids AS uuid[])) wanted (id) order by wanted.id offset 0
    ) wanted cross join lateral {_LOCKED} {with_sources("m")}
""")
FIND_ANCESTORS = text(f"""
    select held.derived_id, held.source_id, held.revision
    from unnest(CAST(:ids AS uuid[])) wanted (id) cross join lateral (
        select * from derived_sources resting where {owned("resting")} and resting.derived_id = wanted.id offset 0
    ) held order by held.derived_id, held.source_id
""")
FIND_EQUAL_IDS = text(f"""
    select m.id from unnest(CAST(:hashes AS bytea[])) wanted (hash) cross join lateral (
        select stored.id from derived_records stored
        where {owned("stored")} and stored.derivation_hash = wanted.hash offset 0
    ) m
""")
FIND_DUE_KEYS = text(f"""
    select m.tenant_id, m.principal_id, m.id from derived_records m
    where m.tenant_id = :tenant and {DERIVED_TO_BE_SWEPT} and m.ends_at <= :now order by m.ends_at limit :limit
""")


def _withheld(condition: str) -> str:
    # Not said as the condition of an index: the rows are read in the order of their ids.
    return f"""
        select m.id from derived_records m
        where {owned("m")} and m.status <> {RETIRED} and {condition}
            and not (m.ends_at > :now and {rests_on_what_is_there("m")})
        order by m.id limit :limit
    """


FIRST_WITHHELD_IDS = text(_withheld("true"))
NEXT_WITHHELD_IDS = text(_withheld("m.id > :after"))
FIRST_IDS = text(f"select m.id from derived_records m where {owned('m')} order by m.id limit :limit")
NEXT_IDS = text(f"select m.id from derived_records m where {owned('m')} and m.id > :after order by m.id limit :limit")
_EXISTS = text(f"select exists (select from derived_records m where {owned('m')} and m.id = :id)")
_GIVEN_COLUMNS = tuple(each.name for each in derived_records.columns if each.name not in {"search", "ends_at"})
_ADD = text(f"""
    with added as (
        insert into derived_records ({", ".join(_GIVEN_COLUMNS)}, search)
        values ({", ".join(f":{name}" for name in _GIVEN_COLUMNS)}, array_to_tsvector(CAST(:lexemes AS text[])))
    )
    insert into derived_sources (tenant_id, principal_id, derived_id, source_id, revision, is_direct, omitted)
    select :tenant_id, :principal_id, :id, held.* from unnest(
        CAST(:source_ids AS uuid[]), CAST(:source_revisions AS integer[]),
        CAST(:source_is_direct AS boolean[]), CAST(:source_omitted AS boolean[])
    ) held
""")
_CHANGES = """revision = :revision, status = :status, flagged_for_review = :flagged_for_review,
            portability = :portability, updated_at = :updated_at, store_position = :store_position"""
_PUT = text(f"""
    with put as (update derived_records m set {_CHANGES} where {owned("m")} and m.id = :id returning m.id)
    select exists (select from put)
""")
_RETIRE = text(f"""
    with put as (
        update derived_records m set {_CHANGES}, {WITHOUT_CONTENT} where {owned("m")} and m.id = :id returning m.id
    ),
    sources_gone as (
        delete from derived_sources held where {owned("held")} and held.derived_id = :id
    )
    select exists (select from put)
""")
ERASE = text(f"with {derived_gone()} select count(*) from derived_removed")
_BY_KEY = "order by m.tenant_id, m.principal_id, m.id limit :limit for update"


def _for_lexemes(condition: str) -> str:
    return f"select {columns_without_sources('m')} from derived_records m where {condition} {_BY_KEY}"


_FIRST_FOR_LEXEMES = text(_for_lexemes("true"))
NEXT_FOR_LEXEMES = text(_for_lexemes("(m.tenant_id, m.principal_id, m.id) > (:tenant, :principal, :after)"))
_REWRITE_LEXEMES = text(f"""
    update derived_records m set search = array_to_tsvector(CAST(:lexemes AS text[]))
    where {owned("m")} and m.id = :id and m.search <> array_to_tsvector(CAST(:lexemes AS text[]))
""")
FIND_RENAMED_FOR_UPDATE = text(f"""
    select {columns_without_sources("m")} from (
        select found.id from (
            select other.id from derived_records other
            where {owned("other")} and other.subject_key = :subject_key and other.subject = :subject
                and other.display_subject <> :shown offset 0
        ) found order by found.id limit :limit
    ) wanted cross join lateral {_LOCKED}
""")
_RENAME = text(f"""
    update derived_records m set display_subject = :shown, display_subject_key = :shown_key,
        search = array_to_tsvector(CAST(:lexemes AS text[]))
    where {owned("m")} and m.id = :id and m.status <> {RETIRED}
""")


class PostgresDerivedWrites:
    """The DerivedWrites of a session. Raises StoreInconsistent to add what stands already, or to put what does not."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def find_for_update(
        self, owner: Owner, id: UUID, *, ceiling: Sensitivity, now: datetime
    ) -> DerivedRecord | None:
        """The record where it stands or is retired, locked; None for all that is absent or withheld."""
        rows = await self._session.fetch(FIND_FOR_UPDATE, {**visible_parameters(owner, ceiling), "id": id, "now": now})
        return derived_record_of(rows[0]) if rows else None

    async def find_many_for_update(self, owner: Owner, ids: Collection[UUID]) -> list[DerivedRecord]:
        """Those of the ids that are the owner's, whatever their sensitivity, withheld or not, locked in id order."""
        rows = await self._session.fetch(FIND_MANY_FOR_UPDATE, {**owner_parameters(owner), "ids": list(set(ids))})
        return [derived_record_of(row) for row in rows]

    async def find_ancestors(self, owner: Owner, ids: Collection[UUID]) -> Mapping[UUID, Sequence[Ancestor]]:
        """All that each of the ids rests on, by id; ids that rest on nothing are absent."""
        ancestors: dict[UUID, list[Ancestor]] = {}
        for row in await self._session.fetch(FIND_ANCESTORS, {**owner_parameters(owner), "ids": list(set(ids))}):
            ancestors.setdefault(row.derived_id, []).append(Ancestor(id=row.source_id, revision=row.revision))
        return ancestors

    async def find_equal_ids(self, owner: Owner, hashes: Collection[bytes]) -> frozenset[UUID]:
        """The ids of the records with one of these derivation hashes, in any status."""
        parameters = {**owner_parameters(owner), "hashes": list(hashes)}
        return frozenset(row.id for row in await self._session.fetch(FIND_EQUAL_IDS, parameters))

    async def find_withheld_ids(self, owner: Owner, *, now: datetime, after: UUID | None, limit: int) -> list[UUID]:
        """The ids of active records that do not stand, by id, at most `limit`, after an id."""
        statement = FIRST_WITHHELD_IDS if after is None else NEXT_WITHHELD_IDS
        parameters = {**owner_parameters(owner), "now": now, "after": after, "limit": limit}
        return [row.id for row in await self._session.fetch(statement, parameters)]

    async def find_due_keys(self, tenant: str, *, now: datetime, limit: int) -> list[MemoryKey]:
        """The keys of active records of a tenant that have run out by themselves, at most `limit`."""
        rows = await self._session.fetch(FIND_DUE_KEYS, {"tenant": tenant, "now": now, "limit": limit})
        return [(Owner(tenant=row[0], principal=row[1]), row[2]) for row in rows]

    async def find_ids(self, owner: Owner, *, after: UUID | None, limit: int) -> list[UUID]:
        """The ids of the owner's records in any status, by id, at most `limit`, after an id."""
        parameters = {**owner_parameters(owner), "after": after, "limit": limit}
        return [row.id for row in await self._session.fetch(FIRST_IDS if after is None else NEXT_IDS, parameters)]

    async def exists(self, owner: Owner, id: UUID) -> bool:
        """Whether the owner has a derived record of this id, in any status."""
        return bool(await self._session.fetch_value(_EXISTS, {**owner_parameters(owner), "id": id}))

    async def add(self, write: DerivedWrite) -> None:
        """Insert an active record, its sources, all that it rests on, and its lexemes."""
        lexemes = derived_lexemes(write.record)
        await self._session.execute(_ADD, {**added_values(write), **source_values(write), "lexemes": lexemes})

    async def put(self, record: DerivedRecord) -> None:
        """Write what may change of a record; where it is retired, its content, its lexemes and all it rests on go."""
        statement = _RETIRE if record.status is DerivedStatus.RETIRED else _PUT
        parameters = {**owner_parameters(record.owner), "id": record.id, **changed_values(record)}
        if not await self._session.fetch_value(statement, parameters):
            raise StoreInconsistent("a derived record that is written is not stored")

    async def erase(self, owner: Owner, ids: Collection[UUID], *, at: datetime) -> None:
        """Remove these records; retire all that rest on them, their positions unchanged."""
        await self._erase(owner, removed=ids, at=at)

    async def erase_by_hashes(self, owner: Owner, hashes: Collection[bytes], *, at: datetime) -> int:
        """Remove the records with one of these derivation hashes, as `erase` does; how many.

        Retire those whose rendered statement has one of the hashes as its own, and all that rest on them.
        """
        return await self._erase(owner, hashes=hashes, at=at)

    async def retire_dependents(self, owner: Owner, ids: Collection[UUID], *, at: datetime) -> None:
        """Retire every record that rests on one of the ids, directly or through others, their positions unchanged."""
        await self._erase(owner, erased=ids, at=at)

    async def rewrite_lexemes(self, *, after: MemoryKey | None, limit: int) -> list[MemoryKey]:
        """Make the lexemes of the next rows of all owners anew, by owner and id, at most `limit`, after a key.

        A row whose lexemes stay is not written, and a retired one has none.
        """
        if after is None:
            rows = await self._session.fetch(_FIRST_FOR_LEXEMES, {"limit": limit})
        else:
            parameters = {**owner_parameters(after[0]), "after": after[1], "limit": limit}
            rows = await self._session.fetch(NEXT_FOR_LEXEMES, parameters)
        records = [derived_record_of(row) for row in rows]
        rewritten = [
            {**owner_parameters(record.owner), "id": record.id, "lexemes": derived_lexemes(record)}
            for record in records
            if record.content is not None
        ]
        if rewritten:
            await self._session.execute(_REWRITE_LEXEMES, rewritten)
        return [(record.owner, record.id) for record in records]

    async def put_display_subject(self, owner: Owner, *, subject: str, shown: str, limit: int) -> int:
        """Rewrite the shown subject and the lexemes of at most `limit` records that show another; how many."""
        parameters = {
            **owner_parameters(owner),
            "subject_key": subject_key(subject),
            "subject": subject,
            "shown": shown,
            "limit": limit,
        }
        found = [derived_record_of(row) for row in await self._session.fetch(FIND_RENAMED_FOR_UPDATE, parameters)]
        renamed = [
            {
                **owner_parameters(owner),
                "id": record.id,
                "shown": shown,
                "shown_key": subject_key(shown),
                "lexemes": derived_lexemes(record, shown=shown),
            }
            for record in found
            if record.content is not None
        ]
        if renamed:
            await self._session.execute(_RENAME, renamed)
        return len(found)

    async def _erase(
        self,
        owner: Owner,
        *,
        removed: Collection[UUID] = (),
        erased: Collection[UUID] = (),
        hashes: Collection[bytes] = (),
        at: datetime,
    ) -> int:
        parameters = {
            **owner_parameters(owner),
            "removed": list(removed),
            "erased": list(erased),
            "hashes": list(hashes),
            "at": at,
        }
        return int(await self._session.fetch_value(ERASE, parameters))
