"""What a schema holds, found by introspection: every argument, every field, and documents that ask for all of it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import httpx
from graphql import (
    GraphQLField,
    GraphQLInputObjectType,
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


def _own_types(schema: GraphQLSchema) -> Iterator[GraphQLObjectType | GraphQLInputObjectType]:
    for name, type in schema.type_map.items():
        if isinstance(type, GraphQLObjectType | GraphQLInputObjectType) and not name.startswith("__"):
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
    types = [type for type in _own_types(schema) if isinstance(type, GraphQLObjectType)]
    return {f"{type.name}.{name}" for type in types for name in type.fields}


@dataclass(frozen=True, slots=True, kw_only=True)
class RootField:
    """A field of Query or Mutation, to be asked with any of its arguments and everything it leads to."""

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
        return {"query": f"{head} {selection(self.field)} }}", "variables": dict(variables)}


def root_fields(schema: GraphQLSchema) -> dict[str, RootField]:
    """Every root field, by `Type.field`."""
    roots = (
        ("query", schema.query_type),
        ("mutation", schema.mutation_type),
        ("subscription", schema.subscription_type),
    )
    return {
        f"{type.name}.{name}": RootField(operation=operation, type=type.name, name=name, field=field)
        for operation, type in roots
        if type is not None
        for name, field in type.fields.items()
    }


def selection(field: GraphQLField, within: tuple[str, ...] = ()) -> str:
    """Everything that can be selected beneath a field; a type within itself once."""
    type = get_named_type(field.type)
    if not isinstance(type, GraphQLObjectType):
        return ""
    if within.count(type.name) > LINKS_MAX:
        return "{ __typename }"
    beneath = (*within, type.name)
    return "{ " + " ".join(f"{name} {selection(each, beneath)}" for name, each in type.fields.items()) + " }"


def seen_fields(schema: GraphQLSchema, type: GraphQLObjectType, value: Mapping[str, Any]) -> set[str]:  # Any: JSON
    """The fields of an answer that hold something, as `Type.field`."""
    seen = set()
    for name, inner in value.items():
        if name == "__typename" or inner is None or inner == []:
            continue
        seen.add(f"{type.name}.{name}")
        named = get_named_type(type.fields[name].type)
        if isinstance(named, GraphQLObjectType):
            for each in inner if isinstance(inner, list) else [inner]:
                seen |= seen_fields(schema, named, each)
    return seen
