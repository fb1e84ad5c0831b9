"""Which evidence is shown, and in which order: the pure walk against a reference, and each of its rules by itself."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import event, given

from store.domain.ancestry import (
    BUDGETS,
    Ancestry,
    AncestryGraph,
    AncestryQuery,
    Budget,
    BudgetExceeded,
    Budgets,
    EvidenceRootStatus,
    EvidenceStopReason,
    InconsistentAncestry,
    StoredRecord,
    walk_ancestry,
)
from store.domain.derived import DerivedRecord, PinnedSource, retired
from store.domain.memories import MemoryRecord
from store.domain.vocabulary import MemoryStatus, Sensitivity
from tests.factories import NOW, derived, identifier, memory
from tests.unit.store.ancestries import Fault, Reference, World, known_of, pins_of, size_of, worlds

DEPTH, NODES = EvidenceStopReason.DEPTH_LIMIT, EvidenceStopReason.NODE_LIMIT


def belief(number: int, **changes: Any) -> MemoryRecord:  # Any: as `memory` takes them
    return memory(id=identifier(number), **changes)


def summary(number: int, *sources: StoredRecord) -> DerivedRecord:
    return derived(*sources, id=identifier(number))


def walked(
    records: Sequence[StoredRecord],
    *roots: int,
    max_depth: int = 8,
    node_limit: int = 256,
    ceiling: Sensitivity = Sensitivity.RESTRICTED,
    budgets: Budgets = BUDGETS,
) -> AncestryGraph:
    """The graph of some roots, by number, where everything was looked up."""
    query = AncestryQuery(root_ids=list(map(identifier, roots)), max_depth=max_depth, node_limit=node_limit)
    by_id = {record.id: record for record in records}
    looked_up = {*by_id, *query.root_ids, *(pin.id for record in records for pin in pins_of(record))}
    ancestry = Ancestry(looked_up=looked_up, records=by_id, ceiling=ceiling, now=NOW, size_of=size_of)
    return walk_ancestry(query, ancestry, budgets=budgets)


def numbers(graph: AncestryGraph) -> list[tuple[int, int]]:
    """The nodes as (number, depth)."""
    return [(number_of(node.record.id), node.depth) for node in graph.nodes]


def edges(graph: AncestryGraph) -> list[tuple[int, int]]:
    return [(number_of(edge.source_id), number_of(edge.target_id)) for edge in graph.edges]


def number_of(id: UUID) -> int:
    return id.int & 0xFFFF_FFFF_FFFF


def statuses(graph: AncestryGraph) -> list[EvidenceRootStatus]:
    return [root.status for root in graph.roots]


@given(worlds())
def test_the_walk_shows_what_the_reference_shows(world: World) -> None:
    try:
        expected = Reference(world)
    except Fault:
        event("inconsistent")
        for everything in (True, False):
            with pytest.raises(InconsistentAncestry):
                walk_ancestry(world.query, known_of(world, everything=everything))
        return
    graph = walk_ancestry(world.query, known_of(world, everything=True))
    event(f"nodes {len(graph.nodes)}")

    assert graph == walk_ancestry(world.query, known_of(world, everything=False))
    assert list(expected.depths.items()) == [(node.record.id, node.depth) for node in graph.nodes]
    assert [
        (id, pin.id)
        for id in expected.depths
        for pin in sorted(pins_of(world.records[id]), key=lambda pin: pin.id)
        if pin.id in expected.depths
    ] == [(edge.source_id, edge.target_id) for edge in graph.edges]
    for edge in graph.edges:
        assert (edge.source_revision, edge.target_revision) == (
            world.records[edge.source_id].revision,
            world.records[edge.target_id].revision,
        )
    assert [
        EvidenceRootStatus.INCLUDED
        if id in expected.depths
        else EvidenceRootStatus.UNAVAILABLE
        if id in expected.examined
        else EvidenceRootStatus.NOT_EXAMINED
        for id in world.query.root_ids
    ] == statuses(graph)
    stops = {DEPTH: expected.is_cut, NODES: expected.is_limited}
    assert tuple(reason for reason, holds in stops.items() if holds) == graph.stop_reasons
    behind = frozenset().union(*(expected.reasons(id) or () for id in expected.depths))
    assert (
        len(expected.examined),
        sum(size_of(world.records[id]) for id in expected.depths),
        len(behind),
        sum(size_of(world.records[id]) for id in behind),
    ) == (graph.records_examined, graph.record_bytes, graph.dependency_records, graph.dependency_bytes)
    # Complete is what it says: every root was looked at, and all that the shown rest on is shown.
    assert (not graph.stop_reasons) == (
        set(world.query.root_ids) <= set(expected.examined) and behind <= set(expected.depths)
    )


def diamond() -> tuple[MemoryRecord, MemoryRecord, DerivedRecord, DerivedRecord, DerivedRecord]:
    """5 rests on 3 and 4, and both on 1; 4 on 2 as well."""
    one, two = belief(1), belief(2)
    three, four = summary(3, one), summary(4, one, two)
    return one, two, three, four, summary(5, three, four)


def test_a_shared_ancestor_stands_once_as_near_as_it_is() -> None:
    graph = walked(diamond(), 5)

    assert [(5, 0), (3, 1), (4, 1), (1, 2), (2, 2)] == numbers(graph)
    assert [(5, 3), (5, 4), (3, 1), (4, 1), (4, 2)] == edges(graph)
    assert [(5, 0), (1, 0), (3, 1), (4, 1), (2, 2)] == numbers(walked(diamond(), 5, 1))
    assert [(4, 0), (5, 0), (1, 1), (2, 1), (3, 1)] == numbers(walked(diamond(), 4, 5))


def test_the_order_of_the_roots_decides_what_a_limit_cuts() -> None:
    first, second = walked(diamond(), 5, 2, node_limit=1), walked(diamond(), 2, 5, node_limit=1)

    assert ([(5, 0)], [(2, 0)]) == (numbers(first), numbers(second))
    assert [EvidenceRootStatus.INCLUDED, EvidenceRootStatus.NOT_EXAMINED] == statuses(first) == statuses(second)
    assert (NODES,) == first.stop_reasons == second.stop_reasons


def test_missing_and_ineligible_roots_count_as_look_ups_and_are_told_alike() -> None:
    records: list[StoredRecord] = [
        *diamond(),
        belief(6, status=MemoryStatus.RETIRED),
        belief(7, sensitivity=Sensitivity.RESTRICTED),
    ]
    graphs = [walked(records, number, ceiling=Sensitivity.SENSITIVE) for number in (6, 7, 99)]

    # Whatever the reason, nothing but the id that was asked for differs.
    assert 1 == len({replace(graph, roots=()) for graph in graphs})
    assert [[EvidenceRootStatus.UNAVAILABLE]] * 3 == list(map(statuses, graphs))
    assert ((), 1, 0, 0) == (
        graphs[0].stop_reasons,
        graphs[0].records_examined,
        graphs[0].record_bytes,
        graphs[0].dependency_records,
    )
    assert [EvidenceRootStatus.UNAVAILABLE, EvidenceRootStatus.NOT_EXAMINED] == statuses(
        walked(records, 99, 5, node_limit=1)
    )


def test_a_cut_is_told_by_its_reason_and_only_where_something_is_left_out() -> None:
    assert (DEPTH,) == walked(diamond(), 5, max_depth=1).stop_reasons
    assert () == walked(diamond(), 5, max_depth=2).stop_reasons
    assert () == walked(diamond(), 5, 3, 4, 1, 2, max_depth=0).stop_reasons
    assert () == walked(diamond(), 5, node_limit=5).stop_reasons
    assert (NODES,) == walked(diamond(), 5, node_limit=4).stop_reasons
    assert (DEPTH, NODES) == walked(diamond(), 5, 3, 99, max_depth=0, node_limit=2).stop_reasons


def test_what_lies_beyond_the_shown_depth_is_judged_all_the_same() -> None:
    one, two, three, four, five = diamond()
    for spoiled in (
        replace(one, status=MemoryStatus.RETIRED, revision=2),
        replace(one, revision=2),
        replace(one, expires_at=NOW),
    ):
        graph = walked([spoiled, two, three, four, five], 5, 2, max_depth=0)
        assert [EvidenceRootStatus.UNAVAILABLE, EvidenceRootStatus.INCLUDED] == statuses(graph)
        assert () == graph.stop_reasons
    still = replace(one, expires_at=NOW + timedelta(microseconds=1))
    assert [EvidenceRootStatus.INCLUDED] == statuses(walked([still, two, three, four, five], 5, max_depth=0))


def test_a_retired_or_expired_derived_record_is_ineligible_and_so_is_what_rests_on_it() -> None:
    one, two, three, four, five = diamond()
    assert three.content is not None
    shell = retired(three, position=1, now=NOW)
    for spoiled in (shell, replace(three, content=replace(three.content, expires_at=NOW))):
        graph = walked([one, two, spoiled, four, five], 3, 5, 4)
        assert [
            EvidenceRootStatus.UNAVAILABLE,
            EvidenceRootStatus.UNAVAILABLE,
            EvidenceRootStatus.INCLUDED,
        ] == statuses(graph)


@pytest.mark.parametrize(("depth", "expected"), [(8, EvidenceRootStatus.INCLUDED), (9, EvidenceRootStatus.UNAVAILABLE)])
def test_ancestry_is_at_most_eight_deep(depth: int, expected: EvidenceRootStatus) -> None:
    records: list[StoredRecord] = [belief(1)]
    for number in range(2, depth + 2):
        records.append(summary(number, records[-1]))
    assert [expected] == statuses(walked(records, depth + 1, max_depth=0))
    # What is below it may be shown by itself.
    assert [EvidenceRootStatus.INCLUDED] == statuses(walked(records, depth))


@pytest.mark.parametrize(
    ("beliefs", "expected"), [(60, EvidenceRootStatus.INCLUDED), (61, EvidenceRootStatus.UNAVAILABLE)]
)
def test_a_record_rests_on_at_most_64_others(beliefs: int, expected: EvidenceRootStatus) -> None:
    behind = [belief(number) for number in range(1, beliefs + 1)]
    groups = [summary(100 + number, *behind[number::4]) for number in range(4)]
    assert [expected] == statuses(walked([*behind, *groups, summary(200, *groups)], 200))


def test_what_contradicts_the_rules_is_never_passed_over() -> None:
    one, two, three, four, five = diamond()
    to_five = PinnedSource(id=five.id, revision=1, omitted=False)
    many = [belief(number) for number in range(10, 27)]
    pins = [PinnedSource(id=each.id, revision=1, omitted=False) for each in many]
    broken: dict[str, list[StoredRecord]] = {
        "not there": [two, three, four, five],
        "does not have yet": [
            one,
            two,
            replace(three, sources=(replace(three.sources[0], revision=2),)),
            four,
            five,
        ],
        "more private": [replace(one, sensitivity=Sensitivity.INTERNAL), two, three, four, five],
        "rests on itself": [one, two, replace(three, sources=(*three.sources, to_five)), four, five],
        "1 to 16 sources": [one, two, replace(three, sources=tuple(pins)), four, five, *many],
        "content and 1 to 16": [one, two, replace(three, sources=()), four, five],
    }
    for reason, records in broken.items():
        with pytest.raises(InconsistentAncestry, match=reason):
            walked(records, 5, max_depth=0)
    # It is not met where nothing leads to it, or where the limit ends the walk before.
    assert [EvidenceRootStatus.INCLUDED] == statuses(walked(broken["more private"], 2))
    assert [EvidenceRootStatus.INCLUDED, EvidenceRootStatus.NOT_EXAMINED] == statuses(
        walked(broken["rests on itself"], 2, 5, node_limit=1)
    )


def test_a_source_above_the_ceiling_of_what_is_shown_is_a_contradiction() -> None:
    one, two, three, four, five = diamond()
    hidden = replace(one, sensitivity=Sensitivity.RESTRICTED)
    with pytest.raises(InconsistentAncestry):
        walked([hidden, two, three, four, five], 5, ceiling=Sensitivity.SENSITIVE)


def test_a_circle_of_any_length_is_met() -> None:
    records = {number: summary(number, belief(number % 2_000 + 1)) for number in range(1, 2_001)}
    with pytest.raises(InconsistentAncestry, match="itself"):
        walked(list(records.values()), 1)


@pytest.mark.parametrize(
    ("budget", "field"),
    [
        (Budget.RECORD_BYTES, "record_bytes"),
        (Budget.DEPENDENCY_RECORDS, "dependency_records"),
        (Budget.DEPENDENCY_BYTES, "dependency_bytes"),
    ],
)
def test_a_budget_ends_the_whole_walk(budget: Budget, field: str) -> None:
    records = diamond()
    graph = walked(records, 5)
    needed = getattr(graph, field)

    assert graph == walked(records, 5, budgets=replace(BUDGETS, **{field: needed}))
    with pytest.raises(BudgetExceeded) as refused:
        walked(records, 5, budgets=replace(BUDGETS, **{field: needed - 1}))
    assert (budget, needed - 1) == (refused.value.budget, refused.value.maximum)
