"""Whether a document asks for a surface that this server knows and does not serve.

Its root fields are then unknown like any other name, and the caller is told no more; but the request is counted as one
for that surface, and an operator who trusts such a document learns which settings contradict each other.
Source: Memory read API, Mounting; belief store decisions, Metrics.
"""

from collections.abc import Mapping

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLSchema,
    InlineFragmentNode,
    OperationDefinitionNode,
    OperationType,
    SelectionNode,
)


class UnmountedFields:
    """The root fields that a schema lacks of another one, by the kind of operation."""

    def __init__(self, served: GraphQLSchema, known: GraphQLSchema) -> None:
        """Compare the schema that is served with the one that has everything on."""
        self._names: Mapping[OperationType, frozenset[str]] = {
            kind: _root_fields(known, kind) - _root_fields(served, kind) for kind in OperationType
        }

    def are_asked_for(self, document: DocumentNode) -> bool:
        """Whether an operation of the document, valid or not, selects one of them at its root; linear in its size."""
        fragments = {
            definition.name.value: definition
            for definition in document.definitions
            if isinstance(definition, FragmentDefinitionNode)
        }
        return any(
            self._selects(definition, fragments)
            for definition in document.definitions
            if isinstance(definition, OperationDefinitionNode)
        )

    def _selects(self, operation: OperationDefinitionNode, fragments: Mapping[str, FragmentDefinitionNode]) -> bool:
        names = self._names[operation.operation]
        entered: set[str] = set()
        waiting: list[SelectionNode] = list(operation.selection_set.selections)
        while waiting:
            selection = waiting.pop()
            if isinstance(selection, FieldNode) and selection.name.value in names:
                return True
            if isinstance(selection, InlineFragmentNode):
                waiting.extend(selection.selection_set.selections)
            elif isinstance(selection, FragmentSpreadNode) and selection.name.value not in entered:
                entered.add(selection.name.value)
                if selection.name.value in fragments:
                    waiting.extend(fragments[selection.name.value].selection_set.selections)
        return False


def _root_fields(schema: GraphQLSchema, kind: OperationType) -> frozenset[str]:
    root = schema.get_root_type(kind)
    return frozenset() if root is None else frozenset(root.fields)
