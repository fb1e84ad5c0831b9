"""Derived records as they are shown: when one stands, who sees it, and what it rests on."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from uuid import UUID

import pytest

from store.domain.derived import Clause, DerivedRecord, PinnedSource, RecordKind, retired
from store.domain.memories import MemoryRecord
from store.domain.vocabulary import Authority, BeliefType, MemoryStatus, Portability, Sensitivity
from store.ports.memories import MemoryBrowseQuery
from store.ports.store import Store, Transaction
from tests.contract.derived_records import (
    ABOVE_SUMMARY,
    ADA,
    BEES,
    BO,
    SUMMARY,
    TEA,
    on_pages,
    put,
    shell,
    shown,
    stored,
    stored_within,
    withheld,
)
from tests.factories import NOW, OTHER_SESSION, SESSION, derived, identifier, owner
from tests.worlds import ask, everything, keep, keep_derived

MICROSECOND = timedelta(microseconds=1)
FIRST, LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
FULL = derived(
    BEES,
    TEA,
    id=identifier(13),
    subject="person:kai",
    display_subject="Kai Øst",
    clauses=(
        Clause(text="Trinkt Tee, \\ 'so' \"oft\" %s", source_ids=(TEA.id,)),
        Clause(text="東京に住んでいます 👍🏽", source_ids=(BEES.id, TEA.id)),
    ),
    belief_types=(BeliefType.FACT, BeliefType.PREFERENCE),
    session_ids=(SESSION, OTHER_SESSION),
    scope="work, ‘home’",
    authority=Authority.USER,
    confidence=Decimal("0.123"),
    last_evidence_at=None,
    valid_from=FIRST,
    expires_at=LAST,
    method="Auszüge",
    method_revision="3.1",
    evidence_ref="run 7, ‘x’",
    revision=7,
    flagged_for_review=True,
    sensitivity=Sensitivity.SENSITIVE,
    portability=Portability.LOCAL,
    created_at=FIRST,
    updated_at=LAST,
    store_position=2**63 - 1,
)
SUPPOSED = derived(
    BEES,
    TEA,
    id=identifier(14),
    statement="May like honey",
    record_kind=RecordKind.HYPOTHESIS,
    confidence=Decimal("0.35"),
    expires_at=NOW + timedelta(days=30, microseconds=1),
    clauses=(Clause(text="May like honey", source_ids=(BEES.id,)),),
    sources=(
        PinnedSource(id=BEES.id, revision=1, omitted=False),
        PinnedSource(id=TEA.id, revision=1, omitted=True),
    ),
)


@pytest.mark.parametrize("record", [SUMMARY, FULL, SUPPOSED], ids=["summary", "full", "hypothesis"])
async def test_a_record_comes_back_as_it_was_added(store: Store, record: DerivedRecord) -> None:
    await keep(store, BEES, TEA)
    await keep_derived(store, record)

    assert record == await shown(store, record.id)
    assert [record] == await stored(store, record.id)
    page = await ask(
        store, lambda snapshot: snapshot.derived.browse(MemoryBrowseQuery(filter=everything(ADA), limit=5))
    )
    assert (record,) == page.records
    assert [record] == await stored_within(store, record.id)


@pytest.mark.parametrize("ceiling", Sensitivity)
@pytest.mark.parametrize("is_retired", [False, True])
async def test_nothing_above_the_ceiling_is_shown(store: Store, ceiling: Sensitivity, is_retired: bool) -> None:
    ascending = [Sensitivity.PUBLIC, Sensitivity.INTERNAL, Sensitivity.SENSITIVE, Sensitivity.RESTRICTED]
    records = [derived(BEES, sensitivity=each, statement=each.value) for each in ascending]
    await keep(store, BEES)
    await keep_derived(store, *records)
    if is_retired:
        records = [retired(record, position=record.store_position, now=NOW) for record in records]
        await put(store, *records)
    visible = records[: ascending.index(ceiling) + 1]

    found = [await shown(store, record.id, ceiling=ceiling) for record in records]

    assert [*visible, *[None] * (len(records) - len(visible))] == found
    ids = [record.id for record in records]
    assert visible == await stored_within(store, *ids, ceiling=ceiling)
    assert records == await stored(store, *ids)


async def test_a_foreign_record_is_not_found(store: Store) -> None:
    await keep(store, BEES, TEA)
    await keep_derived(store, SUMMARY)

    async def work(transaction: Transaction) -> tuple[object, ...]:
        return (
            dict(await transaction.derived.find_ancestors(BO, [SUMMARY.id])),
            await transaction.derived.exists(BO, SUMMARY.id),
            await transaction.derived.exists(ADA, SUMMARY.id),
        )

    assert await shown(store, SUMMARY.id, of=BO) is None
    assert [] == await stored(store, SUMMARY.id, of=BO)
    assert [] == await on_pages(store, of=BO)
    assert ({}, False, True) == await store.transact(work)
    for foreign in (BO, owner(tenant="inland")):
        assert [] == await stored_within(store, SUMMARY.id, of=foreign)


async def test_one_id_may_stand_with_each_owner(store: Store) -> None:
    theirs = replace(BEES, owner=BO, revision=2)
    their_summary = derived(theirs, id=SUMMARY.id, statement="Keeps wasps")
    await keep(store, BEES, TEA, theirs)
    await keep_derived(store, SUMMARY, their_summary)

    assert SUMMARY == await shown(store, SUMMARY.id)
    assert their_summary == await shown(store, SUMMARY.id, of=BO)


async def revise(transaction: Transaction, record: MemoryRecord = BEES) -> None:
    await transaction.memories.put(replace(record, portability=Portability.LOCAL, revision=2))


async def end_source(transaction: Transaction) -> None:
    await transaction.memories.put(replace(BEES, status=MemoryStatus.RETIRED, revision=2))


async def erase_source(transaction: Transaction) -> None:
    await transaction.memories.erase(ADA, [BEES.id])


async def retire_between(transaction: Transaction) -> None:
    await transaction.derived.put(retired(SUMMARY, position=100, now=NOW))


async def revise_between(transaction: Transaction) -> None:
    await transaction.derived.put(replace(SUMMARY, portability=Portability.LOCAL, revision=2))


SOURCES_GO = [
    (revise, [SUMMARY.id, ABOVE_SUMMARY.id]),
    (end_source, [SUMMARY.id, ABOVE_SUMMARY.id]),
    (erase_source, [SUMMARY.id, ABOVE_SUMMARY.id]),
    (retire_between, [ABOVE_SUMMARY.id]),
    (revise_between, [ABOVE_SUMMARY.id]),
]


@pytest.mark.parametrize(("cause", "expected"), SOURCES_GO, ids=[cause.__name__ for cause, _ in SOURCES_GO])
async def test_a_record_is_withheld_once_one_it_rests_on_is_not_as_it_was(
    store: Store, cause: Callable[[Transaction], Awaitable[None]], expected: list[UUID]
) -> None:
    beside = derived(TEA, statement="Drinks tea", id=identifier(15))
    await keep(store, BEES, TEA)
    await keep_derived(store, SUMMARY, ABOVE_SUMMARY, beside)
    assert ABOVE_SUMMARY == await shown(store, ABOVE_SUMMARY.id)
    assert [] == await withheld(store)

    await store.transact(cause)

    assert expected == await withheld(store)
    assert [None] * len(expected) == [await shown(store, id) for id in expected]
    assert set() == set(expected) & set(await on_pages(store))
    assert beside == await shown(store, beside.id)
    # It is still there, for whoever writes it.
    assert ABOVE_SUMMARY in await stored(store, *expected)
    assert await store.transact(lambda transaction: transaction.derived.exists(ADA, ABOVE_SUMMARY.id))
    assert [ABOVE_SUMMARY] == await stored_within(store, ABOVE_SUMMARY.id)


async def test_a_source_written_at_the_same_revision_withholds_nothing(store: Store) -> None:
    await keep(store, BEES, TEA)
    await keep_derived(store, SUMMARY, ABOVE_SUMMARY)

    async def work(transaction: Transaction) -> None:
        await transaction.memories.put(replace(BEES, store_position=100, flagged_for_review=True, last_used_at=NOW))
        await transaction.derived.put(replace(SUMMARY, store_position=101, flagged_for_review=True, updated_at=NOW))

    await store.transact(work)

    assert [] == await withheld(store)
    assert ABOVE_SUMMARY == await shown(store, ABOVE_SUMMARY.id)


@pytest.mark.parametrize("revision", [1, 2, 3])
async def test_a_source_counts_at_its_pinned_revision_alone(store: Store, revision: int) -> None:
    await keep(store, replace(BEES, revision=2))
    record = derived(replace(BEES, revision=revision))
    await keep_derived(store, record)

    assert (record if revision == 2 else None) == await shown(store, record.id)


@pytest.mark.parametrize("absent", [BEES, SUMMARY], ids=["belief", "derived"])
async def test_a_source_of_another_owner_never_counts(store: Store, absent: MemoryRecord | DerivedRecord) -> None:
    await keep(store, BEES, TEA)
    await keep_derived(store, SUMMARY)
    record = derived(absent, owner=BO)
    await keep_derived(store, record)

    assert await shown(store, record.id, of=BO) is None
    assert [record.id] == await withheld(store, of=BO)
    assert [] == await on_pages(store, of=BO)


async def test_a_source_above_the_ceiling_withholds_nothing(store: Store) -> None:
    """A record is at least as private as its sources: whether one stands does not depend on who asks."""
    private = replace(BEES, sensitivity=Sensitivity.RESTRICTED)
    record = derived(private, sensitivity=Sensitivity.PUBLIC)
    await keep(store, private)
    await keep_derived(store, record)

    assert record == await shown(store, record.id, ceiling=Sensitivity.PUBLIC)


@pytest.mark.parametrize(
    ("end", "stands"), [(NOW - MICROSECOND, False), (NOW, False), (NOW + MICROSECOND, True), (None, True)]
)
async def test_a_record_has_run_out_at_the_very_moment_of_its_end(
    store: Store, end: datetime | None, stands: bool
) -> None:
    record = derived(BEES, expires_at=end)
    await keep(store, BEES)
    await keep_derived(store, record)

    assert (record if stands else None) == await shown(store, record.id)
    assert ([record.id] if stands else []) == await on_pages(store)
    assert ([] if stands else [record.id]) == await withheld(store)


async def test_a_retired_record_is_shown_as_a_shell_and_by_its_id_alone(store: Store) -> None:
    record = derived(BEES, expires_at=NOW)
    shell = retired(record, position=100, now=NOW)
    await keep(store, BEES)
    await keep_derived(store, record)

    await put(store, shell)

    assert (None, ()) == (shell.content, shell.sources)
    assert shell == await shown(store, record.id)
    assert [shell] == await stored(store, record.id)
    assert [] == await on_pages(store)
    # It is not one of those that might stand again.
    assert [] == await withheld(store)
    # Whatever became of what it rested on.
    await store.transact(erase_source)
    assert shell == await shown(store, record.id)


async def test_withheld_ids_come_in_their_order_page_by_page(store: Store) -> None:
    ids = [identifier(number) for number in (21, 22, 23, 24, 25)]
    records = [derived(BEES, id=id, statement=f"Says {id}") for id in ids]
    standing = derived(TEA, id=identifier(26))
    await keep(store, TEA)
    await keep_derived(store, *reversed(records), standing, derived(replace(BEES, owner=BO), id=identifier(20)))

    async def page(after: UUID | None) -> list[UUID]:
        return await store.transact(
            lambda transaction: transaction.derived.find_withheld_ids(ADA, now=NOW, after=after, limit=2)
        )

    assert [ids[:2], ids[2:4], ids[4:], []] == [await page(after) for after in (None, ids[1], ids[3], ids[4])]


async def test_stored_records_come_by_id_each_once(store: Store) -> None:
    records = [derived(BEES, id=identifier(number), statement=f"Says {number}") for number in (31, 32, 33)]
    shell = retired(records[1], position=100, now=NOW)
    await keep_derived(store, *records)
    await put(store, shell)
    asked = [records[2].id, records[0].id, identifier(99), records[1].id, records[0].id]

    found = await stored_within(store, *asked)

    assert [records[0], shell, records[2]] == found
    assert found == await stored(store, *asked)
    assert [] == await stored_within(store)
    assert [] == await stored(store)


async def test_ids_come_in_their_order_page_by_page_in_any_status(store: Store) -> None:
    ids = [identifier(number) for number in (21, 22, 23, 24, 25)]
    records = [derived(BEES, id=id, statement=f"Says {id}") for id in ids]
    await keep(store, BEES)
    await keep_derived(store, *reversed(records), derived(BEES, owner=BO, id=identifier(20)))
    await put(store, shell(records[0]))
    await store.transact(erase_source)

    async def page(after: UUID | None) -> list[UUID]:
        return await store.transact(lambda transaction: transaction.derived.find_ids(ADA, after=after, limit=2))

    assert [ids[:2], ids[2:4], ids[4:], []] == [await page(after) for after in (None, ids[1], ids[3], ids[4])]
