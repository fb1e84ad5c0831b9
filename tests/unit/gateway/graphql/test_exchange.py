"""GraphQL over HTTP: methods, media types, members of a request, and which failures have a status of their own."""

import json
from typing import Any

import pytest

from gateway.http.bodies import BODY_BYTES_MAX
from tests.unit.gateway.graphql.clients import GRAPHQL_RESPONSE, Client, deployment

VIEWER = "{ viewer { scopes } }"
ANSWER = {"data": {"viewer": {"scopes": ["MEMORY_READ", "MEMORY_WRITE"]}}}
DELETE = 'mutation { deleteMemory(input: {id: "x", ceiling: PUBLIC, idempotencyKey: "k"}) { deletedId } }'


def only_error(body: dict[str, Any]) -> tuple[str, str]:
    """Code and label of the one error of a request of which nothing was executed."""
    assert {"errors"} == set(body)
    [error] = body["errors"]
    assert "path" not in error
    return error["extensions"]["code"], error["extensions"]["classification"]


async def test_a_query_is_answered_by_post_and_by_get(client: Client) -> None:
    assert ANSWER == (await client.post(VIEWER)).json()
    assert ANSWER == (await client.get(query=VIEWER)).json()


async def test_variables_and_operation_name_go_by_get(client: Client) -> None:
    query = "query A($yes: Boolean!) { viewer @include(if: $yes) { scopes } } query B { gateway { version } }"
    response = await client.get(query=query, operationName="A", variables='{"yes": true}', extensions="null")
    assert ANSWER == response.json()
    assert ANSWER == (await client.get(query=VIEWER, operationName="", variables="", extensions="")).json()


async def test_an_answer_is_private_and_varies(client: Client) -> None:
    for response in (await client.post(VIEWER), await client.http.post("/graphql")):
        assert "private, no-store" == response.headers["cache-control"]
        assert "Accept, Authorization" == response.headers["vary"]


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        (None, "application/json"),
        ("*/*", "application/json"),
        ("application/*", "application/json"),
        ("text/html", "application/json"),
        ("application/json", "application/json"),
        (GRAPHQL_RESPONSE, GRAPHQL_RESPONSE),
        (f"{GRAPHQL_RESPONSE}; charset=utf-8, application/json; q=0.9", GRAPHQL_RESPONSE),
        (f"{GRAPHQL_RESPONSE};q=0.5, application/json", "application/json"),
        (f"{GRAPHQL_RESPONSE};q=0", "application/json"),
        (f"{GRAPHQL_RESPONSE};q=much", "application/json"),
    ],
)
async def test_the_media_type_is_negotiated(client: Client, accept: str | None, expected: str) -> None:
    del client.http.headers["accept"]
    headers = client.headers() if accept is None else client.headers(accept=accept)
    response = await client.http.post("/graphql", json={"query": VIEWER}, headers=headers)
    assert f"{expected}; charset=utf-8" == response.headers["content-type"]
    assert ANSWER == response.json()


@pytest.mark.parametrize(
    ("query", "variables", "label"),
    [
        ("{", {}, "GRAPHQL_PARSE_FAILED"),
        ("", {}, "GRAPHQL_PARSE_FAILED"),
        ("{ nothing }", {}, "GRAPHQL_VALIDATION_FAILED"),
        ("query($c: Sensitivity!) { memoryOverview(ceiling: $c) { flaggedForReview } }", {}, "BAD_USER_INPUT"),
        ("query A { viewer { scopes } } query B { viewer { scopes } }", {}, "OPERATION_RESOLUTION_FAILURE"),
        ("fragment F on Viewer { scopes }", {}, "GRAPHQL_VALIDATION_FAILED"),
        ("subscription { viewer { scopes } }", {}, "GRAPHQL_VALIDATION_FAILED"),
    ],
)
async def test_a_refused_document_is_400_or_in_json_200(
    client: Client, query: str, variables: dict[str, object], label: str
) -> None:
    content = {"query": query, "variables": variables}
    for accept, status in ((GRAPHQL_RESPONSE, 400), ("application/json", 200)):
        response = await client.http.post("/graphql", json=content, headers=client.headers(accept=accept))
        assert status == response.status_code
        assert ("malformed_request", label) == only_error(response.json())


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"null",
        b"5",
        b"true",
        b'"x"',
        b"[]",
        b'[{"query": "{ viewer { scopes } }"}]',
        b"{",
        b'{"query": "{ viewer { scopes } }", "query": "{ viewer { scopes } }"}',
        b'{"query": "\xff"}',
        b"\xef\xbb\xbf{}",
        '{"query": "{ viewer { scopes } }"}'.encode("utf-16"),
        b"{}",
        b'{"query": 5}',
        b'{"query": null}',
        b'{"query": "{ viewer { scopes } }", "operationName": 5}',
        b'{"query": "{ viewer { scopes } }", "variables": []}',
        b'{"query": "{ viewer { scopes } }", "variables": "{}"}',
        b'{"query": "{ viewer { scopes } }", "extensions": 1}',
        b'{"query": "{ viewer { scopes } }", "variables": {"x": NaN}}',
        b'{"query": "{ viewer { scopes } }", "variables": {"x": ' + b"9" * 5000 + b"}}",
        b'{"query": "{ viewer { scopes } }", "variables": ' + b'{"x":' * 50_000 + b"1" + b"}" * 50_001,
        b'{"query": "{ viewer { scopes } }", "variables": {"x": "\\u0000"}}',
        b'{"query": "{ viewer { scopes } }", "variables": {"x": [{"\\ud800": 1}]}}',
        b'{"query": "{ viewer { scopes } }", "extensions": {"x": ["\\u0000"]}}',
        b'{"query": "{ viewer { scopes } }", "extensions": {"\\ud800": 1}}',
        b'{"query": "{ viewer { scopes } }", "more": {"x": "\\u0000"}}',
        b'{"query": "{ viewer { scopes } }", "\\udfff": 1}',
        b'{"query": "{ viewer { scopes } } # \\u0000"}',
        b'{"query": "{ viewer { scopes } } # \\udfff"}',
    ],
)
async def test_a_body_that_is_no_request_is_400_whatever_is_accepted(client: Client, content: bytes) -> None:
    for accept in (GRAPHQL_RESPONSE, "application/json"):
        headers = client.headers(accept=accept, **{"content-type": "application/json"})
        response = await client.http.post("/graphql", content=content, headers=headers)
        assert 400 == response.status_code
        assert ("malformed_request", "BAD_REQUEST") == only_error(response.json())


async def test_members_beside_the_known_ones_are_ignored(client: Client) -> None:
    assert ANSWER == (await client.post(VIEWER, id="x", extensions={"a": 1}, operationName=None)).json()


@pytest.mark.parametrize(
    "query_string",
    [
        "query={viewer{scopes}}&query={viewer{scopes}}",
        "query={viewer{scopes}}&variables={}&variables={}",
        "query={viewer{scopes}}&variables=[]",
        "query={viewer{scopes}}&variables=5",
        "query=%ff",
        "query={viewer{scopes}}&more=%00",
        "query={viewer{scopes}}&%00=1",
        "query={viewer{scopes}}&extensions=%7B%22x%22%3A%22%5Cud800%22%7D",
        "variables={}",
        "query={viewer{scopes}}" + "&x=1" * 100,
    ],
)
async def test_a_query_string_that_is_no_request_is_400(client: Client, query_string: str) -> None:
    response = await client.http.get(f"/graphql?{query_string}", headers=client.headers())
    assert 400 == response.status_code
    assert ("malformed_request", "BAD_REQUEST") == only_error(response.json())


@pytest.mark.parametrize(
    "content_type",
    [
        None,
        "text/plain",
        "application/jsonx",
        "application/json/evil",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/json; charset=utf-16",
        "application/graphql",
    ],
)
async def test_any_other_content_type_is_415(client: Client, content_type: str | None) -> None:
    headers = client.headers() if content_type is None else client.headers(**{"content-type": content_type})
    response = await client.http.post("/graphql", content=json.dumps({"query": VIEWER}), headers=headers)
    assert 415 == response.status_code
    assert "unsupported_media_type" == only_error(response.json())[0]
    if content_type is not None:
        assert 415 == (await client.http.get("/graphql?query={viewer{scopes}}", headers=headers)).status_code


async def test_the_content_type_has_no_case(client: Client) -> None:
    headers = client.headers(**{"content-type": "Application/JSON; Charset=UTF-8"})
    response = await client.http.post("/graphql", content=json.dumps({"query": VIEWER}), headers=headers)
    assert ANSWER == response.json()


@pytest.mark.parametrize("types", [("application/json", "text/plain"), ("text/plain", "application/json")])
async def test_a_content_type_is_given_once(client: Client, types: tuple[str, str]) -> None:
    headers = [*client.headers().items(), *(("content-type", each) for each in types)]
    body = json.dumps({"query": VIEWER}).encode()
    assert 415 == (await client.http.post("/graphql", content=body, headers=headers)).status_code
    assert 415 == (await client.http.get("/graphql?query={viewer{scopes}}", headers=headers)).status_code


async def test_no_answer_is_compressed(client: Client) -> None:
    """A body that holds what is private beside what the caller wrote would tell the one by its length of the other."""
    headers = client.headers(**{"accept-encoding": "gzip, br, zstd, deflate"})
    response = await client.http.post("/graphql", json={"query": f"{VIEWER} #{'x' * 10_000}"}, headers=headers)
    assert ANSWER == response.json()
    assert "content-encoding" not in response.headers
    assert int(response.headers["content-length"]) == len(response.content)


async def test_a_body_beyond_a_mebibyte_is_413(client: Client) -> None:
    response = await client.post(VIEWER, extensions={"x": "y" * BODY_BYTES_MAX})
    assert 413 == response.status_code
    assert "payload_too_large" == only_error(response.json())[0]


async def test_without_a_valid_token_nothing_is_looked_at(client: Client) -> None:
    for headers in ({}, {"authorization": "Bearer wrong"}, {"authorization": f"Basic {client.token}"}):
        response = await client.http.post("/graphql", content=b"{", headers=headers)
        assert 401 == response.status_code
        assert "Bearer" == response.headers["www-authenticate"]
        assert ("authentication_error", "UNAUTHENTICATED") == only_error(response.json())


async def test_a_mutation_by_get_is_405_and_does_nothing(client: Client) -> None:
    response = await client.get(query=DELETE)
    assert 405 == response.status_code
    assert "POST" == response.headers["allow"]
    assert "method_not_allowed" == only_error(response.json())[0]


async def test_other_methods_are_405_without_credentials_and_options_answers(client: Client) -> None:
    response = await client.http.put("/graphql")
    assert 405 == response.status_code
    assert "GET, HEAD, POST, OPTIONS" == response.headers["allow"]
    options = await client.http.options("/graphql")
    assert (204, "GET, HEAD, POST, OPTIONS") == (options.status_code, options.headers["allow"])


async def test_with_several_operations_the_named_one_is_executed(client: Client) -> None:
    query = "query A { viewer { scopes } } query B { gateway { version surfaces } }"
    response = await client.post(query, operationName="B")
    assert {"data": {"gateway": {"version": "1.2.3", "surfaces": ["MEMORIES"]}}} == response.json()
    response = await client.post(query, operationName="C")
    assert ("malformed_request", "OPERATION_RESOLUTION_FAILURE") == only_error(response.json())


async def test_with_the_memory_surface_off_its_fields_do_not_exist() -> None:
    async with deployment(memory=False) as client:
        assert {"gateway": {"surfaces": []}} == await client.data("{ gateway { surfaces } }")
        error = await client.error("{ memories(ceiling: PUBLIC) { totalCount } }")
        assert "Cannot query field 'memories' on type 'Query'." == error["message"]
        assert "malformed_request" == (await client.error(DELETE))["extensions"]["code"]
