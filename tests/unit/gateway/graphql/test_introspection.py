"""Who may ask for the schema, and that with introspection off no error tells a right name from a wrong one."""

from collections import defaultdict
from collections.abc import Iterator

import pytest
from graphql import (
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLObjectType,
    get_introspection_query,
    get_named_type,
    is_object_type,
)

from gateway.graphql.schema import build_schema
from gateway.http.exchanges import NoExchanges
from gateway.http.policy import Policy
from gateway.http.rate_limits import RateLimits
from gateway.http.rate_windows import ProcessStorage
from gateway.setting_values import Introspection
from tests.factories import memory
from tests.unit.gateway.graphql.clients import Client, deployment

PUBLIC = Policy(introspection=Introspection.PUBLIC)
OFF = Policy(introspection=Introspection.OFF)
INTROSPECT = get_introspection_query(specified_by_url=True, input_value_deprecation=True)
TYPES = build_schema(memory=True)._schema.type_map.values()
WRONG = ("memoriez", "Memoriez", "idd", "MEMORIEZ", "ceilin", "Sensitivty", "nod", "DISMIS", "heliotrope", "x")


def names() -> Iterator[str]:
    """Every name of the schema: types, fields, arguments, values, input fields."""
    for type in TYPES:
        yield type.name
        if isinstance(type, GraphQLEnumType):
            yield from type.values
        if isinstance(type, GraphQLInputObjectType):
            yield from type.fields
        if isinstance(type, GraphQLObjectType):
            for name, field in type.fields.items():
                yield name
                yield from field.args


RIGHT = sorted({name for name in names() if not name.startswith("__")})
PROBES = (
    "{{ {} }}",
    "{{ {} {{ heliotrope }} }}",
    "{{ {}(heliotrope: 1) {{ heliotrope }} }}",
    "{{ viewer {{ {} {{ heliotrope }} }} }}",
    "{{ memories({}: 1) {{ heliotrope }} }}",
    "{{ memories(ceiling: PUBLIC, {}: HELIOTROPE) {{ nodes {{ id }} }} }}",
    "{{ memories(ceiling: PUBLIC) {{ {} {{ heliotrope }} }} }}",
    "{{ memories(ceiling: PUBLIC) {{ nodes {{ {} heliotrope }} }} }}",
    '{{ memory(id: "x", ceiling: {}) {{ heliotrope }} }}',
    '{{ memories(ceiling: PUBLIC, {}: "\\u0000") {{ heliotrope }} }}',
    "{{ memories(ceiling: PUBLIC, {}: 1e400) {{ heliotrope }} }}",
    "{{ viewer {{ scopes }} ... on {} {{ heliotrope }} }}",
    "fragment F on {} {{ heliotrope }} {{ ...F }}",
    "query($v: {}) {{ viewer {{ scopes }} }}",
    "query($v: [{}!]!) {{ memories(ceiling: $v) {{ nodes {{ id }} }} }}",
    "mutation {{ {}(input: {{}}) {{ heliotrope }} }}",
    "mutation {{ reviewMemory(input: {{{}: 1}}) {{ memory {{ id }} }} }}",
    'mutation {{ deleteMemory(input: {{id: "x", ceiling: {}, idempotencyKey: "k", x: 1}}) {{ deletedId }} }}',
    "subscription {{ {} }}",
    "{{ viewer @{} {{ scopes }} heliotrope }}",
    "{{ viewer @include({}: true) {{ scopes }} heliotrope }}",
)
VARIABLE_PROBES = (
    ("query($v: Sensitivity!) { memories(ceiling: $v) { totalCount } }", lambda name: name + "_"),
    (
        "mutation($v: DeleteMemoryInput!) { deleteMemory(input: $v) { deletedId } }",
        lambda name: {name: 1, "heliotrope": 1},
    ),
)


async def test_the_schema_is_shown_to_those_with_a_credential(client: Client) -> None:
    data = await client.data(INTROSPECT)
    assert {type.name for type in TYPES} == {type["name"] for type in data["__schema"]["types"]}
    assert 401 == (await client.http.post("/graphql", json={"query": INTROSPECT})).status_code


@pytest.mark.parametrize(
    ("query", "variables"),
    [
        (INTROSPECT, {}),
        ("{ __typename }", {}),
        (
            '{ __type(name: "Memory") { name } ...F } fragment F on Query { ... { __schema { description } } }',
            {},
        ),
        ("query($n: String!) { __type(name: $n) { name } }", {"n": "Memory"}),
    ],
)
async def test_the_public_may_ask_for_the_schema_alone(query: str, variables: dict[str, str]) -> None:
    async with deployment(policy=PUBLIC) as client:
        body = {"query": query, "variables": variables}
        answers = [await client.http.post("/graphql", json=body, headers=headers) for headers in ({}, client.headers())]
    assert [200, 200] == [answer.status_code for answer in answers]
    assert "errors" not in answers[0].json()
    assert answers[0].json() == answers[1].json()


@pytest.mark.parametrize(
    "content",
    [
        b'{"query": "{ viewer { scopes } }"}',
        b'{"query": "{ __typename viewer { scopes } }"}',
        b'{"query": "{ __typename ...F } fragment F on Query { ... { viewer { scopes } } }"}',
        b'{"query": "mutation { __typename deleteMemory(input: {}) { deletedId } }"}',
        b'{"query": "{ __typename nothing }"}',
        b'{"query": "{"}',
        b'{"query": "{ __type(name: 5) { name } }"}',
        b'{"query": "query A { __typename } query B { __typename }"}',
        b"{}",
        b"\xff",
        b'{"query": "' + b"x" * 1_100_000 + b'"}',
    ],
)
async def test_anything_else_without_a_credential_is_unauthenticated_alike(content: bytes) -> None:
    headers = {"content-type": "application/json"}
    async with deployment(policy=PUBLIC) as client:
        answer = await client.http.post("/graphql", content=content, headers=headers)
        other = await client.http.post("/graphql", content=b"{}", headers={**headers, "authorization": "Bearer wrong"})
    assert 401 == answer.status_code
    assert other.content == answer.content


async def test_a_bad_token_is_refused_whatever_it_asks_for() -> None:
    async with deployment(policy=PUBLIC) as client:
        for authorization in ("Bearer wrong", "Basic x", ""):
            headers = {"authorization": authorization}
            answer = await client.http.post("/graphql", json={"query": "{ __typename }"}, headers=headers)
            assert 401 == answer.status_code


async def test_public_introspection_counts_as_a_request_without_a_credential() -> None:
    limits = RateLimits(ProcessStorage(), cost_per_minute=0, failed_authentications_per_minute=3, reports=NoExchanges())
    async with deployment(policy=Policy(introspection=Introspection.PUBLIC, rate_limits=limits)) as client:
        body = {"query": "{ __typename }"}
        statuses = [(await client.http.post("/graphql", json=body)).status_code for _ in range(4)]
        assert [200, 200, 200, 429] == statuses
        assert {"__typename": "Query"} == await client.data("{ __typename }")


@pytest.mark.parametrize(
    "query",
    [
        INTROSPECT,
        '{ __type(name: "Memory") { name } }',
        "{ viewer { scopes } ...F } fragment F on Query { a: __schema { description } }",
    ],
)
async def test_with_introspection_off_the_schema_is_not_shown(query: str) -> None:
    async with deployment(policy=OFF) as client:
        error = await client.error(query)
        assert "introspection is off at this server" == error["message"]
        assert "malformed_request" == error["extensions"]["code"]
        assert {"__typename": "Query"} == await client.data("{ __typename }")


async def test_with_introspection_off_an_error_tells_no_right_name_from_a_wrong_one() -> None:
    async with deployment(memory(), policy=OFF) as client:
        for probe in PROBES:
            told: defaultdict[str, set[str]] = defaultdict(set)
            for name in (*RIGHT, *WRONG):
                response = await client.post(probe.format(name))
                if "errors" in response.json():
                    told[response.text].add(name)
            assert 1 == len(told), (probe, {answer: sorted(those)[:5] for answer, those in told.items()})


async def test_with_introspection_off_variables_tell_nothing_either() -> None:
    async with deployment(memory(), policy=OFF) as client:
        for query, value in VARIABLE_PROBES:
            answers = {(await client.post(query, {"v": value(name)})).text for name in (*RIGHT, *WRONG)}
            assert 1 == len(answers)
            assert "is not told, since introspection is off at this server" in answers.pop()


async def test_suggestions_are_off_for_every_kind_of_name(client: Client) -> None:
    for probe in PROBES:
        for name in WRONG:
            assert "Did you mean" not in (await client.post(probe.format(name))).text


def test_the_word_list_holds_every_field_that_leads_on() -> None:
    leading = {
        name
        for type in TYPES
        if is_object_type(type) and not type.name.startswith("__")
        for name, field in type.fields.items()
        if is_object_type(get_named_type(field.type))
    }
    assert leading <= set(RIGHT)
    assert len(RIGHT) > 150
