"""Who may ask what the schema is, and what is told about it besides.

With introspection off, a message that says which name is wrong would say by its absence which names are right: a list
of guesses and a little patience would spell the schema out. So every refusal by the schema is one and the same there,
without a place in the document. That a valid document is answered can't be hidden; `__typename` stays, which clients
add to every selection and which names only what is selected already.
Source: belief store decisions, Errors (introspection).
"""

from collections.abc import Iterator

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    OperationDefinitionNode,
    SelectionNode,
    SelectionSetNode,
)

from gateway.graphql.errors import DocumentError, Label
from gateway.graphql.limits import INTROSPECTION_FIELDS

OFF = "introspection is off at this server"
UNTOLD = "query does not fit the schema; which part does not is not told, since introspection is off at this server"
VARIABLES_UNTOLD = (
    "variables do not fit the operation; which one does not is not told, since introspection is off at this server"
)
_PUBLIC_FIELDS = INTROSPECTION_FIELDS | {"__typename"}


def refuse_introspection(document: DocumentNode) -> None:
    """Raise DocumentError if the schema is asked for anywhere in the document."""
    for definition in document.definitions:
        if isinstance(definition, OperationDefinitionNode | FragmentDefinitionNode):
            for selection in _all_selections(definition.selection_set):
                if isinstance(selection, FieldNode) and selection.name.value in INTROSPECTION_FIELDS:
                    raise DocumentError(OFF, Label.VALIDATION_FAILED)


def only_introspects(document: DocumentNode, operation: OperationDefinitionNode) -> bool:
    """Whether all root fields of a valid operation ask for the schema, or for the name of a root type."""
    fragments = {
        definition.name.value: definition.selection_set
        for definition in document.definitions
        if isinstance(definition, FragmentDefinitionNode)
    }
    entered: set[str] = set()
    waiting: list[SelectionNode] = list(operation.selection_set.selections)
    while waiting:
        selection = waiting.pop()
        if isinstance(selection, FieldNode):
            if selection.name.value not in _PUBLIC_FIELDS:
                return False
        elif isinstance(selection, FragmentSpreadNode):
            if selection.name.value not in entered:
                entered.add(selection.name.value)
                waiting.extend(fragments[selection.name.value].selections)
        else:
            waiting.extend(_beneath(selection))
    return True


def _all_selections(selection_set: SelectionSetNode) -> Iterator[SelectionNode]:
    waiting = list(selection_set.selections)
    while waiting:
        selection = waiting.pop()
        yield selection
        waiting.extend(_beneath(selection))


def _beneath(selection: SelectionNode) -> list[SelectionNode]:
    selection_set: SelectionSetNode | None = getattr(selection, "selection_set", None)
    return [] if selection_set is None else list(selection_set.selections)
