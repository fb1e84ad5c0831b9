"""What a schema holds, found by introspection: every argument, every field, and documents that ask for all of it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import httpx
from graphql import (
    GraphQLField,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLObjectType,
    GraphQLSchema,
    build_client_schema,
    get_introspection_query,
    get_named_type,
)

LINKS_MAX = 1
"""How many links are followed from a belief: what they lead to is read by the same fields."""


async def introspect(client: httpx.AsyncClient) -> GraphQLSchema:
    """The schema as the server tells it."""
    response = await client.post("/graphql", json={"query": get_introspection_query()})
    return build_client_schema(response.json()["data"])


Shown: TypeAlias = GraphQLObjectType | GraphQLInterfaceType


def _own_types(schema: GraphQLSchema) -> Iterator[Shown | GraphQLInputObjectType]:
    for name, type in schema.type_map.items():
        if isinstance(type, Shown | GraphQLInputObjectType) and not name.startswith("__"):
            yield type


def arguments_of(schema: GraphQLSchema) -> set[str]:
    """Every argument as `Type.field.argument`, every member of an input as `Type.member`."""
    found = set()
    for type in _own_types(schema):
        if isinstance(type, GraphQLInputObjectType):
            found |= {f"{type.name}.{name}" for name in type.fields}
        else:
            found |= {f"{type.name}.{name}.{each}" for name, field in type.fields.items() for each in field.args}
    return found


def fields_of(schema: GraphQLSchema) -> set[str]:
    """Every field of an answer as `Type.field`."""
    types = [type for type in _own_types(schema) if isinstance(type, Shown)]
    return {f"{type.name}.{name}" for type in types for name in type.fields}


@dataclass(frozen=True, slots=True, kw_only=True)
class RootField:
    """A field of Query or Mutation, to be asked with any of its arguments and everything it leads to."""

    schema: GraphQLSchema
    operation: str
    type: str
    name: str
    field: GraphQLField

    def document(self, variables: Mapping[str, object]) -> dict[str, Any]:  # Any: JSON
        """The body that asks with these values of the arguments."""
        given = {name: argument.type for name, argument in self.field.args.items() if name in variables}
        declared = ", ".join(f"${name}: {type}" for name, type in given.items())
        passed = ", ".join(f"{name}: ${name}" for name in given)
        head = f"{self.operation} ({declared}) {{ {self.name}({passed})" if given else f"{{ {self.name}"
        return {"query": f"{head} {selection(self.schema, self.field)} }}", "variables": dict(variables)}


def root_fields(schema: GraphQLSchema) -> dict[str, RootField]:
    """Every root field, by `Type.field`."""
    roots = (
        ("query", schema.query_type),
        ("mutation", schema.mutation_type),
        ("subscription", schema.subscription_type),
    )
    return {
        f"{type.name}.{name}": RootField(schema=schema, operation=operation, type=type.name, name=name, field=field)
        for operation, type in roots
        if type is not None
        for name, field in type.fields.items()
    }


def selection(schema: GraphQLSchema, field: GraphQLField, within: tuple[str, ...] = ()) -> str:
    """Everything that can be selected beneath a field; a type within itself once."""
    type = get_named_type(field.type)
    if not isinstance(type, Shown):
        return ""
    if within.count(type.name) > LINKS_MAX:
        return "{ __typename }"
    if isinstance(type, GraphQLInterfaceType):
        kinds = schema.get_possible_types(type)
        shown = [f"... on {each.name} {{ {_selected(schema, each, within, among=kinds)} }}" for each in kinds]
        return f"{{ __typename {_selected(schema, type, within)} {' '.join(shown)} }}"
    return f"{{ {_selected(schema, type, within)} }}"


def _selected(schema: GraphQLSchema, type: Shown, within: tuple[str, ...], *, among: Sequence[Shown] = ()) -> str:
    """All fields of a type; one that another type beside it has as something else goes by an alias."""
    parts = []
    for name, field in type.fields.items():
        others = {str(each.fields[name].type) for each in among if name in each.fields}
        key = f"{type.name}_{name}: {name}" if len(others) > 1 else name
        parts.append(f"{key} {selection(schema, field, (*within, type.name))}")
    return " ".join(parts)


def seen_fields(schema: GraphQLSchema, type: Shown, value: Mapping[str, Any]) -> set[str]:  # Any: JSON
    """The fields of an answer that hold something, as `Type.field`."""
    seen = set()
    if isinstance(type, GraphQLInterfaceType):
        seen = {f"{type.name}.{name}" for name in type.fields if value[name] is not None}
        actual = schema.type_map[value["__typename"]]
        assert isinstance(actual, GraphQLObjectType)
        type = actual
    for key, inner in value.items():
        name = key.removeprefix(f"{type.name}_")
        if name == "__typename" or inner is None or inner == []:
            continue
        seen.add(f"{type.name}.{name}")
        named = get_named_type(type.fields[name].type)
        if isinstance(named, Shown):
            for each in inner if isinstance(inner, list) else [inner]:
                seen |= seen_fields(schema, named, each)
    return seen
