"""Beliefs over GraphQL: pages in both directions, links under the enclosing ceiling, statements counted, mutations."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import pytest
from pydantic.alias_generators import to_camel

from gateway.graphql.answer_size import VALUES_MAX
from gateway.views.memories import MemoryView, memory_view
from store.domain.memories import MemoryRecord
from store.domain.vocabulary import MemoryStatus, Sensitivity
from tests.factories import NOW, identifier, memory, owner
from tests.unit.gateway.graphql.clients import Client, chain, deployment

PAGE = """
query Page($first: Int, $after: String, $last: Int, $before: String) {
  memories(ceiling: PUBLIC, first: $first, after: $after, last: $last, before: $before) {
    nodes { statement }
    edges { cursor node { id } }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    totalCount
  }
}
"""


def beliefs(count: int) -> list[MemoryRecord]:
    """So many beliefs, each newer than the one before."""
    return [memory(f"Has boat {number}") for number in range(count)]


async def page(client: Client, **arguments: object) -> tuple[list[str], bool, bool, str, str]:
    """Statements, the two flags, and the two cursors."""
    connection = (await client.data(PAGE, arguments))["memories"]
    info = connection["pageInfo"]
    edges = connection["edges"]
    assert (edges[0]["cursor"], edges[-1]["cursor"]) == (info["startCursor"], info["endCursor"])
    statements = [node["statement"] for node in connection["nodes"]]
    return statements, info["hasPreviousPage"], info["hasNextPage"], info["startCursor"], info["endCursor"]


async def test_pages_are_walked_in_both_directions_with_true_flags() -> None:
    records = beliefs(5)
    names = [record.statement for record in reversed(records)]
    async with deployment(*records) as client:
        statements, before, after, _, end = await page(client, first=2)
        assert (names[:2], False, True) == (statements, before, after)
        statements, before, after, _, end = await page(client, first=2, after=end)
        assert (names[2:4], True, True) == (statements, before, after)
        statements, before, after, start, _ = await page(client, first=2, after=end)
        assert (names[4:], True, False) == (statements, before, after)
        statements, before, after, start, _ = await page(client, last=3, before=start)
        assert (names[1:4], True, True) == (statements, before, after)
        statements, before, after, _, _ = await page(client, before=start)
        assert (names[:1], False, True) == (statements, before, after)
        statements, before, after, _, _ = await page(client, last=2)
        assert (names[3:], True, False) == (statements, before, after)


async def test_a_page_that_ends_with_the_last_belief_has_none_beyond() -> None:
    async with deployment(*beliefs(4)) as client:
        whole, from_the_end = await page(client, first=4), await page(client, last=4)
        _, _, _, _, end = await page(client, first=2)
        second = await page(client, first=2, after=end)
        first = await page(client, last=2, before=second[3])
    flags = [each[1:3] for each in (whole, from_the_end, second, first)]
    assert [(False, False), (False, False), (True, False), (False, True)] == flags


async def test_the_count_is_of_all_pages_wherever_a_page_lies() -> None:
    async with deployment(*beliefs(5)) as client:
        whole = (await client.data(PAGE, {"first": 3}))["memories"]
        cursor = whole["pageInfo"]["endCursor"]
        others = [
            (await client.data(PAGE, arguments))["memories"]
            for arguments in ({"first": 1, "after": cursor}, {"last": 1, "before": cursor}, {"last": 2})
        ]
    assert [5, 5, 5, 5] == [connection["totalCount"] for connection in (whole, *others)]


async def test_an_empty_page_has_null_cursors_and_a_count() -> None:
    async with deployment() as client:
        connection = (await client.data(PAGE))["memories"]
        info = {"hasNextPage": False, "hasPreviousPage": False, "startCursor": None, "endCursor": None}
        assert {"nodes": [], "edges": [], "pageInfo": info, "totalCount": 0} == connection


async def test_every_exposed_field_is_written_as_the_view_writes_it() -> None:
    other = memory("Sold the boat")
    record = memory(
        confidence=replace(other).confidence,
        conflicts_with=(other.id,),
        formation_run_id=identifier(),
        consolidation_policy_version="v1",
        expires_at=NOW + timedelta(days=1, microseconds=5),
    )
    fields = " ".join(_camel(name) for name in MemoryView.model_fields)
    async with deployment(record, other) as client:
        shown = (await client.data(f'{{ memory(id: "{record.id}", ceiling: PUBLIC) {{ {fields} }} }}'))["memory"]
    expected = memory_view(record, NOW).model_dump(mode="json")
    enumerations = {name for name, field in MemoryView.model_fields.items() if hasattr(field.annotation, "__members__")}
    for name, value in expected.items():
        assert (value.upper() if name in enumerations else value) == shown[_camel(name)]
    assert "2026-06-16T12:00:00.000005Z" == shown["expiresAt"]


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(other.title() for other in others)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("statuses: [RETIRED, EXPIRED]", {"retired", "expired"}),
        ("statuses: null, first: null, after: null", {"plain", "flagged"}),
        ("flagged: true", {"flagged"}),
        ('text: "FLAGGED nothing"', {"flagged"}),
        ('subject: "ADA"', {"plain", "flagged"}),
        ('subject: "Bob"', set()),
        ('sessionId: "none"', set()),
        ("beliefTypes: [PREFERENCE]", set()),
        ("sensitivities: [RESTRICTED]", set()),
        ("first: 1000", {"plain", "flagged"}),
    ],
)
async def test_filters_are_handed_to_the_service(arguments: str, expected: set[str]) -> None:
    records = [
        memory("plain"),
        memory("flagged", flagged_for_review=True),
        memory("retired", status=MemoryStatus.RETIRED),
        memory("expired", expires_at=NOW),
        memory("hidden", sensitivity=Sensitivity.RESTRICTED),
        memory("foreign", owner=owner("eve")),
    ]
    async with deployment(*records) as client:
        query = f"{{ memories(ceiling: SENSITIVE, {arguments}) {{ nodes {{ statement }} totalCount }} }}"
        connection = (await client.data(query))["memories"]
    assert expected == {node["statement"] for node in connection["nodes"]}
    assert len(expected) == connection["totalCount"]


@pytest.mark.parametrize(
    ("selection", "arguments", "asked"),
    [
        ("nodes { id }", "", False),
        ("pageInfo { hasNextPage }", "", False),
        ("pageInfo { hasPreviousPage }", "", True),
        ("pageInfo { hasPreviousPage }", ", last: 1", False),
        ("pageInfo { hasNextPage }", ", last: 1", True),
        ("where: pageInfo { before: hasPreviousPage }", "", True),
        ("pageInfo @include(if: false) { hasPreviousPage }", "", False),
        ("pageInfo { hasPreviousPage @skip(if: $yes) }", "", False),
        ("... on MemoryConnection { ...F }", "", True),
    ],
)
async def test_the_flag_of_the_other_side_is_asked_for_when_selected(
    selection: str, arguments: str, asked: bool
) -> None:
    spread = "...F" in selection
    fragment = "fragment F on MemoryConnection { pageInfo { endCursor } pageInfo { ...G } } " if spread else ""
    fragment += "fragment G on PageInfo { hasPreviousPage }" if spread else ""
    variable = "($yes: Boolean = true)" if "$yes" in selection else ""
    async with deployment(*beliefs(3)) as client:
        await client.data(f"query Q{variable} {{ memories(ceiling: PUBLIC{arguments}) {{ {selection} }} }} {fragment}")
        assert {"browse": 1} == client.store.reads
        [query] = client.store.browsed
        assert asked == query.with_opposite


async def test_the_count_is_a_statement_only_when_selected() -> None:
    async with deployment(*beliefs(3)) as client:
        await client.data("{ memories(ceiling: PUBLIC) { nodes { id } totalCount @skip(if: true) } }")
        assert {"browse": 1} == client.store.reads
        await client.data("{ memories(ceiling: PUBLIC, first: 1) { totalCount } }")
        assert {"browse": 2, "count": 1} == client.store.reads


NESTED = """
query Nested($first: Int) {
  memories(ceiling: PUBLIC, first: $first) {
    edges { node { id conflictsWithMemories { id } supersededByMemory { id } supersedes { id } } }
    nodes { conflictsWithMemories { statement } }
  }
}
"""


async def test_a_page_of_200_with_all_its_links_takes_at_most_four_reads_on_one_snapshot() -> None:
    newer = list(chain(*beliefs(200)))
    older = [
        memory(f"Had boat {number}", status=MemoryStatus.SUPERSEDED, superseded_by=record.id)
        for number, record in enumerate(newer)
    ]
    async with deployment(*older, *newer) as client:
        before = client.store.snapshots
        edges = (await client.data(NESTED, {"first": 200}))["memories"]["edges"]
        assert 200 == len(edges)
        assert all(edge["node"]["conflictsWithMemories"] and edge["node"]["supersedes"] for edge in edges)
        assert client.store.reads.total() <= 4
        assert 1 == client.store.snapshots - before
        assert 0 == client.store.open_snapshots


async def test_deeper_links_take_one_read_a_level() -> None:
    async with deployment(*chain(*beliefs(50))) as client:
        link = "conflictsWithMemories { id "
        await client.data(f"{{ memories(ceiling: PUBLIC, first: 20) {{ nodes {{ {link * 2} {'}' * 2} }} }} }}")
        # Neighbours of neighbours are on the page itself, but for those of the last; what was fetched once is kept.
        assert client.store.reads.total() <= 3


async def test_links_stay_under_the_ceiling_of_their_field() -> None:
    ids = sorted([identifier(), identifier()])
    secret = memory("Secret", id=ids[0], sensitivity=Sensitivity.RESTRICTED)
    open_one = memory("Open", id=ids[1])
    replaced_by_secret = memory(
        "Replaced", status=MemoryStatus.SUPERSEDED, superseded_by=secret.id, conflicts_with=(ids[0], ids[1])
    )
    selection = """{
      conflictsWith supersededBy conflictsWithMemories { statement supersedes { statement } }
      supersededByMemory { statement supersedes { statement } }
    }"""
    query = f"""query($id: ID!) {{
      low: memory(id: $id, ceiling: SENSITIVE) {selection}
      high: memory(id: $id, ceiling: RESTRICTED) {selection}
    }}"""
    async with deployment(secret, open_one, replaced_by_secret) as client:
        data = await client.data(query, {"id": str(replaced_by_secret.id)})
    low = {
        "conflictsWith": [str(open_one.id)],
        "supersededBy": None,
        "conflictsWithMemories": [{"statement": "Open", "supersedes": []}],
        "supersededByMemory": None,
    }
    high = {
        "conflictsWith": [str(secret.id), str(open_one.id)],
        "supersededBy": str(secret.id),
        "conflictsWithMemories": [
            {"statement": "Secret", "supersedes": [{"statement": "Replaced"}]},
            {"statement": "Open", "supersedes": []},
        ],
        "supersededByMemory": {"statement": "Secret", "supersedes": [{"statement": "Replaced"}]},
    }
    assert {"low": low, "high": high} == data


def clique(count: int) -> list[MemoryRecord]:
    """So many beliefs, each in conflict with all the others."""
    records = beliefs(count)
    return [
        replace(record, conflicts_with=tuple(sorted(other.id for other in records if other is not record)))
        for record in records
    ]


TOO_LARGE = f"query must not show more than {VALUES_MAX} values of memories at once"
ALL_FIELDS = " ".join(to_camel(name) for name in MemoryView.model_fields)


@pytest.mark.parametrize(
    "query",
    [
        f"""{{ memories(ceiling: PUBLIC, first: 200) {{
          nodes {{ {ALL_FIELDS} conflictsWithMemories {{ {ALL_FIELDS} }} }} }} }}""",
        f"""{{ memories(ceiling: PUBLIC, first: 100) {{
          nodes {{ ...F more: conflictsWithMemories {{ {ALL_FIELDS} }} }} }} }}
        fragment F on Memory {{ conflictsWithMemories {{ {ALL_FIELDS} }} }}""",
    ],
)
async def test_an_answer_that_grows_without_end_is_refused_as_a_whole(query: str) -> None:
    async with deployment(*clique(50)) as client:
        response = await client.post(query)
    assert 400 == response.status_code
    assert {"errors"} == set(response.json())
    [error] = response.json()["errors"]
    assert (TOO_LARGE, "malformed_request") == (error["message"], error["extensions"]["code"])


async def test_a_page_with_every_field_and_every_link_is_within_the_bound() -> None:
    async with deployment(*clique(30)) as client:
        query = (
            f"{{ memories(ceiling: PUBLIC) {{ nodes {{ {ALL_FIELDS} conflictsWithMemories {{ {ALL_FIELDS} }} }} }} }}"
        )
        data = await client.data(query)
    assert 30 == len(data["memories"]["nodes"])
    assert {29} == {len(node["conflictsWithMemories"]) for node in data["memories"]["nodes"]}


async def test_a_mutation_whose_answer_grows_too_large_tells_that_it_was_applied() -> None:
    records = clique(60)
    links = "conflictsWithMemories { " * 2 + ALL_FIELDS + " }" * 2
    async with deployment(*records) as client:
        response = await client.post(
            f'mutation {{ reviewMemory(input: {{id: "{records[0].id}", ceiling: PUBLIC, outcome: UNTRUE,'
            f' idempotencyKey: "one"}}) {{ memory {{ status {links} }} }} }}'
        )
    assert 200 == response.status_code
    assert "RETIRED" == response.json()["data"]["reviewMemory"]["memory"]["status"]
    [error] = response.json()["errors"]
    assert (TOO_LARGE, "malformed_request") == (error["message"], error["extensions"]["code"])


async def test_the_overview_counts_under_the_ceiling() -> None:
    records = [
        memory("One"),
        memory("Two", flagged_for_review=True),
        memory("Three", sensitivity=Sensitivity.SENSITIVE),
    ]
    query = """{ memoryOverview(ceiling: INTERNAL) {
      statuses { status count } beliefTypes { beliefType count } sensitivities { sensitivity count }
      confidenceBands { minimum maximum count } months { month count } flaggedForReview
    } }"""
    async with deployment(*records) as client:
        overview = (await client.data(query))["memoryOverview"]
        assert {"overview": 1} == client.store.reads
    assert [{"sensitivity": "PUBLIC", "count": 2}, {"sensitivity": "INTERNAL", "count": 0}] == overview["sensitivities"]
    assert {"status": "ACTIVE", "count": 2} in overview["statuses"]
    assert {"minimum": 0.4, "maximum": 0.6, "count": 2} in overview["confidenceBands"]
    assert [{"month": "2026-05", "count": 2}] == overview["months"]
    assert 1 == overview["flaggedForReview"]


async def test_mutations_follow_one_another_and_what_they_show_is_read_after_them() -> None:
    first, second = chain(memory("First", flagged_for_review=True), memory("Second"))
    mutation = """mutation($first: ID!, $second: ID!) {
      review: reviewMemory(input: {id: $first, ceiling: PUBLIC, outcome: DISMISS, idempotencyKey: "1"}) {
        memory { flaggedForReview conflictsWithMemories { statement } }
      }
      delete: deleteMemory(input: {id: $second, ceiling: PUBLIC, idempotencyKey: "2"}) { deletedId }
      again: reviewMemory(input: {id: $first, ceiling: PUBLIC, outcome: UNTRUE, idempotencyKey: "3"}) {
        memory { status conflictsWith conflictsWithMemories { statement } supersedes { id } }
      }
    }"""
    async with deployment(first, second) as client:
        data = await client.data(mutation, {"first": str(first.id), "second": str(second.id).upper()})
        assert 0 == client.store.open_snapshots
    expected = {
        "review": {"memory": {"flaggedForReview": False, "conflictsWithMemories": [{"statement": "Second"}]}},
        "delete": {"deletedId": str(second.id)},
        "again": {"memory": {"status": "RETIRED", "conflictsWith": [], "conflictsWithMemories": [], "supersedes": []}},
    }
    assert expected == data


async def test_a_read_only_token_changes_nothing(client: Client) -> None:
    nodes = (await client.data("{ memories(ceiling: PUBLIC) { nodes { id } } }"))["memories"]["nodes"]
    query = 'mutation($id: ID!) { deleteMemory(input: {id: $id, ceiling: PUBLIC, idempotencyKey: "k"}) { deletedId } }'
    error = await client.acting("memory.read").error(query, {"id": str(UUID(nodes[0]["id"]))})
    assert "authorization_error" == error["extensions"]["code"]
    assert {"memories": {"totalCount": 1}} == await client.data("{ memories(ceiling: PUBLIC) { totalCount } }")


async def test_what_a_refused_query_leaves_under_way_opens_no_snapshot_any_more(client: Client) -> None:
    """A schema that can't be shown refuses the whole, while the pages beside it have not been read yet."""
    before = asyncio.all_tasks()
    answer = await client.post(
        "query($no: Boolean = true) { memories(ceiling: PUBLIC) { totalCount }"
        " __schema { types { name @include(if: $no) } } }",
        {"no": None},
    )
    left = asyncio.all_tasks() - before
    assert left
    await asyncio.wait(left)

    assert answer.json()["data"] is None
    assert (0, 0) == (client.store.snapshots, client.store.open_snapshots)
    assert not client.store.reads
