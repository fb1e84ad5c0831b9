"""Lexemes are made anew in the order of owner and id, batch by batch, and nothing else of a row changes."""

from store.domain.lexical import TextQuery
from store.ports.memories import MemoryFilter, MemoryKey
from store.ports.store import Store
from tests.factories import NOW, memory, owner
from tests.worlds import find, keep, selected

ADA, BO, ABROAD = owner("ada"), owner("bo"), owner("ada", tenant="island")


async def rewrite(store: Store, *, after: MemoryKey | None, limit: int) -> list[MemoryKey]:
    return await store.transact(lambda transaction: transaction.memories.rewrite_lexemes(after=after, limit=limit))


async def test_an_empty_store_has_no_rows(store: Store) -> None:
    assert [] == await rewrite(store, after=None, limit=10)


async def test_rows_of_all_owners_are_walked_once_each(store: Store) -> None:
    records = [memory(owner=of, statement="Keeps bees") for of in (BO, ADA, ABROAD, ADA, BO)]
    await keep(store, *records)
    expected = sorted((record.owner, record.id) for record in records)

    walked: list[MemoryKey] = []
    while batch := await rewrite(store, after=walked[-1] if walked else None, limit=2):
        assert len(batch) <= 2
        walked += batch

    assert expected == walked


async def test_only_lexemes_change(store: Store) -> None:
    record = memory(owner=ADA, statement="Keeps bees")
    await keep(store, record)
    before = await find(store, ADA, record.id)

    await rewrite(store, after=None, limit=10)

    assert before == await find(store, ADA, record.id)
    bees = TextQuery.parse("bees")
    filter = MemoryFilter(owner=ADA, ceiling=record.sensitivity, now=NOW, text=bees)
    assert [record.id] == [each.id for each in await selected(store, filter)]
