"""The rules of deriving a record from others, as pure functions.

Source: belief store decisions, Derived records; evidence graph decisions.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from enum import StrEnum
from uuid import UUID

from store.domain.derived import (
    ANCESTORS_MAX,
    ANCESTRY_DEPTH_MAX,
    HYPOTHESIS_CONFIDENCE_MAX,
    HYPOTHESIS_LIFETIME_MAX,
    SOURCES_MAX,
    STATEMENT_RENDERED_MAX,
    Ancestor,
    Clause,
    DerivedContent,
    DerivedRecord,
    DerivedStatus,
    PinnedSource,
    RecordKind,
    check_derived,
    rendered,
)
from store.domain.journal import EvidenceReference
from store.domain.memories import (
    SUBJECT_LENGTH_MAX,
    InvalidRecord,
    MemoryRecord,
    check_text,
    check_time,
    ends_at,
    is_live,
)
from store.domain.owners import Owner
from store.domain.vocabulary import (
    SENSITIVITY_ORDER,
    Authority,
    BeliefType,
    Polarity,
    Portability,
    Sensitivity,
    within,
)

SUPPORTING_BELIEFS_MIN = 2
"""Beliefs behind a hypothesis, and distinct events behind these."""
_PORTABILITY_ORDER = (Portability.LOCAL, Portability.CONTEXTUAL, Portability.PORTABLE)
_AUTHORITY_ORDER = (Authority.INFERRED, Authority.AFFIRMED, Authority.USER)


class DerivationOutcome(StrEnum):
    """What became of a proposal."""

    DERIVED = "derived"
    UNCHANGED = "unchanged"
    BLOCKED = "blocked"


@dataclass(frozen=True, slots=True, kw_only=True)
class DerivationClause:
    """One part of what is proposed, and those of the sources that say it."""

    text: str
    source_ids: tuple[UUID, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DerivationProposal:
    """A derived record before it is one. Sources that no clause names are inputs that are left out.

    Confidence, end and sensitivity are those that the sources allow, unless the proposal is stricter.
    """

    record_kind: RecordKind
    subject: str
    clauses: tuple[DerivationClause, ...]
    source_ids: tuple[UUID, ...]
    method: str
    method_revision: str
    evidence_ref: str
    confidence: Decimal | None = None
    expires_at: datetime | None = None
    sensitivity: Sensitivity | None = None

    @property
    def texts(self) -> tuple[str, ...]:
        """The clauses as they are stored."""
        return tuple(rendered(clause.text) for clause in self.clauses)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What a belief, or a derived record that stands, brings to a record that is derived from it.

    `texts` are what a clause may repeat of it. `ancestors` are what it rests on itself, in `depth` steps. A
    hypothesis is supposed.
    """

    id: UUID
    revision: int
    texts: frozenset[str]
    scope: str
    sensitivity: Sensitivity
    portability: Portability
    authority: Authority
    confidence: Decimal
    belief_types: Collection[BeliefType]
    session_ids: Collection[UUID]
    last_evidence_at: datetime | None
    valid_from: datetime
    expires_at: datetime | None
    ancestors: Sequence[Ancestor] = ()
    depth: int = 0
    is_supposed: bool = False


def can_be_source(record: MemoryRecord, now: datetime) -> bool:
    """Whether a belief is held: live, and not retracted."""
    return is_live(record, now) and record.polarity is Polarity.ASSERT


def belief_source(record: MemoryRecord) -> Source:
    """A live belief as a source."""
    return Source(
        id=record.id,
        revision=record.revision,
        texts=frozenset({rendered(record.statement)}),
        scope=record.scope,
        sensitivity=record.sensitivity,
        portability=record.portability,
        authority=record.authority,
        confidence=record.confidence,
        belief_types={record.belief_type},
        session_ids={record.source_session_id},
        last_evidence_at=record.last_evidence_at,
        valid_from=record.valid_from,
        expires_at=ends_at(record),
    )


def derived_source(
    record: DerivedRecord, content: DerivedContent, *, ancestors: Sequence[Ancestor], depth: int
) -> Source:
    """A derived record that stands as a source."""
    return Source(
        id=record.id,
        revision=record.revision,
        texts=frozenset(clause.text for clause in content.clauses),
        scope=content.scope,
        sensitivity=record.sensitivity,
        portability=record.portability,
        authority=content.authority,
        confidence=content.confidence,
        belief_types=content.belief_types,
        session_ids=content.session_ids,
        last_evidence_at=content.last_evidence_at,
        valid_from=content.valid_from,
        expires_at=content.expires_at,
        ancestors=ancestors,
        depth=depth,
        is_supposed=record.record_kind is RecordKind.HYPOTHESIS,
    )


def ancestors_of(sources: Iterable[Source]) -> tuple[Ancestor, ...]:
    """All that a record over these sources rests on, by id."""
    found = {
        ancestor
        for source in sources
        for ancestor in (Ancestor(id=source.id, revision=source.revision), *source.ancestors)
    }
    return tuple(sorted(found, key=lambda ancestor: ancestor.id))


def check_proposal(proposal: DerivationProposal) -> None:
    """Raise InvalidRecord for what no sources can make good."""
    ids = proposal.source_ids
    if not 1 <= len(ids) <= SOURCES_MAX or len(set(ids)) != len(ids):
        raise InvalidRecord("source_ids", f"must name 1 to {SOURCES_MAX} distinct records")
    if not proposal.clauses:
        raise InvalidRecord("clauses", "must hold a clause")
    for clause in proposal.clauses:
        check_text("clauses", rendered(clause.text), STATEMENT_RENDERED_MAX)
        if not clause.source_ids or not set(clause.source_ids) <= set(ids):
            raise InvalidRecord("clauses", "must each name some of the sources")
    check_text("subject", proposal.subject, SUBJECT_LENGTH_MAX)
    check_time("expires_at", proposal.expires_at)


def derive(
    proposal: DerivationProposal,
    sources: Sequence[Source],
    *,
    owner: Owner,
    id: UUID,
    display_subject: str,
    position: int,
    now: datetime,
) -> DerivedRecord:
    """The record of a proposal, given all its sources as they stand. Raises InvalidRecord for a rule that it breaks."""
    check_proposal(proposal)
    scopes = {source.scope for source in sources}
    if len(scopes) > 1:
        raise InvalidRecord("source_ids", "must name records of one scope")
    if len(ancestors_of(sources)) > ANCESTORS_MAX:
        raise InvalidRecord("source_ids", f"must rest on at most {ANCESTORS_MAX} records")
    if max(source.depth for source in sources) + 1 > ANCESTRY_DEPTH_MAX:
        raise InvalidRecord("source_ids", f"must not rest on each other in more than {ANCESTRY_DEPTH_MAX} steps")
    if proposal.record_kind is RecordKind.SUMMARY:
        if any(source.is_supposed for source in sources):
            raise InvalidRecord("source_ids", "must name no hypothesis in a summary, which says what is known")
        _check_extracts(proposal, sources)
    sensitivity = _sensitivity(proposal, sources)
    authority = Authority.INFERRED
    if proposal.record_kind is RecordKind.SUMMARY:
        authority = min((source.authority for source in sources), key=_AUTHORITY_ORDER.index)
    content = DerivedContent(
        subject=proposal.subject,
        display_subject=display_subject,
        clauses=_clauses(proposal),
        belief_types=tuple(kind for kind in BeliefType if any(kind in source.belief_types for source in sources)),
        session_ids=tuple(sorted({session for source in sources for session in source.session_ids})),
        scope=scopes.pop(),
        authority=authority,
        confidence=_confidence(proposal, sources),
        last_evidence_at=latest_evidence(sources),
        valid_from=max(source.valid_from for source in sources),
        expires_at=_end(proposal, sources, now),
        method=proposal.method,
        method_revision=proposal.method_revision,
        evidence_ref=proposal.evidence_ref,
    )
    record = DerivedRecord(
        id=id,
        owner=owner,
        record_kind=proposal.record_kind,
        revision=1,
        status=DerivedStatus.ACTIVE,
        flagged_for_review=proposal.record_kind is RecordKind.HYPOTHESIS or _awaits_review(sensitivity, authority),
        sensitivity=sensitivity,
        portability=min((source.portability for source in sources), key=_PORTABILITY_ORDER.index),
        created_at=now,
        updated_at=now,
        store_position=position,
        content=content,
        sources=_pinned(proposal, sources),
    )
    check_derived(record)
    return record


def check_support(evidence: Collection[Collection[EvidenceReference]]) -> None:
    """Refuse a hypothesis without two events in two beliefs, given the references of each belief that supports it."""
    events = {reference for references in evidence for reference in references}
    if len(evidence) < SUPPORTING_BELIEFS_MIN or len(events) < SUPPORTING_BELIEFS_MIN:
        raise InvalidRecord(
            "source_ids",
            f"must support a hypothesis by {SUPPORTING_BELIEFS_MIN} beliefs and {SUPPORTING_BELIEFS_MIN} events",
        )


def latest_evidence(sources: Iterable[Source]) -> datetime | None:
    """When evidence for one of the sources was last seen."""
    return max((source.last_evidence_at for source in sources if source.last_evidence_at is not None), default=None)


def _check_extracts(proposal: DerivationProposal, sources: Iterable[Source]) -> None:
    said = {source.id: source.texts for source in sources}
    for clause, text in zip(proposal.clauses, proposal.texts, strict=True):
        if any(text not in said[id] for id in clause.source_ids):
            raise InvalidRecord("clauses", "must repeat what each of their sources says")


def _clauses(proposal: DerivationProposal) -> tuple[Clause, ...]:
    return tuple(
        Clause(text=text, source_ids=tuple(sorted(clause.source_ids)))
        for text, clause in zip(proposal.texts, proposal.clauses, strict=True)
    )


def _pinned(proposal: DerivationProposal, sources: Iterable[Source]) -> tuple[PinnedSource, ...]:
    named = {id for clause in proposal.clauses for id in clause.source_ids}
    return tuple(
        PinnedSource(id=source.id, revision=source.revision, omitted=source.id not in named)
        for source in sorted(sources, key=lambda source: source.id)
    )


def _sensitivity(proposal: DerivationProposal, sources: Iterable[Source]) -> Sensitivity:
    strictest = max((source.sensitivity for source in sources), key=SENSITIVITY_ORDER.__getitem__)
    wished = proposal.sensitivity or strictest
    if not within(strictest, wished):
        raise InvalidRecord("sensitivity", "must be at least as strict as that of every source")
    return wished


def _confidence(proposal: DerivationProposal, sources: Iterable[Source]) -> Decimal:
    bound = min(source.confidence for source in sources)
    if proposal.record_kind is RecordKind.HYPOTHESIS:
        bound = min(bound, HYPOTHESIS_CONFIDENCE_MAX)
    wished = bound if proposal.confidence is None else proposal.confidence
    # A number that is none compares with nothing: check_derived refuses it.
    if wished.is_finite() and wished > bound:
        most = f", nor {HYPOTHESIS_CONFIDENCE_MAX}" if proposal.record_kind is RecordKind.HYPOTHESIS else ""
        raise InvalidRecord("confidence", f"must not exceed that of its weakest source{most}")
    return wished


def _end(proposal: DerivationProposal, sources: Sequence[Source], now: datetime) -> datetime | None:
    """When the record runs out: with the first of its sources, a hypothesis also some time after its evidence."""
    ends = [source.expires_at for source in sources if source.expires_at is not None]
    if proposal.record_kind is RecordKind.HYPOTHESIS:
        named = {id for clause in proposal.clauses for id in clause.source_ids}
        ends.append(_end_of_support([source for source in sources if source.id in named]))
    bound = min(ends, default=None)
    if bound is not None and bound <= now:
        raise InvalidRecord(
            "source_ids", f"must support a hypothesis by evidence of the last {HYPOTHESIS_LIFETIME_MAX.days} days"
        )
    wished = proposal.expires_at
    if wished is None:
        return bound
    if bound is not None and wished > bound:
        raise InvalidRecord("expires_at", f"must not lie after {_bound_words(proposal)}")
    if wished <= now:
        raise InvalidRecord("expires_at", "must lie ahead")
    return wished


def _end_of_support(sources: Sequence[Source]) -> datetime:
    """How long a hypothesis may stand on these sources."""
    evidence = latest_evidence(sources) or max(source.valid_from for source in sources)
    last = datetime.max.replace(tzinfo=UTC)
    return last if evidence > last - HYPOTHESIS_LIFETIME_MAX else evidence + HYPOTHESIS_LIFETIME_MAX


def _bound_words(proposal: DerivationProposal) -> str:
    first = "the first of its sources runs out"
    if proposal.record_kind is RecordKind.SUMMARY:
        return f"the moment at which {first}"
    return f"the moment at which {first}, nor {HYPOTHESIS_LIFETIME_MAX.days} days after the latest evidence"


def _awaits_review(sensitivity: Sensitivity, authority: Authority) -> bool:
    """As for a belief: above internal, unless the person said it."""
    private = SENSITIVITY_ORDER[sensitivity] >= SENSITIVITY_ORDER[Sensitivity.SENSITIVE]
    return private and authority is not Authority.USER
