"""The rules of the governed write path, as pure functions over records.

Source: belief store decisions, Formation.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from uuid import UUID

from store.domain.journal import EvidenceReference
from store.domain.memories import EVIDENCE_MAX, LINKS_MAX, MemoryRecord, check_events, is_live
from store.domain.normalization import normalized
from store.domain.owners import Owner
from store.domain.vocabulary import (
    LIVE_STATUSES,
    SENSITIVITY_ORDER,
    Authority,
    BeliefType,
    ClaimKind,
    Derivation,
    Longevity,
    MemoryStatus,
    Polarity,
    Portability,
    Sensitivity,
    within,
)

CONTRADICTS_MAX = 64
"""Beliefs that one candidate may name as contradicted."""
_SUPERSEDABLE_STATUSES = LIVE_STATUSES | {MemoryStatus.EXPIRED}


class FormationOutcome(StrEnum):
    """What became of a candidate."""

    FORMED = "formed"
    REINFORCED = "reinforced"
    UNCHANGED = "unchanged"
    BLOCKED = "blocked"


class LinksExhausted(ValueError):
    """A belief would hold more than 1,024 conflict links."""


class NotSupersedable(ValueError):
    """The belief that a candidate names is superseded or retired, so it can't be superseded (again)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A belief before it is formed: a record without an id, and what it says of others."""

    subject: str
    statement: str
    belief_type: BeliefType
    scope: str
    sensitivity: Sensitivity
    source_session_id: UUID
    source_event_ids: tuple[int, ...]
    status: MemoryStatus | None = None
    polarity: Polarity = Polarity.ASSERT
    claim_kind: ClaimKind = ClaimKind.PROJECT_FACT
    derivation: Derivation = Derivation.DIRECT
    longevity: Longevity = Longevity.DURABLE
    portability: Portability = Portability.CONTEXTUAL
    authority: Authority = Authority.INFERRED
    confidence: Decimal = Decimal("0.5")
    utility: Decimal = Decimal(0)
    corroboration_count: int = 1
    flagged_for_review: bool = False
    formation_run_id: UUID | None = None
    consolidation_policy_version: str | None = None
    lifecycle_policy_version: str | None = None
    origin_scopes: tuple[str, ...] = ()
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    expires_at: datetime | None = None
    last_evidence_at: datetime | None = None
    last_used_at: datetime | None = None
    last_reinforced_at: datetime | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None
    contradicts: tuple[UUID, ...] = field(default=())
    supersedes: UUID | None = None

    @property
    def references(self) -> tuple[EvidenceReference, ...]:
        """The events it rests on, in order, each once."""
        numbers = dict.fromkeys(self.source_event_ids)
        return tuple(EvidenceReference(session_id=self.source_session_id, number=number) for number in numbers)


def new_record(
    candidate: Candidate, *, owner: Owner, id: UUID, display_subject: str, position: int, now: datetime
) -> MemoryRecord:
    """The record of a candidate that nothing holds yet: provisional, or active by the person's own word.

    Above internal it waits for review unless the person said it.
    """
    check_events(candidate.source_event_ids)
    stated = candidate.authority is Authority.USER
    private = SENSITIVITY_ORDER[candidate.sensitivity] >= SENSITIVITY_ORDER[Sensitivity.SENSITIVE]
    created_at = candidate.created_at or now
    return MemoryRecord(
        id=id,
        owner=owner,
        subject=candidate.subject,
        display_subject=display_subject,
        statement=candidate.statement,
        belief_type=candidate.belief_type,
        status=candidate.status or (MemoryStatus.ACTIVE if stated else MemoryStatus.PROVISIONAL),
        polarity=candidate.polarity,
        scope=candidate.scope,
        claim_kind=candidate.claim_kind,
        derivation=candidate.derivation,
        longevity=candidate.longevity,
        portability=candidate.portability,
        authority=candidate.authority,
        sensitivity=candidate.sensitivity,
        confidence=candidate.confidence,
        utility=candidate.utility,
        corroboration_count=candidate.corroboration_count,
        evidence_count=len(candidate.references),
        flagged_for_review=candidate.flagged_for_review or (private and not stated),
        conflicts_with=(),
        superseded_by=None,
        source_session_id=candidate.source_session_id,
        source_event_ids=tuple(reference.number for reference in candidate.references),
        formation_run_id=candidate.formation_run_id,
        consolidation_policy_version=candidate.consolidation_policy_version,
        lifecycle_policy_version=candidate.lifecycle_policy_version,
        origin_scopes=candidate.origin_scopes or (candidate.scope,),
        valid_from=candidate.valid_from or created_at,
        valid_to=candidate.valid_to,
        expires_at=candidate.expires_at,
        last_evidence_at=candidate.last_evidence_at or created_at,
        last_used_at=candidate.last_used_at,
        last_reinforced_at=candidate.last_reinforced_at,
        created_at=created_at,
        updated_at=candidate.updated_at or created_at,
        store_position=position,
        revision=1,
    )


def _same_place(record: MemoryRecord, candidate: Candidate) -> bool:
    return (
        record.belief_type is candidate.belief_type
        and record.scope == candidate.scope
        and normalized(record.subject) == normalized(candidate.subject)
        and normalized(record.statement) == normalized(candidate.statement)
    )


def find_equals(same_statement: Iterable[MemoryRecord], candidate: Candidate) -> tuple[MemoryRecord, ...]:
    """The beliefs, live or not, that say what the candidate says, among those with the same statement hash."""
    return tuple(
        record
        for record in same_statement
        if record.polarity is candidate.polarity
        and record.sensitivity is candidate.sensitivity
        and _same_place(record, candidate)
    )


def find_opposites(
    same_statement: Iterable[MemoryRecord], candidate: Candidate, now: datetime
) -> tuple[MemoryRecord, ...]:
    """The live beliefs that hold the candidate's statement with the other polarity in the same place."""
    return tuple(
        record
        for record in same_statement
        if is_live(record, now) and record.polarity is not candidate.polarity and _same_place(record, candidate)
    )


def new_references(held: frozenset[EvidenceReference], candidate: Candidate) -> tuple[EvidenceReference, ...]:
    """The references that a reinforcement adds: those not held yet, as far as there is room."""
    added = [reference for reference in candidate.references if reference not in held]
    return tuple(added[: max(0, EVIDENCE_MAX - len(held))])


def reinforced(
    record: MemoryRecord, *, added: Sequence[EvidenceReference], position: int, now: datetime
) -> MemoryRecord:
    """The record after further evidence: counted once more, at a fresh position, its revision unchanged."""
    own = tuple(reference.number for reference in added if reference.session_id == record.source_session_id)
    return replace(
        record,
        corroboration_count=record.corroboration_count + 1,
        evidence_count=record.evidence_count + len(added),
        source_event_ids=record.source_event_ids + own,
        last_evidence_at=now,
        last_reinforced_at=now,
        updated_at=now,
        store_position=position,
    )


def linked(record: MemoryRecord, other: UUID) -> MemoryRecord:
    """The record with a conflict link to another; raises LinksExhausted beyond 1,024."""
    links = tuple(sorted({*record.conflicts_with, other}))
    if len(links) > LINKS_MAX:
        raise LinksExhausted
    return replace(record, conflicts_with=links)


def shows(record: MemoryRecord, other: MemoryRecord) -> bool:
    """Whether `other` is seen under every ceiling that shows `record`, so that it may leave a trace on it."""
    return within(other.sensitivity, record.sensitivity)


def contradicted(old: MemoryRecord, new: MemoryRecord, *, position: int, now: datetime) -> MemoryRecord:
    """The older side of a contradiction: linked, and flagged at a fresh position where the newer one shows.

    A stricter belief leaves no trace but the link, which only a ceiling that shows both reveals.
    """
    record = linked(old, new.id)
    if not shows(old, new):
        return record
    return replace(record, flagged_for_review=True, updated_at=now, store_position=position)


def contradicting(new: MemoryRecord, old: MemoryRecord) -> MemoryRecord:
    """The newer side: linked, and flagged unless what it contradicts is hidden where it is seen itself."""
    record = linked(new, old.id)
    return replace(record, flagged_for_review=True) if shows(new, old) else record


def superseded(old: MemoryRecord, new: MemoryRecord, *, position: int, now: datetime) -> MemoryRecord:
    """The belief that the new one replaces; retired without a link where the new one is stricter.

    One that has run out is replaced like a live one, swept or not. Raises NotSupersedable for a belief that is
    superseded or retired already.
    """
    if old.status not in _SUPERSEDABLE_STATUSES:
        raise NotSupersedable
    visible = shows(old, new)
    return replace(
        old,
        status=MemoryStatus.SUPERSEDED if visible else MemoryStatus.RETIRED,
        superseded_by=new.id if visible else None,
        valid_to=max(now, old.valid_from),
        updated_at=now,
        store_position=position,
        revision=old.revision + 1,
    )


def expired(record: MemoryRecord) -> MemoryRecord:
    """The row of a belief that has run out, as the sweep writes it.

    Neither position nor updated_at moves: the sweep changes no answer, the order of a page included.
    """
    return replace(record, status=MemoryStatus.EXPIRED, revision=record.revision + 1)
