"""Beliefs as they are written to PostgreSQL: whole rows with all their links, locked until the transaction ends.

Rows are locked in id order, each found by its primary key inside a fence, so that no plan locks in another order.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from sqlalchemy import ARRAY, Text, bindparam, cast, delete, func, insert, text, update

from store.domain.journal import EvidenceReference
from store.domain.memories import MemoryRecord
from store.domain.owners import Owner
from store.domain.people import person_key
from store.domain.vocabulary import LIVE_STATUSES, Sensitivity
from store.ports.errors import StoreInconsistent
from store.ports.memories import CHANGEABLE_FIELDS, MemoryKey
from store.postgres.codes import subject_key
from store.postgres.lexemes import stored_lexemes
from store.postgres.predicates import is_owned, owned, owner_parameters, visible, visible_parameters
from store.postgres.rows import column_value, record_of, rows_by_key, stored_columns, stored_values
from store.postgres.sequences import Sequences
from store.postgres.sessions import Session
from store.postgres.tables import TO_BE_SWEPT, belief_evidence, beliefs, people_facts

_IDS = "unnest(CAST(:ids AS uuid[])) wanted (id)"
_HASHES = "unnest(CAST(:hashes AS bytea[])) wanted (hash)"

FIND_FOR_UPDATE = text(f"select {stored_columns('m')} from beliefs m where {visible('m')} and m.id = :id for update")
_LOCKED = f"(select * from beliefs stored where {owned('stored')} and stored.id = wanted.id for update offset 0)"
FIND_MANY_FOR_UPDATE = text(f"""
    select {stored_columns("m")} from (select wanted.id from {_IDS} order by wanted.id offset 0) wanted
    cross join lateral {_LOCKED} m
""")
ROWS_BY_HASH = f"""{_HASHES} cross join lateral (
        select stored.id from beliefs stored where {owned("stored")} and stored.statement_hash = wanted.hash offset 0
    ) m"""
FIND_SAME_STATEMENT_IDS = text(f"select m.id from {ROWS_BY_HASH}")
FIND_LINKED_IDS = text(f"""
    select unnest(m.conflicts_with) from {rows_by_key("m", _IDS, "wanted")}
    union
    select m.id from {_IDS} cross join lateral (
        select stored.id from beliefs stored where {owned("stored")} and stored.superseded_by = wanted.id offset 0
    ) m
""")
_EXISTS = text(f"select exists (select from beliefs m where {owned('m')} and m.id = :id)")
_COPY_FACT = text(f"""
    insert into people_facts (tenant_id, principal_id, memory_id, person_key, statement, statement_hash)
    select m.tenant_id, m.principal_id, m.id, :key, m.statement, m.statement_hash
    from beliefs m where {owned("m")} and m.id = :id
    on conflict do nothing
""")
_ERASE_FACTS = text(f"delete from people_facts fact where {owned('fact')} and fact.statement_hash = :hash")
_FIND_REFERENCES = text(f"""
    select held.session_id, held.number from belief_evidence held where {owned("held")} and held.memory_id = :id
""")
_LAST_ORDINAL = text(f"""
    select coalesce(max(held.ordinal), 0) from belief_evidence held where {owned("held")} and held.memory_id = :id
""")
FIND_DUE_FOR_UPDATE = text(f"""
    select {stored_columns("m")} from beliefs m
    where m.tenant_id = :tenant and {TO_BE_SWEPT} and m.ends_at <= :now
    order by m.ends_at, m.principal_id, m.id limit :limit for update skip locked
""")
FIRST_STATEMENT_TEXTS = text(f"""
    select m.id, m.statement from beliefs m where {owned("m")} order by m.id limit :limit
""")
NEXT_STATEMENT_TEXTS = text(f"""
    select m.id, m.statement from beliefs m where {owned("m")} and m.id > :after order by m.id limit :limit
""")
FIND_RENAMED_FOR_UPDATE = text(f"""
    select {stored_columns("m")} from (
        select found.id from (
            select other.id from beliefs other
            where {owned("other")} and other.subject_key = :subject_key and other.subject = :subject
                and other.display_subject <> :shown offset 0
        ) found order by found.id limit :limit
    ) wanted cross join lateral {_LOCKED} m
""")
_BY_KEY = "order by m.tenant_id, m.principal_id, m.id limit :limit for update"
_FIRST_FOR_LEXEMES = text(f"select {stored_columns('m')} from beliefs m {_BY_KEY}")
NEXT_FOR_LEXEMES = text(f"""
    select {stored_columns("m")} from beliefs m
    where (m.tenant_id, m.principal_id, m.id) > (:tenant, :principal, :after) {_BY_KEY}
""")
_REWRITE_LEXEMES = text(f"""
    update beliefs m set search = array_to_tsvector(CAST(:lexemes AS text[]))
    where {owned("m")} and m.id = :id and m.search <> array_to_tsvector(CAST(:lexemes AS text[]))
""")
_UNLINK = text(f"""
    update beliefs m set
        conflicts_with = array(
            select held.link from unnest(m.conflicts_with) with ordinality held (link, place)
            where held.link <> all (CAST(:gone AS uuid[])) order by held.place
        ),
        superseded_by = case when m.superseded_by = any (CAST(:gone AS uuid[])) then null else m.superseded_by end
    where {owned("m")} and m.id = any (CAST(:ids AS uuid[]))
""")
_SEARCH = func.array_to_tsvector(cast(bindparam("lexemes"), ARRAY(Text)))


class PostgresMemoryWrites:
    """The MemoryWrites of a session. Raises StoreInconsistent to add what stands already, or to put what does not."""

    def __init__(self, session: Session, sequences: Sequences) -> None:
        self._session = session
        self._sequences = sequences

    async def find_for_update(self, owner: Owner, id: UUID, *, ceiling: Sensitivity) -> MemoryRecord | None:
        """The visible belief, locked; None if it is absent, foreign or above the ceiling."""
        rows = await self._session.fetch(FIND_FOR_UPDATE, {**visible_parameters(owner, ceiling), "id": id})
        return record_of(rows[0]) if rows else None

    async def find_many_for_update(self, owner: Owner, ids: Collection[UUID]) -> list[MemoryRecord]:
        """Those of the ids that are the owner's, whatever their sensitivity, locked in id order."""
        rows = await self._session.fetch(FIND_MANY_FOR_UPDATE, {**owner_parameters(owner), "ids": list(set(ids))})
        return [record_of(row) for row in rows]

    async def find_same_statement_ids(self, owner: Owner, hashes: Collection[bytes]) -> frozenset[UUID]:
        """The ids of all rows with one of these statement hashes, without locking them."""
        parameters = {**owner_parameters(owner), "hashes": list(hashes)}
        return frozenset(row[0] for row in await self._session.fetch(FIND_SAME_STATEMENT_IDS, parameters))

    async def find_linked_ids(self, owner: Owner, ids: Collection[UUID]) -> frozenset[UUID]:
        """The ids that the rows' conflict links name and those of rows that they supersede, without locking."""
        parameters = {**owner_parameters(owner), "ids": list(set(ids))}
        return frozenset(row[0] for row in await self._session.fetch(FIND_LINKED_IDS, parameters))

    async def exists(self, owner: Owner, id: UUID) -> bool:
        """Whether the owner has a row of this id, in any status."""
        return bool(await self._session.fetch_value(_EXISTS, {**owner_parameters(owner), "id": id}))

    async def next_positions(self, count: int) -> list[int]:
        """Fresh numbers of the one store-wide sequence, ascending."""
        return await self._sequences.next_positions(count)

    async def add(self, record: MemoryRecord, *, statement_hash: bytes) -> None:
        """Insert a row, its lexemes, and the copy of a live person-linked statement."""
        values = {**stored_values(record, statement_hash), "lexemes": stored_lexemes(record)}
        await self._session.execute(insert(beliefs).values(search=_SEARCH), values)
        await self._follow_fact(record)

    async def put(self, record: MemoryRecord) -> None:
        """Write the CHANGEABLE_FIELDS of a row, and keep the people_facts copy in step."""
        written = await self._session.execute(
            update(beliefs)
            .where(is_owned(beliefs, record.owner), beliefs.c.id == record.id)
            .values({field: column_value(record, field) for field in CHANGEABLE_FIELDS})
        )
        if written != 1:
            raise StoreInconsistent("a belief that is written is not stored")
        await self._follow_fact(record)

    async def unlink(self, owner: Owner, ids: Collection[UUID], *, gone: Collection[UUID]) -> None:
        """Take the links to beliefs that go out of these rows, in one statement however many there are."""
        parameters = {**owner_parameters(owner), "ids": list(ids), "gone": list(gone)}
        await self._session.execute(_UNLINK, parameters)

    async def erase(self, owner: Owner, ids: Collection[UUID]) -> None:
        """Remove the rows, their evidence and the people_facts copies."""
        if not ids:
            return
        keys = [{"erased": id} for id in sorted(ids)]
        for table, column in (
            (beliefs, beliefs.c.id),
            (belief_evidence, belief_evidence.c.memory_id),
            (people_facts, people_facts.c.memory_id),
        ):
            erasure = delete(table).where(is_owned(table, owner), column == bindparam("erased"))
            await self._session.execute(erasure, keys)

    async def erase_facts(self, owner: Owner, hashes: Collection[bytes]) -> None:
        """Remove every people_facts copy with one of these statement hashes."""
        if hashes:
            parameters = [{**owner_parameters(owner), "hash": each} for each in sorted(hashes)]
            await self._session.execute(_ERASE_FACTS, parameters)

    async def find_references(self, owner: Owner, id: UUID) -> frozenset[EvidenceReference]:
        """The evidence references that a belief holds."""
        rows = await self._session.fetch(_FIND_REFERENCES, {**owner_parameters(owner), "id": id})
        return frozenset(EvidenceReference(session_id=row.session_id, number=row.number) for row in rows)

    async def add_references(self, owner: Owner, id: UUID, references: Sequence[EvidenceReference]) -> None:
        """Hold further references, which must be new to the belief; their order is kept."""
        if not references:
            return
        last: int = await self._session.fetch_value(_LAST_ORDINAL, {**owner_parameters(owner), "id": id})
        rows = [
            {
                "tenant_id": owner.tenant,
                "principal_id": owner.principal,
                "memory_id": id,
                "session_id": reference.session_id,
                "number": reference.number,
                "ordinal": ordinal,
            }
            for ordinal, reference in enumerate(references, start=last + 1)
        ]
        await self._session.execute(insert(belief_evidence), rows)

    async def find_due_for_update(self, tenant: str, *, now: datetime, limit: int) -> list[MemoryRecord]:
        """Live rows of a tenant that have run out, at most `limit`, those first that ran out first, locked.

        Rows that are locked elsewhere are left out.
        """
        parameters = {"tenant": tenant, "now": now, "limit": limit}
        return [record_of(row) for row in await self._session.fetch(FIND_DUE_FOR_UPDATE, parameters)]

    async def find_statement_texts(self, owner: Owner, *, after: UUID | None, limit: int) -> list[tuple[UUID, str]]:
        """(id, statement) of the owner's rows by id, at most `limit`, after an id."""
        parameters = {**owner_parameters(owner), "after": after, "limit": limit}
        statement = FIRST_STATEMENT_TEXTS if after is None else NEXT_STATEMENT_TEXTS
        return [(row.id, row.statement) for row in await self._session.fetch(statement, parameters)]

    async def rewrite_lexemes(self, *, after: MemoryKey | None, limit: int) -> list[MemoryKey]:
        """Make the lexemes of the next rows of all owners anew, by owner and id, at most `limit`, after a key.

        A row whose lexemes stay is not written.
        """
        if after is None:
            rows = await self._session.fetch(_FIRST_FOR_LEXEMES, {"limit": limit})
        else:
            parameters = {**owner_parameters(after[0]), "after": after[1], "limit": limit}
            rows = await self._session.fetch(NEXT_FOR_LEXEMES, parameters)
        records = [record_of(row) for row in rows]
        if records:
            await self._session.execute(
                _REWRITE_LEXEMES,
                [
                    {**owner_parameters(record.owner), "id": record.id, "lexemes": stored_lexemes(record)}
                    for record in records
                ],
            )
        return [(record.owner, record.id) for record in records]

    async def put_display_subject(self, owner: Owner, *, subject: str, shown: str, limit: int) -> int:
        """Rewrite the shown subject and the lexemes of at most `limit` rows that show another; how many."""
        parameters = {
            **owner_parameters(owner),
            "subject_key": subject_key(subject),
            "subject": subject,
            "shown": shown,
            "limit": limit,
        }
        found = [record_of(row) for row in await self._session.fetch(FIND_RENAMED_FOR_UPDATE, parameters)]
        if found:
            rewriting = (
                update(beliefs)
                .where(is_owned(beliefs, owner), beliefs.c.id == bindparam("renamed"))
                .values(display_subject=shown, display_subject_key=subject_key(shown), search=_SEARCH)
            )
            lexemes = [stored_lexemes(replace(record, display_subject=shown)) for record in found]
            await self._session.execute(
                rewriting,
                [{"renamed": record.id, "lexemes": each} for record, each in zip(found, lexemes, strict=True)],
            )
        return len(found)

    async def _follow_fact(self, record: MemoryRecord) -> None:
        """Keep the copy of a person-linked statement exactly while its row is stored as live."""
        key = person_key(record.subject)
        if key is None:
            return
        if record.status in LIVE_STATUSES:
            parameters = {**owner_parameters(record.owner), "id": record.id, "key": key}
            await self._session.execute(_COPY_FACT, parameters)
        else:
            await self._session.execute(
                delete(people_facts).where(is_owned(people_facts, record.owner), people_facts.c.memory_id == record.id)
            )
