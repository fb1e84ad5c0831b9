"""Decisions in few steps do what the single operations do one by one: on each adapter, over the same rows."""

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import pytest

from store.domain.journal import EvidenceReference
from store.domain.memories import MemoryRecord
from store.domain.vocabulary import EventKind, MemoryStatus, RejectionKind, ReviewOutcome, Sensitivity
from store.inmemory.decisions import StepwiseDecisions
from store.ports.decisions import Decisions, ReviewWrite
from store.ports.store import Store, StoreFact, Transaction
from tests.factories import NOW, SESSION, identifier, memory, owner, receipt, rejection, tombstone
from tests.worlds import KEYRING, ask, collected, keep

ADA, BO = owner(), owner("bo")
PERSON = "person:kai"
ID, LINKED, HIDDEN, REPLACED, COPY = (identifier(number) for number in range(1, 6))
HELD = memory(
    "Sails", id=ID, subject=PERSON, conflicts_with=(LINKED, HIDDEN), sensitivity=Sensitivity.INTERNAL, store_position=3
)
ROWS = (
    HELD,
    memory("Rows", id=LINKED, conflicts_with=(ID,), store_position=4),
    memory("Hides", id=HIDDEN, conflicts_with=(ID,), sensitivity=Sensitivity.RESTRICTED, store_position=5),
    memory("Swims", id=REPLACED, status=MemoryStatus.SUPERSEDED, superseded_by=ID, store_position=6),
    memory("Sails", id=COPY, subject=PERSON, sensitivity=Sensitivity.RESTRICTED, store_position=7),
    memory("Sails", id=identifier(6), owner=BO, subject=PERSON, store_position=8),
)
HASHES = KEYRING.statement_hashes(ADA, "Sails")
[HASH] = HASHES


@dataclass(frozen=True, slots=True)
class Way:
    """A store, and how its decisions are taken."""

    store: Store
    is_stepwise: bool

    def of(self, transaction: Transaction) -> Decisions:
        """The decisions of a transaction."""
        if not self.is_stepwise:
            return transaction.decisions
        return StepwiseDecisions(
            transaction.memories, transaction.shown, transaction.derived, transaction.journal, transaction.facts
        )


@pytest.fixture(params=[False, True], ids=["folded", "stepwise"])
async def way(request: pytest.FixtureRequest, store: Store) -> Way:
    """Each adapter's own way, and the single operations in their order, over ROWS."""

    async def prepare(transaction: Transaction) -> None:
        await transaction.facts.claim(StoreFact.KEY_ID, KEYRING.current.id)
        await transaction.memories.next_positions(10)
        for id in (ID, COPY, REPLACED):
            await transaction.memories.add_references(ADA, id, [EvidenceReference(session_id=SESSION, number=1)])
        await transaction.journal.add_rejection(rejection(HASH, RejectionKind.NOT_HERE, owner=ADA))

    await keep(store, *ROWS)
    await store.transact(prepare)
    return Way(store, request.param)


async def left(store: Store) -> list[Any]:
    """Everything that is stored of both owners; of the events what has no number of its own."""
    found: list[Any] = []
    async with store.snapshot() as snapshot:
        for of in (ADA, BO):
            found += await collected(snapshot.memories.export(of))
            found += await collected(snapshot.journal.rejections(of))
            found += await collected(snapshot.journal.tombstones(of))
            found += [replace(event, number=0) for event in await collected(snapshot.journal.events(of))]
    return found


def retiring(expected: MemoryRecord = HELD, *, key_id: str | None = KEYRING.current.id) -> ReviewWrite:
    retired = replace(expected, status=MemoryStatus.RETIRED, valid_to=NOW, store_position=100, revision=2)
    refused = rejection(HASH, RejectionKind.UNTRUE, owner=ADA)
    return ReviewWrite(
        expected=expected,
        record=retired,
        event=EventKind.REJECTED,
        outcome=ReviewOutcome.UNTRUE,
        rejection=replace(refused, memory_id=ID, created_at=NOW),
        key_id=key_id,
        at=NOW,
    )


@pytest.mark.parametrize("locked", [False, True])
async def test_a_key_is_taken_once_and_the_belief_read_where_it_is_visible(way: Way, locked: bool) -> None:
    taken = receipt("key", owner=ADA, memory_id=ID)

    async def admit(transaction: Transaction) -> list[Any]:
        decisions = way.of(transaction)
        first = await decisions.admit(taken, ceiling=Sensitivity.INTERNAL, locked=locked)
        assert first.position is not None
        assert first.position > HELD.store_position
        again = await decisions.admit(taken, ceiling=Sensitivity.INTERNAL, locked=locked)
        above = await decisions.admit(replace(taken, key="above"), ceiling=Sensitivity.PUBLIC, locked=locked)
        foreign = replace(taken, key="foreign", memory_id=identifier(6))
        absent = await decisions.admit(foreign, ceiling=Sensitivity.RESTRICTED, locked=locked)
        return [(each.is_new, each.held_hash, each.key_id, each.record) for each in (first, again, above, absent)]

    current = KEYRING.current.id
    assert [
        (True, None, current, HELD),
        (False, taken.request_hash, current, None),
        (True, None, current, None),
        (True, None, current, None),
    ] == await way.store.transact(admit)
    kept = await ask(way.store, lambda snapshot: collected(snapshot.journal.receipts(ADA)))
    assert ["above", "foreign", "key"] == [each.key for each in kept]


async def test_a_review_is_written_with_its_traces_and_shown_under_the_ceiling(way: Way) -> None:
    write = retiring()

    async def work(transaction: Transaction) -> MemoryRecord | None:
        return await way.of(transaction).write_review(write, ceiling=Sensitivity.INTERNAL)

    assert replace(write.record, conflicts_with=(LINKED,)) == await way.store.transact(work)
    rejected = [
        each.kind for each in await ask(way.store, lambda snapshot: collected(snapshot.journal.rejections(ADA)))
    ]
    assert [RejectionKind.NOT_HERE, RejectionKind.UNTRUE] == sorted(rejected)
    [event] = await ask(way.store, lambda snapshot: collected(snapshot.journal.events(ADA)))
    assert (EventKind.REJECTED, ID, {"outcome": "untrue"}) == (event.kind, event.memory_id, event.payload)
    stored = await ask(way.store, lambda snapshot: snapshot.memories.find(ADA, ID, ceiling=Sensitivity.RESTRICTED))
    assert stored == write.record


OTHERWISE = {
    "status": MemoryStatus.PROVISIONAL,
    "conflicts_with": (LINKED,),
    "superseded_by": LINKED,
    "store_position": 2,
    "revision": 9,
    "flagged_for_review": True,
    "last_used_at": NOW,
    "expires_at": NOW + timedelta(days=1),
}


@pytest.mark.parametrize("field", OTHERWISE)
async def test_a_review_of_what_has_changed_meanwhile_writes_nothing(way: Way, field: str) -> None:
    before = await left(way.store)
    stale = replace(HELD, **{field: OTHERWISE[field]})  # type: ignore[arg-type]  # each value is of its field's type

    async def work(transaction: Transaction) -> MemoryRecord | None:
        return await way.of(transaction).write_review(retiring(stale), ceiling=Sensitivity.INTERNAL)

    assert await way.store.transact(work) is None
    assert before == await left(way.store)


@pytest.mark.parametrize(
    ("key_id", "ceiling"),
    [("of another key", Sensitivity.RESTRICTED), (KEYRING.current.id, Sensitivity.PUBLIC)],
    ids=["key", "ceiling"],
)
async def test_a_review_under_another_key_or_ceiling_writes_nothing(
    way: Way, key_id: str, ceiling: Sensitivity
) -> None:
    before = await left(way.store)

    async def work(transaction: Transaction) -> MemoryRecord | None:
        return await way.of(transaction).write_review(retiring(key_id=key_id), ceiling=ceiling)

    assert await way.store.transact(work) is None
    assert before == await left(way.store)


async def test_a_statement_is_erased_with_all_that_hangs_on_it_and_nothing_else(way: Way) -> None:
    buried = tombstone(HASH, owner=ADA)

    async def work(transaction: Transaction) -> list[tuple[Any, ...]]:
        locked = await way.of(transaction).lock_rows(ADA, HASHES)
        assert KEYRING.current.id == locked.key_id
        assert await way.of(transaction).erase_rows(ADA, HASHES, [buried], locked=locked, at=NOW)
        return [(row.id, row.sensitivity, row.is_erased) for row in locked.rows]

    assert [
        (ID, Sensitivity.INTERNAL, True),
        (LINKED, Sensitivity.PUBLIC, False),
        (HIDDEN, Sensitivity.RESTRICTED, False),
        (REPLACED, Sensitivity.PUBLIC, False),
        (COPY, Sensitivity.RESTRICTED, True),
    ] == await way.store.transact(work)
    exported = [record for record, _ in await ask(way.store, lambda snapshot: collected(snapshot.memories.export(ADA)))]
    unlinked = [
        replace(row, conflicts_with=(), superseded_by=None) for row in ROWS if row.id in {LINKED, HIDDEN, REPLACED}
    ]
    assert unlinked == exported
    assert [] == await ask(way.store, lambda snapshot: collected(snapshot.journal.rejections(ADA)))
    assert [buried] == await ask(way.store, lambda snapshot: collected(snapshot.journal.tombstones(ADA)))
    events = await ask(way.store, lambda snapshot: collected(snapshot.journal.events(ADA)))
    assert [(EventKind.DELETED, ID), (EventKind.DELETED, COPY)] == [(event.kind, event.memory_id) for event in events]
    assert 1 == len(await ask(way.store, lambda snapshot: collected(snapshot.memories.export(BO))))


async def test_nothing_is_erased_where_a_linked_row_is_not_locked(way: Way) -> None:
    before = await left(way.store)

    async def work(transaction: Transaction) -> bool:
        locked = await way.of(transaction).lock_rows(ADA, HASHES)
        fewer = replace(locked, rows=tuple(row for row in locked.rows if row.id != HIDDEN))
        return await way.of(transaction).erase_rows(ADA, HASHES, [tombstone(HASH, owner=ADA)], locked=fewer, at=NOW)

    assert not await way.store.transact(work)
    assert before == await left(way.store)


async def test_a_statement_that_nobody_holds_is_entombed_all_the_same(way: Way) -> None:
    unknown = bytes(32)

    async def work(transaction: Transaction) -> bool:
        locked = await way.of(transaction).lock_rows(BO, [unknown])
        assert ((), KEYRING.current.id) == (locked.rows, locked.key_id)
        return await way.of(transaction).erase_rows(
            BO, [unknown], [tombstone(unknown, owner=BO)], locked=locked, at=NOW
        )

    assert await way.store.transact(work)
    assert [tombstone(unknown, owner=BO)] == await ask(
        way.store, lambda snapshot: collected(snapshot.journal.tombstones(BO))
    )
