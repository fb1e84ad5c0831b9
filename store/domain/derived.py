"""One derived record as it is stored, its bounds, and what follows from it alone.

A derived record says again, in the words of beliefs, what several of them say (a summary), or supposes something of
them (a hypothesis). It pins the revision of each source it was made from, and stands only while all of them do.
Source: belief store decisions, Derived records; evidence graph decisions.
"""

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from uuid import UUID

from store.domain.memories import (
    SCOPE_LENGTH_MAX,
    SUBJECT_LENGTH_MAX,
    InvalidRecord,
    check_number,
    check_text,
    check_time,
)
from store.domain.normalization import normalized
from store.domain.owners import Owner
from store.domain.vocabulary import Authority, BeliefType, Portability, Sensitivity

CLAUSES_MAX = 4
STATEMENT_RENDERED_MAX = 1_024
"""Characters of all clauses, a space between each two."""
SOURCES_MAX = 16
ANCESTORS_MAX = 64
"""Records on which one rests, directly or through others."""
ANCESTRY_DEPTH_MAX = 8
METHOD_BYTES_MAX = 256
EVIDENCE_REF_BYTES_MAX = 2_048
HYPOTHESIS_CONFIDENCE_MAX = Decimal("0.35")
HYPOTHESIS_LIFETIME_MAX = timedelta(days=30)
"""After its latest evidence."""


class RecordKind(StrEnum):
    """What kind of derived record it is."""

    SUMMARY = "summary"
    HYPOTHESIS = "hypothesis"


class DerivedStatus(StrEnum):
    """Whether a derived record stands. A retired one holds nothing any more but that it was there."""

    ACTIVE = "active"
    RETIRED = "retired"


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """One part of the statement, and the sources that say it, by ascending id."""

    text: str
    source_ids: tuple[UUID, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PinnedSource:
    """One source, a belief or a derived record of the same owner, at the revision it was read at.

    `omitted`: it was an input, and no clause says what it says.
    """

    id: UUID
    revision: int
    omitted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Ancestor:
    """One record on which a derived record rests, directly or through others, at the revision that it had then."""

    id: UUID
    revision: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DerivedContent:
    """What a derived record says, and how it was come by.

    `belief_types` and `session_ids` are those of all beliefs behind it, each once, in the order of the enumeration and
    of the ids. `display_subject` is the subject as views show it.
    """

    subject: str
    display_subject: str
    clauses: tuple[Clause, ...]
    belief_types: tuple[BeliefType, ...]
    session_ids: tuple[UUID, ...]
    scope: str
    authority: Authority
    confidence: Decimal
    last_evidence_at: datetime | None
    valid_from: datetime
    expires_at: datetime | None
    method: str
    method_revision: str
    evidence_ref: str

    @property
    def statement(self) -> str:
        """The clauses in their order, a space between each two."""
        return " ".join(clause.text for clause in self.clauses)


@dataclass(frozen=True, slots=True, kw_only=True)
class DerivedRecord:
    """A stored derived record. `content` is None, and `sources` is empty, exactly where it is retired.

    `sources` are ordered by ascending id. Times are aware UTC with microseconds.
    """

    id: UUID
    owner: Owner
    record_kind: RecordKind
    revision: int
    status: DerivedStatus
    flagged_for_review: bool
    sensitivity: Sensitivity
    portability: Portability
    created_at: datetime
    updated_at: datetime
    store_position: int
    content: DerivedContent | None
    sources: tuple[PinnedSource, ...]


def runs_at(record: DerivedRecord, now: datetime) -> bool:
    """Whether the record itself stands at a moment, its sources aside: active, and not run out."""
    if record.status is not DerivedStatus.ACTIVE or record.content is None:
        return False
    return record.content.expires_at is None or record.content.expires_at > now


def retired(record: DerivedRecord, *, position: int, now: datetime) -> DerivedRecord:
    """The shell that is left of a record: its content and its sources are gone, its revision raised."""
    return replace(
        record,
        status=DerivedStatus.RETIRED,
        revision=record.revision + 1,
        updated_at=now,
        store_position=position,
        content=None,
        sources=(),
    )


def rendered(text: str) -> str:
    """The text of a statement as a clause says it: composed (NFC), white space collapsed."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def check_derived(record: DerivedRecord) -> None:
    """Raise InvalidRecord for the first rule of an active record that does not hold.

    What its sources allow is for who derives it to judge.
    """
    content = record.content
    if content is None:
        raise InvalidRecord("content", "is required")
    check_text("subject", content.subject, SUBJECT_LENGTH_MAX)
    check_text("scope", content.scope, SCOPE_LENGTH_MAX)
    _check_clauses(record.record_kind, content)
    _check_sources(record, content)
    _check_method(content)
    check_number("confidence", content.confidence, 0, 1)
    for field in ("last_evidence_at", "valid_from", "expires_at"):
        check_time(field, getattr(content, field))


def _check_clauses(record_kind: RecordKind, content: DerivedContent) -> None:
    most = CLAUSES_MAX if record_kind is RecordKind.SUMMARY else 1
    if not 1 <= len(content.clauses) <= most:
        count = "one clause" if most == 1 else f"1 to {most} clauses"
        raise InvalidRecord("clauses", f"must hold {count}")
    for clause in content.clauses:
        check_text("clauses", clause.text, STATEMENT_RENDERED_MAX)
        if not clause.source_ids or len(set(clause.source_ids)) != len(clause.source_ids):
            raise InvalidRecord("clauses", "must each name distinct sources")
    if len({normalized(clause.text) for clause in content.clauses}) != len(content.clauses):
        raise InvalidRecord("clauses", "must each say something else")
    if len(content.statement) > STATEMENT_RENDERED_MAX:
        raise InvalidRecord("clauses", f"must have at most {STATEMENT_RENDERED_MAX} characters together")


def _check_sources(record: DerivedRecord, content: DerivedContent) -> None:
    ids = [source.id for source in record.sources]
    if not 1 <= len(ids) <= SOURCES_MAX or len(set(ids)) != len(ids) or record.id in ids:
        raise InvalidRecord("sources", f"must name 1 to {SOURCES_MAX} distinct other records")
    said: Mapping[UUID, bool] = {source.id: not source.omitted for source in record.sources}
    named = {id for clause in content.clauses for id in clause.source_ids}
    if named != {id for id, is_said in said.items() if is_said}:
        raise InvalidRecord("clauses", "must name the sources that are not omitted, and no others")


def _check_method(content: DerivedContent) -> None:
    bounds = {
        "method": METHOD_BYTES_MAX,
        "method_revision": METHOD_BYTES_MAX,
        "evidence_ref": EVIDENCE_REF_BYTES_MAX,
    }
    for field, most in bounds.items():
        value: str = getattr(content, field)
        check_text(field, value, most)
        if len(value.encode()) > most or any(unicodedata.category(character) == "Cc" for character in value):
            raise InvalidRecord(field, f"must have 1 to {most} bytes and no control characters")
