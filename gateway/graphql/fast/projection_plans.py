"""Which part of what an operation selects is shown by projections, and which part is left to the library.

A field is covered if it is an attribute of its object and no more: it has no resolver, no arguments and no directive
but `skip` and `include`, and its values are leaves, lists, or objects. Fragments, merging and directives are resolved
by the library's own functions, so that the order of keys is its own. Source: Performance, Recommended design.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TypeAlias

from graphql import (
    GraphQLError,
    GraphQLField,
    GraphQLObjectType,
    GraphQLOutputType,
    get_named_type,
    is_leaf_type,
    is_list_type,
    is_non_null_type,
    is_object_type,
)
from graphql.execution.collect_fields import CollectedFields, FieldDetails
from strawberry.schema.schema_converter import GraphQLCoreConverter
from strawberry.types.field import StrawberryField

from gateway.graphql.fast.plans import TYPE_NAME
from gateway.graphql.fast.projections import (
    Codec,
    Member,
    Object,
    Projection,
    attribute,
    constant,
    leaf_codec,
    listed,
    nullable,
    objects,
)

PLANS_MAX = 64
"""What is remembered of one operation under one choice: selections, each of one type."""

Fields: TypeAlias = list[FieldDetails]
Groups: TypeAlias = dict[str, Fields]
Collect: TypeAlias = Callable[[GraphQLObjectType, Fields], CollectedFields]

_SELECTING = frozenset({"skip", "include"})


@dataclass(frozen=True, slots=True)
class Plan:
    """How a selection is shown by a projection, and what that leaves open.

    `left` are the keys that it does not finish, in the order of the answer: with the attribute that holds objects of
    which something is left in turn, or with None where the library executes the field. A plan that absorbs leaves only
    fields that are null themselves where they fail, so that nothing around them depends on them.
    """

    projection: Projection
    left: Mapping[str, str | None]
    absorbs: bool


@dataclass(frozen=True, slots=True)
class Selection:
    """What one execution selects of a type. The groups are kept, so that their identity stands for them."""

    type: GraphQLObjectType
    groups: Groups
    plan: Plan | None
    left: "Sequence[Left]"


@dataclass(frozen=True, slots=True)
class Left:
    """A field that a projection does not finish: `within` says what is left of the objects that `read` finds."""

    key: str
    fields: Fields
    read: Callable[[Object], Object] | None
    within: Selection | None


@dataclass(frozen=True, slots=True)
class _Part:
    """What a plan makes of one field."""

    member: Member | None = None
    attribute: str | None = None
    required: bool = False


KnownPlans: TypeAlias = dict[tuple[GraphQLObjectType, tuple[int, ...]], Plan | None]
"""By the type and the identities of the nodes that are selected of it."""


class ProjectionPlans:
    """The plans of one execution."""

    def __init__(self, collect: Collect, known: KnownPlans) -> None:
        """`known` are those of its operation, under the same choice of what is selected."""
        self._collect = collect
        self._known = known
        self._selections: dict[int, Selection] = {}

    def selection(self, type: GraphQLObjectType, groups: Groups) -> Selection:
        """What is selected of a type."""
        selection = self._selections.get(id(groups))
        if selection is None:
            plan = self._plan(type, groups)
            left = [] if plan is None else [self._left(type, key, groups[key], name) for key, name in plan.left.items()]
            selection = self._selections[id(groups)] = Selection(type, groups, plan, left)
        return selection

    def within(self, type: GraphQLOutputType, fields: Fields) -> Selection | None:
        """What is selected of the objects that a field shows; None where it shows none, or not all at once."""
        named = get_named_type(type)
        if not is_object_type(named) or named.is_type_of is not None:
            return None
        try:
            collected = self._collect(named, fields)
        except GraphQLError:
            # A directive with a wrong variable, which is told where the fields are executed.
            return None
        return None if collected.new_defer_usages else self.selection(named, collected.grouped_field_set)

    def codec(self, type: GraphQLOutputType, fields: Fields) -> Codec | None:
        """How values of a field's type, or of that of its items, are shown; None where that is left to the library."""
        if is_non_null_type(type):
            return self._present(type.of_type, fields)
        codec = self._present(type, fields)
        return None if codec is None else nullable(codec)

    def _present(self, type: GraphQLOutputType, fields: Fields) -> Codec | None:
        if is_list_type(type):
            codec = self.codec(type.of_type, fields)
            return None if codec is None else listed(codec)
        if is_leaf_type(type):
            return leaf_codec(type)
        selection = self.within(type, fields)
        plan = None if selection is None else selection.plan
        return objects(plan.projection) if plan is not None and plan.absorbs else None

    def _left(self, type: GraphQLObjectType, key: str, fields: Fields, name: str | None) -> Left:
        if name is None:
            return Left(key, fields, None, None)
        return Left(key, fields, attrgetter(name), self.within(type.fields[fields[0].node.name.value].type, fields))

    def _plan(self, type: GraphQLObjectType, groups: Groups) -> Plan | None:
        place = type, tuple([id(field.node) for fields in groups.values() for field in fields])
        if place in self._known:
            return self._known[place]
        plan = self._made(type, groups)
        if len(self._known) < PLANS_MAX:
            self._known[place] = plan
        return plan

    def _made(self, type: GraphQLObjectType, groups: Groups) -> Plan | None:
        parts = {key: self._part(type, fields) for key, fields in groups.items()}
        absorbs = not any(part.required for part in parts.values())
        if not absorbs:
            # Whatever is executed fails together; so nothing of it is taken apart.
            parts = {key: part if part.attribute is None else _Part() for key, part in parts.items()}
        members = {key: part.member or constant(None) for key, part in parts.items()}
        left = {key: part.attribute for key, part in parts.items() if part.member is None or part.attribute is not None}
        if not members or (not absorbs and len(left) == len(members)):
            return None
        return Plan(Projection(members), left, absorbs)

    def _part(self, type: GraphQLObjectType, fields: Fields) -> _Part:
        node = fields[0].node
        directed = is_directed(fields)
        if node.name.value == TYPE_NAME and not directed:
            return _Part(constant(type.name))
        field = type.fields[node.name.value]
        name = None if directed or node.arguments else _attribute_of(field)
        codec = None if name is None else self.codec(field.type, fields)
        if name is None or codec is None:
            return _Part(required=is_non_null_type(field.type))
        within = self.within(field.type, fields)
        return _Part(attribute(name, codec), name if within is not None and within.left else None)


def is_directed(fields: Fields) -> bool:
    """Whether more is asked for a field than to be selected or not: it may be delivered later, or in pieces."""
    return any(
        field.defer_usage is not None
        or field.fragment_variable_values is not None
        or any(directive.name.value not in _SELECTING for directive in field.node.directives or ())
        for field in fields
    )


def _attribute_of(field: GraphQLField) -> str | None:
    """The attribute that is all there is to a field; None if it is resolved."""
    definition = field.extensions.get(GraphQLCoreConverter.DEFINITION_BACKREF)
    # A subclass may resolve in its own way.
    if type(definition) is not StrawberryField or not definition.is_basic_field or field.args:
        return None
    if definition.default_resolver is not getattr or not getattr(field.resolve, "_is_default", False):
        return None
    return definition.python_name
