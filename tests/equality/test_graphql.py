"""GraphQL documents: whatever is asked, both ways to make a page answer the same bytes and report the same."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from store.domain.memories import MemoryRecord
from tests.equality.documents import Document, documents
from tests.equality.pairs import Pair, Side
from tests.factories import memory, owner
from tests.gateways import FULL, WRITE
from tests.strategies import OWNERS, WORLDS_MAX, worlds

TIMES_ASKED = 4
"""Until a shape of a row recurs."""


async def answer(side: Side, secret: str, document: Document, **headers: str) -> tuple[object, ...]:
    """Everything that a document leads to."""
    content: dict[str, Any] = {"query": document.query, "variables": document.variables}  # Any: JSON
    return await side.ask("POST", "/graphql", secret, json=content, headers=headers)


async def compare(pair: Pair, secret: str, document: Document, **headers: str) -> tuple[object, ...]:
    """Ask the plain side, then the other one until the shape recurs; the answer."""
    expected = await answer(pair.plain, secret, document, **headers)
    for _ in range(TIMES_ASKED):
        assert expected == await answer(pair.fast, secret, document, **headers)
    return expected


# The fixture is one store for all examples on purpose: a world is told from another by its tenants.
@settings(max_examples=WORLDS_MAX, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    world=worlds(),
    asked=st.lists(
        st.tuples(st.sampled_from((*[OWNERS[0]] * 4, *OWNERS[1:])), st.sampled_from((*[FULL] * 9, WRITE)), documents()),
        min_size=1,
        max_size=8,
    ),
)
async def test_any_document_is_answered_alike(pair: Pair, world: list[MemoryRecord], asked: list[Any]) -> None:
    number = await pair.keep(world)

    for who, scopes, document in asked:
        await compare(pair, await pair.secret(who, number, scopes), document)


EVERYTHING = "edges { cursor node { id statement status conflictsWith updatedAt } } pageInfo { hasNextPage endCursor }"


@pytest.mark.parametrize(
    "headers",
    [{"x-query-cost": "1"}, {"accept": "application/graphql-response+json"}, {"x-query-cost": "2"}],
    ids=["cost", "media-type", "refused"],
)
async def test_headers_are_heeded_alike(pair: Pair, headers: dict[str, str]) -> None:
    number = await pair.keep([memory(f"Belief {n} → ✓") for n in range(4)])
    document = Document(f"{{ memories(ceiling: RESTRICTED, first: 2) {{ {EVERYTHING} }} }}", {})

    status, content, *_ = await compare(pair, await pair.secret(owner(), number), document, **headers)

    assert isinstance(content, bytes)
    assert (status, "cost" in json.loads(content).get("extensions", {})) == (
        (400, False) if headers.get("x-query-cost") == "2" else (200, "x-query-cost" in headers)
    )


@pytest.mark.parametrize(
    ("selection", "is_planned"),
    [
        (EVERYTHING, True),
        ("nodes { id ...on Memory { subject } } edges { cursor }", True),
        ("nodes { id } edges { node { id } }", True),
        ("pageInfo { hasPreviousPage }", True),
        ("__typename", True),
        ("nodes { id } edges { node { statement } }", False),
        ("nodes { id } totalCount", False),
        ("nodes { id supersedes { id } }", False),
    ],
)
async def test_what_is_planned_and_what_is_executed(pair: Pair, selection: str, is_planned: bool) -> None:
    number = await pair.keep([memory(f"Belief {n}") for n in range(3)])
    document = Document(f"query($first: Int) {{ it: memories(ceiling: PUBLIC, first: $first) {{ {selection} }} }}", {})
    secret = await pair.secret(owner(), number)

    await compare(pair, secret, document)

    [endpoint] = [route.endpoint for route in pair.fast.gateway.app.routes if getattr(route, "path", "") == "/graphql"]  # type: ignore[attr-defined] # a Route
    [(_, notes)] = endpoint._pages._plans._known._documents.values()
    assert [is_planned] == [plan is not None for plan in notes.values()]
