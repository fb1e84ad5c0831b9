"""Events of all owners by number: the last ones, or the first ones from a number on."""

from store.domain.journal import Event, EventFilter
from store.ports.store import Store, Transaction
from tests.factories import event, identifier, owner
from tests.worlds import ask

ADA, BO = owner("ada"), owner("bo")
ALL = EventFilter()


async def write(store: Store, *events: Event) -> None:
    async def work(transaction: Transaction) -> None:
        for each in events:
            await transaction.journal.restore_event(each)

    await store.transact(work)


async def entries(store: Store, filter: EventFilter, *, start: int | None, limit: int) -> list[Event]:
    return await ask(store, lambda snapshot: snapshot.journal.entries(filter, start=start, limit=limit))


async def test_an_empty_journal_has_no_entries(store: Store) -> None:
    assert [] == await entries(store, ALL, start=None, limit=5)
    assert [] == await entries(store, ALL, start=0, limit=5)


async def test_entries_stand_in_the_order_of_number_owner_and_session(store: Store) -> None:
    twin = event(4, owner=ADA, session_id=identifier(8))
    written = [event(9, owner=ADA), event(4, owner=BO), event(4, owner=ADA, session_id=identifier(7)), twin]
    await write(store, *written)
    expected = sorted(written, key=lambda each: (each.number, each.owner, each.session_id))

    assert expected == await entries(store, ALL, start=None, limit=9)
    assert expected[-2:] == await entries(store, ALL, start=None, limit=2)
    assert expected[:2] == await entries(store, ALL, start=4, limit=2)
    assert expected[3:] == await entries(store, ALL, start=5, limit=9)
    assert [twin] == [
        each for each in await entries(store, EventFilter(principal="ada"), start=4, limit=2) if each == twin
    ]
