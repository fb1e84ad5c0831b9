"""Pages of derived records: only those that stand, in the order of beliefs, and what each filter selects."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from store.domain.derived import Clause, DerivedRecord, retired
from store.domain.lexical import TextQuery
from store.domain.vocabulary import BeliefType, MemoryStatus, Sensitivity
from store.ports.derived import DerivedBrowseResult
from store.ports.memories import Direction, Keyset, MemoryBrowseQuery, MemoryFilter
from store.ports.store import Store
from tests.contract.derived_records import ADA, BEES, BO, TEA, put
from tests.factories import FORMED_AT, NOW, OTHER_SESSION, SESSION, derived, identifier, memory
from tests.worlds import ask, everything, keep, keep_derived

POSITION_MAX = 2**63 - 1
MICROSECOND = timedelta(microseconds=1)
Fields = Mapping[str, Any]  # fields of a filter or a record by name, each of its own type


async def browse(store: Store, query: MemoryBrowseQuery) -> DerivedBrowseResult:
    return await ask(store, lambda snapshot: snapshot.derived.browse(query))


async def count(store: Store, filter: MemoryFilter) -> int:
    return await ask(store, lambda snapshot: snapshot.derived.count(filter))


async def selected(store: Store, filter: MemoryFilter) -> list[DerivedRecord]:
    """The whole filtered set, which must be as many as are counted, and the same page by page in both directions."""
    found = list((await browse(store, MemoryBrowseQuery(filter=filter, limit=100))).records)
    assert len(found) == await count(store, filter)
    assert found == await walk(store, filter, Direction.FORWARD)
    assert found[::-1] == await walk(store, filter, Direction.BACKWARD)
    return found


async def walk(store: Store, filter: MemoryFilter, direction: Direction) -> list[DerivedRecord]:
    """The filtered set one by one, as a client with cursors walks it."""
    walked: list[DerivedRecord] = []
    query = MemoryBrowseQuery(filter=filter, limit=1, direction=direction)
    while True:
        page = (await browse(store, query)).records
        walked += page[:1]
        if len(page) <= 1:
            return walked
        query = replace(query, keyset=keyset_of(page[0]))


def text(words: str) -> TextQuery:
    query = TextQuery.parse(words)
    assert query is not None
    return query


def keyset_of(record: DerivedRecord) -> Keyset:
    return Keyset(position=record.store_position, id=record.id)


def at(position: int, number: int) -> DerivedRecord:
    return derived(BEES, statement=f"Says {number}", id=identifier(number), store_position=position)


# In the one order: the two at position 20 by id.
NEWEST, TIED_FIRST, TIED_SECOND, OLDEST = at(30, 14), at(20, 11), at(20, 13), at(10, 12)
ORDERED = [NEWEST, TIED_FIRST, TIED_SECOND, OLDEST]


@pytest.fixture
async def filled(store: Store) -> Store:
    # Beliefs are not among them, wherever they lie.
    beliefs = [memory(f"Belief at {position}", store_position=position) for position in (15, 20, 40)]
    await keep(store, BEES, TEA, *beliefs)
    await keep_derived(store, OLDEST, TIED_SECOND, NEWEST, TIED_FIRST)
    return store


async def test_records_come_newest_first_and_then_by_id(filled: Store) -> None:
    assert ORDERED == await selected(filled, everything(ADA))


async def test_one_record_more_than_the_limit_tells_of_a_next_page(filled: Store) -> None:
    query = MemoryBrowseQuery(filter=everything(ADA), limit=2)

    assert ORDERED[:3] == list((await browse(filled, query)).records)
    assert ORDERED[:0:-1] == list((await browse(filled, replace(query, direction=Direction.BACKWARD))).records)
    assert ORDERED == list((await browse(filled, replace(query, limit=4))).records)


@pytest.mark.parametrize(
    ("position", "number", "behind"),
    [
        (POSITION_MAX, 0, 4),
        (30, 13, 4),
        (30, 14, 3),
        (25, 99, 3),
        (20, 0, 3),
        (20, 11, 2),
        (20, 12, 2),
        (20, 13, 1),
        (20, 99, 1),
        (10, 11, 1),
        (10, 12, 0),
        (0, 0, 0),
    ],
)
async def test_a_page_continues_behind_its_keyset_and_tells_of_the_other_side(
    filled: Store, position: int, number: int, behind: int
) -> None:
    keyset = Keyset(position=position, id=identifier(number))
    forward = MemoryBrowseQuery(filter=everything(ADA), limit=10, keyset=keyset, with_opposite=True)
    ahead = [record for record in ORDERED[: 4 - behind] if keyset_of(record) != keyset][::-1]

    page = await browse(filled, forward)
    back = await browse(filled, replace(forward, direction=Direction.BACKWARD))

    assert (tuple(ORDERED[4 - behind :]), behind < 4) == (page.records, page.opposite)
    # The record at the keyset is on the other side of either way.
    assert (tuple(ahead), len(ahead) < 4) == (back.records, back.opposite)
    assert (await browse(filled, replace(forward, with_opposite=False))).opposite is None


@pytest.mark.parametrize("direction", Direction)
async def test_without_a_keyset_there_is_no_other_side(filled: Store, direction: Direction) -> None:
    query = MemoryBrowseQuery(filter=everything(ADA), limit=1, direction=direction, with_opposite=True)

    assert (await browse(filled, query)).opposite is False


WITHHELD = {
    "revised": derived(replace(BEES, revision=2), id=identifier(21), store_position=40),
    "absent": derived(memory("Is not stored"), id=identifier(22), store_position=41),
    "run out": derived(BEES, expires_at=NOW, id=identifier(23), store_position=42),
    "above": derived(BEES, sensitivity=Sensitivity.RESTRICTED, id=identifier(24), store_position=43),
    "foreign": derived(BEES, owner=BO, id=identifier(25), store_position=44),
    "retired": derived(BEES, id=identifier(26), store_position=45),
}


@pytest.mark.parametrize("why", WITHHELD)
async def test_nothing_that_is_withheld_is_on_a_page_counted_or_on_the_other_side(filled: Store, why: str) -> None:
    hidden = WITHHELD[why]
    await keep_derived(filled, hidden)
    if why == "retired":
        await put(filled, retired(hidden, position=hidden.store_position, now=NOW))
    filter = everything(ADA, ceiling=Sensitivity.SENSITIVE)
    query = MemoryBrowseQuery(filter=filter, limit=10, keyset=keyset_of(hidden), with_opposite=True)

    assert ORDERED == await selected(filled, filter)
    assert ORDERED == await selected(filled, replace(filter, text=text("says rowing")))
    page = await browse(filled, query)
    assert (tuple(ORDERED), False) == (page.records, page.opposite)
    assert 3 == len((await browse(filled, replace(query, keyset=None, limit=2))).records)


@pytest.mark.parametrize("ceiling", Sensitivity)
async def test_nothing_above_the_ceiling_is_selected(store: Store, ceiling: Sensitivity) -> None:
    ascending = [Sensitivity.PUBLIC, Sensitivity.INTERNAL, Sensitivity.SENSITIVE, Sensitivity.RESTRICTED]
    records = [derived(BEES, statement=each.value, sensitivity=each) for each in ascending]
    await keep(store, BEES)
    await keep_derived(store, *records)
    filter = everything(ADA, ceiling=ceiling)
    visible = records[: ascending.index(ceiling) + 1][::-1]

    assert visible == await selected(store, filter)
    assert visible == await selected(store, replace(filter, sensitivities=frozenset(Sensitivity)))
    assert visible == await selected(store, replace(filter, text=text("public internal sensitive restricted")))


@pytest.mark.parametrize(
    ("statuses", "are_found"),
    [
        (frozenset({MemoryStatus.ACTIVE}), True),
        (frozenset(MemoryStatus), True),
        (frozenset(MemoryStatus) - {MemoryStatus.ACTIVE}, False),
        (frozenset(), False),
    ],
    ids=["active", "every", "every other", "none"],
)
async def test_records_are_among_the_active_ones_alone(
    filled: Store, statuses: frozenset[MemoryStatus], are_found: bool
) -> None:
    filter = replace(everything(ADA), statuses=statuses)
    query = MemoryBrowseQuery(filter=filter, limit=5, keyset=keyset_of(TIED_FIRST), with_opposite=True)

    assert (ORDERED if are_found else []) == await selected(filled, filter)
    assert (await browse(filled, query)).opposite is are_found


ROWS = (
    derived(BEES, statement="plain"),
    derived(TEA, statement="of two types", belief_types=(BeliefType.PREFERENCE, BeliefType.PROCEDURE_POINTER)),
    derived(BEES, statement="flagged", flagged_for_review=True),
    derived(BEES, statement="internal", sensitivity=Sensitivity.INTERNAL),
    derived(BEES, statement="of two sessions", session_ids=(SESSION, OTHER_SESSION)),
    derived(BEES, statement="elsewhere", session_ids=(OTHER_SESSION,)),
    derived(BEES, statement="of a cat", subject="Miss Puss"),
    derived(BEES, statement="flagged pointer", belief_types=(BeliefType.PROCEDURE_POINTER,), flagged_for_review=True),
    derived(BEES, statement="sure", confidence=Decimal("0.8")),
    derived(BEES, statement="newly made", created_at=NOW),
    derived(BEES, statement="of Kai, named", subject="person:Kai", display_subject="Kai Øst"),
    derived(BEES, statement="of a plain subject", subject="Kai Øst"),
    derived(
        BEES,
        TEA,
        clauses=(
            Clause(text="reads books", source_ids=(BEES.id,)),
            Clause(text="wohnt in der Straße", source_ids=(TEA.id,)),
        ),
        method="notebook",
        evidence_ref="shelf",
        scope="library",
    ),
)
BOOKS = "reads books wohnt in der Straße"


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"belief_types": frozenset({BeliefType.PROCEDURE_POINTER})}, {"of two types", "flagged pointer"}),
        ({"belief_types": frozenset({BeliefType.PREFERENCE, BeliefType.RELATIONSHIP})}, {"of two types"}),
        ({"belief_types": frozenset({BeliefType.RELATIONSHIP})}, set()),
        ({"belief_types": frozenset()}, set()),
        ({"flagged": True}, {"flagged", "flagged pointer"}),
        ({"flagged": True, "belief_types": frozenset({BeliefType.FACT})}, {"flagged"}),
        ({"flagged": False, "belief_types": frozenset({BeliefType.PROCEDURE_POINTER})}, {"of two types"}),
        ({"sensitivities": frozenset({Sensitivity.INTERNAL})}, {"internal"}),
        ({"sensitivities": frozenset({Sensitivity.RESTRICTED})}, set()),
        ({"sensitivities": frozenset()}, set()),
        ({"session_id": OTHER_SESSION}, {"of two sessions", "elsewhere"}),
        ({"session_id": SESSION, "flagged": True}, {"flagged", "flagged pointer"}),
        ({"session_id": identifier(99)}, set()),
        ({"subject": "miss puss"}, {"of a cat"}),
        ({"subject": "Miss Puss"}, set()),
        ({"subject": "person:kai"}, {"of Kai, named"}),
        ({"subject": "kai øst"}, {"of Kai, named", "of a plain subject"}),
        ({"subject": "person:"}, set()),
        ({"subject": "kai øst", "session_id": OTHER_SESSION}, set()),
        ({"confidence_min": Decimal("0.8")}, {"sure"}),
        ({"confidence_min": Decimal("0.80000000000000004")}, set()),
        ({"confidence_min": Decimal("0.501"), "confidence_max": Decimal("0.8")}, {"sure"}),
        ({"confidence_max": Decimal("0.5"), "flagged": True}, {"flagged", "flagged pointer"}),
        ({"confidence_max": Decimal("0.499")}, set()),
        ({"formed_after": NOW}, {"newly made"}),
        ({"formed_after": FORMED_AT + MICROSECOND}, {"newly made"}),
        ({"formed_after": NOW + MICROSECOND}, set()),
        ({"formed_before": FORMED_AT}, set()),
        ({"formed_before": NOW, "flagged": True}, {"flagged", "flagged pointer"}),
        ({"formed_after": FORMED_AT, "formed_before": FORMED_AT + MICROSECOND, "subject": "miss puss"}, {"of a cat"}),
        ({"text": text("flagged")}, {"flagged", "flagged pointer"}),
        ({"text": text("flagged"), "belief_types": frozenset({BeliefType.PROCEDURE_POINTER})}, {"flagged pointer"}),
        ({"text": text("puss newly")}, {"of a cat", "newly made"}),
        ({"text": text("øst")}, {"of Kai, named", "of a plain subject"}),
        # A person is not found by the word, but by the key.
        ({"text": text("person:kai")}, set()),
        ({"text": text("kai")}, {"of Kai, named", "of a plain subject"}),
        # Each clause is part of the statement; a lexeme is whole and not folded.
        ({"text": text("wohnt")}, {BOOKS}),
        ({"text": text("book")}, set()),
        ({"text": text("strasse")}, set()),
        ({"text": text("straße"), "session_id": SESSION}, {BOOKS}),
        # What the sources say, and how it was come by, is not searched.
        ({"text": text("bees tea notebook shelf library")}, set()),
        ({"text": text("...")}, set()),
        ({"text": TextQuery(())}, set()),
    ],
)
async def test_filters_unite_within_a_kind_and_intersect_across_kinds(
    store: Store, filters: Fields, expected: set[str]
) -> None:
    await keep(store, BEES, TEA)
    await keep_derived(store, *ROWS)

    found = await selected(store, replace(everything(ADA), **filters))

    assert expected == {record.content.statement for record in found if record.content is not None}


async def test_without_a_filter_all_are_selected(store: Store) -> None:
    await keep(store, BEES, TEA)
    await keep_derived(store, *ROWS)

    found = await selected(store, everything(ADA))

    assert {record.id for record in ROWS} == {record.id for record in found}
    assert [] == await selected(store, everything(BO))


@pytest.mark.parametrize("subject", ["STRASSE", "Straße", "ÅNGSTRÖM", "İstanbul", "Ὀδυσσεύς", "ΜΈΓΑΣ", "ǅ"])
async def test_a_subject_is_compared_lower_cased_in_every_script(store: Store, subject: str) -> None:
    itself, another = (derived(BEES, statement=each, subject=each) for each in (subject, subject + "!"))
    await keep(store, BEES)
    await keep_derived(store, itself, another)

    assert [itself] == await selected(store, replace(everything(ADA), subject=subject.lower()))


@pytest.mark.parametrize(("now", "stands"), [(NOW - MICROSECOND, True), (NOW, False), (NOW + MICROSECOND, False)])
async def test_a_page_is_of_the_moment_that_the_filter_names(store: Store, now: datetime, stands: bool) -> None:
    record = derived(BEES, expires_at=NOW)
    await keep(store, BEES)
    await keep_derived(store, record)

    assert ([record] if stands else []) == await selected(store, replace(everything(ADA), now=now))
