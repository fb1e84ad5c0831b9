"""What each filter selects, how filters compose, and that counting is walking."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from store.domain.lexical import TextQuery
from store.domain.vocabulary import LIVE_STATUSES, BeliefType, MemoryStatus, Sensitivity
from store.ports.memories import MemoryFilter
from store.ports.store import Store
from tests.factories import NOW, OTHER_SESSION, SESSION, identifier, memory, owner
from tests.worlds import ask, everything, keep, selected, walk

ADA = owner()
MICROSECOND = timedelta(microseconds=1)
Fields = Mapping[str, Any]  # fields of a filter or a record by name, each of its own type


def text(words: str) -> TextQuery:
    query = TextQuery.parse(words)
    assert query is not None
    return query


async def statements(store: Store, filter: MemoryFilter) -> list[str]:
    return [record.statement for record in await selected(store, filter)]


async def test_the_default_set_is_the_live_one(store: Store) -> None:
    await keep(store, *(memory(status, status=MemoryStatus(status)) for status in set(MemoryStatus) - {"candidate"}))

    assert {"active", "provisional"} == set(await statements(store, everything(ADA)))


@pytest.mark.parametrize("status", MemoryStatus)
async def test_each_status_selects_itself(store: Store, status: MemoryStatus) -> None:
    await keep(store, *(memory(each, status=MemoryStatus(each)) for each in set(MemoryStatus) - {"candidate"}))

    expected = [] if status is MemoryStatus.CANDIDATE else [status.value]

    assert expected == await statements(store, replace(everything(ADA), statuses=frozenset({status})))


@pytest.mark.parametrize("status", sorted(LIVE_STATUSES))
@pytest.mark.parametrize("field", ["expires_at", "valid_to"])
@pytest.mark.parametrize(
    ("end", "is_live"), [(NOW - MICROSECOND, False), (NOW, False), (NOW + MICROSECOND, True), (None, True)]
)
async def test_a_belief_has_run_out_at_the_very_moment_of_its_end(
    store: Store, status: MemoryStatus, field: str, end: datetime | None, is_live: bool
) -> None:
    changes: Fields = {field: end}
    record = memory(status=status, **changes)
    await keep(store, record)
    expired = replace(everything(ADA), statuses=frozenset({MemoryStatus.EXPIRED}))
    of_its_status = replace(everything(ADA), statuses=frozenset({status}))

    assert ([record] if is_live else []) == await selected(store, everything(ADA))
    assert ([record] if is_live else []) == await selected(store, of_its_status)
    assert ([] if is_live else [record]) == await selected(store, expired)


@pytest.mark.parametrize("status", [MemoryStatus.RETIRED, MemoryStatus.SUPERSEDED, MemoryStatus.EXPIRED])
async def test_a_belief_that_is_no_longer_live_keeps_its_status_whatever_its_end(
    store: Store, status: MemoryStatus
) -> None:
    past, coming = NOW - timedelta(days=1), NOW + timedelta(days=1)
    records = [memory(status=status, valid_to=end, store_position=9) for end in (past, coming)]
    await keep(store, *records)

    found = await selected(store, replace(everything(ADA), statuses=frozenset({status})))

    assert sorted(record.id for record in records) == [record.id for record in found]


ROWS = (
    memory("plain", store_position=1),
    memory("preference", belief_type=BeliefType.PREFERENCE, store_position=2),
    memory("flagged", flagged_for_review=True, store_position=3),
    memory("internal", sensitivity=Sensitivity.INTERNAL, store_position=4),
    memory("elsewhere", source_session_id=OTHER_SESSION, store_position=5),
    memory("of a cat", subject="Miss Puss", store_position=6),
    memory("flagged preference", belief_type=BeliefType.PREFERENCE, flagged_for_review=True, store_position=7),
    memory("retired and flagged", status=MemoryStatus.RETIRED, flagged_for_review=True, store_position=8),
    memory("sure", confidence=Decimal("0.8"), store_position=9),
    memory("sure preference", belief_type=BeliefType.PREFERENCE, confidence=Decimal(1), store_position=10),
    memory("newly formed", created_at=NOW, store_position=11),
    memory("newly formed and run out", created_at=NOW, expires_at=NOW, store_position=12),
    memory("run out long ago", expires_at=NOW, store_position=13),
)


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (
            {"belief_types": frozenset({BeliefType.PREFERENCE})},
            {"preference", "flagged preference", "sure preference"},
        ),
        ({"belief_types": frozenset({BeliefType.RELATIONSHIP})}, set()),
        ({"belief_types": frozenset()}, set()),
        ({"flagged": True}, {"flagged", "flagged preference"}),
        (
            {"flagged": False, "formed_before": NOW, "confidence_max": Decimal("0.5")},
            {"plain", "preference", "internal", "elsewhere", "of a cat"},
        ),
        ({"flagged": True, "belief_types": frozenset({BeliefType.FACT})}, {"flagged"}),
        ({"flagged": True, "statuses": frozenset({MemoryStatus.RETIRED})}, {"retired and flagged"}),
        ({"sensitivities": frozenset({Sensitivity.INTERNAL})}, {"internal"}),
        ({"sensitivities": frozenset({Sensitivity.RESTRICTED})}, set()),
        ({"sensitivities": frozenset(), "flagged": None}, set()),
        ({"session_id": OTHER_SESSION}, {"elsewhere"}),
        ({"session_id": SESSION, "flagged": True}, {"flagged", "flagged preference"}),
        ({"session_id": identifier(99)}, set()),
        ({"subject": "miss puss"}, {"of a cat"}),
        ({"subject": "miss puss", "session_id": OTHER_SESSION}, set()),
        ({"text": text("preference")}, {"preference", "flagged preference", "sure preference"}),
        ({"text": text("preference"), "flagged": True}, {"flagged preference"}),
        ({"text": text("puss retired")}, {"of a cat"}),
        ({"statuses": frozenset(MemoryStatus), "text": text("puss retired")}, {"of a cat", "retired and flagged"}),
        ({"statuses": frozenset()}, set()),
        ({"confidence_min": Decimal("0.8")}, {"sure", "sure preference"}),
        ({"confidence_min": Decimal("0.8"), "belief_types": frozenset({BeliefType.FACT})}, {"sure"}),
        ({"confidence_min": Decimal("0.9"), "confidence_max": Decimal("0.8")}, set()),
        ({"confidence_min": Decimal("0.8"), "text": text("preference")}, {"sure preference"}),
        ({"confidence_min": Decimal("0.8"), "text": text("preference"), "session_id": SESSION}, {"sure preference"}),
        ({"confidence_max": Decimal("0.8"), "flagged": True}, {"flagged", "flagged preference"}),
        ({"formed_after": NOW}, {"newly formed"}),
        ({"formed_after": NOW, "confidence_min": Decimal("0.8")}, set()),
        ({"formed_before": NOW, "flagged": True}, {"flagged", "flagged preference"}),
        ({"formed_after": NOW, "text": text("formed plain")}, {"newly formed"}),
        ({"formed_after": NOW, "statuses": frozenset({MemoryStatus.EXPIRED})}, {"newly formed and run out"}),
        (
            {"formed_after": NOW, "statuses": frozenset({MemoryStatus.EXPIRED}), "text": text("run")},
            {"newly formed and run out"},
        ),
    ],
)
async def test_filters_unite_within_a_kind_and_intersect_across_kinds(
    store: Store, filters: Fields, expected: set[str]
) -> None:
    await keep(store, *ROWS)
    filter = replace(everything(ADA), **filters)

    found = await selected(store, filter)

    assert expected == {record.statement for record in found}
    assert found == await walk(store, filter, limit=1)
    assert len(found) == await ask(store, lambda snapshot: snapshot.memories.count(filter))


@pytest.mark.parametrize("ceiling", Sensitivity)
async def test_nothing_above_the_ceiling_is_selected(store: Store, ceiling: Sensitivity) -> None:
    ascending = [Sensitivity.PUBLIC, Sensitivity.INTERNAL, Sensitivity.SENSITIVE, Sensitivity.RESTRICTED]
    await keep(store, *(memory(each.value, sensitivity=each) for each in ascending))
    filter = everything(ADA, ceiling=ceiling)
    visible = [each.value for each in ascending[: ascending.index(ceiling) + 1]]

    assert visible[::-1] == await statements(store, filter)
    assert len(visible) == await ask(store, lambda snapshot: snapshot.memories.count(filter))
    assert visible[::-1] == await statements(store, replace(filter, sensitivities=frozenset(Sensitivity)))


PEOPLE = (
    memory("of Kai, named", subject="person:Kai", display_subject="Kai Øst", store_position=1),
    memory("of Kai, not renamed yet", subject="person:Kai", display_subject="Unnamed person", store_position=2),
    memory("of a plain subject", subject="Kai Øst", store_position=3),
)


@pytest.mark.parametrize(
    ("subject", "expected"),
    [
        ("person:kai", {"of Kai, named", "of Kai, not renamed yet"}),
        ("kai øst", {"of Kai, named", "of a plain subject"}),
        ("unnamed person", {"of Kai, not renamed yet"}),
        ("person:", set()),
        ("kai", set()),
    ],
)
async def test_a_subject_is_asked_by_key_or_by_the_name_that_is_shown(
    store: Store, subject: str, expected: set[str]
) -> None:
    await keep(store, *PEOPLE)

    assert expected == set(await statements(store, replace(everything(ADA), subject=subject)))


@pytest.mark.parametrize("subject", ["STRASSE", "Straße", "ÅNGSTRÖM", "İstanbul", "Ὀδυσσεύς", "ΜΈΓΑΣ", "ǅ"])
async def test_a_subject_is_compared_lower_cased_in_every_script(store: Store, subject: str) -> None:
    await keep(store, memory("itself", subject=subject), memory("another", subject=subject + "!"))

    assert ["itself"] == await statements(store, replace(everything(ADA), subject=subject.lower()))


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("tea", {"Drinks tea and/or maté"}),
        ("TEA.", {"Drinks tea and/or maté"}),
        ("teas", set()),
        ("maté", {"Drinks tea and/or maté"}),
        ("mate", set()),
        ("straße", {"Wohnt in der Straße"}),
        ("strasse", set()),
        ("example.com", {"Reads https://example.com/a"}),
        ("東京", {"東京に住んでいます"}),
        ("tea 東京", {"Drinks tea and/or maté", "東京に住んでいます"}),
        ("and/or", {"Drinks tea and/or maté"}),
        ("or/and", set()),
        ("...", set()),
        ("robin", {"Sings"}),
        ("person:kid-7", set()),
        ("kid-7", {"Sings"}),
        ("' OR 1=1 --", set()),
        ("tea:* & !x | \\ ''", {"Drinks tea and/or maté"}),
    ],
)
async def test_text_is_found_by_whole_words_of_subject_and_statement(
    store: Store, words: str, expected: set[str]
) -> None:
    await keep(
        store,
        memory("Drinks tea and/or maté"),
        memory("Wohnt in der Straße"),
        memory("Reads https://example.com/a"),
        memory("東京に住んでいます"),
        memory("Sings", subject="person:kid-7", display_subject="Robin"),
    )

    assert expected == set(await statements(store, replace(everything(ADA), text=text(words))))


async def test_a_text_query_without_any_term_matches_nothing(store: Store) -> None:
    await keep(store, memory())
    nothing = replace(everything(ADA), text=TextQuery(()))

    assert [] == await selected(store, nothing)
    assert 0 == await ask(store, lambda snapshot: snapshot.memories.count(nothing))


@pytest.mark.parametrize(
    ("bound", "is_below", "is_above"),
    [
        ("0.3", True, True),
        ("0.300", True, True),
        ("0.30000000000000004", True, False),
        ("0.299999999999999", False, True),
        ("0.299", False, True),
        ("0.301", True, False),
        ("5E-324", False, True),
        ("-0.0", False, True),
        ("1", True, False),
    ],
)
async def test_a_confidence_is_compared_exactly(store: Store, bound: str, is_below: bool, is_above: bool) -> None:
    record = memory(confidence=Decimal("0.300"))
    await keep(store, record)

    below = await selected(store, replace(everything(ADA), confidence_max=Decimal(bound)))
    above = await selected(store, replace(everything(ADA), confidence_min=Decimal(bound)))

    assert ([record] if is_below else [], [record] if is_above else []) == (below, above)


@pytest.mark.parametrize(
    ("moment", "is_before", "is_after"),
    [
        (NOW - MICROSECOND, False, True),
        (NOW, False, True),
        (NOW + MICROSECOND, True, False),
        (datetime.min.replace(tzinfo=UTC), False, True),
        (datetime.max.replace(tzinfo=UTC), True, False),
    ],
)
async def test_a_belief_is_formed_after_its_own_moment_and_not_before_it(
    store: Store, moment: datetime, is_before: bool, is_after: bool
) -> None:
    record = memory(created_at=NOW)
    await keep(store, record)

    before = await selected(store, replace(everything(ADA), formed_before=moment))
    after = await selected(store, replace(everything(ADA), formed_after=moment))

    assert ([record] if is_before else [], [record] if is_after else []) == (before, after)
