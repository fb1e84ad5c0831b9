"""Tombstones, rejections and receipts: what is remembered of a write when its text is gone."""

import asyncio
from dataclasses import replace
from datetime import timedelta

from store.domain.journal import Receipt
from store.domain.vocabulary import BLOCKING_REJECTIONS, ReceiptKind, RejectionKind
from store.ports.store import Store, Transaction
from tests.factories import NOW, identifier, owner, receipt, rejection, tombstone
from tests.worlds import ask, collected

ADA = owner()
BO = owner("bo")
ABROAD = owner(tenant="inland")
FIRST, SECOND, THIRD = bytes([1] * 32), bytes([2] * 32), bytes([3] * 32)


async def test_a_tombstone_stands_once_and_blocks_its_owner_alone(store: Store) -> None:
    buried = tombstone(FIRST, owner=ADA)

    async def work(transaction: Transaction) -> list[bool]:
        journal = transaction.journal
        return [
            await journal.entombed(ADA, [FIRST]),
            await journal.add_tombstone(buried),
            await journal.add_tombstone(replace(buried, created_at=NOW + timedelta(days=1))),
            await journal.entombed(ADA, [SECOND, FIRST]),
            await journal.blocked(ADA, [FIRST], kinds=[]),
            await journal.entombed(ADA, [SECOND]),
            await journal.entombed(ADA, []),
            await journal.entombed(BO, [FIRST]),
            await journal.blocked(ABROAD, [FIRST], kinds=BLOCKING_REJECTIONS),
        ]

    assert [False, True, False, True, True, False, False, False, False] == await store.transact(work)
    assert [buried] == await ask(store, lambda snapshot: collected(snapshot.journal.tombstones(ADA)))


async def test_only_rejections_of_the_asked_kinds_block(store: Store) -> None:
    async def work(transaction: Transaction) -> list[bool]:
        journal = transaction.journal
        await journal.add_rejection(rejection(FIRST, RejectionKind.UNTRUE, owner=ADA))
        await journal.add_rejection(rejection(SECOND, RejectionKind.NOT_HERE, owner=ADA))
        return [
            await journal.blocked(ADA, [FIRST], kinds=BLOCKING_REJECTIONS),
            await journal.blocked(ADA, [SECOND], kinds=BLOCKING_REJECTIONS),
            await journal.blocked(ADA, [SECOND], kinds=[RejectionKind.NOT_HERE]),
            await journal.blocked(ADA, [SECOND, FIRST], kinds=BLOCKING_REJECTIONS),
            await journal.blocked(ADA, [THIRD], kinds=frozenset(RejectionKind)),
            await journal.blocked(BO, [FIRST], kinds=frozenset(RejectionKind)),
            await journal.blocked(ADA, [FIRST], kinds=[]),
            await journal.entombed(ADA, [FIRST]),
        ]

    assert [True, False, True, True, False, False, False, False] == await store.transact(work)


async def test_a_rejection_stands_once_for_each_hash_and_kind(store: Store) -> None:
    untrue = rejection(SECOND, RejectionKind.UNTRUE, owner=ADA)
    not_here = rejection(SECOND, RejectionKind.NOT_HERE, owner=ADA)
    lower = rejection(FIRST, RejectionKind.UNTRUE, owner=ADA)
    foreign = rejection(SECOND, RejectionKind.UNTRUE, owner=BO)

    async def work(transaction: Transaction) -> list[bool]:
        added = (untrue, not_here, lower, foreign, replace(untrue, memory_id=identifier(9)))
        return [await transaction.journal.add_rejection(each) for each in added]

    assert [True, True, True, True, False] == await store.transact(work)
    assert [lower, not_here, untrue] == await ask(store, lambda snapshot: collected(snapshot.journal.rejections(ADA)))

    await store.transact(lambda transaction: transaction.journal.erase_rejections(ADA, [SECOND, THIRD]))

    assert [lower] == await ask(store, lambda snapshot: collected(snapshot.journal.rejections(ADA)))
    assert [foreign] == await ask(store, lambda snapshot: collected(snapshot.journal.rejections(BO)))


async def test_tombstones_come_by_hash(store: Store) -> None:
    async def work(transaction: Transaction) -> None:
        for each in (THIRD, FIRST, SECOND):
            await transaction.journal.add_tombstone(tombstone(each, owner=ADA))

    await store.transact(work)

    found = await ask(store, lambda snapshot: collected(snapshot.journal.tombstones(ADA)))
    assert [FIRST, SECOND, THIRD] == [each.statement_hash for each in found]


async def test_a_statement_may_be_locked_several_times_in_one_transaction(store: Store) -> None:
    async def work(transaction: Transaction) -> bool:
        await transaction.journal.lock_statements(ADA, [SECOND, FIRST])
        await transaction.journal.lock_statements(ADA, [FIRST])
        await transaction.journal.lock_statements(ADA, [])
        return True

    assert await store.transact(work)


async def test_writers_of_one_statement_take_their_turns(store: Store) -> None:
    """Each looks and then buries; without the lock both would find nothing."""

    async def look_and_bury(transaction: Transaction) -> bool:
        await transaction.journal.lock_statements(ADA, [FIRST])
        if await transaction.journal.entombed(ADA, [FIRST]):
            return False
        return await transaction.journal.add_tombstone(tombstone(FIRST, owner=ADA))

    answers = await asyncio.gather(*(store.transact(look_and_bury) for _ in range(4)))

    assert [False, False, False, True] == sorted(answers)


async def test_a_key_is_taken_once_by_each_owner(store: Store) -> None:
    first = receipt("key", owner=ADA)
    second = replace(first, kind=ReceiptKind.DELETE_COMPLETED, request_hash=bytes([7] * 32))

    async def work(transaction: Transaction) -> list[object]:
        journal = transaction.journal
        return [
            await journal.find_receipt(ADA, "key"),
            await journal.add_receipt(first),
            await journal.add_receipt(second),
            await journal.add_receipt(replace(second, owner=BO)),
            await journal.add_receipt(replace(second, key="KEY")),
            await journal.find_receipt(ADA, "key"),
            await journal.find_receipt(ABROAD, "key"),
        ]

    assert [None, True, False, True, True, first, None] == await store.transact(work)
    assert ["KEY", "key"] == [
        each.key for each in await ask(store, lambda snapshot: collected(snapshot.journal.receipts(ADA)))
    ]


async def test_of_concurrent_takers_of_a_key_one_gets_it(store: Store) -> None:
    takers = [receipt("key", owner=ADA, memory_id=identifier(number)) for number in range(4)]

    async def take(taken: Receipt) -> bool:
        return await store.transact(lambda transaction: transaction.journal.add_receipt(taken))

    answers = await asyncio.gather(*map(take, takers))

    kept = await ask(store, lambda snapshot: collected(snapshot.journal.receipts(ADA)))
    assert [takers[answers.index(True)]] == kept
    assert 1 == sum(answers)


async def test_old_receipts_of_a_tenant_are_erased_in_batches(store: Store) -> None:
    recent = receipt("recent", owner=ADA, created_at=NOW)
    abroad = receipt("old", owner=ABROAD, created_at=NOW - timedelta(days=3))

    async def add(transaction: Transaction) -> None:
        for number, each in enumerate((ADA, ADA, BO)):
            old = receipt(f"old {number}", owner=each, created_at=NOW - timedelta(microseconds=1))
            await transaction.journal.add_receipt(old)
        await transaction.journal.add_receipt(recent)
        await transaction.journal.add_receipt(abroad)

    async def erase() -> int:
        return await store.transact(
            lambda transaction: transaction.journal.erase_receipts("harbour", before=NOW, limit=2)
        )

    await store.transact(add)

    assert [2, 1, 0] == [await erase() for _ in range(3)]
    assert [recent] == await ask(store, lambda snapshot: collected(snapshot.journal.receipts(ADA)))
    assert [abroad] == await ask(store, lambda snapshot: collected(snapshot.journal.receipts(ABROAD)))
