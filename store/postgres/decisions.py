"""Reviewing and deleting in PostgreSQL: each step of Decisions is one statement; an erasure draws numbers before it.

A statement sees what was committed before it began. So what must be read after a lock was granted stands in a later
statement, but for a row that is locked where it is read: PostgreSQL reads it again once it has waited. A review that
may not lock its row yet, since statements are locked first, reads it as it stands, and writes it where it still stands
so in all that is ever changed.

The parts of a statement that write all see the state before it; none writes a row that another one writes.
"""

import json
from collections.abc import Collection
from datetime import datetime

from sqlalchemy import text

from store.domain.journal import Receipt, Tombstone
from store.domain.memories import MemoryRecord
from store.domain.owners import Owner
from store.domain.people import person_key
from store.domain.vocabulary import LIVE_STATUSES, EventKind, Sensitivity
from store.ports.decisions import Admission, LockedRow, LockedRows, ReviewWrite
from store.ports.memories import CHANGEABLE_FIELDS
from store.ports.store import StoreFact
from store.postgres.codes import SENSITIVITIES
from store.postgres.derived_erasure import derived_gone
from store.postgres.memories_writes import ROWS_BY_HASH
from store.postgres.predicates import owned, owner_parameters, visible, visible_parameters
from store.postgres.rows import (
    RECORD_COLUMNS_COUNT,
    column_value,
    record_of,
    rows_by_key,
    shown_columns,
    stored_columns,
)
from store.postgres.sequences import Sequences
from store.postgres.sessions import Session
from store.postgres.tables import WHOLE_STORE

_KEY_ID = f"(select value from store_facts where tenant_id = '{WHOLE_STORE}' and name = '{StoreFact.KEY_ID.value}')"


def _admit(lock: str) -> str:
    """The numbers are drawn once the row is there, thus after its lock."""
    return f"""
        with taken as (
            insert into receipts (tenant_id, principal_id, key, kind, request_hash, memory_id, created_at)
            values (:tenant, :principal, :key, :kind, :request_hash, :id, :at)
            on conflict do nothing returning memory_id
        ),
        found as materialized (
            select m.* from taken cross join lateral (
                select * from beliefs stored where {visible("stored")} and stored.id = taken.memory_id {lock} offset 0
            ) m
        ),
        drawn as materialized (
            select m.*, nextval('belief_positions') as drawn_position, nextval('event_numbers') as drawn_number
            from found m
        )
        select {stored_columns("m")}, m.drawn_position, m.drawn_number,
            exists (select from taken), held.request_hash, {_KEY_ID}
        from (values (true)) one left join drawn m on true
        left join receipts held on {owned("held")} and held.key = :key
    """


ADMIT = text(_admit(""))
ADMIT_LOCKED = text(_admit("for update"))
_CHANGES = ", ".join(f"{field} = :{field}" for field in CHANGEABLE_FIELDS)
_AS_EXPECTED = " and ".join(f"m.{field} is not distinct from :expected_{field}" for field in CHANGEABLE_FIELDS)
WRITE_REVIEW = text(f"""
    with put as (
        update beliefs m set {_CHANGES}
        where {visible("m")} and m.id = :id and {_AS_EXPECTED}
            and (CAST(:key_id AS text) is null or CAST(:key_id AS text) = {_KEY_ID})
        returning m.*
    ),
    kept as (
        insert into people_facts (tenant_id, principal_id, memory_id, person_key, statement, statement_hash)
        select m.tenant_id, m.principal_id, m.id, CAST(:person_key AS text), m.statement, m.statement_hash
        from put m where CAST(:person_key AS text) is not null and CAST(:is_live AS boolean)
        on conflict do nothing
    ),
    gone as (
        delete from people_facts fact
        where {owned("fact")} and fact.memory_id = :id and not CAST(:is_live AS boolean) and exists (select from put)
    ),
    rejected as (
        insert into rejections (tenant_id, principal_id, statement_hash, kind, key_id, memory_id, created_at)
        select m.tenant_id, m.principal_id, CAST(:rejected_hash AS bytea), CAST(:rejection AS text),
            CAST(:rejected_key_id AS text), m.id, CAST(:at AS timestamptz)
        from put m where CAST(:rejection AS text) is not null
        on conflict do nothing
    ),
    noted as (
        insert into events (tenant_id, principal_id, session_id, number, kind, memory_id, occurred_at, payload)
        select m.tenant_id, m.principal_id, m.source_session_id, CAST(:number AS bigint), CAST(:event AS text), m.id,
            CAST(:at AS timestamptz), CAST(:payload AS jsonb)
        from put m
    )
    select {shown_columns("m")} from put m
""")
_LINKED = f"""
        select unnest(m.conflicts_with) from {rows_by_key("m", "%(ids)s wanted (id)", "wanted")}
        union
        select m.id from %(ids)s wanted (id) cross join lateral (
            select stored.id from beliefs stored where {owned("stored")} and stored.superseded_by = wanted.id offset 0
        ) m"""
LOCK = text(f"""
    with erased as materialized (
        select m.id from {ROWS_BY_HASH}
    ),
    touched (id) as materialized (
        select id from erased union {_LINKED % {"ids": "erased"}}
    ),
    locked as materialized (
        select m.id, m.source_session_id, m.sensitivity from (select id from touched order by id offset 0) wanted
        cross join lateral (
            select * from beliefs stored where {owned("stored")} and stored.id = wanted.id for update offset 0
        ) m
    )
    select m.id, m.source_session_id, m.sensitivity, m.id in (select id from erased), {_KEY_ID}
    from (values (true)) one left join locked m on true order by m.id
""")
_ERASED = "unnest(CAST(:erased AS uuid[]))"
ERASE = text(f"""
    with met (id) as materialized ({_LINKED % {"ids": _ERASED}}),
    clear as materialized (
        select where not exists (
            select from {rows_by_key("m", "met", "met")} where m.id <> all (CAST(:locked AS uuid[]))
        )
    ),
    unlinked as (
        update beliefs m set
            conflicts_with = array(
                select held.link from unnest(m.conflicts_with) with ordinality held (link, place)
                where held.link <> all (CAST(:erased AS uuid[])) order by held.place
            ),
            superseded_by = case when m.superseded_by = any (CAST(:erased AS uuid[])) then null else m.superseded_by end
        where {owned("m")} and m.id = any (CAST(:linked AS uuid[])) and exists (select from clear)
    ),
    noted as (
        insert into events (tenant_id, principal_id, session_id, number, kind, memory_id, occurred_at, payload)
        select CAST(:tenant AS text), CAST(:principal AS text), gone.session_id, gone.number,
            '{EventKind.DELETED.value}', gone.id, CAST(:at AS timestamptz), '{{}}'
        from clear cross join unnest(
            CAST(:erased AS uuid[]), CAST(:sessions AS uuid[]), CAST(:numbers AS bigint[])
        ) gone (id, session_id, number)
    ),
    rows_gone as (
        delete from beliefs m
        where {owned("m")} and m.id = any (CAST(:erased AS uuid[])) and exists (select from clear)
    ),
    evidence_gone as (
        delete from belief_evidence held
        where {owned("held")} and held.memory_id = any (CAST(:erased AS uuid[])) and exists (select from clear)
    ),
    copies (id) as materialized (
        select id from {_ERASED} wanted (id) union
        select fact.memory_id from people_facts fact
        where {owned("fact")} and fact.statement_hash = any (CAST(:hashes AS bytea[]))
    ),
    copies_gone as (
        delete from people_facts fact
        where {owned("fact")} and fact.memory_id = any (array(select id from copies)) and exists (select from clear)
    ),
    rejections_gone as (
        delete from rejections refused
        where {owned("refused")} and refused.statement_hash = any (CAST(:hashes AS bytea[]))
            and exists (select from clear)
    ),
    entombed as (
        insert into tombstones (tenant_id, principal_id, statement_hash, key_id, created_at)
        select CAST(:tenant AS text), CAST(:principal AS text), grave.statement_hash, grave.key_id, grave.created_at
        from clear cross join unnest(
            CAST(:grave_hashes AS bytea[]), CAST(:grave_key_ids AS text[]), CAST(:grave_times AS timestamptz[])
        ) grave (statement_hash, key_id, created_at)
        on conflict do nothing
    ),
    {derived_gone(condition="exists (select from clear)")}
    select exists (select from clear)
""")


class PostgresDecisions:
    """The Decisions of a session."""

    def __init__(self, session: Session, sequences: Sequences) -> None:
        self._session = session
        self._sequences = sequences

    async def admit(self, receipt: Receipt, *, ceiling: Sensitivity, locked: bool) -> Admission:
        """Take the key and read the belief; one statement, or two where the key was taken while this one waited."""
        parameters = {
            **visible_parameters(receipt.owner, ceiling),
            "key": receipt.key,
            "kind": receipt.kind.value,
            "request_hash": receipt.request_hash,
            "id": receipt.memory_id,
            "at": receipt.created_at,
        }
        statement = ADMIT_LOCKED if locked else ADMIT
        [row] = await self._session.fetch(statement, parameters)
        position, number, is_new, held_hash, key_id = row[RECORD_COLUMNS_COUNT:]
        if not is_new and held_hash is None:
            # Who held the key when this statement began has kept it since: now it can be seen.
            [row] = await self._session.fetch(statement, parameters)
            position, number, is_new, held_hash, key_id = row[RECORD_COLUMNS_COUNT:]
        if position is None:
            return Admission(is_new=is_new, held_hash=held_hash, key_id=key_id, record=None, position=None)
        self._sequences.take(number)
        return Admission(is_new=True, held_hash=None, key_id=key_id, record=record_of(row), position=position)

    async def write_review(self, write: ReviewWrite, *, ceiling: Sensitivity) -> MemoryRecord | None:
        """Write the belief, its people_facts copy, its rejection and its event, in one statement."""
        record, expected, rejection = write.record, write.expected, write.rejection
        rows = await self._session.fetch(
            WRITE_REVIEW,
            {
                **visible_parameters(record.owner, ceiling),
                **{field: column_value(record, field) for field in CHANGEABLE_FIELDS},
                "id": record.id,
                **{f"expected_{field}": column_value(expected, field) for field in CHANGEABLE_FIELDS},
                "key_id": write.key_id,
                "person_key": person_key(record.subject),
                "is_live": record.status in LIVE_STATUSES,
                "rejection": None if rejection is None else rejection.kind.value,
                "rejected_hash": None if rejection is None else rejection.statement_hash,
                "rejected_key_id": None if rejection is None else rejection.key_id,
                "number": await self._sequences.next_number(),
                "event": write.event.value,
                "payload": json.dumps({"outcome": write.outcome.value}),
                "at": write.at,
            },
        )
        return record_of(rows[0]) if rows else None

    async def lock_rows(self, owner: Owner, hashes: Collection[bytes]) -> LockedRows:
        """Find and lock the rows, in one statement."""
        rows = await self._session.fetch(LOCK, {**owner_parameters(owner), "hashes": list(hashes)})
        return LockedRows(
            key_id=rows[0][4],
            rows=tuple(LockedRow(row[0], row[1], SENSITIVITIES[row[2]], row[3]) for row in rows if row[0] is not None),
        )

    async def erase_rows(
        self,
        owner: Owner,
        hashes: Collection[bytes],
        tombstones: Collection[Tombstone],
        *,
        locked: LockedRows,
        at: datetime,
    ) -> bool:
        """Erase the rows in one statement, once the numbers of their events are drawn."""
        erased = locked.erased
        is_clear: bool = await self._session.fetch_value(
            ERASE,
            {
                **owner_parameters(owner),
                "hashes": list(hashes),
                "locked": [row.id for row in locked.rows],
                "linked": [row.id for row in locked.rows if not row.is_erased],
                "erased": [row.id for row in erased],
                "removed": [],
                "sessions": [row.session_id for row in erased],
                "numbers": await self._sequences.next_numbers(len(erased)),
                "grave_hashes": [tombstone.statement_hash for tombstone in tombstones],
                "grave_key_ids": [tombstone.key_id for tombstone in tombstones],
                "grave_times": [tombstone.created_at for tombstone in tombstones],
                "at": at,
            },
        )
        return is_clear
