"""Static bounds: what they let through, what they refuse, and that refusing is cheap."""

import time

import pytest
from graphql import get_introspection_query, parse

from gateway.graphql.limits import ALIASES_MAX, DIRECTIVES_MAX, FIELDS_MAX, ROOT_FIELDS_MAX, check_limits
from gateway.service.errors import MalformedRequest
from tests.unit.gateway.graphql.clients import Client


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
    ("query", "message"),
    [
        (f"{{ memory(id: 1, ceiling: PUBLIC) {{ {nested('supersedes', 11, 'id')} }} }}", "fields deeper than 12"),
        (
            f"{{ memory(id: 1, ceiling: PUBLIC) {{ ...F }} }} fragment F on Memory {{ {nested('a', 11, 'id')} }}",
            "fields deeper than 12",
        ),
        ("{ __schema { types { " + nested("ofType", 18, "name") + " } } }", "introspect deeper than 20"),
        ("{" + "viewer { scopes } " * (ROOT_FIELDS_MAX + 1) + "}", "root fields"),
        ("{ viewer {" + "scopes " * (FIELDS_MAX + 1) + "} }", "select more than"),
        (
            "{ viewer {" + " ".join(f"s{index}: scopes" for index in range(ALIASES_MAX + 1)) + "} }",
            f"more than {ALIASES_MAX} aliases",
        ),
        ("{ viewer " + "@include(if: true) " * (DIRECTIVES_MAX + 1) + "{ scopes } }", "directives"),
        ("query " + "@x " * (DIRECTIVES_MAX + 1) + "{ viewer { scopes } }", "directives"),
        ("{ viewer { " + "... { " * 100 + "scopes" + " }" * 100 + " } }", "nest selections"),
        (doubling(20), "select more than"),
        (
            "{ ...F0 } "
            + " ".join(f"fragment F{index} on Query {{ ...F{index + 1} }}" for index in range(700))
            + " fragment F700 on Query { viewer { scopes } }",
            "nest selections",
        ),
    ],
)
def test_documents_beyond_a_bound_are_refused(query: str, message: str) -> None:
    with pytest.raises(MalformedRequest, match=message):
        check_limits(parse(query))


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


async def test_a_document_of_too_many_tokens_is_refused(client: Client) -> None:
    error = await client.error("{" + "viewer " * 6_000 + "}")
    assert "query is no GraphQL document: Document contains more than 5000 tokens. Parsing aborted." == error["message"]


async def test_the_introspection_query_of_tools_is_answered(client: Client) -> None:
    data = await client.data(get_introspection_query(specified_by_url=True, input_value_deprecation=True))
    assert "Query" == data["__schema"]["queryType"]["name"]


async def test_circular_introspection_is_refused(client: Client) -> None:
    circle = nested("fields { type", 4, "name") + " }" * 4
    error = await client.error(f"{{ __schema {{ types {{ {circle} }} }} }}")
    assert "Maximum introspection depth exceeded" == error["message"]
