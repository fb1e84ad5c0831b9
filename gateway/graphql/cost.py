"""What an operation may cost at most, from its document, its variables and the bounds of every list.

A page counts as large as `first` or `last` allows, given as a literal, as a variable or as a variable's default, and as
the default page where both are left out; links count as long as they can be, and multiply. A selection that @include or
@skip takes away costs nothing. Each fragment is priced once for each page it stands in, so pricing is linear in the
document, whatever it expands to.

Introspection has a bound of its own and no share in the other: what tools ask of the schema depends on no belief.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from graphql import (
    DirectiveNode,
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLOutputType,
    GraphQLSchema,
    InlineFragmentNode,
    IntValueNode,
    NullValueNode,
    OperationDefinitionNode,
    SelectionNode,
    SelectionSetNode,
    StringValueNode,
    ValueNode,
    VariableNode,
    get_named_type,
    get_nullable_type,
    is_abstract_type,
    is_composite_type,
    is_introspection_type,
    is_list_type,
    is_object_type,
    value_from_ast_untyped,
)
from graphql.type import SchemaMetaFieldDef, TypeMetaFieldDef, TypeNameMetaFieldDef

from gateway.graphql.document_notes import DocumentNotes
from gateway.graphql.limits import INTROSPECTION_FIELDS, LimitExceeded
from gateway.graphql.selection import holds
from gateway.limit_settings import REQUEST_COST_MAX
from gateway.service.costs import (
    CONFLICTS_MAX,
    GRAPH,
    MEMORY,
    OVERVIEW,
    STATEMENT,
    SUPERSEDED_MAX,
    VALUE,
    VALUE_LIST,
    WRITE,
    count_cost,
    count_items_cost,
    fetch_cost,
    fetch_items_cost,
    graph_size,
    page_size,
)
from store.domain.ancestry import ROOTS_MAX
from store.domain.derived import CLAUSES_MAX, SOURCES_MAX

COST_MAX = REQUEST_COST_MAX
"""Points of an operation. A page of 200 beliefs with every value, and with every value of all that it can lead to,
costs 837,056, so one of them is let in, and several are not. How much of that is really shown has a bound of its own,
in `answer_size`: few beliefs have as many links as they can have."""
INTROSPECTION_COST_MAX = 40_000
"""Values of the schema that introspection may show, as estimated; the query of common tools is at 21,332."""
INTROSPECTION = 2_000
"""What introspection is charged with, however much it shows within its bound."""

_LINK_SIZES: Mapping[str, int] = {
    "Memory.conflictsWithMemories": CONFLICTS_MAX,
    "Memory.supersedes": SUPERSEDED_MAX,
    "Memory.supersededByMemory": 1,
}
"""How many beliefs a link of one belief leads to at most."""
_LIST_SIZES: Mapping[str, int] = {
    **_LINK_SIZES,
    "MemoryOverview.statuses": 5,
    "MemoryOverview.beliefTypes": 5,
    "MemoryOverview.sensitivities": 4,
    "MemoryOverview.confidenceBands": 5,
    "MemoryOverview.months": 120,
    "DerivedMemory.sources": SOURCES_MAX,
    "DerivedContent.clauses": CLAUSES_MAX,
    "EvidenceDerivation.sources": SOURCES_MAX,
    "EvidenceGraph.roots": ROOTS_MAX,
}
_PricedValue: TypeAlias = tuple[str, float | bool | None]
_PAGES = frozenset({"Query.memories", "Query.memoryItems"})
_GRAPH = "Query.evidenceGraph"
_FIXED: Mapping[str, int] = {"Query.memoryOverview": OVERVIEW, _GRAPH: GRAPH}
"""Root fields whose own cost depends on nothing."""
_SIZED = frozenset({"MemoryConnection", "MemoryItemConnection", "EvidenceGraph"})
"""Types with lists that are as long as an argument allows."""
_PAGE_LISTS: Mapping[str, int] = {
    **{f"{type}.{name}": 1 for type in _SIZED for name in ("edges", "nodes")},
    "EvidenceGraph.edges": SOURCES_MAX,
}
"""These lists, and how many items they hold at most for each that the page or the graph holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """The price of an operation: in points, and what it shows of the schema, in values."""

    points: int
    introspection: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Page:
    """What a connection's own fields depend on."""

    size: int
    searches_text: bool


NOTHING = Cost(points=0, introspection=0)


class Pricing:
    """The prices of one schema."""

    def __init__(self, schema: GraphQLSchema) -> None:
        """Size up the schema. Raises KeyError for a list of objects that has no known size."""
        known = {**_LIST_SIZES, **_introspection_sizes(schema)}
        self._schema = schema
        self._sizes = {
            coordinate: known[coordinate]
            for coordinate, type in _fields(schema)
            if is_composite_type(get_named_type(type)) and (coordinate in known or _is_list(type))
            if coordinate not in _PAGE_LISTS
        }
        self._sizes["Query.__type"] = known["Query.__type"]
        self._known: DocumentNotes[frozenset[tuple[str, _PricedValue]], Cost] = DocumentNotes()

    def check(
        self,
        document: DocumentNode,
        operation: OperationDefinitionNode,
        variables: Mapping[str, Any],  # Any: JSON
    ) -> int:
        """The points of a valid operation. Raises LimitExceeded beyond the maximum."""
        cost = self._price(document, operation, variables)
        for limit, value, maximum in (
            ("introspection_cost", cost.introspection, INTROSPECTION_COST_MAX),
            ("cost", cost.points, COST_MAX),
        ):
            if value > maximum:
                raise LimitExceeded(limit, value=value, maximum=maximum, counted_to_the_end=True)
        return cost.points + (INTROSPECTION if cost.introspection else 0)

    def _price(
        self,
        document: DocumentNode,
        operation: OperationDefinitionNode,
        variables: Mapping[str, Any],  # Any: JSON
    ) -> Cost:
        """The same as `price`, remembered for what of the variables it depends on."""
        priced = frozenset((name, _priced(value)) for name, value in variables.items())
        return self._known.find(document, operation, priced, lambda: self.price(document, operation, variables))

    def price(
        self,
        document: DocumentNode,
        operation: OperationDefinitionNode,
        variables: Mapping[str, Any],  # Any: JSON
    ) -> Cost:
        """The price of a valid operation with variables that its types take."""
        root = self._schema.get_root_type(operation.operation)
        assert root is not None, "validated before"
        fragments = {
            definition.name.value: definition
            for definition in document.definitions
            if isinstance(definition, FragmentDefinitionNode)
        }
        walk = _Walk(self._schema, self._sizes, fragments, _values(operation, variables))
        return walk.selections(operation.selection_set, root, None)


class _Walk:
    """Prices the selections of one operation; what it knows of a fragment it keeps."""

    def __init__(
        self,
        schema: GraphQLSchema,
        sizes: Mapping[str, int],
        fragments: Mapping[str, FragmentDefinitionNode],
        values: Mapping[str, Any],  # Any: JSON
    ) -> None:
        self._schema = schema
        self._sizes = sizes
        self._fragments = fragments
        self._values = values
        self._known: dict[tuple[str, str, _Page | None], Cost] = {}

    def selections(self, selection_set: SelectionSetNode, parent: GraphQLObjectType, page: _Page | None) -> Cost:
        """The price of a selection set, shown once."""
        costs = [
            self._selection(selection, parent, page)
            for selection in selection_set.selections
            if self._stands(selection.directives)
        ]
        return Cost(points=sum(cost.points for cost in costs), introspection=sum(cost.introspection for cost in costs))

    def _selection(self, selection: SelectionNode, parent: GraphQLObjectType, page: _Page | None) -> Cost:
        if isinstance(selection, FieldNode):
            return self._field(selection, parent, page)
        if isinstance(selection, FragmentSpreadNode):
            key = selection.name.value, parent.name, page
            if key not in self._known:
                self._known[key] = self._fragment(self._fragments[selection.name.value], parent, page)
            return self._known[key]
        assert isinstance(selection, InlineFragmentNode), "the third and last kind"
        return self._fragment(selection, parent, page)

    def _fragment(
        self, fragment: FragmentDefinitionNode | InlineFragmentNode, parent: GraphQLObjectType, page: _Page | None
    ) -> Cost:
        """The price of a fragment where an object of this type is shown: nothing if it is one of other types."""
        condition = fragment.type_condition
        if condition is not None and parent not in self._possible(self._schema.type_map[condition.name.value]):
            return NOTHING
        return self.selections(fragment.selection_set, parent, page)

    def _possible(self, type: GraphQLNamedType) -> Sequence[GraphQLObjectType]:
        """The types of objects that a field of this type may show."""
        if is_abstract_type(type):
            return self._schema.get_possible_types(type)
        assert is_object_type(type), "the third kind of type with fields"
        return [type]

    def _field(self, field: FieldNode, parent: GraphQLObjectType, page: _Page | None) -> Cost:
        name = field.name.value
        coordinate = f"{parent.name}.{name}"
        type = _field_type(parent, name)
        if coordinate in _PAGES:
            page = self._page(field)
        elif coordinate == _GRAPH:
            page = self._graph(field)
        points = self._own_points(coordinate, type, page)
        inner, size = NOTHING, 1
        if field.selection_set is not None:
            named = get_named_type(type)
            below = page if named.name in _SIZED else None
            inner = self._dearest(field.selection_set, named, below)
            size = self._sizes.get(coordinate, 1)
            if page is not None and coordinate in _PAGE_LISTS:
                size = page.size * _PAGE_LISTS[coordinate]
        if is_introspection_type(parent) or name in INTROSPECTION_FIELDS:
            return Cost(points=0, introspection=VALUE + size * inner.introspection)
        return Cost(points=points + size * inner.points, introspection=inner.introspection)

    def _dearest(self, selection_set: SelectionSetNode, type: GraphQLNamedType, page: _Page | None) -> Cost:
        """The price of a selection set, shown once, of an object of that possible type of which it costs most."""
        costs = [self.selections(selection_set, each, page) for each in self._possible(type)]
        return max(costs, key=lambda cost: cost.points)

    def _own_points(self, coordinate: str, type: GraphQLOutputType, page: _Page | None) -> int:
        """What a field costs beside what is selected beneath it."""
        match coordinate.split("."):
            case ["Query", "memories" | "memoryItems" as name]:
                assert page is not None, "the field has just made it"
                fetch = fetch_cost if name == "memories" else fetch_items_cost
                return VALUE + fetch(page.size, searches_text=page.searches_text)
            case ["Query", "memory" | "derivedMemory"]:
                return VALUE + STATEMENT + MEMORY
            case _ if coordinate in _FIXED:
                return VALUE + _FIXED[coordinate]
            case ["MemoryConnection" | "MemoryItemConnection" as name, "totalCount"]:
                searches_text = page is not None and page.searches_text
                count = count_cost if name == "MemoryConnection" else count_items_cost
                return VALUE + count(searches_text=searches_text)
            case ["Mutation", _]:
                return VALUE + WRITE
            case _ if coordinate in _LINK_SIZES:
                return VALUE + _LINK_SIZES[coordinate] * MEMORY
            case _ if _is_list(type):
                return VALUE_LIST
            case _:
                return VALUE

    def _page(self, field: FieldNode) -> _Page:
        arguments = {argument.name.value: argument.value for argument in field.arguments or ()}
        first, last, text = (self._value(arguments.get(name)) for name in ("first", "last", "text"))
        return _Page(
            size=page_size(None if first is None else int(first), None if last is None else int(last)),
            searches_text=text is not None and bool(text.strip()),
        )

    def _graph(self, field: FieldNode) -> _Page:
        limits = [argument.value for argument in field.arguments or () if argument.name.value == "nodeLimit"]
        limit = self._value(limits[0]) if limits else None
        return _Page(size=graph_size(None if limit is None else int(limit)), searches_text=False)

    def _value(self, node: ValueNode | None) -> Any:  # Any: JSON
        """The value of a scalar argument; None where it is left out or null."""
        match node:
            case VariableNode():
                return self._values.get(node.name.value)
            case IntValueNode() | StringValueNode():
                return node.value
            case _:
                assert node is None or isinstance(node, NullValueNode), "validated before"
                return None

    def _stands(self, directives: Sequence[DirectiveNode] | None) -> bool:
        return all(holds(directive, self._values) for directive in directives or ())


def _priced(value: Any) -> _PricedValue:  # Any: JSON
    """What a price can depend on: numbers, Booleans, and whether there is a text at all."""
    kind = type(value).__name__
    if value is None or isinstance(value, bool | int | float):
        # A Boolean, an integer and a float are equal in Python, and none of them may stand for another one.
        return kind, value
    return kind, isinstance(value, str) and bool(value.strip())


def _values(operation: OperationDefinitionNode, variables: Mapping[str, Any]) -> Mapping[str, Any]:  # Any: JSON
    """The value of each variable that has one: the given one, null included, else its default."""
    defaults = {
        definition.variable.name.value: value_from_ast_untyped(definition.default_value)
        for definition in operation.variable_definitions or ()
        if definition.default_value is not None
    }
    return {**defaults, **variables}


def _field_type(parent: GraphQLObjectType, name: str) -> GraphQLOutputType:
    meta = {"__schema": SchemaMetaFieldDef, "__type": TypeMetaFieldDef, "__typename": TypeNameMetaFieldDef}
    type: GraphQLOutputType = (meta.get(name) or parent.fields[name]).type
    return type


def _fields(schema: GraphQLSchema) -> Iterator[tuple[str, GraphQLOutputType]]:
    """Every field of the schema, introspection included: its coordinate and its type."""
    for type in schema.type_map.values():
        if is_object_type(type):
            for name, field in type.fields.items():
                yield f"{type.name}.{name}", field.type


def _is_list(type: GraphQLOutputType) -> bool:
    return is_list_type(get_nullable_type(type))


def _introspection_sizes(schema: GraphQLSchema) -> Mapping[str, int]:
    """How long the lists of introspection are: on average, rounded up, since a type is met in each place it stands."""
    types = list(schema.type_map.values())
    objects = [type for type in types if is_object_type(type)]
    fields = [field for type in objects for field in type.fields.values()]
    mean_fields = -(-len(fields) // len(types))
    mean_arguments = -(-sum(len(field.args) for field in fields) // len(fields))
    mean_values = -(-sum(len(getattr(type, "values", ())) for type in types) // len(types))
    return {
        # A type that is asked for by name is the largest.
        "Query.__type": -(-max(len(type.fields) for type in objects) // mean_fields),
        "__Schema.types": len(types),
        "__Schema.directives": len(schema.directives),
        "__Type.fields": mean_fields,
        "__Type.interfaces": 1,
        "__Type.possibleTypes": 1,
        "__Type.enumValues": mean_values,
        "__Type.inputFields": 1,
        "__Field.args": mean_arguments,
        "__Directive.args": 1,
    }
