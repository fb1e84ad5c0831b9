"""Derived records in memory: as they are shown while they stand, and as they are written."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from store.domain.derived import Ancestor, DerivedContent, DerivedRecord, DerivedStatus, retired, runs_at
from store.domain.lexical import record_lexemes
from store.domain.owners import Owner
from store.domain.vocabulary import MemoryStatus, Sensitivity, within
from store.inmemory.pages import page
from store.inmemory.state import OwnerState, State, StoredDerived
from store.ports.derived import DerivedBrowseResult, DerivedWrite
from store.ports.errors import StoreInconsistent
from store.ports.memories import MemoryBrowseQuery, MemoryFilter, MemoryKey

_WRITTEN_FIELDS = ("revision", "status", "flagged_for_review", "portability", "updated_at", "store_position")
"""What `put` writes of a record that stays active."""


class InMemoryDerivedReads:
    """Derived records as they are shown. Each read sees none but the owner's records at or below the ceiling."""

    def __init__(self, state: State) -> None:
        self._state = state

    async def find(self, owner: Owner, id: UUID, *, ceiling: Sensitivity, now: datetime) -> DerivedRecord | None:
        """The record where it stands or is retired; None if it is absent, foreign, above the ceiling or withheld."""
        return _shown_record(self._state.of(owner), id, ceiling, now)

    async def browse(self, query: MemoryBrowseQuery) -> DerivedBrowseResult:
        """One page of those that stand: limit + 1 records in the order walked, from the keyset on."""
        records, opposite = page(self._selected(query.filter), query)
        return DerivedBrowseResult(records=records, opposite=opposite)

    async def count(self, filter: MemoryFilter) -> int:
        """How many of those that stand the filter selects."""
        return sum(1 for _ in self._selected(filter))

    async def closure(
        self, owner: Owner, ids: Collection[UUID], *, ceiling: Sensitivity, depth: int, limit: int
    ) -> Sequence[UUID]:
        """The ids, and those of all that they rest on within so many steps; at most `limit`, nearest first, then by id.

        Ids that name nothing are among them: each is one look-up.
        """
        held = self._state.of(owner)
        level = sorted(set(ids))
        met = list(level)
        for _ in range(depth):
            level = sorted(set(_named_by(held, level, ceiling)) - set(met))
            met += level
        return met[:limit]

    async def find_stored(self, owner: Owner, ids: Collection[UUID], *, ceiling: Sensitivity) -> list[DerivedRecord]:
        """Those of the ids that are the owner's at or below the ceiling, by id, withheld or not."""
        held = self._state.of(owner)
        found = (_visible_row(held, id, ceiling) for id in sorted(set(ids)))
        return [row.record for row in found if row is not None]

    def _selected(self, filter: MemoryFilter) -> Iterator[DerivedRecord]:
        if MemoryStatus.ACTIVE not in filter.statuses:
            return
        held = self._state.of(filter.owner)
        matches = _predicate(filter)
        for row in held.derived.values():
            if within(row.record.sensitivity, filter.ceiling) and matches(row) and _stands(held, row, filter.now):
                yield row.record


class InMemoryDerivedWrites:
    """Derived records as they are written. One transaction runs at a time, so a record that is read is locked."""

    def __init__(self, state: State) -> None:
        self._state = state

    async def find_for_update(
        self, owner: Owner, id: UUID, *, ceiling: Sensitivity, now: datetime
    ) -> DerivedRecord | None:
        """The record where it stands or is retired; None if it is absent, foreign, above the ceiling or withheld."""
        return _shown_record(self._state.of(owner), id, ceiling, now)

    async def find_many_for_update(self, owner: Owner, ids: Collection[UUID]) -> list[DerivedRecord]:
        """Those of the ids that are the owner's, whatever their sensitivity, withheld or not, by id."""
        rows = self._state.of(owner).derived
        return [rows[id].record for id in sorted(set(ids)) if id in rows]

    async def find_ancestors(self, owner: Owner, ids: Collection[UUID]) -> Mapping[UUID, Sequence[Ancestor]]:
        """All that each of the ids rests on, by id; ids that rest on nothing are absent."""
        rows = self._state.of(owner).derived
        return {id: rows[id].ancestors for id in sorted(set(ids)) if id in rows and rows[id].ancestors}

    async def find_equal_ids(self, owner: Owner, hashes: Collection[bytes]) -> frozenset[UUID]:
        """The ids of the records with one of these derivation hashes, in any status."""
        rows = self._state.of(owner).derived
        return frozenset(id for id, row in rows.items() if row.derivation_hash in hashes)

    async def find_withheld_ids(self, owner: Owner, *, now: datetime, after: UUID | None, limit: int) -> list[UUID]:
        """The ids of active records that do not stand, by id, at most `limit`, after an id."""
        held = self._state.of(owner)
        ids = sorted(id for id, row in held.derived.items() if _is_active(row) and not _stands(held, row, now))
        return [id for id in ids if after is None or id > after][:limit]

    async def find_due_keys(self, tenant: str, *, now: datetime, limit: int) -> list[MemoryKey]:
        """The keys of active records of a tenant that have run out by themselves, at most `limit`."""
        due = [
            (owner, id)
            for owner, held in self._state.owners.items()
            if owner.tenant == tenant
            for id, row in held.derived.items()
            if _is_active(row) and not runs_at(row.record, now)
        ]
        return due[:limit]

    async def find_ids(self, owner: Owner, *, after: UUID | None, limit: int) -> list[UUID]:
        """The ids of the owner's records in any status, by id, at most `limit`, after an id."""
        return [id for id in sorted(self._state.of(owner).derived) if after is None or id > after][:limit]

    async def exists(self, owner: Owner, id: UUID) -> bool:
        """Whether the owner has a derived record of this id, in any status."""
        return id in self._state.of(owner).derived

    async def add(self, write: DerivedWrite) -> None:
        """Insert an active record, its sources, all that it rests on, and its lexemes.

        Raises StoreInconsistent if the owner has a derived record of this id.
        """
        rows = self._state.for_writing(write.record.owner).derived
        if write.record.id in rows:
            raise StoreInconsistent("a derived record of this id is stored already")
        rows[write.record.id] = StoredDerived(
            record=write.record,
            ancestors=tuple(sorted(write.ancestors, key=lambda ancestor: ancestor.id)),
            derivation_hash=write.derivation_hash,
            statement_hash=write.statement_hash,
            lexemes=_lexemes(write.record.content),
        )

    async def put(self, record: DerivedRecord) -> None:
        """Write revision, status, flag, portability, updated_at and position of a record.

        Where it is retired, its content, its lexemes and its sources go. Raises StoreInconsistent if the owner has no
        derived record of this id.
        """
        rows = self._state.for_writing(record.owner).derived
        row = rows.get(record.id)
        if row is None:
            raise StoreInconsistent("a derived record that is written is not stored")
        changed = {name: getattr(record, name) for name in _WRITTEN_FIELDS}
        written = replace(row.record, **changed)
        if record.status is DerivedStatus.RETIRED:
            rows[record.id] = _shell(row, replace(written, content=None, sources=()))
        else:
            rows[record.id] = replace(row, record=written)

    async def erase(self, owner: Owner, ids: Collection[UUID], *, at: datetime) -> None:
        """Remove these records; retire all that rest on them, their positions unchanged."""
        rows = self._state.for_writing(owner).derived
        for id in ids:
            rows.pop(id, None)
        await self.retire_dependents(owner, ids, at=at)

    async def erase_by_hashes(self, owner: Owner, hashes: Collection[bytes], *, at: datetime) -> int:
        """Remove the records with one of these derivation hashes, as `erase` does; how many.

        Retire those whose rendered statement has one of the hashes as its own, and what rests on them.
        """
        rows = self._state.for_writing(owner).derived
        derived_so = [id for id, row in rows.items() if row.derivation_hash in hashes]
        await self.erase(owner, derived_so, at=at)
        saying_so = [id for id, row in rows.items() if row.statement_hash in hashes]
        self._retire(owner, saying_so, at)
        await self.retire_dependents(owner, saying_so, at=at)
        return len(derived_so)

    async def retire_dependents(self, owner: Owner, ids: Collection[UUID], *, at: datetime) -> None:
        """Retire every record that rests on one of the ids, directly or through others, their positions unchanged."""
        gone = set(ids)
        rows = self._state.of(owner).derived
        resting = [id for id, row in rows.items() if any(ancestor.id in gone for ancestor in row.ancestors)]
        self._retire(owner, resting, at)

    async def rewrite_lexemes(self, *, after: MemoryKey | None, limit: int) -> list[MemoryKey]:
        """Make the lexemes of the next records of all owners anew, by owner and id, at most `limit`, after a key."""
        keys = sorted((owner, id) for owner, held in self._state.owners.items() for id in held.derived)
        chosen = [key for key in keys if after is None or key > after][:limit]
        for owner, id in chosen:
            rows = self._state.for_writing(owner).derived
            rows[id] = replace(rows[id], lexemes=_lexemes(rows[id].record.content))
        return chosen

    async def put_display_subject(self, owner: Owner, *, subject: str, shown: str, limit: int) -> int:
        """Rewrite the shown subject and the lexemes of at most `limit` records that show another; how many."""
        rows = self._state.for_writing(owner).derived
        stale = [
            (row, content)
            for _, row in sorted(rows.items())
            if (content := row.record.content) is not None
            and content.subject == subject
            and content.display_subject != shown
        ]
        for row, content in stale[:limit]:
            renamed = replace(content, display_subject=shown)
            rows[row.record.id] = replace(row, record=replace(row.record, content=renamed), lexemes=_lexemes(renamed))
        return len(stale[:limit])

    def _retire(self, owner: Owner, ids: Collection[UUID], at: datetime) -> None:
        rows = self._state.for_writing(owner).derived
        for id in ids:
            row = rows[id]
            if _is_active(row):
                rows[id] = _shell(row, retired(row.record, position=row.record.store_position, now=at))


def _visible_row(held: OwnerState, id: UUID, ceiling: Sensitivity) -> StoredDerived | None:
    row = held.derived.get(id)
    return row if row is not None and within(row.record.sensitivity, ceiling) else None


def _shown_record(held: OwnerState, id: UUID, ceiling: Sensitivity, now: datetime) -> DerivedRecord | None:
    row = _visible_row(held, id, ceiling)
    return row.record if row is not None and (not _is_active(row) or _stands(held, row, now)) else None


def _stands(held: OwnerState, row: StoredDerived, now: datetime) -> bool:
    return runs_at(row.record, now) and all(_is_as_pinned(held, ancestor) for ancestor in row.ancestors)


def _is_as_pinned(held: OwnerState, ancestor: Ancestor) -> bool:
    belief, derived = held.memories.get(ancestor.id), held.derived.get(ancestor.id)
    return (belief is not None and belief.record.revision == ancestor.revision) or (
        derived is not None and derived.record.revision == ancestor.revision
    )


def _is_active(row: StoredDerived) -> bool:
    return row.record.status is DerivedStatus.ACTIVE


def _named_by(held: OwnerState, ids: Collection[UUID], ceiling: Sensitivity) -> Iterator[UUID]:
    for id in ids:
        row = _visible_row(held, id, ceiling)
        if row is not None:
            yield from (source.id for source in row.record.sources)


def _shell(row: StoredDerived, record: DerivedRecord) -> StoredDerived:
    return replace(row, record=record, ancestors=(), lexemes=frozenset())


def _lexemes(content: DerivedContent | None) -> frozenset[str]:
    """A shell has none."""
    if content is None:
        return frozenset()
    return record_lexemes(subject=content.subject, display_subject=content.display_subject, statement=content.statement)


def _predicate(filter: MemoryFilter) -> Callable[[StoredDerived], bool]:
    """Whether a visible record that stands belongs to the filtered set: every kind that is given must agree."""

    def matches(row: StoredDerived) -> bool:
        record, content = row.record, row.record.content
        if content is None:
            return False
        subject = content.subject if filter.subject_is_key else content.display_subject
        return (
            record.sensitivity in filter.visible_sensitivities
            and (filter.belief_types is None or not filter.belief_types.isdisjoint(content.belief_types))
            and (filter.subject is None or subject.lower() == filter.subject)
            and (filter.session_id is None or filter.session_id in content.session_ids)
            and (filter.flagged is None or record.flagged_for_review is filter.flagged)
            and (filter.confidence_min is None or filter.confidence_min <= content.confidence)
            and (filter.confidence_max is None or content.confidence <= filter.confidence_max)
            and (filter.formed_after is None or filter.formed_after <= record.created_at)
            and (filter.formed_before is None or record.created_at < filter.formed_before)
            and (filter.text is None or filter.text.matches(row.lexemes))
        )

    return matches
