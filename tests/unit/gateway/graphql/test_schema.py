"""The schema reads as documentation, exposes what the view exposes, and is a subset whatever is switched off."""

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path

import pytest
import strawberry
from graphql import (
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLScalarType,
    GraphQLSchema,
    build_ast_schema,
    graphql_sync,
    introspection_from_schema,
    is_introspection_type,
    is_specified_scalar_type,
    lexicographic_sort_schema,
    parse,
)
from graphql.utilities import find_schema_changes
from pydantic import BaseModel
from pydantic.alias_generators import to_camel

from gateway.graphql.exposure import exposed_type
from gateway.graphql.schema import build_schema, print_schema
from gateway.views.memories import MemoryView
from store.domain.vocabulary import ReviewOutcome, Sensitivity

FULL = build_schema(memory=True)
BARE = build_schema(memory=False)
SCHEMA_FILE = Path(__file__).parents[4] / "schema.graphql"


def core(schema: strawberry.Schema) -> GraphQLSchema:
    return schema._schema


def own_types(schema: strawberry.Schema) -> list[GraphQLNamedType]:
    return [
        type
        for type in core(schema).type_map.values()
        if not is_introspection_type(type) and not is_specified_scalar_type(type)
    ]


def described(type: GraphQLNamedType) -> Iterator[tuple[str, str | None]]:
    """The coordinate and description of a type and of everything in it."""
    yield type.name, type.description
    if isinstance(type, GraphQLEnumType):
        for name, value in type.values.items():
            yield f"{type.name}.{name}", value.description
    if isinstance(type, GraphQLInputObjectType):
        for name, input_field in type.fields.items():
            yield f"{type.name}.{name}", input_field.description
    if isinstance(type, GraphQLObjectType):
        for name, field in type.fields.items():
            yield f"{type.name}.{name}", field.description
            for argument_name, argument in field.args.items():
                yield f"{type.name}.{name}({argument_name}:)", argument.description


@pytest.mark.parametrize("schema", [FULL, BARE], ids=["full", "bare"])
def test_everything_has_a_description(schema: strawberry.Schema) -> None:
    coordinates = dict(pair for type in own_types(schema) for pair in described(type))
    assert "Query.viewer" in coordinates
    assert [] == [coordinate for coordinate, description in coordinates.items() if not description]


def test_a_belief_shows_the_fields_of_its_view_and_what_it_leads_to() -> None:
    links = {"conflictsWithMemories", "supersededByMemory", "supersedes"}
    fields = core(FULL).type_map["Memory"].fields  # type: ignore[attr-defined] # an object type
    assert 31 == len(MemoryView.model_fields)
    assert {to_camel(name) for name in MemoryView.model_fields} | links == set(fields)
    for name, field in MemoryView.model_fields.items():
        assert field.description == fields[to_camel(name)].description


def test_identifiers_times_and_lists_have_their_types() -> None:
    fields = core(FULL).type_map["Memory"].fields  # type: ignore[attr-defined] # an object type
    expected = {
        "id": "ID!",
        "conflictsWith": "[ID!]!",
        "supersededBy": "ID",
        "sourceSessionId": "ID!",
        "formationRunId": "UUID",
        "sourceEventIds": "[Int!]!",
        "confidence": "Float!",
        "validFrom": "DateTime!",
        "expiresAt": "DateTime",
        "sensitivity": "Sensitivity!",
    }
    assert expected == {name: str(fields[name].type) for name in expected}


def test_custom_scalars_say_where_they_are_specified() -> None:
    scalars = {type.name: type.specified_by_url for type in own_types(FULL) if isinstance(type, GraphQLScalarType)}
    assert {"DateTime", "UUID"} == set(scalars)
    assert all(scalars.values())


def test_enumerations_are_upper_case_and_whole() -> None:
    for enumeration in (Sensitivity, ReviewOutcome):
        values = core(FULL).type_map[enumeration.__name__].values  # type: ignore[attr-defined] # an enumeration
        assert [member.name for member in enumeration] == list(values)


def test_root_fields_can_be_null_and_no_argument_has_a_default() -> None:
    for root in (core(FULL).query_type, core(FULL).mutation_type):
        assert root is not None
        assert [] == [name for name, field in root.fields.items() if str(field.type).endswith("!")]
    assert " = " not in print_schema(FULL)


def test_without_the_memory_surface_viewer_and_gateway_stay() -> None:
    query = core(BARE).query_type
    assert query is not None
    assert {"viewer", "gateway"} == set(query.fields)
    assert core(BARE).mutation_type is None
    assert "Memory" not in core(BARE).type_map


def test_a_deployment_shows_a_subset_of_the_full_schema() -> None:
    changes = {change.type.name for change in find_schema_changes(core(BARE), core(FULL))}
    assert changes <= {"TYPE_ADDED", "FIELD_ADDED"}


def test_several_schemas_of_one_kind_live_together() -> None:
    assert print_schema(FULL) == print_schema(build_schema(memory=True))


def test_the_printed_schema_builds_again_and_is_the_same() -> None:
    rebuilt = build_ast_schema(parse(print_schema(FULL)))
    printed, read = (introspection_from_schema(lexicographic_sort_schema(each)) for each in (core(FULL), rebuilt))
    assert printed == read


def test_the_schema_file_is_fresh() -> None:
    assert SCHEMA_FILE.read_text(encoding="utf-8") == print_schema(FULL) + "\n"


def test_introspection_tells_of_every_kind_of_type_whether_it_is_one_of_its_fields() -> None:
    query = "{ __schema { types { kind isOneOf fields { type { isOneOf ofType { isOneOf } } } } } }"
    result = graphql_sync(core(FULL), query)
    assert result.errors is None
    assert result.data is not None
    told = {(type["kind"], type["isOneOf"]) for type in result.data["__schema"]["types"]}
    assert {("INPUT_OBJECT", False), ("OBJECT", None), ("ENUM", None), ("SCALAR", None)} == told


def test_an_enumeration_without_descriptions_is_not_exposed() -> None:
    class Mood(StrEnum):
        CALM = "calm"

    class Weather(BaseModel):
        mood: Mood

    with pytest.raises(KeyError):
        exposed_type(Weather, "Weather")
