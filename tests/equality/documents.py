"""Generated documents over the whole of a schema, which is walked: what is new in it is asked for by itself.

The same selection is written with aliases, fragments, directives over literals and variables, and fields that stand in
several places, so that what is merged and in which order is the library's to say. Where a field shows several types of
objects, or one that has an interface, fragments lead from one to the other. One document in some has a mistake.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from graphql import (
    GraphQLField,
    GraphQLInterfaceType,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLSchema,
    get_named_type,
    is_composite_type,
    is_interface_type,
    is_object_type,
)
from graphql.type import SchemaMetaFieldDef, TypeMetaFieldDef, TypeNameMetaFieldDef

from tests.equality.choices import Choices
from tests.equality.values import Writing

_ALIASES = ("a", "b", "id", "node", "edges", "it")
_WEIGHTS: Mapping[str, int] = {
    "Query.memories": 24,
    "Query.memory": 6,
    "Query.memoryItems": 12,
    "Query.derivedMemory": 6,
    "Query.evidenceGraph": 6,
    "Query.__schema": 1,
    "MemoryConnection.edges": 3,
    "MemoryConnection.nodes": 3,
    "MemoryConnection.totalCount": 1,
    "MemoryItemConnection.edges": 3,
    "MemoryItemConnection.nodes": 3,
    "MemoryItemConnection.totalCount": 1,
}
"""How often a field is chosen beside others; 2 of what is not named, more of an object among many leaves."""
_DEPTHS = (3, 4, 3, 4, 4, 5, 6, 8)
_MISTAKES = (
    "unknownField",
    "...Missing",
    "__typename { id }",
    "__typename @skip(if: $undefined)",
    "__typename @skip(if: true) @skip(if: true)",
    "__typename @unknown",
    "__typename @include(if: 1)",
    "same: __typename same: __schema { __typename }",
    "__type { name }",
    '__type(name: "Memory", name: "Query") { name }',
    "__schema",
    "... on Memory { __typename }",
    "... on MemoryItem { __typename }",
    "}",
)


@dataclass(frozen=True, slots=True)
class Document:
    """A document, the values of its variables, the operation that is meant, and what of the schema it uses."""

    query: str
    variables: dict[str, Any]  # Any: JSON
    operation_name: str | None = None
    coordinates: frozenset[str] = field(default=frozenset(), repr=False)


Composite: TypeAlias = GraphQLObjectType | GraphQLInterfaceType


def fields_of(schema: GraphQLSchema, type: Composite) -> dict[str, GraphQLField]:
    """The fields that can be asked for, those among them that every schema has."""
    fields = {**type.fields, "__typename": TypeNameMetaFieldDef}
    if type is schema.query_type:
        fields |= {"__schema": SchemaMetaFieldDef, "__type": TypeMetaFieldDef}
    return fields


def coordinates_of(schema: GraphQLSchema, root: GraphQLObjectType) -> set[str]:
    """Every field, argument and field of an input that a document of the root can use."""
    found: set[str] = set()
    types: list[Any] = [root]  # Any: objects and inputs have fields of their own kinds
    while types:
        type = types.pop()
        if is_interface_type(type):
            types += schema.get_possible_types(type)
        fields = fields_of(schema, type) if isinstance(type, Composite) else getattr(type, "fields", {})
        for name, definition in fields.items():
            arguments = getattr(definition, "args", {})
            if f"{type.name}.{name}" not in found:
                types += [
                    get_named_type(definition.type),
                    *(get_named_type(argument.type) for argument in arguments.values()),
                ]
            found |= {f"{type.name}.{name}", *(f"{type.name}.{name}({argument})" for argument in arguments)}
    return found


def _beside_a_page(schema: GraphQLSchema, root: GraphQLObjectType, rows: str) -> frozenset[str]:
    """What is not asked for where one page is all that is shown, each belief of it once and without its links."""
    others = {f"{root.name}.{name}" for name in fields_of(schema, root) if name != "memories"}
    connection = get_named_type(root.fields["memories"].type)
    assert isinstance(connection, GraphQLObjectType), "a page has fields"
    members = connection.fields
    belief = get_named_type(members["nodes"].type)
    assert isinstance(belief, GraphQLObjectType), "a belief has fields"
    links = {
        f"{belief.name}.{name}"
        for name, field in belief.fields.items()
        if is_composite_type(get_named_type(field.type))
    }
    forms = {f"{connection.name}.{name}" for name in ("nodes", "edges", "totalCount") if name != rows}
    return frozenset(others | links | forms)


class _Writer:
    """Writes one document."""

    def __init__(self, schema: GraphQLSchema, choices: Choices) -> None:
        self._schema = schema
        self._choices = choices
        self._writing = Writing(choices)
        self._fragments: list[str] = []
        self._names: dict[str, list[str]] = {}
        self._meanings: dict[tuple[str, str], tuple[str, str, str]] = {}
        self._depth = choices.pick(_DEPTHS)
        self._left_out: frozenset[str] = frozenset()

    def document(self, root: GraphQLObjectType) -> Document:
        """An operation of a root type, sometimes beside another one."""
        kind = "mutation" if root is self._schema.mutation_type else "query"
        if root is self._schema.query_type and self._choices.below(2):
            self._left_out = _beside_a_page(self._schema, root, self._choices.pick(("nodes", "edges")))
            selected = self._selections(root, 1, 1 + self._choices.below(4) // 3)
        else:
            selected = self._selections(root, 1, 1 + self._choices.below(6))
        if self._choices.happens(16):
            selected += f" {self._choices.pick(_MISTAKES)}"
        definitions = self._writing.definitions
        name = "Asked" if definitions or kind == "mutation" or self._choices.happens(8) else ""
        head = f"{kind} {name}({', '.join(definitions)}) " if definitions else f"{kind} {name} " if name else ""
        parts = [f"{head}{{ {selected} }}", *self._fragments]
        asked = None
        if self._choices.happens(8):
            parts.insert(self._choices.below(2), "query Other { __typename }")
            asked = self._choices.pick(("Asked", "Asked", "Asked", "Other", None, "Unknown"))
        return Document(" ".join(parts), self._writing.values, asked, frozenset(self._writing.coordinates))

    def _selections(self, type: Composite, level: int, count: int) -> str:
        parts = [self._part(type, level) for _ in range(count)]
        written: list[str] = []
        while parts:
            size = 1 + self._choices.below(len(parts))
            selected, parts = " ".join(parts[:size]), parts[size:]
            while (grouped := self._grouped(type, selected)) != selected:
                selected = grouped
                if not self._choices.happens(4):
                    break
            written.append(selected)
        return " ".join(written)

    def _part(self, type: Composite, level: int) -> str:
        """A field, or a fragment on a type that stands beneath this one or above it."""
        if is_interface_type(type) and self._choices.below(4):
            other: Composite = self._choices.pick(self._schema.get_possible_types(type))
        elif type.interfaces and self._choices.happens(12):
            other = self._choices.pick(type.interfaces)
        else:
            return self._field(type, level)
        selected = self._selections(other, level, 1 + self._choices.below(3))
        return f"... on {other.name}{self._directives()} {{ {selected} }}"

    def _grouped(self, type: Composite, selected: str) -> str:
        """The selections as they are, or within a fragment, or beside one that was written before."""
        match self._choices.below(10):
            case 7:
                name = f"F{len(self._fragments)}"
                self._fragments.append(f"fragment {name} on {type.name} {{ {selected} }}")
                self._names.setdefault(type.name, []).append(name)
                spread = f"...{name}{self._directives()}"
                return f"{spread} {spread}" if self._choices.happens(4) else spread
            case 8:
                condition = self._choices.pick(("", f" on {type.name}"))
                return f"...{condition}{self._directives()} {{ {selected} }}"
            case 9 if type.name in self._names:
                return f"{selected} ...{self._choices.pick(self._names[type.name])}{self._directives()}"
            case _:
                return selected

    def _directives(self) -> str:
        if not self._choices.happens(6):
            return ""
        names = self._choices.pick((("include",), ("skip",), ("skip", "include")))
        return "".join(f" @{name}(if: {self._writing.condition()})" for name in names)

    def _field(self, type: Composite, level: int) -> str:
        fields = fields_of(self._schema, type)
        name = self._choices.pick(self._weighed(type, fields, level))
        key, arguments = self._key(type, name, fields[name])
        self._writing.coordinates.add(f"{type.name}.{name}")
        written = f"{name if key == name else f'{key}: {name}'}{arguments}{self._directives()}"
        named = get_named_type(fields[name].type)
        if not is_composite_type(named):
            return written
        assert is_object_type(named) or is_interface_type(named), "there are no unions"
        count = 1 + self._choices.below(max(2, 6 - level))
        return f"{written} {{ {self._selections(named, level + 1, count)} }}"

    def _weighed(self, type: Composite, fields: Mapping[str, GraphQLField], level: int) -> Sequence[str]:
        """The names of the fields, each as often as it weighs; at the greatest depth only leaves."""
        objects = {name for name, field in fields.items() if is_composite_type(get_named_type(field.type))}
        weight = 2 * max(1, (len(fields) - len(objects)) // 8)
        weights = {
            name: _WEIGHTS.get(f"{type.name}.{name}", weight if name in objects else 2)
            for name in fields
            if (level < self._depth or name not in objects) and f"{type.name}.{name}" not in self._left_out
        }
        return [name for name, weight in weights.items() for _ in range(weight)]

    def _key(self, type: Composite, name: str, field: GraphQLField) -> tuple[str, str]:
        """The key of a field and its arguments: a key means one thing, save now and then by mistake.

        Types of one interface may be shown in one place, and so share what their keys mean.
        """
        key = self._choices.pick(_ALIASES) if self._choices.happens(5) else name
        place = type.interfaces[0].name if type.interfaces else type.name
        for choice in (key, name, f"{name}_{len(self._meanings)}"):
            meaning = self._meanings.get((place, choice))
            if meaning is None or self._choices.happens(100):
                meaning = (name, str(field.type), self._arguments(type, name, field))
                self._meanings[place, choice] = meaning
            if meaning[:2] == (name, str(field.type)):
                return choice, meaning[2]
        raise AssertionError("the last key is a new one")

    def _arguments(self, type: Composite, name: str, field: GraphQLField) -> str:
        given: list[str] = []
        for argument, definition in field.args.items():
            if isinstance(definition.type, GraphQLNonNull):
                is_given = not self._choices.happens(100)
            else:
                is_given = self._choices.below(6) == 5
            if is_given:
                given.append(f"{argument}: {self._writing.value(argument, definition.type)}")
                self._writing.coordinates.add(f"{type.name}.{name}({argument})")
        return f"({', '.join(given)})" if given else ""


def written_document(schema: GraphQLSchema, root: GraphQLObjectType, content: bytes) -> Document:
    """The document that these bytes decide."""
    return _Writer(schema, Choices(content)).document(root)
