"""Whether a document asks for a surface that this server knows and does not serve.

Its root fields are then unknown like any other name, and the caller is told no more; but the request is counted as one
for that surface, and an operator who trusts such a document learns which settings contradict each other.
Source: Memory read API, Mounting; belief store decisions, Metrics.
"""

from collections.abc import Mapping
from typing import TypeAlias

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    InlineFragmentNode,
    OperationDefinitionNode,
    OperationType,
    SelectionNode,
)

RootFields: TypeAlias = Mapping[OperationType, frozenset[str]]
"""Names of root fields, by the kind of operation."""


class UnmountedFields:
    """The root fields of the surfaces that are off."""

    def __init__(self, fields: Mapping[str, RootFields]) -> None:
        """Know those of each surface, by its name in reports."""
        self._surfaces: Mapping[OperationType, Mapping[str, str]] = {
            kind: {name: surface for surface, names in fields.items() for name in names.get(kind, ())}
            for kind in OperationType
        }

    def surface_of(self, document: DocumentNode) -> str | None:
        """The surface of one that an operation of the document, valid or not, selects at its root; None if none does.

        Linear in the document.
        """
        fragments = {
            definition.name.value: definition
            for definition in document.definitions
            if isinstance(definition, FragmentDefinitionNode)
        }
        found = (
            self._selected(definition, fragments)
            for definition in document.definitions
            if isinstance(definition, OperationDefinitionNode)
        )
        return next((surface for surface in found if surface is not None), None)

    def _selected(
        self, operation: OperationDefinitionNode, fragments: Mapping[str, FragmentDefinitionNode]
    ) -> str | None:
        surfaces = self._surfaces[operation.operation]
        entered: set[str] = set()
        waiting: list[SelectionNode] = list(operation.selection_set.selections)
        while waiting:
            selection = waiting.pop()
            if isinstance(selection, FieldNode) and selection.name.value in surfaces:
                return surfaces[selection.name.value]
            if isinstance(selection, InlineFragmentNode):
                waiting.extend(selection.selection_set.selections)
            elif isinstance(selection, FragmentSpreadNode) and selection.name.value not in entered:
                entered.add(selection.name.value)
                if selection.name.value in fragments:
                    waiting.extend(fragments[selection.name.value].selection_set.selections)
        return None
