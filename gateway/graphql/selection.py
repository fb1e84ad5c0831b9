"""What a document selects beneath a field, fragments and directives taken into account.

Parts of an answer that cost a statement of their own are computed only when they are selected.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from graphql import (
    BooleanValueNode,
    DirectiveNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLResolveInfo,
    InlineFragmentNode,
    SelectionSetNode,
    VariableNode,
)

from gateway.service.memory_requests import MemoryPaging


def fields_beneath(nodes: Sequence[FieldNode], info: GraphQLResolveInfo[Any]) -> Collection[list[FieldNode]]:
    """What is selected beneath a field, which may stand in several places: the nodes of each field of the answer.

    Of an interface it is all that is selected of any type: two types may have different fields under one key.
    """
    merged: dict[tuple[str, str], list[FieldNode]] = {}
    for node in nodes:
        if node.selection_set is not None:
            for field in _fields(node.selection_set, info, set()):
                merged.setdefault(((field.alias or field.name).value, field.name.value), []).append(field)
    return merged.values()


def selects(info: GraphQLResolveInfo[Any], *path: str) -> bool:
    """Whether the field being resolved selects a field beneath it, by the names of the fields that lead to it."""
    nodes = list(info.field_nodes)
    for name in path:
        nodes = [
            field
            for node in nodes
            if node.selection_set is not None
            for field in _fields(node.selection_set, info, set())
            if field.name.value == name
        ]
    return bool(nodes)


def selects_opposite(info: GraphQLResolveInfo[Any], paging: MemoryPaging) -> bool:
    """Whether the page being resolved is asked for the flag of the side that it does not walk."""
    return selects(info, "pageInfo", "hasNextPage" if paging.walks_back else "hasPreviousPage")


def _fields(selection_set: SelectionSetNode, info: GraphQLResolveInfo[Any], seen: set[str]) -> Iterator[FieldNode]:
    """Every field of a selection set once it is flat; each fragment is entered once."""
    for selection in selection_set.selections:
        if not all(holds(directive, info.variable_values) for directive in selection.directives or ()):
            continue
        if isinstance(selection, FieldNode):
            yield selection
        elif isinstance(selection, FragmentSpreadNode):
            fragment: FragmentDefinitionNode | None = info.fragments.get(selection.name.value)
            if fragment is not None and selection.name.value not in seen:
                seen.add(selection.name.value)
                yield from _fields(fragment.selection_set, info, seen)
        else:
            assert isinstance(selection, InlineFragmentNode), "the third and last kind"
            yield from _fields(selection.selection_set, info, seen)


def holds(directive: DirectiveNode, variables: Any) -> bool:  # Any: Strawberry hands on a plain dictionary
    """Whether a directive lets its selection stand."""
    name = directive.name.value
    if name not in {"include", "skip"} or not directive.arguments:
        return True
    value = directive.arguments[0].value
    if isinstance(value, VariableNode):
        condition = variables.get(value.name.value)
    else:
        assert isinstance(value, BooleanValueNode), "validated before"
        condition = value.value
    return bool(condition) == (name == "include")
