"""The extractive method of summing up: deterministic, without any model.

A summary says, in their own words, what several records of one place and one sensitivity say. They are never mixed: a
summary that a stricter record made stricter would be missing where it is hidden, and tell of it.
Source: belief store decisions, Derived records; LoCoMo, Mapping to beliefs.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from store.domain.derived import (
    CLAUSES_MAX,
    SOURCES_MAX,
    STATEMENT_RENDERED_MAX,
    DerivedContent,
    DerivedRecord,
    RecordKind,
    rendered,
    runs_at,
)
from store.domain.deriving import DerivationClause, DerivationProposal, Source
from store.domain.memories import MemoryRecord
from store.domain.normalization import normalized
from store.domain.vocabulary import Sensitivity

EXTRACTIVE_METHOD = "extractive"
EXTRACTIVE_REVISION = "1"
MONTH_ANCESTORS_MAX = 31
"""Records on which the summary of a month rests, so that the one over all months holds two of them at least."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """What records must share to be summed up together."""

    scope: str
    sensitivity: Sensitivity


@dataclass(frozen=True, slots=True, kw_only=True)
class Extract:
    """What a belief or a summary gives to a summary over it: what it says, and how many records it rests on.

    `at` is when evidence for it was last seen, or else since when it holds; `place`, what it is of, decides between
    equals.
    """

    id: UUID
    subject: str
    texts: tuple[str, ...]
    at: datetime
    place: str
    ancestor_count: int = 0


def belief_extract(record: MemoryRecord) -> Extract:
    """What a belief gives."""
    return Extract(
        id=record.id,
        subject=record.subject,
        texts=(rendered(record.statement),),
        at=record.last_evidence_at or record.valid_from,
        place=str(record.source_session_id),
    )


def summary_extract(record: DerivedRecord, content: DerivedContent, *, place: str, ancestor_count: int) -> Extract:
    """What a summary gives."""
    return Extract(
        id=record.id,
        subject=content.subject,
        texts=tuple(clause.text for clause in content.clauses),
        at=content.last_evidence_at or content.valid_from,
        place=place,
        ancestor_count=ancestor_count,
    )


def newest_fitting(extracts: Iterable[Extract], *, ancestors_max: int) -> list[Extract]:
    """The newest ones that fit into one summary, oldest first: the first that does not fit ends them."""
    chosen: dict[UUID, Extract] = {}
    room = ancestors_max
    for extract in sorted(extracts, key=lambda extract: (extract.at, extract.place), reverse=True):
        if extract.id in chosen:
            continue
        room -= 1 + extract.ancestor_count
        if room < 0 or len(chosen) == SOURCES_MAX:
            break
        chosen[extract.id] = extract
    return list(chosen.values())[::-1]


def extractive_proposal(extracts: Sequence[Extract], *, evidence_ref: str) -> DerivationProposal | None:
    """The summary over these, oldest first; None where nothing that they say fits into one."""
    clauses = _clauses(extracts)
    if not clauses:
        return None
    [(subject, _)] = Counter(extract.subject for extract in extracts).most_common(1)
    return DerivationProposal(
        record_kind=RecordKind.SUMMARY,
        subject=subject,
        clauses=clauses,
        source_ids=tuple(extract.id for extract in extracts),
        method=EXTRACTIVE_METHOD,
        method_revision=EXTRACTIVE_REVISION,
        evidence_ref=evidence_ref,
    )


def renewal(record: DerivedRecord, sources: Collection[Source], now: datetime) -> DerivationProposal | None:
    """What a withheld summary proposes anew over those of its sources that still stand.

    None where one of its clauses is said by none of them any more, and where its own end has come.
    """
    content = record.content
    if content is None or not runs_at(record, now) or not sources:
        return None
    clauses = [
        DerivationClause(
            text=clause.text, source_ids=tuple(source.id for source in sources if clause.text in source.texts)
        )
        for clause in content.clauses
    ]
    if not all(clause.source_ids for clause in clauses):
        return None
    ends = [source.expires_at for source in sources if source.expires_at is not None]
    return DerivationProposal(
        record_kind=record.record_kind,
        subject=content.subject,
        clauses=tuple(clauses),
        source_ids=tuple(source.id for source in sources),
        method=content.method,
        method_revision=content.method_revision,
        evidence_ref=content.evidence_ref,
        confidence=min([content.confidence, *(source.confidence for source in sources)]),
        expires_at=None if content.expires_at is None else min([content.expires_at, *ends]),
        sensitivity=record.sensitivity,
    )


def _clauses(extracts: Sequence[Extract]) -> tuple[DerivationClause, ...]:
    """The first text of each in turn, then the second of each, as far as they fit; the same is never said twice."""
    chosen: dict[str, str] = {}
    room = STATEMENT_RENDERED_MAX + 1
    turns = (extract.texts[turn] for turn in range(CLAUSES_MAX) for extract in extracts if turn < len(extract.texts))
    for text in turns:
        if len(chosen) < CLAUSES_MAX and text and len(text) < room and normalized(text) not in chosen:
            chosen[normalized(text)] = text
            room -= len(text) + 1
    return tuple(
        DerivationClause(text=text, source_ids=tuple(extract.id for extract in extracts if text in extract.texts))
        for text in chosen.values()
    )
