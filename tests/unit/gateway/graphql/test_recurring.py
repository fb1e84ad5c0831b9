"""Requests that recur: kept by their body, bounded, gone with their document, never with what a person looks for."""

import pytest
from graphql import DocumentNode, OperationDefinitionNode, parse

from gateway.graphql.exchange import GraphQLRequest
from gateway.graphql.fast.pages import FastPages
from gateway.graphql.fast.recurring import BODY_BYTES_MAX, REQUESTS_MAX, PreparedRequest, RecurringRequests
from gateway.graphql.schema import build_schema

PAGE = "{ memories(ceiling: PUBLIC) { nodes { id } } }"
PAGES = FastPages(build_schema(memory=True)._schema)


def prepared(document: DocumentNode) -> PreparedRequest:
    operation = document.definitions[0]
    assert isinstance(operation, OperationDefinitionNode)
    asked = GraphQLRequest(query="", identifier=None, operation_name=None, variables={})
    page = PAGES.prepare(document, operation, {})
    return PreparedRequest(asked=asked, document=document, operation=operation, cost=7, page=page)


def test_a_request_is_known_by_its_body_and_no_other() -> None:
    recurring = RecurringRequests()
    request = prepared(parse(PAGE))
    recurring.remember(b"one", request)

    assert request == recurring.find(b"one")
    assert None is recurring.find(b"other")


@pytest.mark.parametrize(
    "query",
    [
        '{ memories(ceiling: PUBLIC, text: "tea") { nodes { id } } }',
        '{ memories(ceiling: PUBLIC, subject: "ada") { nodes { id } } }',
        "{ memories(ceiling: PUBLIC) { totalCount } }",
    ],
    ids=["words", "a subject", "no page of plain values"],
)
def test_what_a_person_looks_for_and_what_is_executed_is_not_kept(query: str) -> None:
    recurring = RecurringRequests()
    document = parse(query)
    recurring.remember(b"one", prepared(document))

    assert None is recurring.find(b"one")


def test_a_large_body_is_not_kept() -> None:
    recurring = RecurringRequests()
    document = parse(PAGE)
    largest = b" " * BODY_BYTES_MAX
    recurring.remember(largest, prepared(document))
    recurring.remember(largest + b" ", prepared(document))

    assert None is not recurring.find(largest)
    assert None is recurring.find(largest + b" ")


def test_what_was_asked_for_longest_ago_is_forgotten() -> None:
    recurring = RecurringRequests()
    request = prepared(parse(PAGE))
    for number in range(REQUESTS_MAX):
        recurring.remember(b"%d" % number, request)
    recurring.find(b"0")
    recurring.remember(b"one more", request)

    assert None is not recurring.find(b"0")
    assert None is recurring.find(b"1")


def test_a_request_goes_with_its_document() -> None:
    recurring = RecurringRequests()
    document = parse(PAGE)
    recurring.remember(b"one", prepared(document))

    del document

    assert None is recurring.find(b"one")
    assert {} == recurring._kept
