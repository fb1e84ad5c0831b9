"""What GraphQL offers beyond the four routes: it runs there, and REST refuses it as unknown.

Source: belief store decisions, Reading (GRAPHQL_ONLY).
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from store.domain.vocabulary import MemoryStatus, Sensitivity
from store.ports.store import Store
from tests.factories import derived, identifier, memory, owner
from tests.gateways import Gateway, serving
from tests.parity.clients import GraphQLTransport, RestTransport

ADA = owner()
OLD, NEW, RIVAL, SECRET, SUMMARY = (identifier(number) for number in range(1, 6))


@dataclass(frozen=True, slots=True, kw_only=True)
class Beyond:
    """A question of GraphQL alone, its answer in the world of this module, and the REST parameters nearest to it."""

    field: str
    expected: Any  # Any: JSON
    parameters: tuple[str, ...]


def nodes(*ids: object) -> dict[str, object]:
    """The ids of a page."""
    return {"nodes": [{"id": str(id)} for id in ids]}


# Newest first the world holds SUMMARY (derived from RIVAL), SECRET (restricted), RIVAL, NEW and OLD (superseded, so
# not live).
GRAPHQL_ONLY = {
    "memoryItems sensitivities": Beyond(
        field="memoryItems(ceiling: RESTRICTED, sensitivities: [RESTRICTED, INTERNAL]) { nodes { id } }",
        expected=nodes(SUMMARY, SECRET),
        parameters=("sensitivity", "sensitivities"),
    ),
    "memoryItems last": Beyond(
        field="memoryItems(ceiling: INTERNAL, last: 2) { nodes { id } }",
        expected=nodes(RIVAL, NEW),
        parameters=("last",),
    ),
    "memoryItems before": Beyond(
        field='memoryItems(ceiling: INTERNAL, before: "%(cursor_of_new)s") { nodes { id } }',
        expected=nodes(SUMMARY, RIVAL),
        parameters=("before",),
    ),
    "memoryItems confidenceMin": Beyond(
        field="memoryItems(ceiling: INTERNAL, confidenceMin: 0.8) { nodes { id } }",
        expected=nodes(SUMMARY, RIVAL),
        parameters=("confidence_min", "confidenceMin"),
    ),
    "memoryItems confidenceMax": Beyond(
        field="memoryItems(ceiling: INTERNAL, confidenceMax: 0.8) { nodes { id } }",
        expected=nodes(RIVAL, NEW),
        parameters=("confidence_max", "confidenceMax"),
    ),
    "memoryItems formedAfter": Beyond(
        field='memoryItems(ceiling: INTERNAL, formedAfter: "2026-06-01T02:00:00+02:00") { nodes { id } }',
        expected=nodes(SUMMARY, RIVAL),
        parameters=("formed_after", "formedAfter"),
    ),
    "memoryItems formedBefore": Beyond(
        field='memoryItems(ceiling: INTERNAL, formedBefore: "2026-06-02T00:00:00Z") { nodes { id } }',
        expected=nodes(RIVAL, NEW),
        parameters=("formed_before", "formedBefore"),
    ),
    "memoryItems totalCount": Beyond(
        field="memoryItems(ceiling: INTERNAL, first: 1) { totalCount }",
        expected={"totalCount": 3},
        parameters=("total_count", "totalCount"),
    ),
    "memoryItems hasPreviousPage": Beyond(
        field='memoryItems(ceiling: INTERNAL, after: "%(cursor_of_rival)s") { pageInfo { hasPreviousPage } }',
        expected={"pageInfo": {"hasPreviousPage": True}},
        parameters=("has_previous_page", "hasPreviousPage"),
    ),
    "memoryItems conflictsWithMemories": Beyond(
        field=(
            "memoryItems(ceiling: INTERNAL, last: 1) "
            "{ nodes { ... on Memory { conflictsWithMemories { id } supersedes { id } } } }"
        ),
        expected={"nodes": [{"conflictsWithMemories": [{"id": str(RIVAL)}], "supersedes": [{"id": str(OLD)}]}]},
        parameters=("conflicts_with_memories", "expand"),
    ),
    "sensitivities": Beyond(
        field="memories(ceiling: RESTRICTED, sensitivities: [RESTRICTED]) { nodes { id } }",
        expected=nodes(SECRET),
        parameters=("sensitivity", "sensitivities"),
    ),
    "last": Beyond(
        field="memories(ceiling: INTERNAL, last: 1) { nodes { id } }",
        expected=nodes(NEW),
        parameters=("last",),
    ),
    "before": Beyond(
        field='memories(ceiling: INTERNAL, before: "%(cursor_of_new)s") { nodes { id } }',
        expected=nodes(RIVAL),
        parameters=("before",),
    ),
    "confidenceMin": Beyond(
        field="memories(ceiling: INTERNAL, confidenceMin: 0.8) { nodes { id } }",
        expected=nodes(RIVAL),
        parameters=("confidence_min", "confidenceMin"),
    ),
    "confidenceMax": Beyond(
        field="memories(ceiling: INTERNAL, confidenceMax: 0.799) { nodes { id } }",
        expected=nodes(NEW),
        parameters=("confidence_max", "confidenceMax"),
    ),
    "formedAfter": Beyond(
        field='memories(ceiling: INTERNAL, formedAfter: "2026-06-01T02:00:00+02:00") { nodes { id } }',
        expected=nodes(RIVAL),
        parameters=("formed_after", "formedAfter"),
    ),
    "formedBefore": Beyond(
        field='memories(ceiling: INTERNAL, formedBefore: "2026-06-01T00:00:00Z") { nodes { id } }',
        expected=nodes(NEW),
        parameters=("formed_before", "formedBefore"),
    ),
    "totalCount": Beyond(
        field="memories(ceiling: INTERNAL, first: 1) { totalCount }",
        expected={"totalCount": 2},
        parameters=("total_count", "totalCount"),
    ),
    "hasPreviousPage": Beyond(
        field="memories(ceiling: INTERNAL, first: 1) { pageInfo { hasPreviousPage } }",
        expected={"pageInfo": {"hasPreviousPage": False}},
        parameters=("has_previous_page", "hasPreviousPage"),
    ),
    "conflictsWithMemories": Beyond(
        field=f'memory(id: "{NEW}", ceiling: INTERNAL) {{ conflictsWithMemories {{ id }} }}',
        expected={"conflictsWithMemories": [{"id": str(RIVAL)}]},
        parameters=("conflicts_with_memories", "expand"),
    ),
    "supersededByMemory": Beyond(
        field=f'memory(id: "{OLD}", ceiling: INTERNAL) {{ supersededByMemory {{ id }} }}',
        expected={"supersededByMemory": {"id": str(NEW)}},
        parameters=("superseded_by_memory",),
    ),
    "supersedes": Beyond(
        field=f'memory(id: "{NEW}", ceiling: INTERNAL) {{ supersedes {{ id }} }}',
        expected={"supersedes": [{"id": str(OLD)}]},
        parameters=("supersedes",),
    ),
    "memoryOverview": Beyond(
        field="memoryOverview(ceiling: INTERNAL) { sensitivities { sensitivity count } flaggedForReview }",
        expected={
            "sensitivities": [{"sensitivity": "PUBLIC", "count": 2}, {"sensitivity": "INTERNAL", "count": 0}],
            "flaggedForReview": 1,
        },
        parameters=("overview",),
    ),
}


@pytest.fixture
async def gateway(store: Store) -> AsyncIterator[Gateway]:
    """A gateway with every surface on that GraphQL has more of."""
    async with serving(store, derived=True) as gateway:
        yield gateway


async def fill(gateway: Gateway) -> None:
    """The world of this module."""
    kept = await gateway.keep(
        memory("Old", id=OLD, status=MemoryStatus.SUPERSEDED, superseded_by=NEW),
        memory("New", id=NEW, conflicts_with=(RIVAL, SECRET)),
        memory(
            "Rival",
            id=RIVAL,
            conflicts_with=(NEW,),
            flagged_for_review=True,
            confidence=Decimal("0.8"),
            created_at=datetime(2026, 6, 1, tzinfo=UTC),
        ),
        memory("Secret", id=SECRET, sensitivity=Sensitivity.RESTRICTED, conflicts_with=(NEW,)),
    )
    await gateway.keep_derived(
        derived(
            kept[2],
            statement="Rival",
            id=SUMMARY,
            sensitivity=Sensitivity.INTERNAL,
            confidence=Decimal("0.9"),
            created_at=datetime(2026, 6, 2, tzinfo=UTC),
        )
    )


@pytest.mark.parametrize("name", GRAPHQL_ONLY)
async def test_graphql_answers_it(gateway: Gateway, name: str) -> None:
    await fill(gateway)
    secret = await gateway.secret(ADA)
    graphql = GraphQLTransport(gateway)
    page = await graphql.query(secret, "{ memories(ceiling: INTERNAL) { pageInfo { startCursor endCursor } } }")
    ends = page["data"]["memories"]["pageInfo"]
    cursors = {"cursor_of_rival": ends["startCursor"], "cursor_of_new": ends["endCursor"]}

    answered = await graphql.query(secret, f"{{ answer: {GRAPHQL_ONLY[name].field % cursors} }}")

    assert {"data": {"answer": GRAPHQL_ONLY[name].expected}} == answered


@pytest.mark.parametrize(
    "parameter", dict.fromkeys(each for beyond in GRAPHQL_ONLY.values() for each in beyond.parameters)
)
async def test_rest_refuses_it_as_unknown(gateway: Gateway, parameter: str) -> None:
    await fill(gateway)
    secret = await gateway.secret(ADA)
    rest = RestTransport(gateway)
    arguments = {"ceiling": "internal", parameter: "1"}
    write = {**arguments, "idempotency_key": "key", "outcome": "dismiss"}

    answers = [
        await rest.browse(secret, arguments),
        await rest.browse_items(secret, arguments),
        await rest.read(secret, str(NEW), arguments),
        await rest.review(secret, str(NEW), write),
        await rest.delete(secret, str(NEW), {name: value for name, value in write.items() if name != "outcome"}),
    ]

    for answer in answers:
        assert ("malformed_request", f"{parameter} is not a parameter of this operation") == (
            answer.code,
            answer.message,
        )
