"""Beliefs in memory: as they are shown, with the links that a ceiling lets through, and as they are written."""

from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from store.domain.encodings import RowShape
from store.domain.journal import EvidenceReference
from store.domain.lexical import record_lexemes
from store.domain.memories import LINKS_SHOWN_MAX, MemoryRecord, effective_status, ends_at, is_live
from store.domain.overviews import CONFIDENCE_BANDS, MemoryOverview
from store.domain.owners import Owner
from store.domain.people import person_key
from store.domain.vocabulary import LIVE_STATUSES, Sensitivity, within
from store.inmemory.pages import page
from store.inmemory.state import OwnerState, PersonFact, Sequences, State, StoredMemory
from store.ports.errors import StoreInconsistent
from store.ports.memories import (
    CHANGEABLE_FIELDS,
    SUPERSEDES_SHOWN_MAX,
    EncodedPage,
    MemoryBrowseQuery,
    MemoryBrowseResult,
    MemoryFilter,
    MemoryKey,
    encoded_page,
)


class InMemoryMemoryReads:
    """Beliefs as they are shown. Each read begins with the owner's rows at or below the ceiling, and sees no other."""

    def __init__(self, state: State) -> None:
        self._state = state

    async def find(self, owner: Owner, id: UUID, *, ceiling: Sensitivity) -> MemoryRecord | None:
        """The belief, or None if it is absent, foreign or above the ceiling."""
        record = visible_record(self._state, owner, id, ceiling)
        return None if record is None else self._shown(record, ceiling)

    async def find_many(self, owner: Owner, ids: Collection[UUID], *, ceiling: Sensitivity) -> list[MemoryRecord]:
        """Those of the ids that are the owner's at or below the ceiling, by id."""
        found = (visible_record(self._state, owner, id, ceiling) for id in sorted(set(ids)))
        return [self._shown(record, ceiling) for record in found if record is not None]

    async def find_superseded(
        self, owner: Owner, ids: Collection[UUID], *, ceiling: Sensitivity
    ) -> Mapping[UUID, Sequence[MemoryRecord]]:
        """For each id the beliefs that it replaced, nearest first, then by id.

        Each line is followed back only through visible rows; at most 16 a belief. Ids without any are absent.
        """
        replaced_by: dict[UUID, list[MemoryRecord]] = {}
        for row in self._visible(owner, ceiling):
            if row.record.superseded_by is not None:
                replaced_by.setdefault(row.record.superseded_by, []).append(row.record)
        lines = {
            id: [self._shown(record, ceiling) for record in _line(id, replaced_by)]
            for id in set(ids)
            if visible_record(self._state, owner, id, ceiling) is not None
        }
        return {id: line for id, line in lines.items() if line}

    async def browse(self, query: MemoryBrowseQuery) -> MemoryBrowseResult:
        """One page of the filtered set: limit + 1 rows in the order walked, from the keyset on."""
        records, opposite = page(self._selected(query.filter), query)
        return MemoryBrowseResult(
            records=tuple(self._shown(record, query.filter.ceiling) for record in records), opposite=opposite
        )

    async def browse_encoded(self, query: MemoryBrowseQuery, shape: RowShape) -> EncodedPage:
        """The page that `browse` returns, each record as JSON."""
        return encoded_page(await self.browse(query), shape, query.filter.now)

    async def count(self, filter: MemoryFilter) -> int:
        """How many beliefs the filter selects."""
        return sum(1 for _ in self._selected(filter))

    async def overview(self, owner: Owner, *, ceiling: Sensitivity, now: datetime) -> MemoryOverview:
        """The counts of MemoryOverview."""
        visible = [row.record for row in self._visible(owner, ceiling)]
        live = [record for record in visible if is_live(record, now)]
        return MemoryOverview(
            statuses=Counter(effective_status(record, now) for record in visible),
            belief_types=Counter(record.belief_type for record in live),
            sensitivities=Counter(record.sensitivity for record in live),
            confidence_bands=Counter(_band(record) for record in live),
            months=Counter((record.created_at.year, record.created_at.month) for record in live),
            flagged=sum(record.flagged_for_review for record in live),
        )

    async def export(self, owner: Owner) -> AsyncIterator[tuple[MemoryRecord, tuple[EvidenceReference, ...]]]:
        """Every belief of one owner with all its links and references, by ascending position."""
        held = self._state.of(owner)
        records = (row.record for row in held.memories.values())
        for record in sorted(records, key=lambda record: (record.store_position, record.id)):
            yield record, held.references.get(record.id, ())

    def _visible(self, owner: Owner, ceiling: Sensitivity) -> Iterator[StoredMemory]:
        rows = self._state.of(owner).memories.values()
        return (row for row in rows if within(row.record.sensitivity, ceiling))

    def _selected(self, filter: MemoryFilter) -> Iterator[MemoryRecord]:
        matches = _predicate(filter)
        return (row.record for row in self._visible(filter.owner, filter.ceiling) if matches(row))

    def _shown(self, record: MemoryRecord, ceiling: Sensitivity) -> MemoryRecord:
        if not record.conflicts_with and record.superseded_by is None:
            return record

        def is_visible(id: UUID) -> bool:
            return visible_record(self._state, record.owner, id, ceiling) is not None

        links = sorted(filter(is_visible, record.conflicts_with))
        successor = record.superseded_by
        return replace(
            record,
            conflicts_with=tuple(links[:LINKS_SHOWN_MAX]),
            superseded_by=successor if successor is not None and is_visible(successor) else None,
        )


class InMemoryMemoryWrites:
    """Beliefs as they are written. One transaction runs at a time, so a row that is read is locked already."""

    def __init__(self, state: State, sequences: Sequences) -> None:
        self._state = state
        self._positions = sequences.positions

    async def find_for_update(self, owner: Owner, id: UUID, *, ceiling: Sensitivity) -> MemoryRecord | None:
        """The visible belief with all its links; None if it is absent, foreign or above the ceiling."""
        return visible_record(self._state, owner, id, ceiling)

    async def find_many_for_update(self, owner: Owner, ids: Collection[UUID]) -> list[MemoryRecord]:
        """Those of the ids that are the owner's, whatever their sensitivity, by id."""
        rows = self._state.of(owner).memories
        return [rows[id].record for id in sorted(set(ids)) if id in rows]

    async def find_same_statement_ids(self, owner: Owner, hashes: Collection[bytes]) -> frozenset[UUID]:
        """The ids of all rows with one of these statement hashes."""
        rows = self._state.of(owner).memories
        return frozenset(id for id, row in rows.items() if row.statement_hash in hashes)

    async def find_linked_ids(self, owner: Owner, ids: Collection[UUID]) -> frozenset[UUID]:
        """The ids that the rows' conflict links name and those of rows that they supersede."""
        rows = self._state.of(owner).memories
        named = (link for id in ids if id in rows for link in rows[id].record.conflicts_with)
        replaced = (id for id, row in rows.items() if row.record.superseded_by in ids)
        return frozenset((*named, *replaced))

    async def exists(self, owner: Owner, id: UUID) -> bool:
        """Whether the owner has a row of this id, in any status."""
        return id in self._state.of(owner).memories

    async def next_positions(self, count: int) -> list[int]:
        """Fresh numbers of the one store-wide sequence, ascending; a rollback does not give them back."""
        return [self._positions.take() for _ in range(count)]

    async def add(self, record: MemoryRecord, *, statement_hash: bytes) -> None:
        """Insert a row, its lexemes, and the copy of a live person-linked statement.

        Raises StoreInconsistent if the owner has a row of this id.
        """
        held = self._state.for_writing(record.owner)
        if record.id in held.memories:
            raise StoreInconsistent("a belief of this id is stored already")
        _write(held, _row(record, statement_hash))

    async def put(self, record: MemoryRecord) -> None:
        """Write the CHANGEABLE_FIELDS of a row; raises StoreInconsistent if the owner has no row of this id."""
        held = self._state.for_writing(record.owner)
        row = held.memories.get(record.id)
        if row is None:
            raise StoreInconsistent("a belief that is written is not stored")
        changed = {name: getattr(record, name) for name in CHANGEABLE_FIELDS}
        _write(held, replace(row, record=replace(row.record, **changed)))

    async def unlink(self, owner: Owner, ids: Collection[UUID], *, gone: Collection[UUID]) -> None:
        """Take the links to beliefs that go out of these rows; neither position nor updated_at moves."""
        held = self._state.for_writing(owner)
        for id in ids:
            row = held.memories.get(id)
            if row is not None:
                left = replace(
                    row.record,
                    conflicts_with=tuple(link for link in row.record.conflicts_with if link not in gone),
                    superseded_by=None if row.record.superseded_by in gone else row.record.superseded_by,
                )
                _write(held, replace(row, record=left))

    async def erase(self, owner: Owner, ids: Collection[UUID]) -> None:
        """Remove the rows, their evidence and the people_facts copies."""
        held = self._state.for_writing(owner)
        for id in ids:
            held.memories.pop(id, None)
            held.references.pop(id, None)
            held.people_facts.pop(id, None)

    async def erase_facts(self, owner: Owner, hashes: Collection[bytes]) -> None:
        """Remove every people_facts copy with one of these statement hashes."""
        held = self._state.for_writing(owner)
        for id in [id for id, fact in held.people_facts.items() if fact.statement_hash in hashes]:
            del held.people_facts[id]

    async def find_references(self, owner: Owner, id: UUID) -> frozenset[EvidenceReference]:
        """The evidence references that a belief holds."""
        return frozenset(self._state.of(owner).references.get(id, ()))

    async def add_references(self, owner: Owner, id: UUID, references: Sequence[EvidenceReference]) -> None:
        """Hold further references, in their order; raises StoreInconsistent if one is held already."""
        held = self._state.for_writing(owner)
        all_references = (*held.references.get(id, ()), *references)
        if len(set(all_references)) < len(all_references):
            raise StoreInconsistent("an evidence reference is stored already")
        held.references[id] = all_references

    async def find_due_for_update(self, tenant: str, *, now: datetime, limit: int) -> list[MemoryRecord]:
        """Live rows of a tenant that have run out, at most `limit`, those first that ran out first."""
        due = [
            (end, row.record)
            for owner, held in self._state.owners.items()
            if owner.tenant == tenant
            for row in held.memories.values()
            if row.record.status in LIVE_STATUSES and (end := ends_at(row.record)) is not None and end <= now
        ]
        due.sort(key=lambda entry: (entry[0], entry[1].owner, entry[1].id))
        return [record for _, record in due[:limit]]

    async def find_statement_texts(self, owner: Owner, *, after: UUID | None, limit: int) -> list[tuple[UUID, str]]:
        """(id, statement) of the owner's rows by id, at most `limit`, after an id."""
        rows = self._state.of(owner).memories
        ids = sorted(id for id in rows if after is None or id > after)
        return [(id, rows[id].record.statement) for id in ids[:limit]]

    async def rewrite_lexemes(self, *, after: MemoryKey | None, limit: int) -> list[MemoryKey]:
        """Make the lexemes of the next rows of all owners anew, by owner and id, at most `limit`, after a key."""
        keys = sorted((owner, id) for owner, held in self._state.owners.items() for id in held.memories)
        chosen = [key for key in keys if after is None or key > after][:limit]
        for owner, id in chosen:
            row = self._state.of(owner).memories[id]
            self._state.for_writing(owner).memories[id] = _row(row.record, row.statement_hash)
        return chosen

    async def put_display_subject(self, owner: Owner, *, subject: str, shown: str, limit: int) -> int:
        """Rewrite the shown subject and the lexemes of at most `limit` rows that show another; how many."""
        held = self._state.for_writing(owner)
        stale = [
            row
            for _, row in sorted(held.memories.items())
            if row.record.subject == subject and row.record.display_subject != shown
        ]
        for row in stale[:limit]:
            held.memories[row.record.id] = _row(replace(row.record, display_subject=shown), row.statement_hash)
        return len(stale[:limit])


def visible_record(state: State, owner: Owner, id: UUID, ceiling: Sensitivity) -> MemoryRecord | None:
    """The owner's belief of this id at or below the ceiling, with all its links."""
    row = state.of(owner).memories.get(id)
    return row.record if row is not None and within(row.record.sensitivity, ceiling) else None


def _row(record: MemoryRecord, statement_hash: bytes) -> StoredMemory:
    return StoredMemory(
        record=record,
        statement_hash=statement_hash,
        subject_key=record.subject.lower(),
        display_subject_key=record.display_subject.lower(),
        lexemes=record_lexemes(
            subject=record.subject, display_subject=record.display_subject, statement=record.statement
        ),
    )


def _write(held: OwnerState, row: StoredMemory) -> None:
    record = row.record
    held.memories[record.id] = row
    key = person_key(record.subject)
    if key is not None and record.status in LIVE_STATUSES:
        held.people_facts[record.id] = PersonFact(
            person_key=key, statement=record.statement, statement_hash=row.statement_hash
        )
    else:
        held.people_facts.pop(record.id, None)


def _predicate(filter: MemoryFilter) -> Callable[[StoredMemory], bool]:
    """Whether a visible row belongs to the filtered set: every kind that is given must agree."""

    def matches(row: StoredMemory) -> bool:
        record = row.record
        subject_key = row.subject_key if filter.subject_is_key else row.display_subject_key
        return (
            effective_status(record, filter.now) in filter.statuses
            and record.sensitivity in filter.visible_sensitivities
            and (filter.belief_types is None or record.belief_type in filter.belief_types)
            and (filter.subject is None or subject_key == filter.subject)
            and (filter.session_id is None or record.source_session_id == filter.session_id)
            and (filter.flagged is None or record.flagged_for_review is filter.flagged)
            and (filter.confidence_min is None or filter.confidence_min <= record.confidence)
            and (filter.confidence_max is None or record.confidence <= filter.confidence_max)
            and (filter.formed_after is None or filter.formed_after <= record.created_at)
            and (filter.formed_before is None or record.created_at < filter.formed_before)
            and (filter.text is None or filter.text.matches(row.lexemes))
        )

    return matches


def _line(id: UUID, replaced_by: Mapping[UUID, Sequence[MemoryRecord]]) -> list[MemoryRecord]:
    """What a belief replaced, level by level, at most 16; a circle of supersessions ends where it meets itself."""
    line: list[MemoryRecord] = []
    met, level = {id}, [id]
    while level and len(line) < SUPERSEDES_SHOWN_MAX:
        replaced = [record for later in level for record in replaced_by.get(later, ()) if record.id not in met]
        line += sorted(replaced, key=lambda record: record.id)
        level = [record.id for record in replaced]
        met.update(level)
    return line[:SUPERSEDES_SHOWN_MAX]


def _band(record: MemoryRecord) -> int:
    return min(int(record.confidence * CONFIDENCE_BANDS), CONFIDENCE_BANDS - 1)
