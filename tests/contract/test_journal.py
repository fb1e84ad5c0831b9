"""Events under their numbers, and whatever the journal tells of the store as a whole."""

from collections.abc import Sequence
from dataclasses import replace

from store.domain.journal import NO_SESSION, Event
from store.domain.owners import Owner
from store.domain.people import Person
from store.domain.vocabulary import EventKind, Sensitivity
from store.ports.store import Store, Transaction
from tests.factories import NOW, OTHER_SESSION, SESSION, event, identifier, memory, owner, receipt, rejection, tombstone
from tests.worlds import ask, collected, keep

ADA = owner()
BO = owner("bo")
ABROAD = owner(tenant="inland")


async def events(store: Store, owner: Owner) -> list[Event]:
    return await ask(store, lambda snapshot: collected(snapshot.journal.events(owner)))


async def restore(store: Store, restored: Sequence[Event]) -> list[bool]:
    async def work(transaction: Transaction) -> list[bool]:
        return [await transaction.journal.restore_event(each) for each in restored]

    return await store.transact(work)


async def append(store: Store, owner: Owner = ADA, *, kind: EventKind = EventKind.REVIEWED) -> None:
    await store.transact(
        lambda transaction: transaction.journal.append(
            owner, kind, session_id=SESSION, memory_id=identifier(1), at=NOW, payload={"outcome": "dismiss"}
        )
    )


async def test_events_are_appended_under_rising_numbers(store: Store) -> None:
    for kind in (EventKind.REVIEWED, EventKind.REJECTED, EventKind.DELETED):
        await append(store, kind=kind)
    await append(store, BO)

    own = await events(store, ADA)

    assert [EventKind.REVIEWED, EventKind.REJECTED, EventKind.DELETED] == [each.kind for each in own]
    assert sorted({each.number for each in own}) == [each.number for each in own]
    assert own[0] == Event(
        owner=ADA,
        session_id=SESSION,
        number=own[0].number,
        kind=EventKind.REVIEWED,
        memory_id=identifier(1),
        occurred_at=NOW,
        payload={"outcome": "dismiss"},
    )
    assert [BO] == [each.owner for each in await events(store, BO)]


async def test_events_come_by_session_and_number(store: Store) -> None:
    scattered = [
        event(2, owner=ADA, session_id=OTHER_SESSION),
        event(9, owner=ADA),
        event(10, owner=ADA),
        event(1, owner=ADA, session_id=OTHER_SESSION),
        event(3, owner=ADA, session_id=NO_SESSION),
        event(9, owner=BO),
    ]
    await restore(store, scattered)

    assert [
        (NO_SESSION, 3),
        (SESSION, 9),
        (SESSION, 10),
        (OTHER_SESSION, 1),
        (OTHER_SESSION, 2),
    ] == [(each.session_id, each.number) for each in await events(store, ADA)]


async def test_an_event_is_restored_as_it_was_and_only_once(store: Store) -> None:
    first = event(7, owner=ADA, memory_id=identifier(1))
    second = replace(first, kind=EventKind.DELETED, payload={})
    elsewhere = [replace(first, owner=BO), replace(first, owner=ABROAD), replace(first, session_id=OTHER_SESSION)]

    assert [True, False, True, True, True] == await restore(store, [first, second, *elsewhere])

    async def work(transaction: Transaction) -> list[Event | None]:
        journal = transaction.journal
        return [
            await journal.find_event(ADA, SESSION, 7),
            await journal.find_event(ADA, SESSION, 8),
            await journal.find_event(BO, OTHER_SESSION, 7),
        ]

    assert [first, None, None] == await store.transact(work)


async def test_numbers_that_follow_lie_above_a_restored_one(store: Store) -> None:
    await restore(store, [event(1_000, owner=ADA), event(5, owner=ADA)])

    await append(store)
    await append(store)

    numbers = [each.number for each in await events(store, ADA)]
    assert [5, 1_000] == numbers[:2]
    assert sorted(set(numbers)) == numbers
    assert 4 == len(numbers)


async def test_restoring_a_low_number_does_not_turn_the_journal_back(store: Store) -> None:
    await restore(store, [event(1_000, owner=ADA)])
    await restore(store, [event(3, owner=ADA, session_id=OTHER_SESSION)])

    await append(store)

    assert all(each.number > 1_000 or each.number in {3, 1_000} for each in await events(store, ADA))


async def test_owners_are_those_of_whom_anything_is_stored(store: Store) -> None:
    names = ["event", "memory", "person", "receipt", "rejection", "tombstone"]
    event_owner, memory_owner, person_owner, receipt_owner, rejection_owner, tombstone_owner = (
        owner(name) for name in names
    )
    assert [] == await ask(store, lambda snapshot: snapshot.journal.owners())

    async def work(transaction: Transaction) -> None:
        journal = transaction.journal
        await journal.restore_event(event(1, owner=event_owner))
        await journal.put_person(Person(owner=person_owner, key="kai", name="Kai"))
        await journal.add_receipt(receipt("key", owner=receipt_owner))
        await journal.add_rejection(rejection(bytes(32), owner=rejection_owner))
        await journal.add_tombstone(tombstone(bytes(32), owner=tombstone_owner))

    await store.transact(work)
    await keep(store, memory(owner=memory_owner), memory(owner=memory_owner), memory(owner=ABROAD))

    assert [*(owner(name) for name in names), ABROAD] == await ask(store, lambda snapshot: snapshot.journal.owners())


async def test_an_owner_of_whom_nothing_is_left_is_none(store: Store) -> None:
    record = memory()
    await keep(store, record)

    await store.transact(lambda transaction: transaction.memories.erase(ADA, [record.id]))

    assert [] == await ask(store, lambda snapshot: snapshot.journal.owners())


async def test_stored_beliefs_are_counted_by_sensitivity_over_every_owner(store: Store) -> None:
    await keep(
        store,
        memory(),
        memory(owner=BO),
        memory(sensitivity=Sensitivity.RESTRICTED, expires_at=NOW, owner=ABROAD),
    )

    counts = await ask(store, lambda snapshot: snapshot.journal.stored_by_sensitivity())

    assert {"public": 2, "restricted": 1} == {name: count for name, count in counts.items() if count}
