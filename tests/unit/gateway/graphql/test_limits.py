"""Static bounds: what they let through, what they refuse, and that refusing is cheap."""

import statistics
import time
from contextlib import suppress

import pytest
from graphql import get_introspection_query, parse

from gateway.graphql.documents import Documents
from gateway.graphql.limits import (
    ALIASES_MAX,
    DIRECTIVES_MAX,
    FIELDS_MAX,
    ROOT_FIELDS_MAX,
    LimitExceeded,
    check_limits,
    parse_within_limits,
)
from gateway.graphql.schema import build_schema
from tests.unit.gateway.graphql.clients import Client

SCHEMA = build_schema(memory=True)._schema


def nested(field: str, depth: int, leaf: str) -> str:
    return f"{field} {{ " * depth + leaf + " }" * depth


def doubling(count: int) -> str:
    fragments = [f"fragment F{index} on Query {{ ...F{index + 1} ...F{index + 1} }}" for index in range(count)]
    return f"{{ ...F0 }} {' '.join(fragments)} fragment F{count} on Query {{ viewer {{ scopes }} }}"


@pytest.mark.parametrize(
    "query",
    [
        get_introspection_query(specified_by_url=True, input_value_deprecation=True, directive_is_repeatable=True),
        f"{{ memory(id: 1, ceiling: PUBLIC) {{ {nested('supersedes', 10, 'id')} }} }}",
        " ".join(f"query Q{index} {{ viewer {{ scopes }} }}" for index in range(100)),
        "{" + " ".join(f"a{index}: viewer {{ scopes }}" for index in range(ROOT_FIELDS_MAX)) + "}",
    ],
)
def test_sensible_documents_pass(query: str) -> None:
    check_limits(parse(query))


@pytest.mark.parametrize(
    ("query", "limit", "found"),
    [
        (
            f"{{ memory(id: 1, ceiling: PUBLIC) {{ {nested('supersedes', 11, 'id')} }} }}",
            "depth",
            "13, the maximum is 12",
        ),
        (
            f"{{ memory(id: 1, ceiling: PUBLIC) {{ ...F }} }} fragment F on Memory {{ {nested('a', 11, 'id')} }}",
            "depth",
            "13, the maximum is 12",
        ),
        (
            "{ __schema { types { " + nested("ofType", 18, "name") + " } } }",
            "introspection depth",
            "at least 21, the maximum is 20",
        ),
        ("{" + "viewer { scopes } " * (ROOT_FIELDS_MAX + 1) + "}", "root fields", "21, the maximum is 20"),
        ("{ viewer {" + "scopes " * (FIELDS_MAX + 1) + "} }", "fields", "at least 1001, the maximum is 1000"),
        (
            "{ viewer {" + " ".join(f"s{index}: scopes" for index in range(ALIASES_MAX + 1)) + "} }",
            "aliases",
            "at least 101, the maximum is 100",
        ),
        (
            "{ viewer " + "@include(if: true) " * (DIRECTIVES_MAX + 1) + "{ scopes } }",
            "directives",
            "at least 51, the maximum is 50",
        ),
        ("query " + "@x " * (DIRECTIVES_MAX + 1) + "{ viewer { scopes } }", "directives", "51, the maximum is 50"),
        ("{ viewer { " + "... { " * 100 + "scopes" + " }" * 100 + " } }", "nesting", "at least 61, the maximum is 60"),
        ("{ viewer { " + "... { " * 400 + "scopes" + " }" * 400 + " } }", "nesting", "at least 201, the maximum is 60"),
        (doubling(20), "fields", "at least 1024, the maximum is 1000"),
        (
            "{ ...F0 } "
            + " ".join(f"fragment F{index} on Query {{ ...F{index + 1} }}" for index in range(500))
            + " fragment F500 on Query { viewer { scopes } }",
            "nesting",
            "at least 61, the maximum is 60",
        ),
        ("{" + "viewer " * 6_000 + "}", "tokens", "at least 5001, the maximum is 5000"),
    ],
)
def test_a_refusal_names_the_limit_the_value_and_the_maximum(query: str, limit: str, found: str) -> None:
    with pytest.raises(LimitExceeded) as caught:
        parse_within_limits(query)
    assert f"query exceeds the limit on {limit}: it has {found}" == caught.value.message
    assert limit.replace(" ", "_") == caught.value.limit


@pytest.mark.parametrize(
    "query",
    [
        "{ ...F } fragment F on Query { ...F }",
        "{ ...F } fragment F on Query { ...G } fragment G on Query { viewer { scopes } ...F }",
        "{ ...Unknown }",
    ],
)
async def test_cycles_and_unknown_fragments_are_left_to_validation(client: Client, query: str) -> None:
    check_limits(parse(query))
    error = await client.error(query)
    assert "GRAPHQL_VALIDATION_FAILED" == error["extensions"]["classification"]


@pytest.mark.parametrize(
    "query",
    [
        doubling(400),
        # Nothing in it is ever counted, so that only what is remembered keeps it from being walked 2^50 times.
        doubling(50).replace("viewer { scopes }", "...Nobody"),
        "{" + "viewer { scopes } " * 1_200 + "}",
        "{" * 2_000,
        "{ a(x: " + "[" * 2_000,
        " ".join("fragment F on Query { viewer { scopes } }" for _ in range(500)),
    ],
)
async def test_a_hostile_document_is_refused_at_once(client: Client, query: str) -> None:
    began_at = time.perf_counter()
    error = await client.error(query)
    assert "malformed_request" == error["extensions"]["code"]
    # A generous bound for a busy machine: unbounded walks of these take minutes.
    assert time.perf_counter() - began_at < 3


def seconds(query: str) -> float:
    """How long it takes to refuse or prepare a document, as the median of some times."""
    documents = Documents(SCHEMA, documents_max=0)

    def once() -> float:
        began_at = time.perf_counter()
        with suppress(LimitExceeded):
            documents.find(query=query, identifier=None)
        return time.perf_counter() - began_at

    return statistics.median(once() for _ in range(15))


def test_the_fragment_bomb_is_refused_within_fifty_times_a_trivial_query() -> None:
    bomb = doubling(20)
    with pytest.raises(LimitExceeded):
        parse_within_limits(bomb)
    assert seconds(bomb) < 50 * seconds("{ viewer { scopes } }")


async def test_the_introspection_query_of_tools_is_answered(client: Client) -> None:
    data = await client.data(get_introspection_query(specified_by_url=True, input_value_deprecation=True))
    assert "Query" == data["__schema"]["queryType"]["name"]


async def test_circular_introspection_is_refused(client: Client) -> None:
    circle = nested("fields { type", 4, "name") + " }" * 4
    error = await client.error(f"{{ __schema {{ types {{ {circle} }} }} }}")
    assert "Maximum introspection depth exceeded" == error["message"]
