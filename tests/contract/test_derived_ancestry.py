"""What a derived record rests on: the closure by its sources, and the ancestors that are stored with it."""

from collections.abc import Collection
from dataclasses import replace
from uuid import UUID

import pytest

from store.domain.derived import Ancestor, retired
from store.domain.owners import Owner
from store.domain.vocabulary import Portability, Sensitivity
from store.ports.store import Store
from tests.contract.derived_records import ADA, BEES, BO, SUMMARY, TEA, put, shown, withheld
from tests.factories import NOW, derived, identifier
from tests.worlds import ask, keep, keep_derived

# It rests on the tea directly, and on the tea and the bees through the summary.
HOME = derived(SUMMARY, TEA, statement="Is at home", id=identifier(10))


async def closure(
    store: Store,
    *ids: UUID,
    of: Owner = ADA,
    ceiling: Sensitivity = Sensitivity.RESTRICTED,
    depth: int = 16,
    limit: int = 100,
) -> list[UUID]:
    found = await ask(
        store, lambda snapshot: snapshot.derived.closure(of, ids, ceiling=ceiling, depth=depth, limit=limit)
    )
    return list(found)


async def ancestors(store: Store, ids: Collection[UUID], *, of: Owner = ADA) -> dict[UUID, list[Ancestor]]:
    found = await store.transact(lambda transaction: transaction.derived.find_ancestors(of, ids))
    return {id: list(each) for id, each in found.items()}


async def test_a_closure_is_walked_nearest_first_and_then_by_id(store: Store) -> None:
    await keep(store, BEES, TEA)
    await keep_derived(store, SUMMARY, HOME)

    asked = [BEES.id, TEA.id]
    assert [HOME.id] == await closure(store, HOME.id, depth=0)
    assert [HOME.id, TEA.id, SUMMARY.id] == await closure(store, HOME.id, depth=1)
    assert [HOME.id, TEA.id, SUMMARY.id, BEES.id] == await closure(store, HOME.id, depth=2)
    assert [HOME.id, TEA.id, SUMMARY.id, BEES.id] == await closure(store, HOME.id)
    assert [BEES.id, HOME.id, TEA.id, SUMMARY.id] == await closure(store, HOME.id, BEES.id)
    assert asked == await closure(store, *reversed(asked), *asked)
    assert [] == await closure(store)


@pytest.mark.parametrize("limit", [1, 2, 3, 4, 5])
async def test_a_closure_ends_at_its_limit(store: Store, limit: int) -> None:
    await keep(store, BEES, TEA)
    await keep_derived(store, SUMMARY, HOME)

    whole = [HOME.id, TEA.id, SUMMARY.id, BEES.id]
    assert whole[:limit] == await closure(store, HOME.id, limit=limit)


async def test_a_closure_names_what_is_not_there(store: Store) -> None:
    absent = identifier(9)
    await keep_derived(store, SUMMARY)

    assert [absent, SUMMARY.id, BEES.id, TEA.id] == await closure(store, SUMMARY.id, absent)


async def test_a_closure_goes_through_what_is_withheld_but_not_through_what_is_hidden_or_retired(store: Store) -> None:
    hidden = derived(BEES, sensitivity=Sensitivity.SENSITIVE, id=identifier(16), statement="Hides")
    over = derived(hidden, SUMMARY, id=identifier(17), sensitivity=Sensitivity.PUBLIC, statement="Stands on both")
    await keep(store, BEES)
    await keep_derived(store, SUMMARY, hidden, over)

    assert [over.id, SUMMARY.id, hidden.id, BEES.id, TEA.id] == await closure(store, over.id)
    assert [hidden.id] == await closure(store, hidden.id, ceiling=Sensitivity.INTERNAL)

    await put(store, retired(SUMMARY, position=100, now=NOW))

    assert [over.id, SUMMARY.id, hidden.id, BEES.id] == await closure(store, over.id)


LEFT = derived(BEES, statement="Keeps insects", id=identifier(21))
RIGHT = derived(BEES, TEA, statement="Likes gardens", id=identifier(22))
DIAMOND = derived(RIGHT, LEFT, statement="Is outdoors", id=identifier(23))


async def test_all_that_each_rests_on_is_told_by_id(store: Store) -> None:
    await keep(store, BEES, TEA)
    await keep_derived(store, LEFT, RIGHT, DIAMOND)
    bees, tea, left, right = (Ancestor(id=each.id, revision=1) for each in (BEES, TEA, LEFT, RIGHT))

    found = await ancestors(store, [DIAMOND.id, LEFT.id, BEES.id, identifier(99), LEFT.id])

    assert {LEFT.id: [bees], DIAMOND.id: [bees, tea, left, right]} == found
    assert {} == await ancestors(store, [])
    assert {} == await ancestors(store, [DIAMOND.id], of=BO)


async def test_ancestors_keep_the_revisions_that_were_pinned(store: Store) -> None:
    record = derived(replace(BEES, revision=7))
    await keep(store, BEES)
    await keep_derived(store, record)

    assert {record.id: [Ancestor(id=BEES.id, revision=7)]} == await ancestors(store, [record.id])


async def test_a_retired_record_rests_on_nothing(store: Store) -> None:
    await keep(store, BEES, TEA)
    await keep_derived(store, LEFT, RIGHT, DIAMOND)

    await put(store, retired(LEFT, position=100, now=NOW))

    assert {RIGHT.id, DIAMOND.id} == set(await ancestors(store, [LEFT.id, RIGHT.id, DIAMOND.id]))


async def test_one_side_of_a_diamond_withholds_its_top_and_not_the_other_side(store: Store) -> None:
    await keep(store, BEES, TEA)
    await keep_derived(store, LEFT, RIGHT, DIAMOND)

    await put(store, replace(RIGHT, portability=Portability.LOCAL, revision=2))

    assert [DIAMOND.id] == await withheld(store)
    assert LEFT == await shown(store, LEFT.id)
    assert await shown(store, DIAMOND.id) is None
