"""One belief as it is stored, its bounds, and what follows from it alone.

Source: belief store decisions, The record; Memory read API, The MemoryView projection.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from uuid import UUID

from store.domain.normalization import well_formed
from store.domain.owners import Owner
from store.domain.vocabulary import (
    LIVE_STATUSES,
    Authority,
    BeliefType,
    ClaimKind,
    Derivation,
    Longevity,
    MemoryStatus,
    Polarity,
    Portability,
    Sensitivity,
)

SUBJECT_LENGTH_MAX = 512
STATEMENT_LENGTH_MAX = 8_192
SCOPE_LENGTH_MAX = 256
VERSION_LENGTH_MAX = 256
SOURCE_EVENTS_MAX = 1_000
EVIDENCE_MAX = 1_000
"""References to (session, event) that one belief holds."""
LINKS_MAX = 1_024
"""Conflict links that one belief holds."""
LINKS_SHOWN_MAX = 64
"""Conflict links that a reader is shown, the first ones by id."""
ORIGIN_SCOPES_MAX = 64
INT32_MAX = 2**31 - 1
COUNT_MAX = 2**30
"""The highest count or revision that is taken in: every later one still fits the 32 bits of its column."""
CONFIDENCE_STEP = Decimal("0.001")


class InvalidRecord(ValueError):
    """A value that no belief may hold. `field` names it; the message never echoes it."""

    def __init__(self, field: str, reason: str) -> None:
        """Name the field and say what it must be."""
        super().__init__(f"{field} {reason}")
        self.field = field
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRecord:
    """A stored belief.

    `conflicts_with` and `superseded_by` hold every link when a row is read to be written, and only
    what lies at or below the ceiling when it is read to be shown. `display_subject` is the subject
    as views show it. Times are aware UTC with microseconds.
    """

    id: UUID
    owner: Owner
    subject: str
    display_subject: str
    statement: str
    belief_type: BeliefType
    status: MemoryStatus
    polarity: Polarity
    scope: str
    claim_kind: ClaimKind
    derivation: Derivation
    longevity: Longevity
    portability: Portability
    authority: Authority
    sensitivity: Sensitivity
    confidence: Decimal
    utility: Decimal
    corroboration_count: int
    evidence_count: int
    flagged_for_review: bool
    conflicts_with: tuple[UUID, ...]
    superseded_by: UUID | None
    source_session_id: UUID
    source_event_ids: tuple[int, ...]
    formation_run_id: UUID | None
    consolidation_policy_version: str | None
    lifecycle_policy_version: str | None
    origin_scopes: tuple[str, ...]
    valid_from: datetime
    valid_to: datetime | None
    expires_at: datetime | None
    last_evidence_at: datetime | None
    last_used_at: datetime | None
    last_reinforced_at: datetime | None
    created_at: datetime
    updated_at: datetime
    store_position: int
    revision: int


def ends_at(record: MemoryRecord) -> datetime | None:
    """The moment at which the belief runs out: the earlier of expires_at and valid_to, None for never."""
    return min((end for end in (record.expires_at, record.valid_to) if end is not None), default=None)


def effective_status(record: MemoryRecord, now: datetime) -> MemoryStatus:
    """The status that is shown and filtered: a live row that has run out is expired, swept or not.

    Source: belief store decisions, Effective status.
    """
    end = ends_at(record)
    if record.status in LIVE_STATUSES and end is not None and end <= now:
        return MemoryStatus.EXPIRED
    return record.status


def is_live(record: MemoryRecord, now: datetime) -> bool:
    """Whether the belief is provisional or active and has not run out."""
    return effective_status(record, now) in LIVE_STATUSES


def check_text(field: str, value: str, length_max: int) -> None:
    """Refuse a text that is empty, too long (characters), or holds U+0000 or a lone surrogate."""
    if not 1 <= len(value) <= length_max:
        raise InvalidRecord(field, f"must have 1 to {length_max} characters")
    if not well_formed(value):
        raise InvalidRecord(field, "must hold neither U+0000 nor a lone surrogate")


def check_time(field: str, value: datetime | None) -> None:
    """Refuse a time without a zone or in another one than UTC."""
    if value is not None and value.utcoffset() != timedelta(0):
        raise InvalidRecord(field, "must be an aware time in UTC")


def check_number(field: str, value: Decimal, low: int, high: int) -> None:
    """Refuse a number outside its closed range, or finer than thousandths, or not finite."""
    if not value.is_finite() or not low <= value <= high:
        raise InvalidRecord(field, f"must be a number from {low} to {high}")
    if value != value.quantize(CONFIDENCE_STEP):
        raise InvalidRecord(field, "must have at most three decimals")


def check_record(record: MemoryRecord) -> None:
    """Raise InvalidRecord for the first rule of the record that does not hold."""
    _check_texts(record)
    check_number("confidence", record.confidence, 0, 1)
    check_number("utility", record.utility, -1, 1)
    for field in ("corroboration_count", "evidence_count", "revision"):
        if not 1 <= getattr(record, field) <= COUNT_MAX:
            raise InvalidRecord(field, f"must be from 1 to {COUNT_MAX}")
    check_events(record.source_event_ids)
    _check_links(record)
    _check_times(record)


def check_events(source_event_ids: tuple[int, ...]) -> None:
    """Refuse an empty list, one of more than 1,000, and numbers that are not positive."""
    if not 1 <= len(source_event_ids) <= SOURCE_EVENTS_MAX:
        raise InvalidRecord("source_event_ids", f"must hold 1 to {SOURCE_EVENTS_MAX} numbers")
    if any(not 1 <= number <= INT32_MAX for number in source_event_ids):
        raise InvalidRecord("source_event_ids", f"must hold numbers from 1 to {INT32_MAX}")


def check_origin_scopes(origin_scopes: tuple[str, ...]) -> None:
    """Refuse an empty list, too long a one, and a scope outside its bounds."""
    if not 1 <= len(origin_scopes) <= ORIGIN_SCOPES_MAX:
        raise InvalidRecord("origin_scopes", f"must hold 1 to {ORIGIN_SCOPES_MAX} scopes")
    for scope in origin_scopes:
        check_text("origin_scopes", scope, SCOPE_LENGTH_MAX)


def _check_texts(record: MemoryRecord) -> None:
    check_text("subject", record.subject, SUBJECT_LENGTH_MAX)
    check_text("statement", record.statement, STATEMENT_LENGTH_MAX)
    check_text("scope", record.scope, SCOPE_LENGTH_MAX)
    check_origin_scopes(record.origin_scopes)
    for field in ("consolidation_policy_version", "lifecycle_policy_version"):
        version = getattr(record, field)
        if version is not None:
            check_text(field, version, VERSION_LENGTH_MAX)


def _check_links(record: MemoryRecord) -> None:
    if len(record.conflicts_with) > LINKS_MAX or len(set(record.conflicts_with)) != len(record.conflicts_with):
        raise InvalidRecord("conflicts_with", f"must hold at most {LINKS_MAX} distinct ids")
    if record.id in record.conflicts_with:
        raise InvalidRecord("conflicts_with", "must not name the belief itself")
    if record.superseded_by == record.id:
        raise InvalidRecord("superseded_by", "must not name the belief itself")
    if record.superseded_by is not None and record.status is not MemoryStatus.SUPERSEDED:
        raise InvalidRecord("superseded_by", "stands only on a superseded belief")
    if record.status is MemoryStatus.CANDIDATE:
        raise InvalidRecord("status", "candidate is never stored")
    if record.status is MemoryStatus.SUPERSEDED and record.valid_to is None:
        raise InvalidRecord("valid_to", "is required on a superseded belief")


def _check_times(record: MemoryRecord) -> None:
    for field in (
        "valid_from",
        "valid_to",
        "expires_at",
        "last_evidence_at",
        "last_used_at",
        "last_reinforced_at",
        "created_at",
        "updated_at",
    ):
        check_time(field, getattr(record, field))
    if record.valid_to is not None and record.valid_to < record.valid_from:
        raise InvalidRecord("valid_to", "must not lie before valid_from")
