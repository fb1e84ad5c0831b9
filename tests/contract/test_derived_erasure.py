"""What an erasure takes of derived records: by what they rest on, by their derivation, by what they say."""

from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import pytest

from store.domain.derived import retired
from store.domain.vocabulary import Sensitivity
from store.inmemory.decisions import StepwiseDecisions
from store.ports.store import Store, StoreFact, Transaction
from tests.contract.derived_records import (
    ABOVE_SUMMARY,
    ADA,
    AT,
    BEES,
    BESIDE,
    BO,
    SUMMARY,
    TEA,
    THEIR_BEES,
    TOP,
    fill,
    filling,
    put,
    shell,
    shown,
    stored,
    withheld,
)
from tests.factories import NOW, derived, identifier, memory
from tests.worlds import KEYRING, keep, keep_derived


@pytest.fixture
async def filled(store: Store) -> Store:
    await fill(store)
    return store


async def test_all_that_rests_on_a_source_is_retired_where_it_stood(filled: Store) -> None:
    await filled.transact(lambda transaction: transaction.derived.retire_dependents(ADA, [BEES.id], at=AT))

    expected = [*(shell(record, at=AT) for record in (SUMMARY, ABOVE_SUMMARY, TOP)), BESIDE]
    assert expected == await filling(filled)
    assert [(2, None, (), record.store_position) for record in (SUMMARY, ABOVE_SUMMARY, TOP)] == [
        (each.revision, each.content, each.sources, each.store_position) for each in expected[:3]
    ]
    assert expected[0] == await shown(filled, SUMMARY.id)
    # Once more retires nothing again.
    await filled.transact(
        lambda transaction: transaction.derived.retire_dependents(ADA, [BEES.id, SUMMARY.id], at=AT + timedelta(1))
    )
    assert expected == await filling(filled)


async def test_what_rests_on_nothing_that_goes_stays(filled: Store) -> None:
    async def work(transaction: Transaction) -> None:
        for ids in ([], [identifier(99)], [TOP.id]):
            await transaction.derived.retire_dependents(ADA, ids, at=AT)

    await filled.transact(work)

    assert [SUMMARY, ABOVE_SUMMARY, TOP, BESIDE] == await filling(filled)


async def test_what_is_withheld_is_retired_with_the_rest(filled: Store) -> None:
    """The record between was retired by itself, and no longer tells what the one above it rests on."""
    between = retired(SUMMARY, position=100, now=NOW)
    await put(filled, between)

    await filled.transact(lambda transaction: transaction.derived.retire_dependents(ADA, [BEES.id], at=AT))

    assert [between, shell(ABOVE_SUMMARY, at=AT), shell(TOP, at=AT), BESIDE] == await filling(filled)


async def test_an_erased_record_is_gone_and_what_rested_on_it_is_retired(filled: Store) -> None:
    await filled.transact(lambda transaction: transaction.derived.erase(ADA, [ABOVE_SUMMARY.id, identifier(99)], at=AT))

    assert [SUMMARY, shell(TOP, at=AT), BESIDE] == await filling(filled)
    assert await shown(filled, ABOVE_SUMMARY.id) is None
    assert not await filled.transact(lambda transaction: transaction.derived.exists(ADA, ABOVE_SUMMARY.id))
    # Nothing of it is left in the way of the next.
    again = derived(BEES, id=ABOVE_SUMMARY.id, statement="Has a garden")
    await keep_derived(filled, again)
    assert again == await shown(filled, again.id)


async def erase_by_hashes(store: Store, *hashes: bytes) -> int:
    return await store.transact(lambda transaction: transaction.derived.erase_by_hashes(ADA, hashes, at=AT))


def derivation(*clauses: str) -> bytes:
    return KEYRING.derivation_hash(ADA, clauses)


def statement(text: str) -> bytes:
    return KEYRING.statement_hash(ADA, text)


async def test_a_derivation_is_erased_by_its_hash_and_what_rested_on_it_is_retired(filled: Store) -> None:
    assert 1 == await erase_by_hashes(filled, derivation("HAS a  garden"), bytes(32))

    assert [SUMMARY, shell(TOP, at=AT), BESIDE] == await filling(filled)


async def test_every_derivation_of_a_hash_is_erased_a_retired_one_too(filled: Store) -> None:
    first = derived(TEA, statement="Keeps bees", id=identifier(15), sensitivity=Sensitivity.RESTRICTED)
    await keep_derived(filled, first)
    await put(filled, retired(first, position=100, now=NOW))

    assert 3 == await erase_by_hashes(filled, derivation("keeps bees"), derivation("is at home"))

    assert [shell(ABOVE_SUMMARY, at=AT), BESIDE] == await filling(filled)
    assert [] == await stored(filled, first.id)


async def test_what_says_a_statement_is_retired_with_what_rests_on_it(filled: Store) -> None:
    assert 0 == await erase_by_hashes(filled, statement("has A garden"))

    assert [SUMMARY, shell(ABOVE_SUMMARY, at=AT), shell(TOP, at=AT), BESIDE] == await filling(filled)


async def test_what_rests_on_a_retired_record_that_said_a_statement_is_retired_too(filled: Store) -> None:
    """It may repeat what the retired one said, which no longer tells it by itself."""
    between = retired(ABOVE_SUMMARY, position=100, now=NOW)
    await put(filled, between)

    assert 0 == await erase_by_hashes(filled, statement("Has a garden"))

    assert [SUMMARY, between, shell(TOP, at=AT), BESIDE] == await filling(filled)


async def test_a_hash_that_nothing_has_erases_nothing(filled: Store) -> None:
    foreign = KEYRING.derivation_hash(BO, ["Keeps bees"])

    assert 0 == await erase_by_hashes(filled, bytes(32), foreign, statement("Sold the bees"))
    assert 0 == await erase_by_hashes(filled)

    assert [SUMMARY, ABOVE_SUMMARY, TOP, BESIDE] == await filling(filled)


async def test_records_are_found_by_what_they_say_however_it_is_spelled(filled: Store) -> None:
    hidden = derived(THEIR_BEES, owner=ADA, statement="Keeps  BEES", id=identifier(15), revision=4, expires_at=NOW)
    gone = derived(TEA, statement="keeps bees", id=identifier(16))
    await keep_derived(filled, hidden, gone)
    await put(filled, retired(gone, position=100, now=NOW))

    async def equal(*hashes: bytes) -> frozenset[UUID]:
        return await filled.transact(lambda transaction: transaction.derived.find_equal_ids(ADA, hashes))

    assert [hidden.id] == await withheld(filled)
    assert {SUMMARY.id, hidden.id, gone.id} == await equal(derivation("keeps bees"))
    assert {SUMMARY.id, hidden.id, gone.id, TOP.id} == await equal(derivation("keeps bees"), derivation("is at home"))
    # Its hash as a statement is another.
    assert frozenset() == await equal(statement("keeps bees"), bytes(32))
    assert frozenset() == await equal()


@pytest.mark.parametrize("is_stepwise", [False, True], ids=["folded", "stepwise"])
async def test_the_erasure_of_a_statement_takes_all_that_rests_on_it_or_says_it(
    filled: Store, is_stepwise: bool
) -> None:
    # It rests on another belief, and says what is erased.
    saying = derived(TEA, statement="KEEPS bees", id=identifier(15))
    above_saying = derived(saying, statement="Is busy", id=identifier(16))
    # It was derived from what is erased, at a revision that is long gone.
    withheld_before = derived(replace(BEES, revision=7), statement="Kept wasps", id=identifier(17))
    await keep_derived(filled, saying, above_saying, withheld_before)
    hashes = [statement("Keeps bees"), derivation("drinks tea")]

    async def work(transaction: Transaction) -> bool:
        await transaction.facts.claim(StoreFact.KEY_ID, KEYRING.current.id)
        stepwise = StepwiseDecisions(
            transaction.memories, transaction.shown, transaction.derived, transaction.journal, transaction.facts
        )
        decisions = stepwise if is_stepwise else transaction.decisions
        locked = await decisions.lock_rows(ADA, hashes)
        assert [BEES.id] == [row.id for row in locked.erased]
        return await decisions.erase_rows(ADA, hashes, [], locked=locked, at=AT)

    assert await filled.transact(work)

    # The tea's own record is one of those whose derivation is erased.
    assert [shell(record, at=AT) for record in (SUMMARY, ABOVE_SUMMARY, TOP)] == await filling(filled)
    left = [shell(record, at=AT) for record in (saying, above_saying, withheld_before)]
    assert left == await stored(filled, saying.id, above_saying.id, withheld_before.id)


async def test_a_refused_erasure_retires_nothing(filled: Store) -> None:
    linked = memory("Sails", id=identifier(3), conflicts_with=(identifier(4),))
    unlocked = memory("Rows", id=identifier(4), conflicts_with=(linked.id,))
    resting = derived(linked, statement="Sails", id=identifier(15))
    await keep(filled, linked, unlocked)
    await keep_derived(filled, resting)
    hashes = [statement("Sails")]

    async def work(transaction: Transaction) -> bool:
        locked = await transaction.decisions.lock_rows(ADA, hashes)
        fewer = replace(locked, rows=tuple(row for row in locked.rows if row.id != unlocked.id))
        return await transaction.decisions.erase_rows(ADA, hashes, [], locked=fewer, at=AT)

    assert not await filled.transact(work)
    assert resting == await shown(filled, resting.id)
