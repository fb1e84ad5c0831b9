"""Beliefs as they are written: what a write may change, what it erases, and what it looks up."""

from dataclasses import fields, replace
from datetime import timedelta
from decimal import Decimal

import pytest

from store.domain.lexical import TextQuery
from store.domain.memories import MemoryRecord
from store.domain.vocabulary import (
    Authority,
    BeliefType,
    ClaimKind,
    Derivation,
    Longevity,
    MemoryStatus,
    Polarity,
    Portability,
    Sensitivity,
)
from store.ports.errors import StoreInconsistent
from store.ports.memories import CHANGEABLE_FIELDS
from store.ports.store import Store, Transaction
from tests.factories import NOW, OTHER_SESSION, SESSION, identifier, memory, owner, reference
from tests.worlds import KEYRING, ask, collected, everything, find, keep, selected

ADA = owner()
BO = owner("bo")


async def write(store: Store, record: MemoryRecord) -> None:
    await store.transact(lambda transaction: transaction.memories.put(record))


async def due(store: Store, tenant: str, *, limit: int = 10) -> list[MemoryRecord]:
    return await store.transact(
        lambda transaction: transaction.memories.find_due_for_update(tenant, now=NOW, limit=limit)
    )


def rewritten(record: MemoryRecord) -> MemoryRecord:
    """The record with another value in every field but its owner and id."""
    return replace(
        record,
        subject="Bo",
        display_subject="Bo",
        statement="Sold the boat",
        belief_type=BeliefType.PREFERENCE,
        status=MemoryStatus.SUPERSEDED,
        polarity=Polarity.RETRACT,
        scope="elsewhere",
        claim_kind=ClaimKind.GOAL,
        derivation=Derivation.HYPOTHESIS,
        longevity=Longevity.TENTATIVE,
        portability=Portability.LOCAL,
        authority=Authority.USER,
        sensitivity=Sensitivity.INTERNAL,
        confidence=Decimal("0.123"),
        utility=Decimal("-0.5"),
        corroboration_count=7,
        evidence_count=8,
        flagged_for_review=True,
        conflicts_with=(identifier(2), identifier(3)),
        superseded_by=identifier(4),
        source_session_id=OTHER_SESSION,
        source_event_ids=(4, 2),
        formation_run_id=identifier(5),
        consolidation_policy_version="policy-2",
        lifecycle_policy_version="policy-3",
        origin_scopes=("elsewhere",),
        valid_from=NOW - timedelta(days=9),
        valid_to=NOW,
        expires_at=NOW + timedelta(days=1),
        last_evidence_at=NOW,
        last_used_at=NOW,
        last_reinforced_at=NOW,
        created_at=NOW,
        updated_at=NOW + timedelta(microseconds=1),
        store_position=2**40,
        revision=9,
    )


async def test_a_write_changes_what_may_change_and_nothing_else(store: Store) -> None:
    added = memory(id=identifier(1))
    await keep(store, added)
    other = rewritten(added)
    assert ["id", "owner"] == [
        field.name for field in fields(added) if getattr(added, field.name) == getattr(other, field.name)
    ]

    await write(store, other)

    expected = {
        field.name: getattr(other if field.name in CHANGEABLE_FIELDS else added, field.name) for field in fields(added)
    }
    [held] = await store.transact(lambda transaction: transaction.memories.find_many_for_update(ADA, [identifier(1)]))
    assert expected == {field.name: getattr(held, field.name) for field in fields(held)}


async def test_a_write_leaves_the_words_by_which_a_belief_is_found(store: Store) -> None:
    added = memory("Keeps a rowing boat")
    await keep(store, added)

    await write(store, replace(added, statement="Sold it", subject="Bo", display_subject="Bo"))

    async def found(words: str) -> int:
        return len(await selected(store, replace(everything(ADA), text=TextQuery.parse(words))))

    assert [1, 1, 0] == [await found(words) for words in ("rowing", "ada", "sold")]


async def test_each_belief_is_added_once(store: Store) -> None:
    record = memory()
    await keep(store, record)

    with pytest.raises(StoreInconsistent):
        await keep(store, record)


async def test_a_belief_is_read_for_a_write_only_where_it_is_visible(store: Store) -> None:
    record = memory(id=identifier(1), sensitivity=Sensitivity.INTERNAL, conflicts_with=(identifier(2),))
    await keep(store, record)

    async def work(transaction: Transaction) -> list[object]:
        writes = transaction.memories
        return [
            await writes.find_for_update(ADA, record.id, ceiling=Sensitivity.INTERNAL),
            await writes.find_for_update(ADA, record.id, ceiling=Sensitivity.PUBLIC),
            await writes.find_for_update(BO, record.id, ceiling=Sensitivity.RESTRICTED),
            await writes.exists(ADA, record.id),
            await writes.exists(BO, record.id),
        ]

    assert [record, None, None, True, False] == await store.transact(work)


async def test_many_are_read_for_a_write_by_id_whatever_their_sensitivity(store: Store) -> None:
    records = [memory(id=identifier(number), sensitivity=Sensitivity.RESTRICTED) for number in (3, 1, 2)]
    await keep(store, *records, memory(id=identifier(4), owner=BO))
    ids = [identifier(number) for number in (4, 3, 1, 3)]

    found = await store.transact(lambda transaction: transaction.memories.find_many_for_update(ADA, ids))

    assert [records[1], records[0]] == found


async def test_rows_of_one_statement_are_found_by_its_hash(store: Store) -> None:
    await keep(
        store,
        memory("Keeps a boat", id=identifier(1)),
        memory("  KEEPS a\tboat ", id=identifier(2), status=MemoryStatus.RETIRED, sensitivity=Sensitivity.RESTRICTED),
        memory("Keeps a goat", id=identifier(3)),
        memory("Keeps a boat", id=identifier(4), owner=BO),
    )
    hashes = KEYRING.statement_hashes(ADA, "keeps a boat")

    async def work(transaction: Transaction) -> list[frozenset[object]]:
        writes = transaction.memories
        return [
            frozenset(await writes.find_same_statement_ids(ADA, hashes)),
            frozenset(await writes.find_same_statement_ids(BO, hashes)),
            frozenset(await writes.find_same_statement_ids(ADA, [])),
        ]

    assert [{identifier(1), identifier(2)}, frozenset(), frozenset()] == await store.transact(work)


async def test_linked_ids_are_those_named_and_those_replaced(store: Store) -> None:
    await keep(
        store,
        memory(id=identifier(1), conflicts_with=(identifier(2), identifier(9))),
        memory(id=identifier(2), conflicts_with=(identifier(1),)),
        memory(id=identifier(3), status=MemoryStatus.SUPERSEDED, superseded_by=identifier(1)),
        memory(id=identifier(4), status=MemoryStatus.SUPERSEDED, superseded_by=identifier(3)),
        memory(id=identifier(5), status=MemoryStatus.SUPERSEDED, superseded_by=identifier(1), owner=BO),
    )

    async def work(transaction: Transaction) -> list[frozenset[object]]:
        writes = transaction.memories
        return [
            frozenset(await writes.find_linked_ids(ADA, [identifier(1)])),
            frozenset(await writes.find_linked_ids(ADA, [identifier(2), identifier(3)])),
            frozenset(await writes.find_linked_ids(ADA, [])),
        ]

    assert [
        {identifier(2), identifier(9), identifier(3)},
        {identifier(1), identifier(4)},
        frozenset(),
    ] == await store.transact(work)


async def test_positions_rise_and_are_not_given_back_by_a_rollback(store: Store) -> None:
    async def fail(transaction: Transaction) -> None:
        taken.extend(await transaction.memories.next_positions(2))
        raise InterruptedError

    taken = await store.transact(lambda transaction: transaction.memories.next_positions(3))
    with pytest.raises(InterruptedError):
        await store.transact(fail)
    taken += await store.transact(lambda transaction: transaction.memories.next_positions(1))

    assert sorted(set(taken)) == taken
    assert 6 == len(taken)
    assert taken[0] >= 1


async def test_references_are_kept_in_their_order_and_belong_to_their_belief(store: Store) -> None:
    record, other = memory(id=identifier(1)), memory(id=identifier(2))
    await keep(store, record, other)
    references = (reference(7), reference(2), reference(7, session_id=OTHER_SESSION))

    async def work(transaction: Transaction) -> None:
        await transaction.memories.add_references(ADA, record.id, references[:2])
        await transaction.memories.add_references(ADA, record.id, references[2:])
        await transaction.memories.add_references(ADA, other.id, references[:1])

    await store.transact(work)

    assert frozenset(references) == await store.transact(
        lambda transaction: transaction.memories.find_references(ADA, record.id)
    )
    assert [(record, references), (other, references[:1])] == await ask(
        store, lambda snapshot: collected(snapshot.memories.export(ADA))
    )


async def test_a_reference_is_held_once(store: Store) -> None:
    record = memory()
    await keep(store, record)

    async def work(transaction: Transaction) -> None:
        await transaction.memories.add_references(ADA, record.id, [reference(1, session_id=SESSION)])

    await store.transact(work)
    with pytest.raises(StoreInconsistent):
        await store.transact(work)


async def test_an_export_goes_by_ascending_position_over_every_status(store: Store) -> None:
    records = [
        memory(store_position=2, status=MemoryStatus.RETIRED),
        memory(store_position=3, sensitivity=Sensitivity.RESTRICTED, expires_at=NOW),
        memory(store_position=1, status=MemoryStatus.SUPERSEDED),
    ]
    await keep(store, *records, memory(owner=BO))

    exported = await ask(store, lambda snapshot: collected(snapshot.memories.export(ADA)))

    assert [records[2], records[0], records[1]] == [record for record, _ in exported]


async def test_erasing_takes_the_row_and_its_references_and_nobody_elses(store: Store) -> None:
    record, kept, foreign = memory(id=identifier(1)), memory(id=identifier(2)), memory(id=identifier(1), owner=BO)
    await keep(store, record, kept, foreign)

    async def work(transaction: Transaction) -> object:
        await transaction.memories.add_references(ADA, record.id, [reference(1)])
        await transaction.memories.erase(ADA, [record.id, identifier(9)])
        return await transaction.memories.find_references(ADA, record.id)

    assert frozenset() == await store.transact(work)
    assert [None, kept, foreign] == [await find(store, each.owner, each.id) for each in (record, kept, foreign)]


async def test_copies_are_erased_without_touching_the_belief(store: Store) -> None:
    record = memory("Likes plums", subject="person:kai")
    await keep(store, record)
    hashes = KEYRING.statement_hashes(ADA, "likes plums")

    async def work(transaction: Transaction) -> None:
        await transaction.memories.erase_facts(ADA, hashes)
        # The copy of a live row comes back with its next write.
        await transaction.memories.put(replace(record, revision=2))
        await transaction.memories.put(replace(record, revision=3, status=MemoryStatus.RETIRED))

    await store.transact(work)

    assert replace(record, revision=3, status=MemoryStatus.RETIRED) == await find(store, ADA, record.id)


async def test_due_are_the_live_rows_of_a_tenant_that_have_run_out(store: Store) -> None:
    ended = [
        memory(expires_at=NOW),
        memory(valid_to=NOW - timedelta(days=1), status=MemoryStatus.PROVISIONAL),
        memory(expires_at=NOW, owner=BO, sensitivity=Sensitivity.RESTRICTED),
    ]
    await keep(
        store,
        *ended,
        memory(expires_at=NOW + timedelta(microseconds=1)),
        memory(),
        memory(status=MemoryStatus.SUPERSEDED),
        memory(status=MemoryStatus.EXPIRED, expires_at=NOW),
        memory(expires_at=NOW, owner=owner(tenant="inland")),
    )

    found = await due(store, "harbour")

    assert {record.id for record in ended} == {record.id for record in found}
    assert 2 == len(await due(store, "harbour", limit=2))
    assert [] == await due(store, "nowhere")


async def test_statements_are_read_in_batches_by_id(store: Store) -> None:
    await keep(
        store,
        *(memory(f"Belief {number}", id=identifier(number)) for number in (3, 1, 2)),
        memory("Foreign", id=identifier(4), owner=BO),
    )

    async def work(transaction: Transaction) -> list[list[str]]:
        writes = transaction.memories
        batches = [
            await writes.find_statement_texts(ADA, after=None, limit=2),
            await writes.find_statement_texts(ADA, after=identifier(2), limit=2),
            await writes.find_statement_texts(ADA, after=identifier(3), limit=2),
        ]
        assert [identifier(1), identifier(2)] == [id for id, _ in batches[0]]
        return [[statement for _, statement in batch] for batch in batches]

    assert [["Belief 1", "Belief 2"], ["Belief 3"], []] == await store.transact(work)
