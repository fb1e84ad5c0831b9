"""Single beliefs under a ceiling, and the links between them: what is hidden leaves no id behind."""

import itertools

import pytest

from store.domain.memories import LINKS_MAX, LINKS_SHOWN_MAX, MemoryRecord
from store.domain.vocabulary import MemoryStatus, Sensitivity
from store.ports.memories import SUPERSEDES_SHOWN_MAX
from store.ports.store import Snapshot, Store
from tests.factories import identifier, memory, owner
from tests.worlds import ask, collected, everything, find, keep, selected

ADA = owner()
BO = owner("bo")
ABROAD = owner(tenant="inland")


def replaced(number: int, *, by: int, sensitivity: Sensitivity = Sensitivity.PUBLIC) -> MemoryRecord:
    return memory(
        id=identifier(number),
        status=MemoryStatus.SUPERSEDED,
        superseded_by=identifier(by),
        sensitivity=sensitivity,
    )


async def superseded_by(store: Store, *numbers: int, ceiling: Sensitivity) -> dict[int, list[int]]:
    ids = [identifier(number) for number in numbers]
    found = await ask(store, lambda snapshot: snapshot.memories.find_superseded(ADA, ids, ceiling=ceiling))
    return {id.int & 0xFFFF: [record.id.int & 0xFFFF for record in line] for id, line in found.items()}


@pytest.mark.parametrize(
    ("ceiling", "is_found"),
    [
        (Sensitivity.PUBLIC, False),
        (Sensitivity.INTERNAL, False),
        (Sensitivity.SENSITIVE, True),
        (Sensitivity.RESTRICTED, True),
    ],
)
async def test_a_belief_is_found_from_its_own_sensitivity_on(
    store: Store, ceiling: Sensitivity, is_found: bool
) -> None:
    record = memory(sensitivity=Sensitivity.SENSITIVE)
    await keep(store, record)

    expected = record if is_found else None

    assert expected == await find(store, ADA, record.id, ceiling=ceiling)
    assert ([record] if is_found else []) == await ask(
        store, lambda snapshot: snapshot.memories.find_many(ADA, [record.id], ceiling=ceiling)
    )


async def test_one_id_belongs_to_each_owner_separately(store: Store) -> None:
    own, foreign, abroad = (memory(each.principal, id=identifier(1), owner=each) for each in (ADA, BO, ABROAD))
    await keep(store, own, foreign, abroad, memory(id=identifier(2), owner=BO))

    assert [own, foreign, abroad] == [await find(store, each, identifier(1)) for each in (ADA, BO, ABROAD)]
    assert [own] == await selected(store, everything(ADA))
    assert await find(store, ADA, identifier(2)) is None
    assert [own] == await ask(
        store,
        lambda snapshot: snapshot.memories.find_many(
            ADA, [identifier(2), identifier(1)], ceiling=Sensitivity.RESTRICTED
        ),
    )


async def test_several_beliefs_come_by_id_each_once(store: Store) -> None:
    records = [memory(id=identifier(number)) for number in (3, 1, 2)]
    await keep(store, *records)
    ids = [identifier(number) for number in (2, 3, 9, 1, 2)]

    found = await ask(store, lambda snapshot: snapshot.memories.find_many(ADA, ids, ceiling=Sensitivity.PUBLIC))

    assert [identifier(number) for number in (1, 2, 3)] == [record.id for record in found]
    assert [] == await ask(store, lambda snapshot: snapshot.memories.find_many(ADA, [], ceiling=Sensitivity.PUBLIC))


async def test_a_conflict_shows_only_what_the_ceiling_shows(store: Store) -> None:
    links = tuple(identifier(number) for number in (2, 3, 4, 5))
    await keep(
        store,
        memory(id=identifier(1), conflicts_with=links),
        memory(id=identifier(3)),
        memory(id=identifier(2), sensitivity=Sensitivity.INTERNAL),
        memory(id=identifier(4), owner=BO),
    )

    shown = [await find(store, ADA, identifier(1), ceiling=each) for each in (Sensitivity.PUBLIC, Sensitivity.INTERNAL)]

    assert [(identifier(3),), (identifier(2), identifier(3))] == [
        record.conflicts_with for record in shown if record is not None
    ]


async def test_links_are_shown_alike_by_every_read(store: Store) -> None:
    hidden = memory(id=identifier(3), sensitivity=Sensitivity.RESTRICTED)
    await keep(
        store,
        hidden,
        memory(id=identifier(1), conflicts_with=(identifier(2), hidden.id)),
        memory(id=identifier(2), conflicts_with=(identifier(1),)),
    )

    async def every_read(snapshot: Snapshot) -> list[MemoryRecord | None]:
        many = await snapshot.memories.find_many(ADA, [identifier(1)], ceiling=Sensitivity.PUBLIC)
        return [await snapshot.memories.find(ADA, identifier(1), ceiling=Sensitivity.PUBLIC), *many]

    page = await selected(store, everything(ADA, ceiling=Sensitivity.PUBLIC))
    shown = [*await ask(store, every_read), *(record for record in page if record.id == identifier(1))]

    assert [(identifier(2),)] * 3 == [record.conflicts_with for record in shown if record is not None]


async def test_at_most_sixty_four_links_are_shown_the_first_visible_ones_by_id(store: Store) -> None:
    links = tuple(identifier(number) for number in range(10, 10 + LINKS_SHOWN_MAX + 20))
    hidden, visible = links[:10], links[10:]
    await keep(
        store,
        memory(id=identifier(1), conflicts_with=links),
        *(memory(id=id, sensitivity=Sensitivity.INTERNAL) for id in reversed(hidden)),
        *(memory(id=id) for id in reversed(visible)),
    )

    public, internal = [
        await find(store, ADA, identifier(1), ceiling=each) for each in (Sensitivity.PUBLIC, Sensitivity.INTERNAL)
    ]

    assert public is not None
    assert internal is not None
    assert visible[:LINKS_SHOWN_MAX] == public.conflicts_with
    assert links[:LINKS_SHOWN_MAX] == internal.conflicts_with


async def test_a_belief_holds_every_link_when_it_is_written_or_exported(store: Store) -> None:
    links = tuple(identifier(number) for number in range(10, 10 + LINKS_MAX))
    record = memory(id=identifier(1), conflicts_with=links)
    await keep(store, record)

    held = await store.transact(
        lambda transaction: transaction.memories.find_for_update(ADA, record.id, ceiling=Sensitivity.PUBLIC)
    )

    assert record == held
    assert [(record, ())] == await ask(store, lambda snapshot: collected(snapshot.memories.export(ADA)))


@pytest.mark.parametrize(("ceiling", "shown"), [(Sensitivity.PUBLIC, None), (Sensitivity.INTERNAL, identifier(2))])
async def test_a_hidden_successor_is_not_named(store: Store, ceiling: Sensitivity, shown: object) -> None:
    await keep(store, replaced(1, by=2), memory(id=identifier(2), sensitivity=Sensitivity.INTERNAL))

    record = await find(store, ADA, identifier(1), ceiling=ceiling)

    assert record is not None
    assert shown == record.superseded_by
    assert MemoryStatus.SUPERSEDED is record.status


async def test_what_a_belief_replaced_comes_nearest_first_and_then_by_id(store: Store) -> None:
    await keep(
        store,
        memory(id=identifier(5)),
        replaced(9, by=5),
        replaced(2, by=5),
        replaced(1, by=9),
        replaced(8, by=2),
        replaced(3, by=1),
        memory(id=identifier(6)),
    )

    assert {5: [2, 9, 1, 8, 3], 9: [1, 3]} == await superseded_by(store, 5, 9, 6, 3, 77, ceiling=Sensitivity.PUBLIC)


async def test_a_line_of_replaced_beliefs_ends_at_the_first_hidden_one(store: Store) -> None:
    await keep(
        store,
        memory(id=identifier(1)),
        replaced(2, by=1),
        replaced(3, by=2, sensitivity=Sensitivity.SENSITIVE),
        replaced(4, by=3),
        replaced(5, by=1),
    )

    assert {1: [2, 5]} == await superseded_by(store, 1, ceiling=Sensitivity.INTERNAL)
    assert {1: [2, 5, 3, 4]} == await superseded_by(store, 1, ceiling=Sensitivity.SENSITIVE)


async def test_a_hidden_belief_has_replaced_nothing(store: Store) -> None:
    await keep(store, memory(id=identifier(1), sensitivity=Sensitivity.RESTRICTED), replaced(2, by=1))

    assert {} == await superseded_by(store, 1, ceiling=Sensitivity.SENSITIVE)
    assert {1: [2]} == await superseded_by(store, 1, ceiling=Sensitivity.RESTRICTED)


async def test_at_most_sixteen_replaced_beliefs_are_shown(store: Store) -> None:
    numbers = range(1, SUPERSEDES_SHOWN_MAX + 5)
    chain = [memory(id=identifier(1)), *(replaced(later, by=now) for now, later in itertools.pairwise(numbers))]
    fan = [memory(id=identifier(100)), *(replaced(100 + number, by=100) for number in numbers)]
    await keep(store, *chain, *reversed(fan))

    assert {
        1: list(numbers[1 : SUPERSEDES_SHOWN_MAX + 1]),
        100: [100 + number for number in numbers[:SUPERSEDES_SHOWN_MAX]],
    } == await superseded_by(store, 1, 100, ceiling=Sensitivity.PUBLIC)


async def test_a_circle_of_supersessions_comes_to_an_end(store: Store) -> None:
    await keep(store, replaced(1, by=2), replaced(2, by=3), replaced(3, by=1))

    assert {1: [3, 2]} == await superseded_by(store, 1, ceiling=Sensitivity.PUBLIC)
