"""Atomic writes, consistent reads, and the facts that a store remembers about itself."""

import asyncio
from dataclasses import replace

import pytest

from store.domain.people import Person
from store.domain.vocabulary import EventKind, Sensitivity
from store.ports.memories import MemoryBrowseQuery
from store.ports.store import Snapshot, Store, StoreFact, Transaction
from tests.factories import (
    NOW,
    SESSION,
    identifier,
    memory,
    owner,
    receipt,
    reference,
    rejection,
    token,
    tombstone,
)
from tests.worlds import KEYRING, ask, collected, everything, find, keep

ADA = owner()
KEPT = memory("Kept", id=identifier(1), subject="person:kai")
HASH = bytes(32)


async def everything_stored(snapshot: Snapshot) -> list[object]:
    """All that a snapshot can tell of one owner and of the store."""
    journal = snapshot.journal
    return [
        await collected(snapshot.memories.export(ADA)),
        await collected(journal.events(ADA)),
        await collected(journal.receipts(ADA)),
        await collected(journal.tombstones(ADA)),
        await collected(journal.rejections(ADA)),
        await collected(journal.people(ADA)),
        await journal.owners(),
        await snapshot.tokens.list(tenant=None, principal=None),
        [await snapshot.facts.find(fact) for fact in StoreFact],
        await snapshot.facts.import_offset("file"),
    ]


async def write_everywhere(transaction: Transaction) -> None:
    """Write to every part of a store that holds KEPT."""
    added = memory("Added")
    await transaction.memories.add(added, statement_hash=KEYRING.statement_hash(ADA, "Added"))
    await transaction.memories.put(replace(KEPT, revision=2))
    await transaction.memories.add_references(ADA, KEPT.id, [reference(1)])
    await transaction.memories.put_display_subject(ADA, subject=KEPT.subject, shown="Kai Øst", limit=1)
    await transaction.journal.append(ADA, EventKind.REVIEWED, session_id=SESSION, memory_id=KEPT.id, at=NOW, payload={})
    await transaction.journal.add_receipt(receipt("key", owner=ADA))
    await transaction.journal.add_tombstone(tombstone(HASH, owner=ADA))
    await transaction.journal.add_rejection(rejection(HASH, owner=ADA))
    await transaction.journal.put_person(Person(owner=ADA, key="kai", name="Kai Øst"))
    await transaction.tokens.add(token("secret", owner=ADA))
    await transaction.facts.claim(StoreFact.DEMO_LOADED, "yes")
    await transaction.facts.put_import_offset("file", 10, at=NOW)


async def test_what_is_written_stands_when_the_work_has_returned(store: Store) -> None:
    await keep(store, KEPT)
    before = await ask(store, everything_stored)

    await store.transact(write_everywhere)

    after = await ask(store, everything_stored)
    # The owners are those of before: ADA had a belief already.
    assert [False] * 6 + [True] + [False] * 3 == [old == new for old, new in zip(before, after, strict=True)]


async def test_work_that_raises_leaves_nothing(store: Store) -> None:
    await keep(store, KEPT)
    before = await ask(store, everything_stored)

    async def work(transaction: Transaction) -> None:
        await write_everywhere(transaction)
        await transaction.memories.erase(ADA, [KEPT.id])
        raise InterruptedError

    with pytest.raises(InterruptedError):
        await store.transact(work)

    assert before == await ask(store, everything_stored)


async def test_work_that_is_cancelled_leaves_nothing(store: Store) -> None:
    await keep(store, KEPT)
    before = await ask(store, everything_stored)
    has_written = asyncio.Event()

    async def work(transaction: Transaction) -> None:
        await write_everywhere(transaction)
        has_written.set()
        await asyncio.Event().wait()

    writing = asyncio.create_task(store.transact(work))
    await has_written.wait()
    writing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writing

    assert before == await ask(store, everything_stored)
    # Nothing is held any more: the next writer gets through.
    await store.transact(write_everywhere)


async def test_the_result_of_the_work_is_handed_on(store: Store) -> None:
    async def work(transaction: Transaction) -> str:
        return await transaction.facts.claim(StoreFact.KEY_ID, "first")

    assert "first" == await store.transact(work)


async def test_a_transaction_sees_what_it_has_written(store: Store) -> None:
    shown = memory(id=identifier(1), conflicts_with=(identifier(2), identifier(3)))
    hidden = memory(id=identifier(2), sensitivity=Sensitivity.RESTRICTED)
    visible = memory(id=identifier(3))

    async def work(transaction: Transaction) -> list[object]:
        for record in (shown, hidden, visible):
            await transaction.memories.add(record, statement_hash=HASH)
        await transaction.memories.put(replace(visible, flagged_for_review=True))
        query = MemoryBrowseQuery(filter=everything(ADA, ceiling=Sensitivity.PUBLIC), limit=5)
        return [
            await transaction.shown.find(ADA, shown.id, ceiling=Sensitivity.PUBLIC),
            await transaction.shown.find(ADA, hidden.id, ceiling=Sensitivity.PUBLIC),
            await transaction.shown.find(ADA, visible.id, ceiling=Sensitivity.PUBLIC),
            len((await transaction.shown.browse(query)).records),
        ]

    assert [
        replace(shown, conflicts_with=(visible.id,)),
        None,
        replace(visible, flagged_for_review=True),
        2,
    ] == await store.transact(work)


async def test_a_snapshot_stays_as_it_was_read_first(store: Store) -> None:
    await keep(store, KEPT)

    async with store.snapshot() as snapshot:
        before = await everything_stored(snapshot)
        await store.transact(write_everywhere)
        await store.transact(lambda transaction: transaction.memories.erase(ADA, [KEPT.id]))

        assert before == await everything_stored(snapshot)
        assert KEPT == await snapshot.memories.find(ADA, KEPT.id, ceiling=Sensitivity.PUBLIC)
        assert 1 == await snapshot.memories.count(everything(ADA))

    assert await find(store, ADA, KEPT.id) is None


async def others_run() -> None:
    """Let every task that is ready take its next step."""
    stepped = asyncio.Event()
    asyncio.get_running_loop().call_soon(stepped.set)
    await stepped.wait()


async def test_concurrent_writers_of_one_belief_lose_no_write(store: Store) -> None:
    await keep(store, KEPT)

    async def work(transaction: Transaction) -> None:
        record = await transaction.memories.find_for_update(ADA, KEPT.id, ceiling=Sensitivity.PUBLIC)
        assert record is not None
        await others_run()
        await transaction.memories.put(replace(record, revision=record.revision + 1))

    await asyncio.gather(*(store.transact(work) for _ in range(5)))

    record = await find(store, ADA, KEPT.id)
    assert record is not None
    assert KEPT.revision + 5 == record.revision


async def test_a_fact_is_claimed_once(store: Store) -> None:
    async def claim(value: str) -> str:
        return await store.transact(lambda transaction: transaction.facts.claim(StoreFact.KEY_ID, value))

    assert await ask(store, lambda snapshot: snapshot.facts.find(StoreFact.KEY_ID)) is None
    assert ["first", "first"] == [await claim(value) for value in ("first", "second")]
    assert "first" == await ask(store, lambda snapshot: snapshot.facts.find(StoreFact.KEY_ID))
    assert await ask(store, lambda snapshot: snapshot.facts.find(StoreFact.DEMO_LOADED)) is None


async def test_of_concurrent_claims_one_stands(store: Store) -> None:
    async def claim(value: str) -> str:
        return await store.transact(lambda transaction: transaction.facts.claim(StoreFact.KEY_ID, value))

    standing = await asyncio.gather(*(claim(str(number)) for number in range(4)))

    assert {await ask(store, lambda snapshot: snapshot.facts.find(StoreFact.KEY_ID))} == set(standing)


async def test_an_import_goes_on_where_its_file_was_left(store: Store) -> None:
    async def work(transaction: Transaction) -> list[int]:
        facts = transaction.facts
        offsets = [await facts.import_offset("file")]
        for offset in (100, 250):
            await facts.put_import_offset("file", offset, at=NOW)
            offsets.append(await facts.import_offset("file"))
        return [*offsets, await facts.import_offset("other")]

    assert [0, 100, 250, 0] == await store.transact(work)
    assert 250 == await ask(store, lambda snapshot: snapshot.facts.import_offset("file"))


async def test_a_store_that_answers_passes_its_check(store: Store) -> None:
    await store.check()
