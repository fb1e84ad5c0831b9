"""Documents known by their hash, and documents asked for before: what is remembered, and what never is."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from graphql import GraphQLSchema

from gateway.graphql.documents import Documents, InvalidManifest, TrustedDocuments, hash_of, read_manifest
from gateway.graphql.errors import DocumentError
from gateway.graphql.schema import build_schema
from tests.factories import memory
from tests.unit.gateway.graphql.clients import Client, deployment

VIEWER = "{ viewer { scopes } }"
PAGE = "query Page($ceiling: Sensitivity!) { memories(ceiling: $ceiling) { totalCount } }"
DELETE = 'mutation { deleteMemory(input: {id: "x", ceiling: PUBLIC, idempotencyKey: "k"}) { deletedId } }'
ABSENT = "{ gateway { version } }"


def manifest(*documents: str) -> Mapping[str, str]:
    return {hash_of(document): document for document in documents}


def schema() -> GraphQLSchema:
    return build_schema(memory=True)._schema


def apollo(document: str, **more: object) -> dict[str, Any]:
    return {"extensions": {"persistedQuery": {"version": 1, "sha256Hash": hash_of(document)}}, **more}


async def ask(client: Client, content: Mapping[str, object]) -> tuple[int, dict[str, Any]]:
    response = await client.http.post("/graphql", json=content, headers=client.headers(accept="application/json"))
    strict = await client.http.post(
        "/graphql", json=content, headers=client.headers(accept="application/graphql-response+json")
    )
    assert response.json() == strict.json()
    return strict.status_code, strict.json()


def test_a_manifest_is_read_with_and_without_the_prefix() -> None:
    for prefix in ("", "sha256:"):
        content = json.dumps({f"{prefix}{name}": text for name, text in manifest(VIEWER, PAGE).items()})
        assert manifest(VIEWER, PAGE) == read_manifest(content.encode())
    assert {} == read_manifest(b"{}")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"[]", "the manifest must be a JSON object"),
        (b"{", "the manifest must be valid JSON"),
        (b'{"a": "", "a": ""}', "the manifest must not give a name twice"),
        (b"\xff", "the manifest must be UTF-8"),
        (json.dumps({"a": VIEWER}).encode(), "must name each document by its SHA-256"),
        (json.dumps({f"md5:{hash_of(VIEWER)}": VIEWER}).encode(), "must name each document by its SHA-256"),
        (json.dumps({hash_of(VIEWER).upper(): VIEWER}).encode(), "must name each document by its SHA-256"),
        (json.dumps({hash_of(VIEWER): f"{VIEWER} "}).encode(), f"the document {hash_of(VIEWER)} must be a text"),
        (json.dumps({hash_of(VIEWER): 5}).encode(), f"the document {hash_of(VIEWER)} must be a text"),
    ],
)
def test_a_manifest_that_is_none_is_refused(content: bytes, message: str) -> None:
    with pytest.raises(InvalidManifest, match=message):
        read_manifest(content)


@pytest.mark.parametrize(
    "document",
    ["{", "{ nothing }", "{ memories { totalCount } }", "{" + "viewer { scopes } " * 21 + "}", '{ a(x: "\ud800") }'],
)
def test_a_trusted_document_that_can_not_be_executed_is_refused_at_the_start(document: str) -> None:
    with pytest.raises(InvalidManifest, match=f"the document {hash_of(document)} can't be executed: "):
        Documents(schema(), TrustedDocuments(manifest(VIEWER, document)))


def test_several_manifests_make_one_set() -> None:
    documents = Documents(schema(), TrustedDocuments(manifest(VIEWER), manifest(PAGE), only=True))
    for document in (VIEWER, PAGE):
        assert documents.find(query=None, identifier=hash_of(document)) is documents.find(
            query=document, identifier=None
        )


@pytest.mark.parametrize("only", [False, True])
async def test_a_trusted_document_is_asked_for_by_its_hash(only: bool) -> None:
    async with deployment(memory(), trusted=TrustedDocuments(manifest(VIEWER, PAGE), only=only)) as client:
        variables = {"ceiling": "PUBLIC"}
        expected = (200, {"data": {"memories": {"totalCount": 1}}})
        identifier = f"sha256:{hash_of(PAGE)}"
        assert expected == await ask(client, {"documentId": identifier, "variables": variables})
        assert expected == await ask(client, apollo(PAGE, variables=variables))
        assert expected == await ask(client, {"query": None, **apollo(PAGE, variables=variables)})
        assert expected == await ask(client, apollo(PAGE, documentId=identifier, query=PAGE, variables=variables))
        assert expected == await ask(client, {"query": PAGE, "variables": variables})
        got = await client.get(documentId=identifier, variables='{"ceiling":"PUBLIC"}')
        assert expected == (got.status_code, got.json())
        got = await client.get(extensions=json.dumps(apollo(VIEWER)["extensions"]))
        assert {"viewer"} == set(got.json()["data"])


@pytest.mark.parametrize("only", [False, True])
async def test_a_document_that_is_not_trusted_is_not_found_by_its_hash(only: bool) -> None:
    async with deployment(trusted=TrustedDocuments(manifest(VIEWER), only=only)) as client:
        for content in ({"documentId": f"sha256:{hash_of(ABSENT)}"}, apollo(ABSENT)):
            status, body = await ask(client, content)
            assert 400 == status
            [error] = body["errors"]
            assert "the document is not among those that this server trusts" == error["message"]
            label = {"code": "malformed_request", "classification": "PERSISTED_QUERY_NOT_FOUND"}
            assert label == error["extensions"]


async def test_with_only_nothing_else_is_executed() -> None:
    async with deployment(trusted=TrustedDocuments(manifest(VIEWER), only=True)) as client:
        for query in (ABSENT, f"{VIEWER} ", "{ __schema { queryType { name } } }", "{", DELETE):
            for content in ({"query": query}, apollo(query, query=query)):
                status, body = await ask(client, content)
                assert 400 == status
                [error] = body["errors"]
                assert "PERSISTED_QUERY_NOT_FOUND" == error["extensions"]["classification"]
                assert query not in error["message"]


async def test_a_document_that_was_sent_by_its_text_is_not_known_by_its_hash() -> None:
    """A client that registers what it sends would add to what the operator trusts."""
    async with deployment(trusted=TrustedDocuments(manifest(VIEWER))) as client:
        for content in ({"query": ABSENT}, apollo(ABSENT, query=ABSENT)):
            assert {"data": {"gateway": {"version": "1.2.3"}}} == (await ask(client, content))[1]
        for content in ({"documentId": f"sha256:{hash_of(ABSENT)}"}, apollo(ABSENT)):
            _, body = await ask(client, content)
            [error] = body["errors"]
            assert "PERSISTED_QUERY_NOT_FOUND" == error["extensions"]["classification"]


async def test_a_trusted_mutation_by_get_is_405() -> None:
    async with deployment(trusted=TrustedDocuments(manifest(DELETE))) as client:
        assert 405 == (await client.get(documentId=f"sha256:{hash_of(DELETE)}")).status_code


@pytest.mark.parametrize(
    "content",
    [
        {"documentId": 5},
        {"documentId": ""},
        {"documentId": hash_of(VIEWER)},
        {"documentId": f"sha256:{hash_of(VIEWER).upper()}"},
        {"documentId": f"sha256:{hash_of(VIEWER)}0"},
        {"documentId": f"sha256:{hash_of(VIEWER)}\n"},
        {"documentId": f"sha256:{hash_of(VIEWER)}", "query": PAGE},
        {"documentId": f"sha256:{hash_of(VIEWER)}", "query": 5},
        apollo(VIEWER, documentId=f"sha256:{hash_of(PAGE)}"),
        apollo(VIEWER, query=PAGE),
        {"extensions": {"persistedQuery": 1}},
        {"extensions": {"persistedQuery": {"sha256Hash": hash_of(VIEWER)}}},
        {"extensions": {"persistedQuery": {"version": 2, "sha256Hash": hash_of(VIEWER)}}},
        {"extensions": {"persistedQuery": {"version": 1, "sha256Hash": "x"}}},
        {"extensions": {"persistedQuery": None}},
        {},
    ],
)
async def test_an_identifier_of_another_form_is_malformed(content: dict[str, object]) -> None:
    async with deployment(trusted=TrustedDocuments(manifest(VIEWER, PAGE))) as client:
        status, body = await ask(client, content)
        plain = await client.http.post("/graphql", json=content, headers=client.headers(accept="application/json"))
    assert (400, 400) == (status, plain.status_code)
    [error] = body["errors"]
    assert {"code": "malformed_request", "classification": "BAD_REQUEST"} == error["extensions"]


async def test_a_document_asked_for_again_is_known_and_answers_alike() -> None:
    counted: list[bool] = []
    async with deployment(memory(), count_document=counted.append) as client:
        query = "query A($n: Int) { memories(ceiling: PUBLIC, first: $n) { totalCount } } query B { viewer { scopes } }"
        requests: list[tuple[dict[str, object], str | None]] = [
            ({"n": 1}, "A"),
            ({"n": "x"}, "A"),
            ({"n": 0}, "A"),
            ({}, "B"),
            ({}, None),
            ({}, "C"),
        ]
        first = [(await client.post(query, variables, operationName=name)) for variables, name in requests]
        assert [False, True, True, True, True, True] == counted
        again = [(await client.post(query, variables, operationName=name)) for variables, name in requests]
    assert [answer.text for answer in first] == [answer.text for answer in again]
    assert [200, 400, 200, 200, 400, 400] == [answer.status_code for answer in again]


async def test_a_document_that_is_refused_is_never_known() -> None:
    counted: list[bool] = []
    async with deployment(count_document=counted.append) as client:
        for query in ("{ nothing }", "{", "{ memories { totalCount } }", "{" + "viewer { scopes } " * 21 + "}"):
            answers = [await client.post(query) for _ in range(3)]
            assert {400} == {answer.status_code for answer in answers}
            assert 1 == len({answer.text for answer in answers})
    assert {False} == set(counted)


def test_of_many_documents_those_asked_for_last_are_known() -> None:
    counted: list[bool] = []
    documents = Documents(schema(), count=counted.append, documents_max=3)
    queries = [f"query Q{number} {VIEWER}" for number in range(4)]
    for query in (*queries[:3], queries[0], queries[3]):
        documents.find(query=query, identifier=None)
    counted.clear()
    for query in (queries[0], queries[2], queries[3], queries[1]):
        documents.find(query=query, identifier=None)
    assert [True, True, True, False] == counted


def test_large_documents_are_bounded_by_what_they_take() -> None:
    counted: list[bool] = []
    documents = Documents(schema(), count=counted.append, bytes_max=20_000)
    small, large = VIEWER, f"# {'x' * 6_000}\n{VIEWER}"
    for query in (small, large, large, small):
        documents.find(query=query, identifier=None)
    assert [False, False, False, True] == counted
    for number in range(10):
        documents.find(query=f"query Q{number} {VIEWER}", identifier=None)
    counted.clear()
    documents.find(query=small, identifier=None)
    assert [False] == counted


def test_a_refusal_by_the_schema_is_no_document() -> None:
    documents = Documents(build_schema(memory=False)._schema)
    with pytest.raises(DocumentError, match="Cannot query field 'memories'"):
        documents.find(query="{ memories(ceiling: PUBLIC) { totalCount } }", identifier=None)
