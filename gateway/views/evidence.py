"""What a caller may see of the evidence behind records: a graph of views, their revisions, and what was left out.

Source: evidence graph decisions; Read a memory evidence graph, Interpret the result.
"""

from enum import StrEnum
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from gateway.views.derived import DerivedView
from gateway.views.memories import MemoryView, WireTime
from store.domain.ancestry import (
    DISPLAY_DEPTH_MAX,
    EDGES_MAX,
    NODE_LIMIT_MAX,
    ROOTS_MAX,
    AncestryGraph,
    EvidenceRootStatus,
    EvidenceStopReason,
    Node,
    StoredRecord,
)
from store.domain.derived import SOURCES_MAX, DerivedRecord


class EvidenceRecordKind(StrEnum):
    """What kind of record a node is."""

    BELIEF = "belief"
    SUMMARY = "summary"
    HYPOTHESIS = "hypothesis"


class EvidenceRelation(StrEnum):
    """How one record rests on another."""

    DERIVED_FROM = "derived_from"


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class EvidenceRootView(_Frozen):
    """One record that was asked for."""

    record_id: UUID = Field(description="Its identifier, as it was asked for.")
    status: EvidenceRootStatus = Field(description="What became of it.")


class EvidenceReferenceView(_Frozen):
    """A record at one of its revisions."""

    record_id: UUID = Field(description="The record's identifier.")
    revision: int = Field(ge=1, description="The revision.")


class EvidenceDerivationView(_Frozen):
    """How a derived record was come by, and from what."""

    method: str = Field(description="The method by which it was derived.")
    method_revision: str = Field(description="The revision of the method.")
    evidence_ref: str = Field(description="Where the method keeps the evidence of this derivation.")
    sources: tuple[EvidenceReferenceView, ...] = Field(
        min_length=1,
        max_length=SOURCES_MAX,
        description="All that it was derived from, by ascending id, whether or not it is a node.",
    )


class EvidencePlaceView(_Frozen):
    """Where a record stands in the graph, and at which revision."""

    depth: int = Field(ge=0, le=DISPLAY_DEPTH_MAX, description="The fewest steps that lead to it from a root.")
    revision: int = Field(ge=1, description="The revision that it has.")
    record_kind: EvidenceRecordKind = Field(description="What kind of record it is.")
    derivation: EvidenceDerivationView | None = Field(description="How it was derived; null for a belief.")


class EvidenceNodeView(EvidencePlaceView):
    """One record that may be shown, with all that it rests on."""

    record: MemoryView | DerivedView = Field(description="The belief or the derived record.")


class EvidenceEdgeView(_Frozen):
    """One node that was derived from another one."""

    source: EvidenceReferenceView = Field(description="The record that was derived.")
    target: EvidenceReferenceView = Field(description="What it was derived from, at the revision that was pinned.")
    relation: EvidenceRelation = Field(description="Always the same: a dependency that was declared, not a likeness.")


class EvidenceDependencyWorkView(_Frozen):
    """What was examined to tell that the nodes may be shown."""

    records_examined: int = Field(ge=0, description="How many distinct records the nodes rest on, shown or not.")
    bytes_examined: int = Field(ge=0, description="Bytes of the JSON of these records, in UTF-8.")


class EvidenceCoverageView(_Frozen):
    """What of the ancestry is there."""

    complete: bool = Field(
        description="Whether every root was examined, and everything that the nodes rest on is a node."
    )
    stop_reasons: tuple[EvidenceStopReason, ...] = Field(description="Why it is not complete; empty where it is.")
    records_examined: int = Field(
        ge=0, le=NODE_LIMIT_MAX, description="How many records were looked up, unavailable ones included."
    )
    record_bytes: int = Field(ge=0, description="Bytes of the JSON of all nodes' records, in UTF-8.")
    dependency_work: EvidenceDependencyWorkView = Field(description="What the nodes rest on.")


class EvidenceOutlineView(_Frozen):
    """The current evidence behind some records, as of one moment."""

    traversal_version: str = Field(description="By which rules the graph was walked.")
    evaluated_at: WireTime = Field(description="The moment at which everything was judged.")
    max_depth: int = Field(ge=0, le=DISPLAY_DEPTH_MAX, description="How many steps from a root were shown at most.")
    node_limit: int = Field(ge=1, le=NODE_LIMIT_MAX, description="How many records were looked up at most.")
    roots: tuple[EvidenceRootView, ...] = Field(
        min_length=1, max_length=ROOTS_MAX, description="What was asked for, in the order of the request."
    )
    coverage: EvidenceCoverageView = Field(description="What of the ancestry is there.")


class EvidenceGraphView(EvidenceOutlineView):
    """The current evidence behind some records, as of one moment."""

    nodes: tuple[EvidenceNodeView, ...] = Field(
        max_length=NODE_LIMIT_MAX, description="The records, breadth first; each stands once, as near as it is."
    )
    edges: tuple[EvidenceEdgeView, ...] = Field(
        max_length=EDGES_MAX, description="What was derived from what, by the order of nodes, then by target."
    )


class References:
    """The references of one graph, each made once: a source is named by everything that was derived from it."""

    def __init__(self) -> None:
        """Begin with none."""
        self._made: dict[tuple[UUID, int], EvidenceReferenceView] = {}

    def of(self, id: UUID, revision: int) -> EvidenceReferenceView:
        """The reference to a record at a revision."""
        made = self._made.get((id, revision))
        if made is None:
            made = self._made[id, revision] = EvidenceReferenceView.model_construct(record_id=id, revision=revision)
        return made


def node_view(node: Node, view: MemoryView | DerivedView, references: References) -> EvidenceNodeView:
    """The view of a node whose record is shown by a view."""
    return EvidenceNodeView.model_construct(
        depth=node.depth,
        revision=node.record.revision,
        record_kind=_kind(node.record),
        derivation=_derivation(node.record, references),
        record=view,
    )


def coverage_view(graph: AncestryGraph) -> EvidenceCoverageView:
    """The view of how much was examined."""
    return EvidenceCoverageView(
        complete=not graph.stop_reasons,
        stop_reasons=graph.stop_reasons,
        records_examined=graph.records_examined,
        record_bytes=graph.record_bytes,
        dependency_work=EvidenceDependencyWorkView(
            records_examined=graph.dependency_records, bytes_examined=graph.dependency_bytes
        ),
    )


def edge_views(graph: AncestryGraph, references: References) -> tuple[EvidenceEdgeView, ...]:
    """The views of the edges, in their order."""
    return tuple(
        EvidenceEdgeView.model_construct(
            source=references.of(edge.source_id, edge.source_revision),
            target=references.of(edge.target_id, edge.target_revision),
            relation=EvidenceRelation.DERIVED_FROM,
        )
        for edge in graph.edges
    )


def root_views(graph: AncestryGraph) -> tuple[EvidenceRootView, ...]:
    """The views of the roots, in their order."""
    return tuple(EvidenceRootView(record_id=root.id, status=root.status) for root in graph.roots)


def _kind(record: StoredRecord) -> EvidenceRecordKind:
    return (
        EvidenceRecordKind(record.record_kind.value) if isinstance(record, DerivedRecord) else EvidenceRecordKind.BELIEF
    )


def _derivation(record: StoredRecord, references: References) -> EvidenceDerivationView | None:
    if not isinstance(record, DerivedRecord) or record.content is None:
        return None
    return EvidenceDerivationView.model_construct(
        method=record.content.method,
        method_revision=record.content.method_revision,
        evidence_ref=record.content.evidence_ref,
        sources=tuple(
            references.of(source.id, source.revision) for source in sorted(record.sources, key=lambda source: source.id)
        ),
    )
