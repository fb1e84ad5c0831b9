"""Reading evidence over each adapter: what is shown, what makes it unavailable, and what ends a request."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import count

import pytest
from hypothesis import HealthCheck, given, settings

from gateway.service.errors import AuthorizationError, GatewayError, MalformedRequest, RetrievalBusy
from gateway.service.evidence import EvidenceQuery, EvidenceService
from gateway.service.principal import Principal
from store.domain.memories import MemoryRecord
from store.domain.vocabulary import AccessScope, ReviewOutcome, Sensitivity, within
from store.inmemory.store import InMemoryStore
from tests.factories import NOW, derived, identifier, memory, owner
from tests.services.deployment import ADA, Deployment
from tests.services.evidence import READER, WatchedStore, graph, keep_world, layered, nodes, statuses
from tests.unit.store.ancestries import Reference, World, worlds
from tests.worlds import keep, keep_derived

INCLUDED, UNAVAILABLE, NOT_EXAMINED = "included", "unavailable", "not_examined"
ONE, TWO, THREE, FOUR, FIVE = map(identifier, range(1, 6))
BO = owner("bo")
WAIT_SECONDS = 10
"""For what must be refused: one that is let in would wait for ever."""
_tenants: Iterator[str] = map("tenant {}".format, count())


@given(worlds(sound=True))
@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_a_graph_is_what_the_reference_shows(deployment: Deployment, world: World) -> None:
    expected = Reference(world)
    someone = owner(tenant=next(_tenants))
    await keep_world(deployment.store, *world.records.values(), owner=someone)

    shown = await graph(
        deployment,
        *world.query.root_ids,
        of=someone,
        ceiling=world.ceiling,
        limits={"max_depth": world.query.max_depth, "node_limit": world.query.node_limit},
    )

    assert list(expected.depths.items()) == [(node.record.id, node.depth) for node in shown.nodes]
    behind = frozenset().union(*(expected.reasons(id) or () for id in expected.depths))
    sizes = {node.record.id: len(node.record.model_dump_json().encode()) for node in shown.nodes}
    coverage = shown.coverage
    assert (len(expected.examined), sum(sizes.values()), len(behind)) == (
        coverage.records_examined,
        coverage.record_bytes,
        coverage.dependency_work.records_examined,
    )
    assert coverage.complete is not (expected.is_cut or expected.is_limited)
    if behind <= sizes.keys():
        assert sum(sizes[id] for id in behind) == coverage.dependency_work.bytes_examined


@given(worlds(sound=True))
@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_what_lies_above_the_ceiling_might_as_well_not_be_there(deployment: Deployment, world: World) -> None:
    visible = [record for record in world.records.values() if within(record.sensitivity, world.ceiling)]
    answers = []
    for records in (world.records.values(), visible):
        someone = owner(tenant=next(_tenants))
        await keep_world(deployment.store, *records, owner=someone)
        shown = await graph(deployment, *world.query.root_ids, of=someone, ceiling=world.ceiling)
        answers.append(shown.model_dump_json())
    assert answers[0] == answers[1]


async def test_a_node_shows_its_record_its_revision_and_how_it_was_derived(deployment: Deployment) -> None:
    await keep_world(deployment.store, *layered())
    shown = await graph(deployment, FOUR)

    four, one, _ = shown.nodes
    assert ("summary", 0, 1) == (four.record_kind.value, four.depth, four.revision)
    assert four.derivation is not None
    assert ("extraction", "1", "run 1") == (
        four.derivation.method,
        four.derivation.method_revision,
        four.derivation.evidence_ref,
    )
    assert [(ONE, 1), (TWO, 1)] == [(source.record_id, source.revision) for source in four.derivation.sources]
    assert ("belief", 1, None) == (one.record_kind.value, one.depth, one.derivation)
    assert [(FOUR, ONE), (FOUR, TWO)] == [(edge.source.record_id, edge.target.record_id) for edge in shown.edges]
    assert (NOW, "derived_ancestry_v1", True) == (shown.evaluated_at, shown.traversal_version, shown.coverage.complete)


@pytest.mark.parametrize("outcome", ReviewOutcome)
async def test_a_review_of_a_source_makes_unavailable_what_rests_on_its_older_revision(
    deployment: Deployment, outcome: ReviewOutcome
) -> None:
    await keep_world(deployment.store, *layered())
    await deployment.review(ONE, outcome)
    shown = await graph(deployment, FIVE, ONE, TWO)

    # To dismiss says that all may stay as it is.
    stays = outcome is ReviewOutcome.DISMISS
    source = UNAVAILABLE if outcome is ReviewOutcome.UNTRUE else INCLUDED
    assert [INCLUDED if stays else UNAVAILABLE, source, INCLUDED] == statuses(shown)
    assert shown.coverage.complete


async def test_a_deleted_source_makes_unavailable_what_rested_on_it(deployment: Deployment) -> None:
    await keep_world(deployment.store, *layered())
    await deployment.delete(TWO)
    shown = await graph(deployment, TWO, FOUR, FIVE, THREE)

    assert [UNAVAILABLE, UNAVAILABLE, UNAVAILABLE, INCLUDED] == statuses(shown)
    assert [THREE, ONE] == nodes(shown)


async def test_time_makes_unavailable_what_has_run_out_without_any_write(deployment: Deployment) -> None:
    end = NOW + timedelta(hours=1)
    one = memory(id=ONE, expires_at=end)
    two = derived(one, id=TWO, expires_at=end)
    await keep_world(deployment.store, one, two)

    assert [INCLUDED] == statuses(await graph(deployment, TWO))
    deployment.clock.advance(timedelta(hours=1))
    assert [UNAVAILABLE, UNAVAILABLE] == statuses(await graph(deployment, TWO, ONE))


async def test_what_is_missing_foreign_or_above_the_ceiling_is_told_alike(deployment: Deployment) -> None:
    await keep_world(deployment.store, memory("Keeps bees", id=ONE, sensitivity=Sensitivity.SENSITIVE))
    await keep_world(deployment.store, memory("Keeps bees", id=TWO), owner=BO)
    await keep_world(deployment.store, memory("Keeps bees", id=THREE), owner=owner(tenant="inland"))
    await keep_world(deployment.store, memory("Sails", id=FOUR, revision=2), derived(memory(id=FOUR), id=FIVE))

    shown = [await graph(deployment, id, ceiling=Sensitivity.INTERNAL) for id in (ONE, TWO, THREE, identifier(9), FIVE)]
    assert 1 == len({each.model_copy(update={"roots": ()}).model_dump_json() for each in shown})
    assert [[UNAVAILABLE]] * 5 == list(map(statuses, shown))
    assert [INCLUDED] == statuses(await graph(deployment, TWO, of=BO))
    assert [INCLUDED] == statuses(await graph(deployment, ONE, ceiling=Sensitivity.SENSITIVE))


BOUNDS: dict[str, tuple[dict[str, int], list[int], str]] = {
    "no root": ({}, [], "root_record_ids must not be empty"),
    "too many": ({}, list(range(17)), "root_record_ids must hold at most 16 identifiers"),
    "twice": ({}, [1, 2, 1], "root_record_ids must not name a record twice"),
    "too deep": ({"max_depth": 9}, [1], "max_depth must be from 0 to 8"),
    "no depth": ({"max_depth": -1}, [1], "max_depth must be from 0 to 8"),
    "too much": ({"node_limit": 257}, [1], "node_limit must be from 1 to 256"),
    "nothing": ({"node_limit": 0}, [1], "node_limit must be from 1 to 256"),
}


@pytest.mark.parametrize("case", BOUNDS)
async def test_a_query_out_of_its_bounds_is_refused_by_name(deployment: Deployment, case: str) -> None:
    limits, roots, message = BOUNDS[case]
    with pytest.raises(MalformedRequest) as refusal:
        await graph(deployment, *map(identifier, roots), limits=limits)
    assert message == refusal.value.message


def large(number: int) -> MemoryRecord:
    """A belief of about 147,000 bytes as JSON, which writes each of these characters as six."""
    return memory(
        "\x01" * 8_192, id=identifier(number), origin_scopes=tuple("\x01" * (250 + place % 6) for place in range(64))
    )


@pytest.mark.parametrize(
    ("groups", "limits", "budget"),
    [
        (4, {"max_depth": 1, "node_limit": 256}, "record_bytes would exceed 8388608"),
        (8, {"max_depth": 0}, "dependency_work.bytes_examined would exceed 16777216"),
    ],
)
async def test_more_bytes_than_a_request_may_read_end_it_as_a_whole(
    deployment: Deployment, groups: int, limits: dict[str, int], budget: str
) -> None:
    behind = [[large(15 * group + place + 1) for place in range(15)] for group in range(groups)]
    summaries = [derived(*each, id=identifier(1_000 + group)) for group, each in enumerate(behind)]
    await keep(deployment.store, *(belief for each in behind for belief in each))
    await keep_derived(deployment.store, *summaries)
    roots = [summary.id for summary in summaries]

    with pytest.raises(MalformedRequest) as refusal:
        await graph(deployment, *roots, limits=limits)
    assert f"{budget}: ask for fewer roots, or for a smaller node_limit" == refusal.value.message
    assert [INCLUDED] * 3 == statuses(await graph(deployment, *roots[:3], limits=limits))
    # With a limit, what is left of the roots costs nothing.
    assert [INCLUDED, NOT_EXAMINED] == statuses(await graph(deployment, *roots[:2], limits={**limits, "node_limit": 1}))


async def test_more_look_ups_than_a_request_may_make_end_it_as_a_whole() -> None:
    # By the rules nothing rests on so much: the records are made as no derivation would.
    beliefs = [memory(id=identifier(number)) for number in range(1, 4_097)]
    middle = [derived(*beliefs[place::256], id=identifier(5_000 + place)) for place in range(256)]
    top = [derived(*middle[place::16], id=identifier(6_000 + place)) for place in range(16)]
    # One adapter is enough: the budget is the service's.
    deployment = Deployment(InMemoryStore())
    await keep(deployment.store, *beliefs)
    await keep_derived(deployment.store, *middle, *top)

    with pytest.raises(MalformedRequest, match=r"^dependency_work.records_examined would exceed 4096"):
        await graph(deployment, *(record.id for record in top))
    assert [UNAVAILABLE] == statuses(await graph(deployment, top[0].id))


class Gate:
    """Holds every read at its first look-up until it is opened."""

    def __init__(self) -> None:
        self.reached = asyncio.Semaphore(0)
        self.opened = asyncio.Event()
        self.looks = 0

    async def __call__(self, operation: str) -> None:
        if operation == "closure":
            self.looks += 1
            self.reached.release()
            await self.opened.wait()


async def test_no_more_graphs_are_read_at_once_than_there_are_slots(deployment: Deployment) -> None:
    await keep_world(deployment.store, *layered())
    gate = Gate()
    service = EvidenceService(WatchedStore(deployment.store, gate), deployment.environment, slots=2)
    under_way = [asyncio.create_task(graph(deployment, FIVE, service=service)) for _ in range(2)]
    for _ in under_way:
        await gate.reached.acquire()

    with pytest.raises(RetrievalBusy):
        async with asyncio.timeout(WAIT_SECONDS):
            await graph(deployment, FIVE, service=service)
    # Whoever may not read at all, or asks for nothing sensible, is told that, however busy it is.
    query = EvidenceQuery(ceiling=Sensitivity.PUBLIC, root_ids=(FIVE,))
    with pytest.raises(AuthorizationError):
        await service.graph(Principal(owner=ADA, scopes=frozenset({AccessScope.MEMORY_WRITE})), query)
    with pytest.raises(MalformedRequest):
        await service.graph(Principal(owner=ADA, scopes=READER), replace(query, node_limit=0))
    assert 2 == gate.looks

    gate.opened.set()
    assert [[INCLUDED], [INCLUDED]] == [statuses(each) for each in await asyncio.gather(*under_way)]
    assert [INCLUDED] == statuses(await graph(deployment, FIVE, service=service))


async def test_a_slot_is_free_again_after_a_failure_and_after_a_departure(deployment: Deployment) -> None:
    await keep_world(deployment.store, *layered())
    gate = Gate()
    service = EvidenceService(WatchedStore(deployment.store, gate), deployment.environment, slots=1)
    leaving = asyncio.create_task(graph(deployment, FIVE, service=service))
    await gate.reached.acquire()
    leaving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leaving
    gate.opened.set()
    for _ in range(2):
        with pytest.raises(GatewayError, match="node_limit"):
            await graph(deployment, FIVE, service=service, limits={"node_limit": 0})

    assert [INCLUDED] == statuses(await graph(deployment, FIVE, service=service))


WRITES: dict[str, Callable[[Deployment], Awaitable[object]]] = {
    "untrue": lambda deployment: deployment.review(ONE, ReviewOutcome.UNTRUE),
    "delete": lambda deployment: deployment.delete(ONE),
}


@pytest.mark.parametrize("write", WRITES)
async def test_a_graph_is_of_one_moment_whatever_is_written_meanwhile(deployment: Deployment, write: str) -> None:
    await keep_world(deployment.store, *layered())
    written: list[str] = []

    async def after(operation: str) -> None:
        # Between the look for the ids and the look for the beliefs.
        if operation == "closure" and not written:
            written.append(write)
            await WRITES[write](deployment)

    service = EvidenceService(WatchedStore(deployment.store, after), deployment.environment)
    before = await graph(deployment, FIVE, service=service)
    afterwards = await graph(deployment, FIVE, service=service)

    assert ([write], [INCLUDED], True) == (written, statuses(before), before.coverage.complete)
    assert [FIVE, THREE, FOUR, ONE, TWO] == nodes(before)
    assert ([UNAVAILABLE], []) == (statuses(afterwards), nodes(afterwards))
