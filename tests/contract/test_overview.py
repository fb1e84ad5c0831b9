"""The overview, and that each of its numbers is the count of the query that it stands for."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from store.domain.overviews import MemoryOverview
from store.domain.vocabulary import BeliefType, MemoryStatus, Sensitivity
from store.ports.memories import MemoryFilter
from store.ports.store import Store
from tests.factories import NOW, memory, owner
from tests.strategies import CONFIDENCES, CREATIONS
from tests.worlds import ask, charted, everything, keep

ADA = owner()


async def overview_of(store: Store, ceiling: Sensitivity) -> MemoryOverview:
    return await ask(store, lambda snapshot: snapshot.memories.overview(ADA, ceiling=ceiling, now=NOW))


async def counts_of(store: Store, filters: Sequence[MemoryFilter]) -> list[int]:
    async with store.snapshot() as snapshot:
        return [await snapshot.memories.count(filter) for filter in filters]


async def test_an_owner_without_beliefs_has_an_empty_overview(store: Store) -> None:
    assert (
        MemoryOverview(statuses={}, belief_types={}, sensitivities={}, confidence_bands={}, months={}, flagged=0)
    ) == await overview_of(store, Sensitivity.RESTRICTED)


async def test_statuses_are_counted_over_all_and_the_rest_over_the_live_set(store: Store) -> None:
    await keep(
        store,
        memory(belief_type=BeliefType.PREFERENCE, flagged_for_review=True, confidence=Decimal(1)),
        memory(status=MemoryStatus.PROVISIONAL, sensitivity=Sensitivity.INTERNAL, confidence=Decimal("0.199")),
        memory(expires_at=NOW, flagged_for_review=True, belief_type=BeliefType.RELATIONSHIP),
        memory(status=MemoryStatus.RETIRED, flagged_for_review=True),
        memory(status=MemoryStatus.SUPERSEDED),
        memory(sensitivity=Sensitivity.RESTRICTED, flagged_for_review=True),
        memory(owner=owner("bo"), flagged_for_review=True),
    )

    assert MemoryOverview(
        statuses={
            MemoryStatus.ACTIVE: 1,
            MemoryStatus.PROVISIONAL: 1,
            MemoryStatus.EXPIRED: 1,
            MemoryStatus.RETIRED: 1,
            MemoryStatus.SUPERSEDED: 1,
        },
        belief_types={BeliefType.PREFERENCE: 1, BeliefType.FACT: 1},
        sensitivities={Sensitivity.PUBLIC: 1, Sensitivity.INTERNAL: 1},
        confidence_bands={4: 1, 0: 1},
        months={(2026, 5): 2},
        flagged=1,
    ) == await overview_of(store, Sensitivity.SENSITIVE)


@pytest.mark.parametrize(
    ("confidence", "band"),
    [("0", 0), ("0.199", 0), ("0.2", 1), ("0.399", 1), ("0.4", 2), ("0.6", 3), ("0.799", 3), ("0.8", 4), ("1", 4)],
)
async def test_a_confidence_belongs_to_the_fifth_that_it_begins_or_lies_in(
    store: Store, confidence: str, band: int
) -> None:
    await keep(store, memory(confidence=Decimal(confidence)))

    assert {band: 1} == (await overview_of(store, Sensitivity.PUBLIC)).confidence_bands


async def test_a_month_is_that_of_creation_in_utc(store: Store) -> None:
    midnight = datetime(2026, 1, 1, tzinfo=UTC)
    await keep(
        store,
        memory(created_at=midnight),
        memory(created_at=midnight - timedelta(microseconds=1)),
        memory(created_at=datetime(2026, 1, 31, 23, 59, 59, 999999, tzinfo=UTC)),
    )

    assert {(2026, 1): 2, (2025, 12): 1} == (await overview_of(store, Sensitivity.PUBLIC)).months


@pytest.mark.parametrize("ceiling", Sensitivity)
async def test_each_number_is_the_count_of_its_query(store: Store, ceiling: Sensitivity) -> None:
    await keep(
        store,
        *(
            memory(sensitivity=sensitivity, belief_type=belief_type, status=status, flagged_for_review=flagged)
            for sensitivity in Sensitivity
            for belief_type in (BeliefType.FACT, BeliefType.PREFERENCE)
            for status in (MemoryStatus.ACTIVE, MemoryStatus.RETIRED)
            for flagged in (False, True)
        ),
        memory(expires_at=NOW),
    )
    overview = await overview_of(store, ceiling)
    live = everything(ADA, ceiling=ceiling)

    assert [overview.statuses.get(status, 0) for status in MemoryStatus] == await counts_of(
        store, [replace(live, statuses=frozenset({status})) for status in MemoryStatus]
    )
    assert [overview.belief_types.get(each, 0) for each in BeliefType] == await counts_of(
        store, [replace(live, belief_types=frozenset({each})) for each in BeliefType]
    )
    assert [overview.sensitivities.get(each, 0) for each in Sensitivity] == await counts_of(
        store, [replace(live, sensitivities=frozenset({each})) for each in Sensitivity]
    )
    assert [overview.flagged] == await counts_of(store, [replace(live, flagged=True)])


@pytest.mark.parametrize("ceiling", Sensitivity)
async def test_each_band_and_month_is_the_count_of_its_filter(store: Store, ceiling: Sensitivity) -> None:
    ends = (datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC))
    moments = (*CREATIONS, *ends)
    await keep(
        store,
        *(
            memory(confidence=confidence, sensitivity=sensitivity, created_at=moments[number % len(moments)])
            for number, confidence in enumerate(CONFIDENCES)
            for sensitivity in Sensitivity
        ),
        memory(confidence=Decimal("0.4"), status=MemoryStatus.RETIRED),
        memory(confidence=Decimal("0.4"), expires_at=NOW),
    )
    overview = await overview_of(store, ceiling)

    assert len(overview.months) == len(moments)
    assert sum(overview.confidence_bands.values()) == sum(overview.months.values())
    assert overview == await ask(store, lambda snapshot: charted(snapshot, everything(ADA, ceiling=ceiling)))
