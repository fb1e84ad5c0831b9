"""Notes about documents: made once, told apart by operation and key, bounded, and gone with the document."""

from typing import Any

from graphql import DocumentNode, OperationDefinitionNode, parse

from gateway.graphql.cost import Pricing
from gateway.graphql.document_notes import NOTES_MAX, DocumentNotes
from gateway.graphql.schema import build_schema


def operation_of(document: DocumentNode, index: int = 0) -> OperationDefinitionNode:
    operation = document.definitions[index]
    assert isinstance(operation, OperationDefinitionNode)
    return operation


def test_a_note_is_made_once_for_an_operation_and_a_key() -> None:
    notes: DocumentNotes[str, int] = DocumentNotes()
    document, other = parse("query A { a } query B { a }"), parse("query A { a } query B { a }")
    made: list[int] = []

    def make() -> int:
        made.append(len(made))
        return made[-1]

    places = [(d, operation_of(d, index), key) for d in (document, other) for index in (0, 1) for key in ("x", "y")]
    for _ in range(2):
        assert list(range(8)) == [notes.find(*place, make) for place in places]


def test_what_was_asked_for_longest_ago_is_made_again() -> None:
    notes: DocumentNotes[int, int] = DocumentNotes()
    document = parse("{ a }")
    for key in range(NOTES_MAX + 1):
        notes.find(document, operation_of(document), key, lambda: 0)

    assert 0 == notes.find(document, operation_of(document), NOTES_MAX, lambda: 1)
    assert 1 == notes.find(document, operation_of(document), 0, lambda: 1)


def test_notes_go_with_their_document() -> None:
    notes: DocumentNotes[str, OperationDefinitionNode] = DocumentNotes()
    document = parse("{ a }")
    operation = operation_of(document)
    notes.find(document, operation, "x", lambda: operation)

    del document

    assert {} == notes._documents


def test_a_price_is_that_of_the_variables() -> None:
    schema = build_schema(memory=True)._schema
    document = parse(
        "query($n: Int, $t: String, $yes: Boolean = true) "
        "{ memories(ceiling: PUBLIC, first: $n, text: $t) { nodes { id subject @include(if: $yes) } } }"
    )
    operation, pricing = operation_of(document), Pricing(schema)
    asked: list[dict[str, Any]] = [  # Any: JSON
        {},
        *({"n": n} for n in (1, 2, 50, 50.0, 200, None)),
        *({"n": 1, "t": text} for text in ("tea", "boat", " ", "", None)),
        *({"n": 1, "yes": yes} for yes in (True, False)),
    ]

    for _ in range(2):
        for variables in asked:
            expected = Pricing(schema).price(document, operation, variables).points
            assert expected == pricing.check(document, operation, variables)
