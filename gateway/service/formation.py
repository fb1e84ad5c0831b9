"""The governed write path of beliefs: candidates are formed, exported records are restored.

No transport reaches it; the importer and the command line do.
Source: belief store decisions, Formation and Restoring.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from gateway.service.environment import Environment
from gateway.service.errors import Conflict, MalformedRequest
from gateway.service.guards import hold_lexical_version, require_key
from gateway.service.people import find_shown_subject, subject_locks
from store.domain.formation import (
    CONTRADICTS_MAX,
    Candidate,
    FormationOutcome,
    LinksExhausted,
    NotSupersedable,
    contradicted,
    contradicting,
    find_equals,
    find_opposites,
    linked,
    new_record,
    new_references,
    reinforced,
    superseded,
)
from store.domain.journal import EvidenceReference, Payload
from store.domain.keyring import length_prefixed
from store.domain.memories import EVIDENCE_MAX, INT32_MAX, LINKS_MAX, InvalidRecord, MemoryRecord, check_record, is_live
from store.domain.owners import Owner
from store.domain.vocabulary import BLOCKING_REJECTIONS, LIVE_STATUSES, EventKind
from store.ports.store import Store, Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class FormationResult:
    """What became of a candidate, and the belief that holds it now (None where it was blocked)."""

    outcome: FormationOutcome
    id: UUID | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """What a candidate meets: the belief it reinforces, the references it adds, and those it changes."""

    twin: MemoryRecord | None
    added: Sequence[EvidenceReference]
    opposites: Sequence[MemoryRecord]
    replaced: MemoryRecord | None


class RestoreOutcome(StrEnum):
    """What became of an exported belief."""

    RESTORED = "restored"
    SKIPPED = "skipped"
    BLOCKED = "blocked"


class FormationService:
    """Forms and restores beliefs, refusing what was deleted or found untrue, whatever path it comes by."""

    def __init__(self, store: Store, environment: Environment) -> None:
        """Write to a store; the environment holds clock, keys and new identifiers."""
        self._store = store
        self._environment = environment

    async def form(self, owner: Owner, candidate: Candidate) -> FormationResult:
        """Form one candidate in a transaction of its own; see form_within."""
        return await self._store.transact(lambda transaction: self.form_within(transaction, owner, candidate))

    async def form_within(self, transaction: Transaction, owner: Owner, candidate: Candidate) -> FormationResult:
        """Form, reinforce or refuse a candidate inside a transaction.

        Raises InvalidRecord for a value no belief may hold, MalformedRequest for a named belief that is
        not there, Conflict for a second supersession or too many links; nothing is written then.
        """
        now = self._environment.clock()
        keyring = self._environment.keyring
        provisional = self._provisional(owner, candidate, now)
        statement_hash = keyring.statement_hash(owner, candidate.statement)
        hashes = keyring.statement_hashes(owner, candidate.statement)
        await transaction.journal.lock_statements(
            owner, self.locks(owner, subject=candidate.subject, statement=candidate.statement)
        )
        await require_key(transaction.facts, keyring)
        await hold_lexical_version(transaction.facts)
        if await transaction.journal.blocked(owner, hashes, kinds=BLOCKING_REJECTIONS):
            return FormationResult(outcome=FormationOutcome.BLOCKED, id=None)

        same_ids = await transaction.memories.find_same_statement_ids(owner, hashes)
        named = set(candidate.contradicts) | ({candidate.supersedes} if candidate.supersedes else set())
        rows = {row.id: row for row in await transaction.memories.find_many_for_update(owner, same_ids | named)}
        same = [row for row in rows.values() if row.id in same_ids]
        found = await self._find(transaction, rows, same, candidate, now)
        if found.twin is not None and not found.added:
            return FormationResult(outcome=FormationOutcome.UNCHANGED, id=found.twin.id)
        record, changed = await self._compose(transaction, provisional, found, now)
        if found.twin is None:
            await transaction.memories.add(record, statement_hash=statement_hash)
        else:
            await transaction.memories.put(record)
        await transaction.memories.add_references(owner, record.id, found.added)
        for row in changed:
            await transaction.memories.put(row)
        await self._record(transaction, record, found, now)
        outcome = FormationOutcome.FORMED if found.twin is None else FormationOutcome.REINFORCED
        return FormationResult(outcome=outcome, id=record.id)

    async def restore_within(
        self,
        transaction: Transaction,
        record: MemoryRecord,
        references: Sequence[EvidenceReference],
    ) -> RestoreOutcome:
        """Store an exported belief as it is, at a fresh position, without event, flag or reinforcement.

        A conflict link is written on both sides once both ends are there. Skipped where the id exists in
        any status, also of a derived record; blocked where a tombstone covers it, or a rejection does and it
        would be live. Raises InvalidRecord. Source: belief store decisions, Restoring.
        """
        check_record(record)
        _check_references(record, references)
        owner, keyring = record.owner, self._environment.keyring
        statement_hash = keyring.statement_hash(owner, record.statement)
        hashes = keyring.statement_hashes(owner, record.statement)
        await transaction.journal.lock_statements(owner, self.restore_locks(record))
        await require_key(transaction.facts, keyring)
        await hold_lexical_version(transaction.facts)
        if await transaction.memories.exists(owner, record.id) or await transaction.derived.exists(owner, record.id):
            return RestoreOutcome.SKIPPED
        kinds = BLOCKING_REJECTIONS if is_live(record, self._environment.clock()) else frozenset()
        if await transaction.journal.blocked(owner, hashes, kinds=kinds):
            return RestoreOutcome.BLOCKED
        found = await transaction.memories.find_many_for_update(owner, record.conflicts_with)
        others = [row for row in found if record.id in row.conflicts_with or len(row.conflicts_with) < LINKS_MAX]
        [position] = await transaction.memories.next_positions(1)
        await transaction.memories.add(
            replace(
                record,
                display_subject=await find_shown_subject(transaction, owner, record.subject),
                conflicts_with=tuple(sorted(other.id for other in others)),
                store_position=position,
            ),
            statement_hash=statement_hash,
        )
        await transaction.memories.add_references(owner, record.id, references)
        for other in others:
            if record.id not in other.conflicts_with:
                await transaction.memories.put(linked(other, record.id))
        return RestoreOutcome.RESTORED

    def locks(self, owner: Owner, *, subject: str, statement: str) -> frozenset[bytes]:
        """What is locked before a belief is written: its statement, and the name of the person it is about.

        The statement under every key, so that the lock holds while another key is made current.
        """
        return self._environment.keyring.statement_hashes(owner, statement) | subject_locks(subject)

    def restore_locks(self, record: MemoryRecord) -> frozenset[bytes]:
        """What is locked before a belief is restored: beside its statement and its person, its id.

        Where it has conflict links, those of the owner too: of two ends that are restored at once, one must see the
        other, or neither would hold the link.
        """
        parts = [(b"memory", record.id.bytes), *([(b"links",)] if record.conflicts_with else [])]
        digests = {hashlib.sha256(length_prefixed(*part)).digest() for part in parts}
        return self.locks(record.owner, subject=record.subject, statement=record.statement) | digests

    def _provisional(self, owner: Owner, candidate: Candidate, now: datetime) -> MemoryRecord:
        """The candidate's record before it has a place, checked whole."""
        if len(candidate.contradicts) > CONTRADICTS_MAX:
            raise InvalidRecord("contradicts", f"must name at most {CONTRADICTS_MAX} beliefs")
        if candidate.status not in LIVE_STATUSES and candidate.status is not None:
            raise InvalidRecord("status", "of a belief without an id is provisional or active")
        id = self._environment.new_id()
        record = new_record(candidate, owner=owner, id=id, display_subject=candidate.subject, position=1, now=now)
        check_record(record)
        return record

    async def _find(
        self,
        transaction: Transaction,
        rows: Mapping[UUID, MemoryRecord],
        same: Sequence[MemoryRecord],
        candidate: Candidate,
        now: datetime,
    ) -> _Found:
        """What the candidate meets among the locked rows; a belief to which it adds nothing is met alone.

        Without a live twin that is one that ended: the evidence on which it rested does not form it again.
        """
        equals = find_equals(same, candidate)
        twin = next((row for row in equals if is_live(row, now)), None)
        added: Sequence[EvidenceReference] = candidate.references
        for row in equals if twin is None else [twin]:
            fresh = new_references(await transaction.memories.find_references(row.owner, row.id), candidate)
            if not fresh:
                return _Found(twin=row, added=(), opposites=(), replaced=None)
            if row is twin:
                added = fresh
        return _Found(
            twin=twin,
            added=added,
            opposites=_opposites(rows, find_opposites(same, candidate, now), candidate, twin, now),
            replaced=_replaced(rows, candidate, twin),
        )

    async def _compose(
        self, transaction: Transaction, provisional: MemoryRecord, found: _Found, now: datetime
    ) -> tuple[MemoryRecord, list[MemoryRecord]]:
        """The belief as it will stand and the older ones that it changes; the belief itself comes to the head."""
        *positions, replaced_position, own_position = await transaction.memories.next_positions(
            len(found.opposites) + 2
        )
        if found.twin is None:
            shown = await find_shown_subject(transaction, provisional.owner, provisional.subject)
            record = replace(provisional, display_subject=shown, store_position=own_position)
        else:
            record = reinforced(found.twin, added=found.added, position=own_position, now=now)
        try:
            changed = {
                row.id: contradicted(row, record, position=position, now=now)
                for row, position in zip(found.opposites, positions, strict=True)
            }
            for row in found.opposites:
                record = contradicting(record, row)
            if found.replaced is not None:
                old = changed.get(found.replaced.id, found.replaced)
                changed[old.id] = superseded(old, record, position=replaced_position, now=now)
        except LinksExhausted as error:
            raise Conflict(f"a belief would hold more than {LINKS_MAX} conflict links") from error
        except NotSupersedable as error:
            raise Conflict("supersedes names a belief that is superseded or retired already") from error
        return record, list(changed.values())

    async def _record(self, transaction: Transaction, record: MemoryRecord, found: _Found, now: datetime) -> None:
        kind = EventKind.FORMED if found.twin is None else EventKind.REINFORCED
        entries: list[tuple[MemoryRecord, EventKind, Payload]] = [(record, kind, {"evidence_added": len(found.added)})]
        by: Payload = {"by": str(record.id)}
        entries += [(row, EventKind.CONTRADICTED, by) for row in found.opposites]
        if found.replaced is not None:
            entries.append((found.replaced, EventKind.SUPERSEDED, by))
        for row, entry, payload in entries:
            await transaction.journal.append(
                row.owner, entry, session_id=row.source_session_id, memory_id=row.id, at=now, payload=payload
            )


def _opposites(
    rows: Mapping[UUID, MemoryRecord],
    found: Iterable[MemoryRecord],
    candidate: Candidate,
    twin: MemoryRecord | None,
    now: datetime,
) -> list[MemoryRecord]:
    """The live beliefs that the candidate contradicts and is not linked with yet, by id."""
    opposites = {row.id: row for row in found}
    for id in candidate.contradicts:
        row = rows.get(id)
        if row is None or row is twin or not is_live(row, now):
            raise MalformedRequest("contradicts", "must name other live beliefs of the same owner")
        opposites[id] = row
    linked_already = set(twin.conflicts_with) if twin else set()
    return [opposites[id] for id in sorted(opposites) if id not in linked_already]


def _replaced(
    rows: Mapping[UUID, MemoryRecord], candidate: Candidate, twin: MemoryRecord | None
) -> MemoryRecord | None:
    """The belief that the candidate supersedes by name."""
    if candidate.supersedes is None:
        return None
    row = rows.get(candidate.supersedes)
    if row is None or row is twin:
        raise MalformedRequest("supersedes", "must name another belief of the same owner")
    return row


def _check_references(record: MemoryRecord, references: Sequence[EvidenceReference]) -> None:
    own = tuple(reference.number for reference in references if reference.session_id == record.source_session_id)
    if len(references) > EVIDENCE_MAX or any(not 1 <= each.number <= INT32_MAX for each in references):
        raise InvalidRecord("evidence", f"must hold at most {EVIDENCE_MAX} references, numbered from 1 to {INT32_MAX}")
    if len(set(references)) != len(references) or own != record.source_event_ids:
        raise InvalidRecord("evidence", "must hold each reference once, those of the source session in order")
    if record.evidence_count != len(references):
        raise InvalidRecord("evidence_count", "must count the references of evidence")
