"""Requests that public GraphQL servers were caught at, each with the right answer, over the real server.

Every refusal has a code, names what was wrong, quotes nothing, and comes quickly. What is wrong with a document is
told in the body in plain JSON, with 200; what is wrong with the exchange has its status whatever is accepted.
"""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

from tests.conformance.serving import Served

GRAPHQL_RESPONSE = "application/graphql-response+json"
SECONDS_MAX = 2.0
"""A generous bound for a busy machine: what is not refused in time takes minutes."""
SECRET = "swordfish"
VIEWER = "{ viewer { scopes } }"
# Words of a failure that was not foreseen: of Python, of the library, of the database driver.
LEAKS = (
    "Traceback",
    "object of type",
    "recursion depth",
    "KeyError",
    "invalid literal",
    "codec",
    "sqlstate",
    "asyncpg",
)

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("conformance")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hostile:
    """A request and its right answer; `of_document`: what is wrong is the document, not the exchange."""

    name: str
    content: bytes = b""
    method: str = "POST"
    target: str = "/graphql"
    headers: Mapping[str, str] = field(default_factory=lambda: {"content-type": "application/json"})
    status: int = 400
    label: str = "BAD_REQUEST"
    of_document: bool = False


def body(name: str, content: bytes | str, **more: Any) -> Hostile:  # Any: fields of Hostile
    return Hostile(name=name, content=content.encode() if isinstance(content, str) else content, **more)


def document(name: str, query: str, label: str = "GRAPHQL_VALIDATION_FAILED", **members: object) -> Hostile:
    content = json.dumps({"query": query, **members}).encode()
    return Hostile(name=name, content=content, label=label, of_document=True)


def typed(content_type: str | None) -> Hostile:
    headers = {} if content_type is None else {"content-type": content_type}
    content = json.dumps({"query": VIEWER}).encode()
    return Hostile(name=f"type {content_type}", content=content, headers=headers, status=415)


def got(name: str, target: str, status: int = 400, **more: Any) -> Hostile:  # Any: fields of Hostile
    return Hostile(name=name, method="GET", target=target, status=status, **{"headers": {}, **more})


def nested(opening: str, closing: str, depth: int, leaf: str = "scopes") -> str:
    return opening * depth + leaf + closing * depth


def doubling(count: int, *, aliased: bool = False) -> str:
    first, second = ("a: __typename", "b: __typename") if aliased else ("", "")
    fragments = [
        f"fragment F{index} on Query {{ ...F{index + 1} ...F{index + 1} {first} {second} }}" for index in range(count)
    ]
    return f"{{ ...F0 }} {' '.join(fragments)} fragment F{count} on Query {{ viewer {{ scopes }} }}"


DEPTHS = (100, 150, 200, 2_000, 50_000)
NESTED = [
    *(document(f"selections nested {depth}", f"{{ {nested('viewer { ', ' }', depth)} }}") for depth in DEPTHS[:2]),
    *(
        document(f"{what} nested {depth}", query)
        for depth in DEPTHS[2:]
        for what, query in (
            ("selections", f"{{ {nested('viewer { ', ' }', depth)} }}"),
            ("inline fragments", f"{{ {nested('... { ', ' }', depth, VIEWER[1:-1])} }}"),
            (
                "lists",
                f"{{ memories(ceiling: PUBLIC, statuses: {nested('[', ']', depth, 'ACTIVE')}) {{ totalCount }} }}",
            ),
            ("objects", f"{{ memories(ceiling: {nested('{a: ', '}', depth, '1')}) {{ totalCount }} }}"),
            ("list types", f"query($a: {nested('[', ']', depth, 'Int')}) {VIEWER}"),
        )
    ),
    *(
        body(f"JSON {what} nested {depth}", f'{{"query": "{VIEWER}", "variables": {{"x": {value}}}}}')
        for depth in (500, 5_000, 50_000)
        for what, value in (("arrays", nested("[", "]", depth, "1")), ("objects", nested('{"a":', "}", depth, "1")))
    ),
]
EXPANDING = [
    document("circular fragments", "{ ...F } fragment F on Query { ...G } fragment G on Query { ...F }"),
    document("a fragment of itself", "{ ...F } fragment F on Query { ...F viewer { scopes } }"),
    document("an unknown fragment", "{ ...Nope }"),
    document("14 fragments that double, with aliases", doubling(14, aliased=True)),
    document("20 fragments that double", doubling(20)),
    document("400 fragments that double", doubling(400)),
    *(
        document(f"{count} aliases", "{" + " ".join(f"a{index}: __typename" for index in range(count)) + "}")
        for count in (1_000, 5_000, 10_000)
    ),
    document("1,100 copies of a field", "{ viewer {" + "scopes " * 1_100 + "} }"),
    document("6,000 copies of a field", "{" + "__typename " * 6_000 + "}"),
    document("10 unknown directives", "{ viewer " + "@aa" * 10 + " { scopes } }"),
    document("1,000 unknown directives", "{ viewer " + "@aa" * 1_000 + " { scopes } }"),
    document("10,000 unknown directives", "{ viewer " + "@aa" * 10_000 + " { scopes } }"),
    document("600 includes", "{ viewer " + "@include(if: true) " * 600 + "{ scopes } }"),
    document("1,000 operations", " ".join(f"query Q{n} {VIEWER}" for n in range(1_000))),
    document(
        "circular introspection", f"{{ __schema {{ types {{ {nested('fields { type { ', ' } }', 4, 'name')} }} }} }}"
    ),
]
SUGGESTED = [
    document("a field misspelt", "{ viewr { scopes } }"),
    document("an argument misspelt", "{ memories(ceilin: PUBLIC) { totalCount } }"),
    document("an enumeration value misspelt", "{ memories(ceiling: PUBLIK) { totalCount } }"),
    document("a type misspelt", "{ ... on Quer { viewer { scopes } } }"),
    document(
        "an input field misspelt",
        'mutation { deleteMemory(input: {idd: "x", ceiling: PUBLIC, idempotencyKey: "k"}) { deletedId } }',
    ),
    document("a directive misspelt", "{ viewer @includ(if: true) { scopes } }"),
    document("a variable's type misspelt", f"query($x: Sensitivit) {VIEWER}"),
]
BODIES = [
    *(body(f"body {content!r}", content) for content in ("", "null", "5", "true", '"x"', "[]", "{", "{}", '{"query"}')),
    body("a batch", json.dumps([{"query": VIEWER}, {"query": VIEWER}])),
    body("a batch of anything", '[5, null, {"query": 5}]'),
    body("bytes that are no UTF-8", b'{"query": "\xff"}'),
    body("latin-1", '{"query": "{ viewer { scopes } } # é"}'.encode("latin-1")),
    *(
        body(f"{encoding}", json.dumps({"query": VIEWER}).encode(encoding))
        for encoding in ("utf-16", "utf-16-le", "utf-32", "utf-32-be", "utf-8-sig")
    ),
    *(body(f"query {value}", f'{{"query": {value}}}') for value in ("5", "null", "[]", "{}", "true")),
    *(
        body(f"{member} {value}", f'{{"query": "{VIEWER}", "{member}": {value}}}')
        for member, values in (
            ("operationName", ("5", '["a"]', "{}", "true")),
            ("variables", ("5", '"x"', "[]", "true")),
            ("extensions", ("5", '"x"', "[]", "true")),
            ("documentId", ("5", '"x"', "[]", "true")),
        )
        for value in values
    ),
    body("a member given twice", f'{{"query": "{VIEWER}", "query": "{VIEWER}"}}'),
    body("a variable given twice", f'{{"query": "{VIEWER}", "variables": {{"a": 1, "a": 2}}}}'),
    *(
        body(f"number {number[:9]}", f'{{"query": "{VIEWER}", "variables": {{"x": {number}}}}}')
        for number in ("NaN", "Infinity", "-Infinity", "1e400", "-1e400", "9" * 5_000, "1" * 65)
    ),
    *(
        body(f"{what} in {where}", content)
        for what, escape in (("U+0000", "\\u0000"), ("a lone surrogate", "\\ud800"))
        for where, content in (
            ("the text", f'{{"query": "{VIEWER} # {escape}"}}'),
            ("a variable", f'{{"query": "{VIEWER}", "variables": {{"x": "a{escape}"}}}}'),
            ("a list of a variable", f'{{"query": "{VIEWER}", "variables": {{"x": [["{escape}"]]}}}}'),
            ("a key of a variable", f'{{"query": "{VIEWER}", "variables": {{"x": {{"{escape}": 1}}}}}}'),
            ("the name of a variable", f'{{"query": "{VIEWER}", "variables": {{"{escape}": 1}}}}'),
            ("the name of the operation", f'{{"query": "{VIEWER}", "operationName": "{escape}"}}'),
        )
    ),
    body("a string of 2 MB", json.dumps({"query": VIEWER, "variables": {"x": "x" * 2_000_000}}), status=413),
    body("JSON of 4 MB", "[" * 4_000_000, status=413),
]
VALUES = [
    document("U+0000 in a literal", '{ memories(ceiling: PUBLIC, subject: "a\\u0000") { totalCount } }'),
    document(
        "a lone surrogate in a literal",
        '{ memories(ceiling: PUBLIC, subject: "\\uD800") { totalCount } }',
        "GRAPHQL_PARSE_FAILED",
    ),
    *(
        document(f"first: {value[:12]}", f"{{ memories(ceiling: PUBLIC, first: {value}) {{ totalCount }} }}")
        for value in (
            "2147483648",
            "-2147483649",
            "1e400",
            "1.0",
            "9" * 5_000,
            f'"{SECRET}"',
            "true",
            "[1, 2]",
            "{a: 1}",
        )
    ),
    *(
        document(
            f"$first {value!r:.12}",
            "query($n: Int) { memories(ceiling: PUBLIC, first: $n) { totalCount } }",
            "BAD_USER_INPUT",
            variables={"n": value},
        )
        for value in (2**31, -(2**31) - 1, 1.5, 10**20, SECRET, True, [1, 2], {"a": 1})
    ),
    document("two operations without a name", f"query A {VIEWER} query B {VIEWER}", "OPERATION_RESOLUTION_FAILURE"),
    document(
        "a mutation before a query without a name",
        'mutation A { deleteMemory(input: {id: "x", ceiling: PUBLIC, idempotencyKey: "k"}) { deletedId } } '
        f"query B {VIEWER}",
        "OPERATION_RESOLUTION_FAILURE",
    ),
    document("a subscription", "subscription { viewer { scopes } }"),
    document("a schema", "type Query { a: Int }"),
    document("no operation", "fragment F on Query { viewer { scopes } }"),
    document("an empty document", "", "GRAPHQL_PARSE_FAILED"),
]
TYPES = [
    typed(each)
    for each in (
        None,
        "text/plain",
        "application/jsonx",
        "application/json/evil",
        "application/json, text/plain",
        "application/graphql",
        "application/graphql-response+json",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/json; charset=utf-16",
        "application/json; charset=latin-1",
        "application/json; charset=cp037",
        "application/json; boundary=x",
    )
]
MUTATION = 'mutation{deleteMemory(input:{id:"x",ceiling:PUBLIC,idempotencyKey:"k"}){deletedId}}'
EXCHANGES = [
    got("a GET that a form could send", f"/graphql?query={VIEWER}", 415, headers={"content-type": "text/plain"}),
    got("a GET of a mutation", f"/graphql?query={MUTATION}", 405),
    got(
        "a GET of a subscription",
        "/graphql?query=subscription{viewer{scopes}}",
        of_document=True,
        label="GRAPHQL_VALIDATION_FAILED",
    ),
    got("a GET of nothing", "/graphql"),
    got("a GET with a member twice", f"/graphql?query={VIEWER}&query={VIEWER}"),
    got("a GET with bytes that are no UTF-8", "/graphql?query=%ff"),
    got("a GET with U+0000", "/graphql?query={viewer{scopes}}%23%00"),
    got("a GET with a surrogate", "/graphql?query={viewer{scopes}}%23%ed%a0%80"),
    got("a GET with variables that are no object", f"/graphql?query={VIEWER}&variables=[1]"),
    got("a GET with a batch", f'/graphql?query={VIEWER}&variables=[{{"a":1}}]'),
    *(
        Hostile(name=f"the method {method}", method=method, status=405)
        for method in ("PUT", "PATCH", "DELETE", "TRACE", "QUERY")
    ),
]


def ask(client: httpx.Client, hostile: Hostile, accept: str) -> httpx.Response:
    began_at = time.perf_counter()
    response = client.request(
        hostile.method,
        hostile.target.replace(" ", "%20"),
        content=hostile.content,
        headers={"accept": accept, **hostile.headers},
    )
    assert time.perf_counter() - began_at < SECONDS_MAX
    return response


@pytest.mark.parametrize(
    "hostile",
    [*NESTED, *EXPANDING, *SUGGESTED, *BODIES, *VALUES, *TYPES, *EXCHANGES],
    ids=lambda hostile: hostile.name,
)
def test_a_hostile_request_is_refused(gateway: Served, hostile: Hostile) -> None:
    with gateway.client() as client:
        for accept in (GRAPHQL_RESPONSE, "application/json"):
            response = ask(client, hostile, accept)
            in_body = hostile.of_document and accept == "application/json"
            assert (200 if in_body else hostile.status) == response.status_code
            assert f"{accept}; charset=utf-8" == response.headers["content-type"]
            assert {"errors"} == set(response.json())
            [error] = response.json()["errors"]
            assert {"code", "classification"} == set(error["extensions"])
            assert hostile.label == error["extensions"]["classification"]
            assert len(response.content) < 2_000
            assert [] == [words for words in (*LEAKS, SECRET, "Did you mean") if words in response.text]
        assert {"data"} == set(client.post("/graphql", json={"query": VIEWER}).json())


CODES = {400: "malformed_request", 405: "method_not_allowed", 413: "payload_too_large", 415: "unsupported_media_type"}


@pytest.mark.parametrize("hostile", [*TYPES, *EXCHANGES, *BODIES[-2:]], ids=lambda hostile: hostile.name)
def test_a_refused_exchange_has_the_code_of_its_status(gateway: Served, hostile: Hostile) -> None:
    with gateway.client() as client:
        response = ask(client, hostile, GRAPHQL_RESPONSE)
    [error] = response.json()["errors"]
    assert CODES[response.status_code] == error["extensions"]["code"]
    assert (response.status_code == 405) == ("allow" in response.headers)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ({"query": "{ viewer { scopes } }"}, {"viewer"}),
        ({"query": f"{{ viewer {{ {'scopes ' * 500} }} }}"}, {"viewer"}),
        ({"query": "{ memories(ceiling: PUBLIC, first: 2147483647) { totalCount } }"}, {"memories"}),
        (
            {
                "query": "query($n: Int) { memories(ceiling: PUBLIC, first: $n) { totalCount } }",
                "variables": {"n": 1.0},
            },
            {"memories"},
        ),
        ({"query": VIEWER, "variables": None, "extensions": {"x": 1}, "operationName": None, "more": [1]}, {"viewer"}),
    ],
)
def test_a_request_that_only_looks_hostile_is_answered(
    gateway: Served, content: dict[str, object], expected: set[str]
) -> None:
    with gateway.client() as client:
        response = client.post("/graphql", json=content)
    assert 200 == response.status_code
    assert {"data"} == set(response.json())
    assert expected == set(response.json()["data"])


@pytest.mark.parametrize("id", ["9" * 4_000, f'"{"9" * 5_000}"', f'"{SECRET}"', '""', "-1"])
def test_an_identifier_that_is_none_matches_nothing(gateway: Served, id: str) -> None:
    with gateway.client() as client:
        response = client.post("/graphql", json={"query": f"{{ memory(id: {id}, ceiling: PUBLIC) {{ id }} }}"})
    [error] = response.json()["errors"]
    assert ("no such memory", "not_found") == (error["message"], error["extensions"]["code"])


def test_there_is_no_page_to_explore_with(gateway: Served) -> None:
    with gateway.client() as client:
        for target in ("/graphql", "/graphiql", "/playground", "/graphql/"):
            response = client.get(target, headers={"accept": "text/html"})
            assert response.status_code in {400, 404}
            assert "text/html" not in response.headers["content-type"]
