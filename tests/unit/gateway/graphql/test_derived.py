"""Derived records in GraphQL: what a document asks of the store, how large an answer counts, and what stays unasked."""

from types import SimpleNamespace
from typing import Any

import pytest
from graphql import FragmentDefinitionNode, OperationDefinitionNode, parse

from gateway.graphql.answer_size import LINK_VALUES, VALUES_MAX, AnswerSize
from gateway.service.errors import MalformedRequest
from store.domain.derived import CLAUSES_MAX, SOURCES_MAX
from tests.factories import derived, identifier, memory
from tests.unit.gateway.graphql.clients import Client, deployment
from tests.worlds import keep_derived

BOAT, DAWN, SUMMARY = (identifier(number) for number in (1, 2, 21))
BELIEFS = (
    memory("Keeps a rowing boat", id=BOAT, conflicts_with=(DAWN,)),
    memory("Rows at dawn", id=DAWN, conflicts_with=(BOAT,)),
)
SUMMED_UP = derived(BELIEFS[0], statement="Keeps a rowing boat", id=SUMMARY)
ITEM = "... on Memory { statement } ... on DerivedMemory { content { statement } }"


async def asked(client: Client, query: str) -> dict[str, int]:
    """How often the store is asked for what, by one document that is answered whole."""
    client.store.reads.clear()
    await client.data(query)
    return dict(client.store.reads)


@pytest.mark.parametrize(
    ("query", "reads"),
    [
        ("{ memoryItems(ceiling: PUBLIC) { nodes { id } } }", {"browse": 1, "derived.browse": 1}),
        (
            "{ memoryItems(ceiling: PUBLIC, first: 1) { totalCount pageInfo { hasPreviousPage } } }",
            {"browse": 1, "derived.browse": 1, "count": 1, "derived.count": 1},
        ),
        (f'{{ derivedMemory(id: "{SUMMARY}", ceiling: PUBLIC) {{ content {{ statement }} }} }}', {"derived.find": 1}),
        (
            "{ memoryItems(ceiling: PUBLIC) { nodes { ... on Memory { conflictsWithMemories { id } } } } }",
            {"browse": 1, "derived.browse": 1, "find_many": 1},
        ),
        ("{ memories(ceiling: PUBLIC) { totalCount nodes { id } } }", {"browse": 1, "count": 1}),
        (f'{{ memory(id: "{BOAT}", ceiling: PUBLIC) {{ id }} }}', {"find": 1}),
        ('{ memoryItems(ceiling: PUBLIC, sessionId: "none") { totalCount nodes { id } } }', {}),
    ],
)
async def test_a_document_asks_for_what_it_shows(query: str, reads: dict[str, int]) -> None:
    async with deployment(*BELIEFS, derived=True) as client:
        await keep_derived(client.store, SUMMED_UP)
        assert reads == await asked(client, query)


async def test_all_that_a_document_shows_is_of_one_snapshot() -> None:
    beliefs, items = (
        "memories(ceiling: PUBLIC) { totalCount }",
        f"memoryItems(ceiling: PUBLIC) {{ nodes {{ {ITEM} }} }}",
    )
    async with deployment(*BELIEFS, derived=True) as client:
        await keep_derived(client.store, SUMMED_UP)
        shown = await client.data(f'{{ {beliefs} {items} derivedMemory(id: "{SUMMARY}", ceiling: PUBLIC) {{ id }} }}')
        assert 1 == client.store.snapshots
        assert 0 == client.store.open_snapshots
    said = {"content": {"statement": "Keeps a rowing boat"}}
    assert [said, {"statement": "Rows at dawn"}, {"statement": "Keeps a rowing boat"}] == shown["memoryItems"]["nodes"]


async def test_the_other_side_is_asked_for_only_where_it_is_selected() -> None:
    async with deployment(*BELIEFS, derived=True) as client:
        await client.data("{ memoryItems(ceiling: PUBLIC, first: 1) { pageInfo { hasNextPage } } }")
        await client.data("{ memoryItems(ceiling: PUBLIC, first: 1) { pageInfo { hasPreviousPage } } }")
        await client.data("{ memoryItems(ceiling: PUBLIC, last: 1) { pageInfo { hasNextPage } } }")
        assert [False, True, True] == [query.with_opposite for query in client.store.browsed]


@pytest.mark.parametrize(
    ("selection", "values"),
    [
        ("id ... on Memory { statement } ... on DerivedMemory { revision }", 3),
        ("... on DerivedMemory { sources { id omitted } }", SOURCES_MAX * 3),
        ("... on DerivedMemory { content { clauses { text } } }", 1 + CLAUSES_MAX * 2),
        ("... on Memory { subject ...F } ...F", 1 + LINK_VALUES),
        # What two types show under one key counts for both.
        (
            "... on Memory { it: supersededByMemory { subject } } ... on DerivedMemory { it: content { subject } }",
            LINK_VALUES + 2,
        ),
    ],
)
def test_an_item_counts_as_all_that_is_selected_of_any_type(selection: str, values: int) -> None:
    fragment_text = "fragment F on Memory { supersedes { id } }"
    document = parse(f"{{ memoryItems(ceiling: PUBLIC) {{ nodes {{ {selection} }} }} }} {fragment_text}")
    operation, fragment = document.definitions
    assert isinstance(operation, OperationDefinitionNode)
    assert isinstance(fragment, FragmentDefinitionNode)
    # All that a field is told which it looks at.
    info: Any = SimpleNamespace(
        field_nodes=operation.selection_set.selections, fragments={"F": fragment}, variable_values={}
    )
    # The page and its nodes are values too.
    most = VALUES_MAX // (2 + values)

    assert AnswerSize().admits(most, info)
    with pytest.raises(MalformedRequest, match=f"must not show more than {VALUES_MAX} values"):
        AnswerSize().admits(most + 1, info)


async def test_of_a_review_one_kind_of_record_is_shown() -> None:
    review = (
        'mutation {{ reviewMemory(input: {{id: "{}", ceiling: PUBLIC, outcome: NOT_HERE, idempotencyKey: "{}"}}) '
        "{{ memory {{ id portability }} derivedMemory {{ id content {{ portability }} }} }} }}"
    )
    async with deployment(*BELIEFS, derived=True) as client:
        await keep_derived(client.store, SUMMED_UP)
        derived_one = await client.data(review.format(SUMMARY, "one"))
        belief = await client.data(review.format(DAWN, "two"))
    local = {"id": str(SUMMARY), "content": {"portability": "LOCAL"}}
    assert {"reviewMemory": {"memory": None, "derivedMemory": local}} == derived_one
    of_belief = {"memory": {"id": str(DAWN), "portability": "LOCAL"}, "derivedMemory": None}
    assert {"reviewMemory": of_belief} == belief


async def test_without_the_surface_no_read_asks_for_a_derived_record() -> None:
    async with deployment(*BELIEFS) as client:
        await keep_derived(client.store, SUMMED_UP)
        for query in (
            "{ memories(ceiling: PUBLIC) { totalCount nodes { id conflictsWithMemories { id } } } }",
            f'{{ memory(id: "{BOAT}", ceiling: PUBLIC) {{ id }} }}',
            "{ memoryOverview(ceiling: PUBLIC) { flaggedForReview } }",
        ):
            assert not [name for name in await asked(client, query) if name.startswith("derived")]
        for query in ("{ memoryItems(ceiling: PUBLIC) { totalCount } }", "{ derivedMemory { id } }"):
            assert "GRAPHQL_VALIDATION_FAILED" == (await client.error(query))["extensions"]["classification"]
