"""Reading a whole owner in batches, each its own statement of the session's one snapshot."""

from collections.abc import AsyncIterator
from itertools import groupby

from sqlalchemy import text

from store.domain.journal import EvidenceReference
from store.domain.memories import MemoryRecord
from store.domain.owners import Owner
from store.postgres.predicates import owned, owner_parameters
from store.postgres.rows import record_of, stored_columns
from store.postgres.sessions import Session
from store.postgres.tables import IN_ORDER_OF_POSITION

BATCH_ROWS = 500

# Rows of one position are rare (positions are unique, unless a test makes them): they are read against the order of
# their ids, as the index has them, and sorted afterwards.
_MEMORIES = text(f"""
    select {stored_columns("m")} from (
        select * from beliefs m
        where {owned("m")} and m.{IN_ORDER_OF_POSITION}
            and m.store_position >= :position and (m.store_position > :position or m.id < :id)
        order by m.store_position, m.id desc limit {BATCH_ROWS}
    ) m order by m.store_position, m.id
""")

_REFERENCES = text(f"""
    select held.memory_id, held.session_id, held.number
    from unnest(CAST(:ids AS uuid[])) wanted (id) cross join lateral (
        select * from belief_evidence evidence where {owned("evidence")} and evidence.memory_id = wanted.id offset 0
    ) held order by held.memory_id, held.ordinal
""")


async def export_memories(
    session: Session, owner: Owner
) -> AsyncIterator[tuple[MemoryRecord, tuple[EvidenceReference, ...]]]:
    """Every belief of one owner with all its links and references, by ascending position."""
    keyset: dict[str, object] = {"position": 0, "id": None}
    while True:
        records = [record_of(row) for row in await session.fetch(_MEMORIES, {**owner_parameters(owner), **keyset})]
        parameters = {**owner_parameters(owner), "ids": [record.id for record in records]}
        rows = await session.fetch(_REFERENCES, parameters)
        references = {
            memory_id: tuple(EvidenceReference(session_id=row.session_id, number=row.number) for row in held)
            for memory_id, held in groupby(rows, key=lambda row: row.memory_id)
        }
        for record in records:
            yield record, references.get(record.id, ())
        if len(records) < BATCH_ROWS:
            return
        position = records[-1].store_position
        keyset = {
            "position": position,
            "id": min(record.id for record in records if record.store_position == position),
        }
