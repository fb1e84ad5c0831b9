"""The graph of what records rest on as GraphQL shows it. Its records are the ones that pages show.

Source: Read a memory evidence graph, Interpret the result.
"""

# mypy: allow-untyped-decorators
# The library's decorators are declared to return anything.

from collections.abc import Sequence

import strawberry

from gateway.graphql.connection import memory_item
from gateway.graphql.context import MemoryReads
from gateway.graphql.exposure import exposed_type, exposing
from gateway.graphql.item_types import MemoryItem
from gateway.graphql.memory_types import Info
from gateway.views.evidence import (
    EvidenceEdgeView,
    EvidenceGraphView,
    EvidenceNodeView,
    EvidenceOutlineView,
    EvidencePlaceView,
)
from store.domain.vocabulary import Sensitivity

EDGE_VALUES = 2
"""How many values an edge counts as, whatever is selected of it: the nodes that it names are shown beside it."""
EvidenceEdge = exposed_type(EvidenceEdgeView, "EvidenceEdge")


@exposing(EvidencePlaceView)
class EvidenceNode:
    """The type of EvidenceNodeView, whose record leads on as any other does."""

    record: MemoryItem = strawberry.field(description="The belief or the derived record.")

    def __init__(self, node: EvidenceNodeView, record: MemoryItem) -> None:
        """Show a record in its place."""
        self.__dict__.update(vars(node))
        self.record = record


@exposing(EvidenceOutlineView)
class EvidenceGraph:
    """The type of EvidenceGraphView."""

    all_nodes: strawberry.Private[Sequence[EvidenceNode]]
    all_edges: strawberry.Private[Sequence[EvidenceEdgeView]]

    def __init__(self, graph: EvidenceGraphView, ceiling: Sensitivity, reads: MemoryReads) -> None:
        """Show a graph that was read under a ceiling; what its records lead to is read from the same snapshot."""
        self.__dict__.update({name: getattr(graph, name) for name in EvidenceOutlineView.model_fields})
        self.all_nodes = [EvidenceNode(node, memory_item(node.record, ceiling, reads)) for node in graph.nodes]
        self.all_edges = graph.edges

    @strawberry.field(description=EvidenceGraphView.model_fields["nodes"].description)
    def nodes(self, info: Info) -> list[EvidenceNode]:
        """The nodes, counted as what else an answer shows of memories."""
        return list(self.all_nodes) if info.context.size.admits(len(self.all_nodes), info._raw_info) else []

    @strawberry.field(
        graphql_type=list[EvidenceEdge],  # type: ignore[valid-type] # a type made at run time
        description=EvidenceGraphView.model_fields["edges"].description,
    )
    def edges(self, info: Info) -> list[EvidenceEdgeView]:
        """The edges, counted as two values each: they name nodes."""
        return list(self.all_edges) if info.context.size.admits_values(EDGE_VALUES * len(self.all_edges)) else []
