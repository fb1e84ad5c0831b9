"""The schema reads as documentation, exposes what the view exposes, and is a subset whatever is switched off."""

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path

import pytest
import strawberry
from graphql import (
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
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
    print_type,
)
from graphql.utilities import find_schema_changes
from pydantic import BaseModel
from pydantic.alias_generators import to_camel

from gateway.graphql.exposure import exposed_type
from gateway.graphql.schema import build_schema, print_schema
from gateway.views.derived import ClauseView, DerivedContentView, DerivedSourceView, DerivedView
from gateway.views.memories import MemoryView
from store.domain.vocabulary import ReviewOutcome, Sensitivity

FULL = build_schema(memory=True, derived=True, evidence=True)
BELIEFS = build_schema(memory=True)
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
    if isinstance(type, GraphQLObjectType | GraphQLInterfaceType):
        for name, field in type.fields.items():
            yield f"{type.name}.{name}", field.description
            for argument_name, argument in field.args.items():
                yield f"{type.name}.{name}({argument_name}:)", argument.description


@pytest.mark.parametrize("schema", [FULL, BELIEFS, BARE], ids=["full", "beliefs", "bare"])
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


def test_a_derived_record_shows_the_fields_of_its_view() -> None:
    views: dict[str, type[BaseModel]] = {
        "DerivedMemory": DerivedView,
        "DerivedContent": DerivedContentView,
        "DerivedSource": DerivedSourceView,
        "Clause": ClauseView,
    }
    for name, view in views.items():
        fields = core(FULL).type_map[name].fields  # type: ignore[attr-defined] # an object type
        described = {to_camel(each): field.description for each, field in view.model_fields.items()}
        assert described == {each: field.description for each, field in fields.items()}
        assert list(described) == list(fields)


def test_what_beliefs_and_derived_records_share_is_an_interface() -> None:
    interface = core(FULL).type_map["MemoryItem"]
    assert isinstance(interface, GraphQLInterfaceType)
    assert {"id", "flaggedForReview", "createdAt", "updatedAt"} == set(interface.fields)
    assert {"Memory", "DerivedMemory"} == {type.name for type in core(FULL).get_possible_types(interface)}
    assert list(map(to_camel, MemoryView.model_fields)) == list(core(FULL).type_map["Memory"].fields)[:31]  # type: ignore[attr-defined] # an object type


@pytest.mark.parametrize("schema", [FULL, BELIEFS], ids=["full", "beliefs"])
def test_no_type_judges_its_objects(schema: strawberry.Schema) -> None:
    """It would be asked of each belief of a page, and nothing would be shown by projections."""
    assert [] == [type.name for type in own_types(schema) if getattr(type, "is_type_of", None) is not None]


def test_both_pages_take_the_same_arguments() -> None:
    query = core(FULL).query_type
    assert query is not None
    beliefs, items = (
        {name: (str(argument.type), argument.description) for name, argument in query.fields[field].args.items()}
        for field in ("memories", "memoryItems")
    )
    assert list(beliefs.items()) == list(items.items())


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


def test_without_derived_records_their_root_fields_are_gone_and_no_type_changes() -> None:
    full, beliefs = core(build_schema(memory=True, derived=True)), core(BELIEFS)
    assert full.query_type is not None
    assert beliefs.query_type is not None
    assert {"memoryItems", "derivedMemory"} == set(full.query_type.fields) - set(beliefs.query_type.fields)
    assert {"MemoryItemConnection", "MemoryItemEdge"} == set(full.type_map) - set(beliefs.type_map)
    kept = [name for name in beliefs.type_map if name != "Query"]
    assert [print_type(full.type_map[name]) for name in kept] == [print_type(beliefs.type_map[name]) for name in kept]


def test_without_evidence_its_root_field_is_gone_and_no_type_changes() -> None:
    full, others = core(FULL), core(build_schema(memory=True, derived=True))
    assert full.query_type is not None
    assert others.query_type is not None
    assert {"evidenceGraph"} == set(full.query_type.fields) - set(others.query_type.fields)
    kept = [name for name in others.type_map if name != "Query"]
    assert [print_type(full.type_map[name]) for name in kept] == [print_type(others.type_map[name]) for name in kept]


@pytest.mark.parametrize("schema", [BELIEFS, BARE], ids=["beliefs", "bare"])
def test_a_deployment_shows_a_subset_of_the_full_schema(schema: strawberry.Schema) -> None:
    changes = {change.type.name for change in find_schema_changes(core(schema), core(FULL))}
    assert changes <= {"TYPE_ADDED", "FIELD_ADDED"}


def test_several_schemas_of_one_kind_live_together() -> None:
    assert print_schema(FULL) == print_schema(build_schema(memory=True, derived=True, evidence=True))


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
    others = {(kind, None) for kind in ("OBJECT", "INTERFACE", "ENUM", "SCALAR")}
    assert {("INPUT_OBJECT", False), *others} == told


def test_an_enumeration_without_descriptions_is_not_exposed() -> None:
    class Mood(StrEnum):
        CALM = "calm"

    class Weather(BaseModel):
        mood: Mood

    with pytest.raises(KeyError):
        exposed_type(Weather, "Weather")
