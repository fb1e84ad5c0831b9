"""What a caller may see of a derived record: an allow-list, as MemoryView is one of a belief.

Source: belief store decisions, Derived records.
"""

from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from gateway.views.memories import WireTime
from store.domain.derived import DerivedContent, DerivedRecord, RecordKind
from store.domain.vocabulary import Authority, BeliefType, MemoryStatus, Portability, Sensitivity


class ClauseView(BaseModel):
    """One part of what a derived record says."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str = Field(description="What it says, in the words of its sources.")
    source_ids: tuple[UUID, ...] = Field(description="The sources that say it, by id.")


class DerivedSourceView(BaseModel):
    """One record from which another was derived."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: UUID = Field(description="The belief's or derived record's own identifier.")
    revision: int = Field(ge=1, description="The revision that it was read at; any later one withholds the record.")
    omitted: bool = Field(description="Whether it was an input that no clause repeats.")


class DerivedContentView(BaseModel):
    """What a derived record says, and how it was come by."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    subject: str = Field(description="Whom or what it is about; for a person, the person's name.")
    statement: str = Field(description="All clauses, one after the other.")
    clauses: tuple[ClauseView, ...] = Field(description="The parts of the statement, each with its sources.")
    belief_types: tuple[BeliefType, ...] = Field(description="The kinds of the beliefs behind it.")
    scope: str = Field(description="The area of life or work in which its sources were formed.")
    portability: Portability = Field(description="How far from its scope it may be used.")
    sensitivity: Sensitivity = Field(description="How private it is: at least as private as each of its sources.")
    authority: Authority = Field(description="Who stands behind it: the weakest of its sources.")
    confidence: float = Field(ge=0, le=1, description="How sure the system is, from 0 to 1, to thousandths.")
    last_evidence_at: WireTime | None = Field(description="When evidence for a source was last seen.")
    valid_from: WireTime = Field(description="Since when all of its sources hold.")
    expires_at: WireTime | None = Field(description="When it runs out by itself, the first of its sources with it.")


class DerivedView(BaseModel):
    """Something that was concluded from several beliefs about you."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: UUID = Field(description="The record's own identifier.")
    record_kind: RecordKind = Field(description="Whether it sums up its sources or supposes something of them.")
    revision: int = Field(ge=1, description="How often it was changed, counted from 1.")
    status: MemoryStatus = Field(description="Active while it stands; of a retired one nothing is left.")
    flagged_for_review: bool = Field(description="Whether it waits for you to look at it.")
    created_at: WireTime = Field(description="When it was derived.")
    updated_at: WireTime = Field(description="When it last changed.")
    content: DerivedContentView | None = Field(description="What it says; nothing once it is retired.")
    sources: tuple[DerivedSourceView, ...] = Field(description="What it was derived from, by id.")


def derived_view(record: DerivedRecord) -> DerivedView:
    """The view of a record that was read to be shown."""
    return DerivedView(
        id=record.id,
        record_kind=record.record_kind,
        revision=record.revision,
        # One type for both, so that a query selects it of either.
        status=MemoryStatus(record.status.value),
        flagged_for_review=record.flagged_for_review,
        created_at=record.created_at,
        updated_at=record.updated_at,
        content=None if record.content is None else _content_view(record, record.content),
        sources=tuple(
            DerivedSourceView(id=source.id, revision=source.revision, omitted=source.omitted)
            for source in record.sources
        ),
    )


def _content_view(record: DerivedRecord, content: DerivedContent) -> DerivedContentView:
    return DerivedContentView(
        subject=content.display_subject,
        statement=content.statement,
        clauses=tuple(ClauseView(text=clause.text, source_ids=clause.source_ids) for clause in content.clauses),
        belief_types=content.belief_types,
        scope=content.scope,
        portability=record.portability,
        sensitivity=record.sensitivity,
        authority=content.authority,
        confidence=float(content.confidence),
        last_evidence_at=content.last_evidence_at,
        valid_from=content.valid_from,
        expires_at=content.expires_at,
    )
