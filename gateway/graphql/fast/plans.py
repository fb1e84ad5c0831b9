"""What an operation shows of a page, worked out once: the row that the store writes, and the JSON around it.

A plan is made for an operation whose only field is a page with plain values of each belief. Fragments, merging and
directives are resolved by the library's own functions, so that the order of keys is its own. Where anything else is
selected (a link, a count, two unlike rows, another field beside the page) there is no plan.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import TypeAlias

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    GraphQLError,
    GraphQLField,
    GraphQLObjectType,
    GraphQLSchema,
    OperationDefinitionNode,
)
from graphql.execution.collect_fields import (
    CollectedFields,
    FieldDetails,
    FragmentDetails,
    collect_fields,
    collect_subfields,
)
from graphql.execution.values import VariableValues
from strawberry.schema.schema_converter import GraphQLCoreConverter

from gateway.graphql.answer_size import VALUES_MAX
from gateway.graphql.document_notes import DocumentNotes
from gateway.service.memory_requests import PAGE_LIMIT_MAX
from gateway.views.memories import MemoryView
from gateway.views.memory_rows import shown_member
from store.domain.encodings import ConstantMember, Member, RowShape

TYPE_NAME = "__typename"

Groups: TypeAlias = Mapping[str, list[FieldDetails]]
Choice: TypeAlias = frozenset[tuple[str, bool | None]]
"""What variables say of which fields are selected."""


class Slot(Enum):
    """What stands between the literals of an answer, and differs from page to page."""

    EDGES = auto()
    NODES = auto()
    HAS_NEXT = auto()
    HAS_PREVIOUS = auto()
    START = auto()
    END = auto()
    ROW = auto()
    CURSOR = auto()


Part: TypeAlias = bytes | Slot

_PAGE_INFO: Mapping[str, Slot] = {
    "hasNextPage": Slot.HAS_NEXT,
    "hasPreviousPage": Slot.HAS_PREVIOUS,
    "startCursor": Slot.START,
    "endCursor": Slot.END,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeFormat:
    """How an edge is written: a format with a place for each of its slots."""

    format: bytes
    slots: Sequence[Slot]


@dataclass(frozen=True, slots=True, kw_only=True)
class PagePlan:
    """How an operation's only page is asked for and shown. `flags` are the members of PageInfo that are selected."""

    key: str
    nodes: Sequence[FieldNode]
    shape: RowShape
    parts: Sequence[Part]
    edge: EdgeFormat
    flags: frozenset[Slot]


class _Declined(Exception):
    """The operation shows something that no plan covers."""


class Plans:
    """The plans of one schema's operations, made when they are first asked for."""

    def __init__(self, schema: GraphQLSchema) -> None:
        """Know the schema, which has a page of beliefs."""
        self._schema = schema
        self.field: GraphQLField = _object_type(schema, "Query").fields["memories"]
        self._view_fields = _view_fields(_object_type(schema, "Memory"))
        self._known: DocumentNotes[Choice, PagePlan | None] = DocumentNotes()

    def find(
        self, document: DocumentNode, operation: OperationDefinitionNode, variables: VariableValues
    ) -> PagePlan | None:
        """The plan of a valid query under these variables; None where it must be executed."""
        choice = choice_of(variables)
        return self._known.find(document, operation, choice, lambda: self._plan(document, operation, variables))

    def _plan(
        self, document: DocumentNode, operation: OperationDefinitionNode, variables: VariableValues
    ) -> PagePlan | None:
        try:
            return _Planning(self._schema, self._view_fields, document, variables, operation).plan()
        except (_Declined, GraphQLError):
            return None


def choice_of(variables: VariableValues) -> Choice:
    """Only what directives name changes what is selected: Booleans, or null by mistake."""
    return frozenset(
        (name, value) for name, value in variables.coerced.items() if value is None or isinstance(value, bool)
    )


def _object_type(schema: GraphQLSchema, name: str) -> GraphQLObjectType:
    type = schema.type_map[name]
    assert isinstance(type, GraphQLObjectType), "a type of ours"
    return type


def _view_fields(memory: GraphQLObjectType) -> Mapping[str, str]:
    """The view's field behind each plain field of a belief."""
    names = {
        name: field.extensions[GraphQLCoreConverter.DEFINITION_BACKREF].python_name
        for name, field in memory.fields.items()
    }
    return {name: view_field for name, view_field in names.items() if view_field in MemoryView.model_fields}


class _Planning:
    """Works out one plan. Raises _Declined."""

    def __init__(
        self,
        schema: GraphQLSchema,
        view_fields: Mapping[str, str],
        document: DocumentNode,
        variables: VariableValues,
        operation: OperationDefinitionNode,
    ) -> None:
        self._schema = schema
        self._view_fields = view_fields
        self._fragments = {
            definition.name.value: FragmentDetails(definition)
            for definition in document.definitions
            if isinstance(definition, FragmentDefinitionNode)
        }
        self._variables = variables
        self._operation = operation
        self._shape: RowShape | None = None
        self._values = 1
        self._edge: list[Part] = []
        self._flags: set[Slot] = set()

    def plan(self) -> PagePlan:
        """The plan of the operation."""
        root = self._groups(
            collect_fields(
                self._schema,
                self._fragments,
                self._variables,
                _object_type(self._schema, "Query"),
                self._operation,
                hide_suggestions=True,
            )
        )
        if len(root) != 1:
            raise _Declined
        [(key, details)] = root.items()
        if details[0].node.name.value != "memories":
            raise _Declined
        parts = [f'{{"data":{{"{key}":'.encode(), *self._connection(details), b"}"]
        # The bound on what an answer shows can't be met by a single page: else it would have to be counted.
        if self._values * PAGE_LIMIT_MAX > VALUES_MAX:
            raise _Declined
        return PagePlan(
            key=key,
            nodes=[detail.node for detail in details],
            shape=self._shape or RowShape(),
            parts=_merged(parts),
            edge=_edge_format(self._edge),
            flags=frozenset(self._flags),
        )

    def _groups(self, collected: CollectedFields) -> Groups:
        if collected.new_defer_usages:
            raise _Declined
        self._values += len(collected.grouped_field_set)
        return collected.grouped_field_set

    def _beneath(self, type_name: str, details: list[FieldDetails]) -> Groups:
        return self._groups(
            collect_subfields(
                self._schema,
                self._fragments,
                self._variables,
                self._operation,
                _object_type(self._schema, type_name),
                details,
                hide_suggestions=True,
            )
        )

    def _connection(self, details: list[FieldDetails]) -> list[Part]:
        members: list[tuple[str, list[Part]]] = []
        for key, group in self._beneath("MemoryConnection", details).items():
            match group[0].node.name.value:
                case "edges":
                    self._take_edge(group)
                    members.append((key, [b"[", Slot.EDGES, b"]"]))
                case "nodes":
                    self._take_row(group)
                    members.append((key, [b"[", Slot.NODES, b"]"]))
                case "pageInfo":
                    members.append((key, self._page_info(group)))
                case name if name == TYPE_NAME:
                    members.append((key, [b'"MemoryConnection"']))
                case _:
                    raise _Declined
        return _object(members)

    def _take_edge(self, details: list[FieldDetails]) -> None:
        members: list[tuple[str, list[Part]]] = []
        for key, group in self._beneath("MemoryEdge", details).items():
            match group[0].node.name.value:
                case "cursor":
                    members.append((key, [b'"', Slot.CURSOR, b'"']))
                case "node":
                    self._take_row(group)
                    members.append((key, [Slot.ROW]))
                case name if name == TYPE_NAME:
                    members.append((key, [b'"MemoryEdge"']))
                case _:
                    raise _Declined
        edge = _object(members)
        if self._edge and _merged(self._edge) != _merged(edge):
            raise _Declined
        self._edge = edge

    def _take_row(self, details: list[FieldDetails]) -> None:
        members: list[Member] = []
        for key, group in self._beneath("Memory", details).items():
            name = group[0].node.name.value
            if name == TYPE_NAME:
                members.append(ConstantMember(key, "Memory"))
            elif name in self._view_fields:
                members.append(shown_member(key, self._view_fields[name], names=True))
            else:
                raise _Declined
        shape = RowShape(*members)
        if self._shape is not None and self._shape != shape:
            raise _Declined
        self._shape = shape

    def _page_info(self, details: list[FieldDetails]) -> list[Part]:
        members: list[tuple[str, list[Part]]] = []
        for key, group in self._beneath("PageInfo", details).items():
            name = group[0].node.name.value
            if name in _PAGE_INFO:
                self._flags.add(_PAGE_INFO[name])
                members.append((key, [_PAGE_INFO[name]]))
            elif name == TYPE_NAME:
                members.append((key, [b'"PageInfo"']))
            else:
                raise _Declined
        return _object(members)


def _object(members: Sequence[tuple[str, list[Part]]]) -> list[Part]:
    """A JSON object; its keys are GraphQL names, which need no escape."""
    parts: list[Part] = [b"{"]
    for index, (key, value) in enumerate(members):
        parts += [f'{"," if index else ""}"{key}":'.encode(), *value]
    return [*parts, b"}"]


def _edge_format(parts: Sequence[Part]) -> EdgeFormat:
    """The literals hold names and the marks of JSON, and so no percent sign."""
    return EdgeFormat(
        format=b"".join(part if isinstance(part, bytes) else b"%b" for part in parts),
        slots=[part for part in parts if isinstance(part, Slot)],
    )


def _merged(parts: Sequence[Part]) -> list[Part]:
    """The same with neighbouring literals made one."""
    merged: list[Part] = []
    for part in parts:
        if isinstance(part, bytes) and merged and isinstance(merged[-1], bytes):
            merged[-1] += part
        else:
            merged.append(part)
    return merged
