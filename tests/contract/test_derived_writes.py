"""Derived records as they are written: what a write may change, and that it is kept as a whole or not at all."""

from dataclasses import replace
from decimal import Decimal

import pytest

from store.domain.derived import DerivedRecord, DerivedStatus, RecordKind, retired
from store.domain.lexical import TextQuery
from store.domain.memories import MemoryRecord
from store.domain.vocabulary import Authority, Portability, Sensitivity
from store.ports.errors import StoreInconsistent
from store.ports.memories import MemoryBrowseQuery, MemoryKey
from store.ports.store import Store, Transaction
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
    THEIRS,
    TOP,
    fill,
    filling,
    on_pages,
    put,
    shell,
    shown,
    stored,
    withheld,
)
from tests.factories import NOW, derived, identifier, owner
from tests.worlds import ask, everything, keep_derived


@pytest.fixture
async def filled(store: Store) -> Store:
    await fill(store)
    return store


async def test_each_record_is_added_once(filled: Store) -> None:
    again = derived(TEA, statement="Says something else", id=SUMMARY.id)

    with pytest.raises(StoreInconsistent):
        await keep_derived(filled, again)

    assert SUMMARY == await shown(filled, SUMMARY.id)


async def test_a_record_that_is_not_there_is_not_written(filled: Store) -> None:
    for absent in (derived(BEES), replace(BESIDE, owner=BO)):
        with pytest.raises(StoreInconsistent):
            await put(filled, absent)


def rewritten(record: DerivedRecord) -> DerivedRecord:
    """The record with another value in every field but its owner and id, and as active as it was."""
    assert record.content is not None
    other = derived(TEA, statement="Sold the bees")
    assert other.content is not None
    return replace(
        other,
        id=record.id,
        owner=record.owner,
        record_kind=RecordKind.HYPOTHESIS,
        revision=9,
        flagged_for_review=True,
        sensitivity=Sensitivity.RESTRICTED,
        portability=Portability.LOCAL,
        created_at=NOW,
        updated_at=AT,
        store_position=500,
        content=replace(other.content, confidence=Decimal("0.1"), authority=Authority.USER, scope="elsewhere"),
    )


async def test_a_write_changes_what_a_review_changes_and_nothing_else(filled: Store) -> None:
    written = rewritten(SUMMARY)

    await put(filled, written)

    expected = replace(
        SUMMARY,
        revision=9,
        flagged_for_review=True,
        portability=Portability.LOCAL,
        updated_at=AT,
        store_position=500,
    )
    assert expected == await shown(filled, SUMMARY.id)
    assert [1, 0] == [await found(filled, words) for words in ("insects keeps", "sold")]


async def found(store: Store, words: str) -> int:
    """How many records that stand are found by a text."""
    filter = replace(everything(ADA), text=TextQuery.parse(words))
    return await ask(store, lambda snapshot: snapshot.derived.count(filter))


async def test_a_retired_record_loses_its_content_and_its_sources(filled: Store) -> None:
    # What is given beside the status does not matter.
    given = replace(SUMMARY, status=DerivedStatus.RETIRED, revision=2, updated_at=AT, store_position=500)

    await put(filled, given)

    assert retired(SUMMARY, position=500, now=AT) == await shown(filled, SUMMARY.id)
    assert [BESIDE.id] == await on_pages(filled)
    # Those above it are withheld; they keep what they say until an erasure takes it.
    assert [ABOVE_SUMMARY.id, TOP.id] == await withheld(filled)


async def test_what_raises_leaves_every_record_as_it_was(filled: Store) -> None:
    async def work(transaction: Transaction) -> None:
        await transaction.derived.put(retired(BESIDE, position=100, now=NOW))
        await transaction.derived.erase(ADA, [SUMMARY.id], at=AT)
        # The transaction sees what it has done.
        visible = await transaction.shown_derived.find(ADA, BESIDE.id, ceiling=Sensitivity.RESTRICTED, now=NOW)
        assert visible == retired(BESIDE, position=100, now=NOW)
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError):
        await filled.transact(work)

    assert [SUMMARY, ABOVE_SUMMARY, TOP, BESIDE] == await filling(filled)


async def test_a_snapshot_keeps_what_stood_when_it_was_opened(filled: Store) -> None:
    async with filled.snapshot() as snapshot:
        filter = everything(ADA)
        assert 4 == await snapshot.derived.count(filter)
        await filled.transact(lambda transaction: transaction.memories.put(replace(BEES, revision=2)))
        assert 4 == await snapshot.derived.count(filter)

    assert [BESIDE.id] == await on_pages(filled)


async def test_an_owner_of_derived_records_alone_is_an_owner(store: Store) -> None:
    bees: MemoryRecord = replace(BEES, owner=owner("cleo"))
    record = derived(bees)
    await keep_derived(store, record)
    assert [bees.owner] == await ask(store, lambda snapshot: snapshot.journal.owners())

    await store.transact(lambda transaction: transaction.derived.erase(bees.owner, [record.id], at=AT))

    assert [] == await ask(store, lambda snapshot: snapshot.journal.owners())


async def rewrite(store: Store, *, after: MemoryKey | None, limit: int) -> list[MemoryKey]:
    return await store.transact(lambda transaction: transaction.derived.rewrite_lexemes(after=after, limit=limit))


async def test_lexemes_of_all_owners_are_made_anew_in_order_and_nothing_else_changes(filled: Store) -> None:
    expected = [(ADA, record.id) for record in (SUMMARY, ABOVE_SUMMARY, TOP, BESIDE)] + [(BO, THEIRS.id)]

    walked: list[MemoryKey] = []
    while batch := await rewrite(filled, after=walked[-1] if walked else None, limit=2):
        assert len(batch) <= 2
        walked += batch

    assert expected == walked
    assert [SUMMARY, ABOVE_SUMMARY, TOP, BESIDE] == await filling(filled)
    assert [1, 1, 4] == [await found(filled, words) for words in ("garden", "bees", "ada")]


async def test_a_shell_gets_no_lexemes_again(filled: Store) -> None:
    await filled.transact(lambda transaction: transaction.derived.retire_dependents(ADA, [BEES.id], at=AT))

    await rewrite(filled, after=None, limit=100)

    assert [shell(SUMMARY, at=AT)] == await stored(filled, SUMMARY.id)
    assert [0, 1] == [await found(filled, words) for words in ("bees garden home", "ada")]


async def rename(store: Store, shown: str, *, limit: int = 100) -> int:
    return await store.transact(
        lambda transaction: transaction.derived.put_display_subject(ADA, subject="person:kai", shown=shown, limit=limit)
    )


async def test_a_new_name_is_shown_and_found_and_is_no_write_of_the_record(filled: Store) -> None:
    of_kai = [
        derived(BEES, subject="person:kai", statement=f"Sings {number}", id=identifier(number)) for number in (31, 32)
    ]
    run_out = derived(BEES, subject="person:kai", statement="Sang", expires_at=NOW, id=identifier(33))
    others = [
        derived(BEES, subject="person:Kai", statement="Hums", id=identifier(34)),
        derived(THEIR_BEES, subject="person:kai", statement="Hums", id=identifier(35)),
    ]
    gone = derived(BEES, subject="person:kai", statement="Sang long ago", id=identifier(36))
    await keep_derived(filled, *of_kai, run_out, *others, gone)
    await put(filled, shell(gone))

    assert [2, 1, 0] == [await rename(filled, "Robin Øst", limit=2) for _ in range(3)]

    def renamed(record: DerivedRecord) -> DerivedRecord:
        assert record.content is not None
        return replace(record, content=replace(record.content, display_subject="Robin Øst"))

    expected = [renamed(record) for record in (*of_kai, run_out)]
    assert [*expected, others[0], shell(gone)] == await stored(
        filled, *(identifier(number) for number in range(31, 37))
    )
    assert [others[1]] == await stored(filled, others[1].id, of=BO)
    assert [2, 1, 3, 2] == [await found(filled, words) for words in ("øst", "unnamed", "kai", "sings")]
    filter = replace(everything(ADA), subject="robin øst")
    page = await ask(filled, lambda snapshot: snapshot.derived.browse(MemoryBrowseQuery(filter=filter, limit=5)))
    assert [record.id for record in of_kai[::-1]] == [record.id for record in page.records]
