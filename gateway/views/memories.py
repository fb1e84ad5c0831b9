"""What a caller may see of a belief: an allow-list, so that a new column stays hidden until it is named here.

The GraphQL type, the REST body and the OpenAPI schema all come from MemoryView.
Source: Memory read API, The MemoryView projection.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer, WithJsonSchema

from store.domain.encodings import wire_time
from store.domain.memories import MemoryRecord, effective_status
from store.domain.vocabulary import (
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

WITHHELD: Mapping[str, str] = {
    "owner": "tenant identity is never part of a response",
    "display_subject": "shown as subject",
    "utility": "the ranker's state, easily misread as a judgment",
    "evidence_count": "the lifecycle's own accounting",
    "lifecycle_policy_version": "the lifecycle's own migration state",
    "store_position": "stays inside the cursor",
    "revision": "pins derived records, nothing a reader acts on",
}
"""Every field of MemoryRecord that no view shows, and why."""


WireTime = Annotated[
    datetime,
    PlainSerializer(wire_time, return_type=str, when_used="json"),
    WithJsonSchema(
        {"type": "string", "format": "date-time", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$"},
    ),
]


class MemoryView(BaseModel):
    """One thing that is believed about you: what it says, where it comes from and how it stands."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: UUID = Field(description="The belief's own identifier.")
    subject: str = Field(description="Whom or what it is about; for a person, the person's name.")
    statement: str = Field(description="What is believed, as one sentence.")
    belief_type: BeliefType = Field(description="What kind of belief it is.")
    status: MemoryStatus = Field(description="Where it stands now; one that has run out is expired.")
    polarity: Polarity = Field(description="Whether the statement is held to be so, or not so.")
    scope: str = Field(description="The area of life or work in which it was formed.")
    claim_kind: ClaimKind = Field(description="What the statement claims.")
    derivation: Derivation = Field(description="Whether it was taken directly from a source or supposed.")
    longevity: Longevity = Field(description="How long it is expected to hold.")
    portability: Portability = Field(description="How far from its scope it may be used.")
    authority: Authority = Field(description="Who stands behind it.")
    sensitivity: Sensitivity = Field(description="How private it is; never above the ceiling that was asked for.")
    confidence: float = Field(ge=0, le=1, description="How sure the system is, from 0 to 1, to thousandths.")
    corroboration_count: int = Field(ge=1, description="How often it was formed or confirmed.")
    flagged_for_review: bool = Field(description="Whether it waits for you to look at it.")
    conflicts_with: tuple[UUID, ...] = Field(
        description="Beliefs that contradict it, by id: those you may see under the ceiling, at most 64."
    )
    superseded_by: UUID | None = Field(description="The belief that replaced it, if you may see that one.")
    source_session_id: UUID = Field(description="The session it was first formed in.")
    source_event_ids: tuple[int, ...] = Field(description="The events of that session it rests on, by number.")
    formation_run_id: UUID | None = Field(description="The run of the formation process that made it.")
    consolidation_policy_version: str | None = Field(description="The policy under which it was consolidated.")
    origin_scopes: tuple[str, ...] = Field(description="The scopes its evidence came from.")
    valid_from: WireTime = Field(description="Since when it holds.")
    valid_to: WireTime | None = Field(description="Until when it held, once it was replaced or found untrue.")
    expires_at: WireTime | None = Field(description="When it runs out by itself.")
    last_evidence_at: WireTime | None = Field(description="When evidence for it was last seen.")
    last_used_at: WireTime | None = Field(description="When it was last used in an answer.")
    last_reinforced_at: WireTime | None = Field(description="When it was last confirmed by further evidence.")
    created_at: WireTime = Field(description="When it was formed.")
    updated_at: WireTime = Field(description="When it last changed.")


def memory_view(record: MemoryRecord, now: datetime) -> MemoryView:
    """The view of a record read to be shown, at one moment."""
    exposed = {name: getattr(record, name) for name in MemoryView.model_fields}
    exposed["subject"] = record.display_subject
    exposed["status"] = effective_status(record, now)
    exposed["confidence"] = float(record.confidence)
    return MemoryView.model_construct(**exposed)
