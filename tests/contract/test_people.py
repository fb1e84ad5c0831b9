"""People, and the names that beliefs about them are shown under."""

from dataclasses import replace

from store.domain.lexical import TextQuery
from store.domain.people import Person
from store.ports.memories import MemoryFilter
from store.ports.store import Store, Transaction
from tests.factories import identifier, memory, owner
from tests.worlds import ask, collected, everything, find, keep, selected

ADA = owner()
BO = owner("bo")
KAI = Person(owner=ADA, key="kai", name="Kai Øst")


async def rename(store: Store, shown: str, *, limit: int = 10) -> int:
    return await store.transact(
        lambda transaction: transaction.memories.put_display_subject(
            ADA, subject="person:kai", shown=shown, limit=limit
        )
    )


async def numbers(store: Store, filter: MemoryFilter) -> list[int]:
    return sorted(record.id.int & 0xFFFF for record in await selected(store, filter))


async def test_a_person_is_written_once_under_each_name(store: Store) -> None:
    renamed = replace(KAI, name="Kai West")

    async def work(transaction: Transaction) -> list[object]:
        journal = transaction.journal
        return [
            await journal.find_person(ADA, "kai"),
            await journal.put_person(KAI),
            await journal.put_person(KAI),
            await journal.find_person(ADA, "kai"),
            await journal.put_person(renamed),
            await journal.find_person(ADA, "kai"),
            await journal.find_person(ADA, "Kai"),
            await journal.find_person(BO, "kai"),
        ]

    assert [None, True, False, KAI, True, renamed, None, None] == await store.transact(work)


async def test_people_come_by_key_and_go_together(store: Store) -> None:
    people = [replace(KAI, key=key) for key in ("kai", "Kai", "åse", "bea")]
    foreign = replace(KAI, owner=BO)

    async def work(transaction: Transaction) -> None:
        for person in (*people, foreign):
            await transaction.journal.put_person(person)

    await store.transact(work)

    listed = await ask(store, lambda snapshot: collected(snapshot.journal.people(ADA)))
    assert ["Kai", "bea", "kai", "åse"] == [person.key for person in listed]

    await store.transact(lambda transaction: transaction.journal.erase_people(ADA))

    assert [] == await ask(store, lambda snapshot: collected(snapshot.journal.people(ADA)))
    assert [foreign] == await ask(store, lambda snapshot: collected(snapshot.journal.people(BO)))


async def test_a_new_name_is_shown_filtered_and_found(store: Store) -> None:
    about_kai = memory("Sings", id=identifier(1), subject="person:kai")
    await keep(
        store,
        about_kai,
        memory(id=identifier(2), subject="person:KAI"),
        memory(id=identifier(3), subject="person:kai", owner=BO),
        memory(id=identifier(4), subject="kai"),
    )

    assert 1 == await rename(store, "Kai Øst")

    assert replace(about_kai, display_subject="Kai Øst") == await find(store, ADA, identifier(1))
    asked = everything(ADA)
    assert [1] == await numbers(store, replace(asked, subject="kai øst"))
    assert [2] == await numbers(store, replace(asked, subject="unnamed person"))
    assert [1, 2] == await numbers(store, replace(asked, subject="person:kai"))
    assert [1] == await numbers(store, replace(asked, text=TextQuery.parse("ØST")))
    assert [2] == await numbers(store, replace(asked, text=TextQuery.parse("unnamed")))
    # The key and the statement stay among the words of a renamed belief.
    assert [1, 2, 4] == await numbers(store, replace(asked, text=TextQuery.parse("kai")))
    assert [1] == await numbers(store, replace(asked, text=TextQuery.parse("sings")))


async def test_a_rename_goes_by_batches_until_nothing_is_left(store: Store) -> None:
    await keep(store, *(memory(id=identifier(number), subject="person:kai") for number in (1, 2, 3)))

    assert [2, 1, 0] == [await rename(store, "Kai Øst", limit=2) for _ in range(3)]
    assert [1, 2, 3] == await numbers(store, replace(everything(ADA), subject="kai øst"))


async def test_a_rename_is_no_write_of_the_belief(store: Store) -> None:
    record = memory(subject="person:kai", conflicts_with=(identifier(1), identifier(2)))
    await keep(store, record)

    await rename(store, "Kai Øst")

    [held] = await store.transact(lambda transaction: transaction.memories.find_many_for_update(ADA, [record.id]))
    assert replace(record, display_subject="Kai Øst") == held
