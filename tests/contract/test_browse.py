"""Pages: their order, the keyset boundary, both directions, and the flag of the other side."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from store.domain.memories import MemoryRecord
from store.domain.vocabulary import MemoryStatus, Sensitivity
from store.ports.memories import Direction, Keyset, MemoryBrowseQuery
from store.ports.store import Store
from tests.factories import identifier, memory, owner
from tests.worlds import browse, everything, keep, keyset_of, selected, walk

ADA = owner()
POSITION_MAX = 2**63 - 1


def at(position: int, number: int) -> MemoryRecord:
    return memory(f"Belief {number}", id=identifier(number), store_position=position)


# In the one order: the two at position 20 by id.
NEWEST, TIED_FIRST, TIED_SECOND, OLDEST = at(30, 4), at(20, 1), at(20, 3), at(10, 2)
ORDERED = [NEWEST, TIED_FIRST, TIED_SECOND, OLDEST]


@pytest.fixture
async def filled(store: Store) -> Store:
    await keep(store, OLDEST, TIED_SECOND, NEWEST, TIED_FIRST)
    return store


async def test_beliefs_come_newest_first_and_then_by_id(filled: Store) -> None:
    assert ORDERED == await selected(filled, everything(ADA))


async def test_a_record_comes_back_as_it_was_written(filled: Store) -> None:
    assert NEWEST == (await selected(filled, everything(ADA)))[0]


async def test_one_row_more_than_the_limit_tells_of_a_next_page(filled: Store) -> None:
    query = MemoryBrowseQuery(filter=everything(ADA), limit=2)

    assert ORDERED[:3] == list((await browse(filled, query)).records)
    assert ORDERED == list((await browse(filled, replace(query, limit=4))).records)


@pytest.mark.parametrize("index", range(4))
async def test_a_page_continues_behind_its_keyset(filled: Store, index: int) -> None:
    query = MemoryBrowseQuery(filter=everything(ADA), limit=10, keyset=keyset_of(ORDERED[index]))

    assert ORDERED[index + 1 :] == list((await browse(filled, query)).records)


@pytest.mark.parametrize("index", range(4))
async def test_a_page_walked_back_holds_the_nearest_first(filled: Store, index: int) -> None:
    query = MemoryBrowseQuery(
        filter=everything(ADA), limit=10, keyset=keyset_of(ORDERED[index]), direction=Direction.BACKWARD
    )

    assert ORDERED[:index][::-1] == list((await browse(filled, query)).records)


async def test_walking_back_without_a_keyset_begins_with_the_oldest(filled: Store) -> None:
    query = MemoryBrowseQuery(filter=everything(ADA), limit=2, direction=Direction.BACKWARD)

    assert [OLDEST, TIED_SECOND, TIED_FIRST] == list((await browse(filled, query)).records)


@pytest.mark.parametrize(
    ("position", "number", "behind"),
    [
        (POSITION_MAX, 0, 4),
        (30, 3, 4),
        (25, 9, 3),
        (20, 0, 3),
        (20, 2, 2),
        (20, 9, 1),
        (10, 1, 1),
        (10, 9, 0),
        (0, 0, 0),
    ],
)
async def test_a_keyset_need_not_name_a_row(filled: Store, position: int, number: int, behind: int) -> None:
    keyset = Keyset(position=position, id=identifier(number))
    forward = MemoryBrowseQuery(filter=everything(ADA), limit=10, keyset=keyset)
    backward = replace(forward, direction=Direction.BACKWARD)

    assert ORDERED[4 - behind :] == list((await browse(filled, forward)).records)
    assert ORDERED[: 4 - behind][::-1] == list((await browse(filled, backward)).records)


@pytest.mark.parametrize("limit", [1, 2, 3, 4, 5])
async def test_a_walk_meets_every_belief_once_in_both_directions(filled: Store, limit: int) -> None:
    assert ORDERED == await walk(filled, everything(ADA), limit=limit)
    assert ORDERED[::-1] == await walk(filled, everything(ADA), limit=limit, direction=Direction.BACKWARD)


async def test_the_other_side_is_told_only_when_it_is_asked(filled: Store) -> None:
    query = MemoryBrowseQuery(filter=everything(ADA), limit=1, keyset=keyset_of(TIED_FIRST))

    assert (await browse(filled, query)).opposite is None
    assert (await browse(filled, replace(query, with_opposite=True))).opposite is True


@pytest.mark.parametrize("direction", Direction)
async def test_without_a_keyset_there_is_no_other_side(filled: Store, direction: Direction) -> None:
    query = MemoryBrowseQuery(filter=everything(ADA), limit=1, direction=direction, with_opposite=True)

    assert (await browse(filled, query)).opposite is False


@pytest.mark.parametrize(
    ("position", "number", "direction", "opposite"),
    [
        # Forward: is anything at the keyset or before it in the order?
        (30, 4, Direction.FORWARD, True),
        (30, 3, Direction.FORWARD, False),
        (POSITION_MAX, 0, Direction.FORWARD, False),
        (0, 0, Direction.FORWARD, True),
        # Backward: is anything at the keyset or behind it?
        (10, 2, Direction.BACKWARD, True),
        (10, 3, Direction.BACKWARD, False),
        (0, 0, Direction.BACKWARD, False),
        (POSITION_MAX, 0, Direction.BACKWARD, True),
    ],
)
async def test_the_row_at_the_keyset_is_on_the_other_side(
    filled: Store, position: int, number: int, direction: Direction, opposite: bool
) -> None:
    keyset = Keyset(position=position, id=identifier(number))
    query = MemoryBrowseQuery(filter=everything(ADA), limit=1, keyset=keyset, direction=direction, with_opposite=True)

    assert opposite is (await browse(filled, query)).opposite


async def test_the_other_side_is_that_of_the_filtered_set(store: Store) -> None:
    hidden = memory(store_position=40, sensitivity=Sensitivity.SENSITIVE)
    shown = memory(store_position=30, flagged_for_review=True)
    await keep(store, hidden, shown, memory(store_position=20))
    query = MemoryBrowseQuery(
        filter=everything(ADA, ceiling=Sensitivity.PUBLIC), limit=5, keyset=keyset_of(hidden), with_opposite=True
    )
    flagged_behind = replace(
        query,
        filter=replace(query.filter, flagged=True),
        keyset=Keyset(position=25, id=identifier()),
        direction=Direction.BACKWARD,
    )

    assert (await browse(store, query)).opposite is False
    page = await browse(store, flagged_behind)
    assert ((shown,), False) == (page.records, page.opposite)


async def test_an_empty_page_still_tells_of_the_other_side(filled: Store) -> None:
    query = MemoryBrowseQuery(filter=everything(ADA), limit=5, keyset=keyset_of(OLDEST), with_opposite=True)

    page = await browse(filled, query)

    assert ((), True) == (page.records, page.opposite)


async def test_the_first_and_the_last_moment_are_read_as_they_were_kept(store: Store) -> None:
    """A driver may keep them as infinite ones."""
    first, last = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
    lasting = memory(
        "Lasts",
        id=identifier(8),
        store_position=8,
        valid_from=first,
        created_at=first,
        updated_at=last,
        expires_at=last,
        last_evidence_at=last,
        last_used_at=first,
        last_reinforced_at=last,
    )
    ended = memory(
        "Ended", id=identifier(9), store_position=9, status=MemoryStatus.SUPERSEDED, valid_from=first, valid_to=last
    )
    await keep(store, lasting, ended)

    filter = replace(everything(ADA), statuses=frozenset(MemoryStatus))
    page = await browse(store, MemoryBrowseQuery(filter=filter, limit=5))

    assert [ended, lasting] == list(page.records)
