"""Two databases, one with hidden records in it and one without: over HTTP nobody below can tell which is which.

Everything that both transports can be asked and told to do, on PostgreSQL: the answers are the same to the byte, with
their cursors and counts, wherever a cursor was taken, and the statements, the log and the metrics are the same too, a
deletion's as well, which erases hidden copies and links of the statement with the visible ones, and what hidden derived
records say that rest on it.
Source: belief store decisions, Review and delete.
"""

import itertools
import random
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import httpx
import pytest

from gateway.observability.exchanges import ExchangeReports
from gateway.observability.metrics import GatewayMetrics
from gateway.service.cursors import encode_cursor
from store.domain.derived import DerivedRecord
from store.domain.encodings import wire_time
from store.domain.memories import MemoryRecord
from store.domain.owners import Owner
from store.domain.vocabulary import (
    LIVE_STATUSES,
    SENSITIVITY_ORDER,
    BeliefType,
    MemoryStatus,
    Polarity,
    ReviewOutcome,
    Sensitivity,
    within,
)
from store.postgres.store import PostgresStore
from tests.factories import FORMED_AT, OTHER_SESSION, SESSION, derived, identifier, memory, owner
from tests.gateways import Gateway, serving
from tests.outsiders.watching import watching
from tests.worlds import keep, keep_derived

pytestmark = pytest.mark.postgres

LEVELS = (Sensitivity.PUBLIC, Sensitivity.INTERNAL, Sensitivity.SENSITIVE)
SUBJECTS, WORDS = ("Ada", "Kai"), ("sails", "rows", "bees")
COUNT = 16
FIELDS = (
    "id subject statement status sensitivity conflictsWith supersededBy flaggedForReview updatedAt "
    "conflictsWithMemories { id } supersededByMemory { id } supersedes { id }"
)
DERIVED_FIELDS = (
    "id recordKind revision derived: status flaggedForReview updatedAt content { statement } sources { id }"
)
ITEM_FIELDS = f"__typename ... on Memory {{ {FIELDS} }} ... on DerivedMemory {{ {DERIVED_FIELDS} }}"
_PAGE = (
    "query($ceiling: Sensitivity!, $first: Int, $after: String, $last: Int, $before: String, $text: String, "
    "$statuses: [MemoryStatus!], $sensitivities: [Sensitivity!], $subject: String, $flagged: Boolean, "
    "$confidenceMin: Float, $confidenceMax: Float, $formedAfter: DateTime, $formedBefore: DateTime) { page: %s("
    "ceiling: $ceiling, first: $first, after: $after, last: $last, before: $before, text: $text, statuses: $statuses, "
    "sensitivities: $sensitivities, subject: $subject, flagged: $flagged, confidenceMin: $confidenceMin, "
    "confidenceMax: $confidenceMax, formedAfter: $formedAfter, formedBefore: $formedBefore) "
    "{ totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor } edges { cursor node { %s } } } }"
)
PAGE, ITEM_PAGE = _PAGE % ("memories", FIELDS), _PAGE % ("memoryItems", ITEM_FIELDS)
OVERVIEW = (
    "query($ceiling: Sensitivity!) { memoryOverview(ceiling: $ceiling) { statuses { status count } "
    "beliefTypes { beliefType count } sensitivities { sensitivity count } confidenceBands { minimum count } "
    "months { month count } flaggedForReview } }"
)


def script(seed: int, whose: Owner) -> list[MemoryRecord]:
    """Beliefs of every kind with links between any of them, as chance has it, but alike for a seed."""
    chance = random.Random(seed)
    ids = [identifier(1_000 * (seed + 1) + number) for number in range(COUNT)]
    records = []
    for number, id in enumerate(ids):
        status = chance.choice(
            [
                MemoryStatus.ACTIVE,
                MemoryStatus.ACTIVE,
                MemoryStatus.PROVISIONAL,
                MemoryStatus.SUPERSEDED,
                MemoryStatus.RETIRED,
            ]
        )
        others = [each for each in ids if each != id]
        record = memory(
            f"{chance.choice(WORDS)} {chance.choice(WORDS)} {number % 5}",
            id=id,
            owner=whose,
            subject=chance.choice(SUBJECTS),
            status=status,
            sensitivity=chance.choice(list(Sensitivity)),
            belief_type=chance.choice(list(BeliefType)),
            polarity=chance.choice(list(Polarity)),
            flagged_for_review=chance.random() < 0.3,
            conflicts_with=tuple(sorted(chance.sample(others, chance.randrange(4)))),
            superseded_by=chance.choice(others) if status is MemoryStatus.SUPERSEDED else None,
            source_session_id=chance.choice([SESSION, OTHER_SESSION]),
            confidence=Decimal(number % 6) / 5,
            created_at=FORMED_AT + timedelta(days=number % 4),
            scope=str(number),
        )
        records.append(replace(record, store_position=number + 1))
    return records


def conclusions(seed: int, records: list[MemoryRecord]) -> list[DerivedRecord]:
    """Derived records over live beliefs, some over one of their own, each as private as its sources or more."""
    chance = random.Random(seed)
    within_reach: list[MemoryRecord | DerivedRecord] = [each for each in records if each.status in LIVE_STATUSES]
    found = []
    for number in range(COUNT):
        # Every fourth rests on what is least private, so that something is concluded below every ceiling.
        least = min(within_reach, key=lambda each: SENSITIVITY_ORDER[each.sensitivity])
        sources = chance.sample(within_reach, 2) if number % 4 else [least]
        strictest = max((source.sensitivity for source in sources), key=SENSITIVITY_ORDER.__getitem__)
        levels = [each for each in Sensitivity if within(strictest, each)]
        record = derived(
            *sources,
            id=identifier(1_000 * (seed + 1) + 500 + number),
            statement=f"{chance.choice(WORDS)} {number}",
            subject=chance.choice(SUBJECTS),
            sensitivity=chance.choice(levels) if number % 4 else strictest,
            belief_types=(chance.choice(list(BeliefType)),),
            flagged_for_review=chance.random() < 0.3,
            session_ids=(chance.choice([SESSION, OTHER_SESSION]),),
            confidence=Decimal(number % 6) / 5,
            created_at=FORMED_AT + timedelta(days=number % 4),
            store_position=COUNT + number + 1,
        )
        found.append(record)
        within_reach.append(record)
    return found


@dataclass(frozen=True, slots=True)
class World:
    """A principal before one database."""

    client: httpx.AsyncClient
    metrics: GatewayMetrics


@dataclass(frozen=True, slots=True)
class Worlds:
    """The same principal before both databases."""

    full: World
    bare: World

    async def ask(
        self,
        method: str,
        target: str,
        **content: Any,  # Any: as httpx takes it
    ) -> httpx.Response:
        """The answer, which is the same in both worlds, as is what it leaves behind."""
        answers, left = [], []
        for world in (self.full, self.bare):
            with watching(world.metrics) as traces:
                answers.append(await world.client.request(method, target, **content))
            left.append(traces)
        full, bare = answers
        assert (bare.status_code, bare.content, bare.headers) == (full.status_code, full.content, full.headers)
        assert (left[1].lines, left[1].counts) == (left[0].lines, left[0].counts)
        assert left[1].statements == left[0].statements
        return full

    async def graphql(self, document: str, variables: Mapping[str, object]) -> Any:  # Any: JSON
        """The data."""
        body = {"query": document, "variables": variables}
        return (await self.ask("POST", "/graphql", json=body)).json()["data"]


@pytest.fixture
async def gateways(
    postgres_store: PostgresStore, own_database_url: str
) -> AsyncIterator[tuple[Gateway, Gateway, GatewayMetrics, GatewayMetrics]]:
    """A gateway for each world."""
    other, metrics = PostgresStore(own_database_url), (GatewayMetrics(), GatewayMetrics())
    async with (
        serving(postgres_store, exchanges=ExchangeReports(metrics[0]), measures=metrics[0], derived=True) as full,
        serving(other, exchanges=ExchangeReports(metrics[1]), measures=metrics[1], derived=True) as bare,
    ):
        yield full, bare, *metrics
    await other.close()


def pages(cursors: list[str]) -> Iterator[Mapping[str, object]]:
    """Every filter, every size, every direction; and every cursor there is, wherever it was taken."""
    everything = [status.name for status in MemoryStatus]
    yield from ({"first": count, "statuses": everything} for count in (1, 3, 200))
    yield from ({"text": word, "statuses": everything} for word in (*WORDS, "rows bees", "3"))
    yield from ({"subject": subject} for subject in SUBJECTS)
    yield from ({"flagged": flagged, "statuses": everything} for flagged in (True, False))
    yield from ({name: each / 5} for name in ("confidenceMin", "confidenceMax") for each in range(6))
    for name in ("formedAfter", "formedBefore"):
        yield from ({name: wire_time(FORMED_AT + timedelta(days=day)), "statuses": everything} for day in range(5))
    yield from ({"sensitivities": [each.name], "statuses": everything} for each in Sensitivity)
    for cursor in cursors:
        yield {"first": 2, "after": cursor, "statuses": everything}
        yield {"last": 2, "before": cursor, "statuses": everything}


@pytest.mark.parametrize("ceiling", LEVELS)
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 20))])
async def test_nobody_can_tell_what_is_hidden(
    gateways: tuple[Gateway, Gateway, GatewayMetrics, GatewayMetrics], ceiling: Sensitivity, seed: int
) -> None:
    full, bare, full_metrics, bare_metrics = gateways
    whose = owner(tenant=f"tenant {seed} {ceiling}")
    records = script(seed, whose)
    visible = [record for record in records if within(record.sensitivity, ceiling)]
    concluded = conclusions(seed, records)
    shown = [record for record in concluded if within(record.sensitivity, ceiling)]
    assert 0 < len(visible) < len(records)
    assert len(shown) < len(concluded)
    assert bool(shown) == any(record.status in LIVE_STATUSES for record in visible)
    await keep(full.store, *records)
    await keep(bare.store, *visible)
    await keep_derived(full.store, *concluded)
    await keep_derived(bare.store, *shown)
    async with full.client() as full_client, bare.client() as bare_client:
        for gateway, client in ((full, full_client), (bare, bare_client)):
            client.headers.update({"authorization": f"Bearer {await gateway.secret(whose)}", "x-request-id": "asked"})
            await client.get("/v1/memories?ceiling=public")
        worlds = Worlds(World(full_client, full_metrics), World(bare_client, bare_metrics))
        await look_at_everything(worlds, ceiling, [*records, *concluded], (len(visible), len(shown)))
        # One of a derived record after one of a belief, so that each is met standing, withheld, retired and gone.
        turns: Iterator[MemoryRecord | DerivedRecord] = itertools.chain(*zip(records, concluded[::-1], strict=True))
        for number, record in enumerate(turns):
            # Three turns of four, so that each is taken over both transports.
            outcome = [*ReviewOutcome, None][(number + number // 4) % 4]
            await write(worlds, ceiling, record.id, outcome, number)
        await look_at_everything(worlds, ceiling, [*records[::5], *concluded[::5]], None)


async def look_at_everything(
    worlds: Worlds,
    ceiling: Sensitivity,
    records: list[MemoryRecord | DerivedRecord],
    counts: tuple[int, int] | None,
) -> None:
    """Ask all there is to ask; so many beliefs and derived records are shown."""
    # Taken at the highest ceiling, by whoever has it: half of them are the places of hidden beliefs.
    cursors = [encode_cursor(record.store_position, record.id) for record in records[::2]]
    for arguments in pages(cursors):
        pages_of = [
            (await worlds.graphql(document, {"ceiling": ceiling.name, **arguments}))["page"]
            for document in (PAGE, ITEM_PAGE)
        ]
        if counts is not None and arguments == {"first": 200, "statuses": [status.name for status in MemoryStatus]}:
            assert [counts[0], sum(counts)] == [page["totalCount"] for page in pages_of]
            for page in pages_of:
                assert {"hasNextPage": False, "hasPreviousPage": False}.items() <= page["pageInfo"].items()
    await worlds.graphql(OVERVIEW, {"ceiling": ceiling.name})
    target = f"/v1/memories?ceiling={ceiling.value}"
    for query in (
        "",
        "&limit=1",
        "&text=rows",
        "&subject=ada",
        "&flagged=true",
        f"&session_id={SESSION}",
        "&status=retired",
    ):
        await worlds.ask("GET", f"{target}{query}")
        await worlds.ask("GET", f"{target}{query}&include_derived=true")
    for cursor in cursors:
        await worlds.ask("GET", f"{target}&limit=2&cursor={cursor}")
        await worlds.ask("GET", f"{target}&limit=2&cursor={cursor}&include_derived=true")
    for record in records:
        await worlds.ask("GET", f"/v1/memories/{record.id}?ceiling={ceiling.value}")
        for field, fields in (("memory", FIELDS), ("derivedMemory", DERIVED_FIELDS)):
            await worlds.graphql(
                f"query($id: ID!, $ceiling: Sensitivity!) {{ {field}(id: $id, ceiling: $ceiling) {{ {fields} }} }}",
                {"id": str(record.id), "ceiling": ceiling.name},
            )


async def write(worlds: Worlds, ceiling: Sensitivity, id: UUID, outcome: ReviewOutcome | None, number: int) -> None:
    """Review or delete a record, twice, over either transport; what is hidden is not found."""
    for _ in range(2):
        if number % 2:
            mutation = "deleteMemory" if outcome is None else "reviewMemory"
            reviewed = f"{{ memory {{ {FIELDS} }} derivedMemory {{ {DERIVED_FIELDS} }} }}"
            shown = "{ deletedId }" if outcome is None else reviewed
            said = "" if outcome is None else f"outcome: {outcome.name}, "
            given = f'id: "{id}", ceiling: {ceiling.name}, {said}idempotencyKey: "{number}"'
            await worlds.graphql(f"mutation {{ {mutation}(input: {{{given}}}) {shown} }}", {})
        else:
            target, headers = f"/v1/memories/{id}", {"idempotency-key": str(number)}
            if outcome is None:
                await worlds.ask("DELETE", f"{target}?ceiling={ceiling.value}", headers=headers)
            else:
                body = {"outcome": outcome.value}
                await worlds.ask("POST", f"{target}/review?ceiling={ceiling.value}", headers=headers, json=body)
