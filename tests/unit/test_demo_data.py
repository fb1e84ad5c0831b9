"""The demo's data file keeps the rules of the store, and shows what a newcomer should meet.

Source: belief store decisions, The record, Formation, and Restoring.
"""

import json
import re
import unicodedata
from collections import Counter, defaultdict
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from itertools import pairwise
from typing import Any
from uuid import UUID

import pytest

from store.domain.normalization import normalized, well_formed
from store.domain.vocabulary import (
    LIVE_STATUSES,
    SENSITIVITY_ORDER,
    STORED_STATUSES,
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

Line = dict[str, Any]  # a parsed line of JSON has no narrower type
Owner = tuple[str, str]

MARA: Owner = ("riverside", "mara")
TOMAS: Owner = ("northwind", "tomas")
YUKI: Owner = ("riverside", "yuki")
BELIEF_COUNTS = {MARA: 157, TOMAS: 102, YUKI: 59}

PERSON_FIELDS = ["version", "kind", "tenant", "principal", "key", "name"]
BELIEF_FIELDS = [
    *("version", "kind", "tenant", "principal", "id", "subject", "statement", "belief_type", "status", "polarity"),
    *("scope", "claim_kind", "derivation", "longevity", "portability", "authority", "sensitivity", "confidence"),
    *("utility", "corroboration_count", "evidence_count", "flagged_for_review", "conflicts_with", "superseded_by"),
    *("source_session_id", "source_event_ids", "evidence", "formation_run_id", "consolidation_policy_version"),
    *("lifecycle_policy_version", "origin_scopes", "valid_from", "valid_to", "expires_at", "last_evidence_at"),
    *("last_used_at", "last_reinforced_at", "created_at", "updated_at", "revision"),
]
REQUIRED_TIMES = ("valid_from", "last_evidence_at", "created_at", "updated_at")
OPTIONAL_TIMES = ("valid_to", "expires_at", "last_used_at", "last_reinforced_at")
TIME_FORM = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
FIRST_DAY = "2025-06-01"
DAY_AFTER_LAST = "2026-12-01"
SCRIPTS = ("ARABIC", "CJK UNIFIED", "DEVANAGARI", "GREEK", "HANGUL", "HEBREW", "HIRAGANA", "KATAKANA", "LATIN", "THAI")

TEXT = files("gateway").joinpath("demo", "beliefs.jsonl").read_bytes().decode("utf-8")
LINES: list[Line] = [json.loads(line) for line in TEXT.splitlines()]
PEOPLE = [line for line in LINES if line["kind"] == "person"]
BELIEFS = [line for line in LINES if line["kind"] == "belief"]
BY_ID = {belief["id"]: belief for belief in BELIEFS}


def owner_of(line: Line) -> Owner:
    return line["tenant"], line["principal"]


def rank(belief: Line) -> int:
    return SENSITIVITY_ORDER[Sensitivity(belief["sensitivity"])]


def is_live(belief: Line) -> bool:
    return belief["status"] in LIVE_STATUSES


def time_of(text: str) -> datetime:
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC)


def has_run_out(belief: Line) -> bool:
    """Whether its end lies before the demo's last day, so that it is expired at any later clock."""
    return any(belief[field] is not None and belief[field] < DAY_AFTER_LAST for field in ("expires_at", "valid_to"))


def waits_by_rule(belief: Line) -> bool:
    """Whether formation flagged it: private without the person's word, or contradicted by what is no more private."""
    private = rank(belief) >= SENSITIVITY_ORDER[Sensitivity.SENSITIVE] and belief["authority"] != Authority.USER
    return private or any(rank(BY_ID[other]) <= rank(belief) for other in belief["conflicts_with"])


def beliefs_of(owner: Owner) -> list[Line]:
    return [belief for belief in BELIEFS if owner_of(belief) == owner]


def test_the_file_is_utf_8_lines_that_end_in_a_line_feed() -> None:
    assert TEXT.endswith("\n")
    assert "\r" not in TEXT
    assert len(LINES) == TEXT.count("\n")
    assert {1} == {line["version"] for line in LINES}


def test_people_come_first_and_beliefs_follow_in_order_of_creation() -> None:
    assert LINES == PEOPLE + BELIEFS
    assert all(older["created_at"] < newer["created_at"] for older, newer in pairwise(BELIEFS))


def test_lines_have_exactly_the_fields_of_their_kind() -> None:
    assert all(list(person) == PERSON_FIELDS for person in PEOPLE)
    assert all(list(belief) == BELIEF_FIELDS for belief in BELIEFS)


def test_three_principals_of_two_tenants_hold_the_beliefs() -> None:
    assert BELIEF_COUNTS == Counter(map(owner_of, BELIEFS))
    assert set(BELIEF_COUNTS) == set(map(owner_of, PEOPLE))


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("status", STORED_STATUSES),
        ("belief_type", frozenset(BeliefType)),
        ("polarity", frozenset(Polarity)),
        ("portability", frozenset(Portability)),
        ("authority", frozenset(Authority)),
        ("sensitivity", frozenset(Sensitivity)),
        ("claim_kind", frozenset(ClaimKind)),
        ("derivation", frozenset(Derivation)),
        ("longevity", frozenset(Longevity)),
    ],
)
def test_every_value_of_an_enumeration_occurs_and_no_other(field: str, values: frozenset[str]) -> None:
    assert values == {belief[field] for belief in BELIEFS}


@pytest.mark.parametrize("owner", list(BELIEF_COUNTS))
def test_every_principal_meets_all_sensitivities_types_and_statuses(owner: Owner) -> None:
    beliefs = beliefs_of(owner)
    assert set(Sensitivity) == {belief["sensitivity"] for belief in beliefs}
    assert set(BeliefType) == {belief["belief_type"] for belief in beliefs}
    assert set(STORED_STATUSES) == {belief["status"] for belief in beliefs}


def test_ids_are_distinct_canonical_uuids() -> None:
    assert len(BY_ID) == len(BELIEFS)
    for belief in BELIEFS:
        for field in ("id", "source_session_id", "formation_run_id", "superseded_by"):
            value = belief[field]
            assert value is None or str(UUID(value)) == value


def test_texts_and_numbers_lie_within_their_bounds() -> None:
    for belief in BELIEFS:
        assert 1 <= len(belief["subject"]) <= 512
        assert 1 <= len(belief["statement"]) <= 8192
        assert belief["statement"].strip() == belief["statement"]
        assert 1 <= len(belief["scope"]) <= 256
        assert belief["scope"] in belief["origin_scopes"]
        assert all(well_formed(text) for text in (belief["subject"], belief["statement"], belief["scope"]))
        assert 0 <= belief["confidence"] <= 1
        assert -1 <= belief["utility"] <= 1
        assert round(belief["confidence"], 3) == belief["confidence"]
        assert belief["corroboration_count"] >= 1
        assert belief["revision"] >= 1
        assert isinstance(belief["flagged_for_review"], bool)


def test_times_are_utc_with_six_digits_and_in_order() -> None:
    for belief in BELIEFS:
        given = [belief[field] for field in OPTIONAL_TIMES if belief[field] is not None]
        assert all(TIME_FORM.fullmatch(value) for value in given + [belief[field] for field in REQUIRED_TIMES])
        assert FIRST_DAY <= belief["created_at"] <= belief["updated_at"] < DAY_AFTER_LAST
        assert belief["valid_from"] <= belief["created_at"]
        assert belief["valid_to"] is None or belief["valid_from"] <= belief["valid_to"]
        assert belief["last_used_at"] is None or belief["created_at"] < belief["last_used_at"] < DAY_AFTER_LAST
        assert belief["last_reinforced_at"] is None or belief["created_at"] < belief["last_reinforced_at"]
        assert (belief["last_reinforced_at"] is None) == (belief["corroboration_count"] == 1)


def test_beliefs_are_spread_over_eighteen_months() -> None:
    months = {belief["created_at"][:7] for belief in BELIEFS}
    assert months == {f"2025-{month:02}" for month in range(6, 13)} | {f"2026-{month:02}" for month in range(1, 12)}


def test_evidence_lists_every_reference_once_and_agrees_with_its_source_session() -> None:
    for belief in BELIEFS:
        references = [(session, number) for session, number in belief["evidence"]]
        assert belief["evidence_count"] == len(references) == len(set(references))
        own = [number for session, number in references if session == belief["source_session_id"]]
        assert own == belief["source_event_ids"] != []
        assert all(1 <= number <= 200 for _, number in references)


@pytest.mark.parametrize("owner", list(BELIEF_COUNTS))
def test_every_principal_has_a_handful_of_sessions(owner: Owner) -> None:
    sources = {belief["source_session_id"] for belief in beliefs_of(owner)}
    assert 10 <= len(sources) <= 20
    assert sources == {session for belief in beliefs_of(owner) for session, _ in belief["evidence"]}


def test_neighbours_of_one_tenant_share_a_session_and_tenants_share_none() -> None:
    mara, tomas, yuki = ({belief["source_session_id"] for belief in beliefs_of(owner)} for owner in BELIEF_COUNTS)
    assert 1 == len(mara & yuki)
    assert not tomas & (mara | yuki)


def test_conflicts_are_stored_on_both_sides_within_one_owner() -> None:
    linked = [belief for belief in BELIEFS if belief["conflicts_with"]]
    for belief in linked:
        links = belief["conflicts_with"]
        assert sorted(set(links)) == links
        assert belief["id"] not in links
        for other in (BY_ID[link] for link in links):
            assert belief["id"] in other["conflicts_with"]
            assert owner_of(other) == owner_of(belief)
    assert {1, 2} == {len(belief["conflicts_with"]) for belief in linked}
    assert {MARA, TOMAS, YUKI} == set(map(owner_of, linked))


def test_one_conflict_is_a_triple() -> None:
    rings = {
        frozenset({belief["id"], *belief["conflicts_with"]}) for belief in BELIEFS if len(belief["conflicts_with"]) == 2
    }
    (ring,) = rings
    assert all(ring == {member, *BY_ID[member]["conflicts_with"]} for member in ring)


def test_superseded_beliefs_name_a_newer_one_of_the_same_owner_that_is_no_stricter() -> None:
    successors = Counter(belief["superseded_by"] for belief in BELIEFS if belief["superseded_by"] is not None)
    assert {1} == set(successors.values())
    for belief in BELIEFS:
        assert (belief["status"] == MemoryStatus.SUPERSEDED) == (belief["superseded_by"] is not None)
        if belief["superseded_by"] is not None:
            successor = BY_ID[belief["superseded_by"]]
            assert owner_of(successor) == owner_of(belief)
            assert successor["subject"] == belief["subject"]
            assert successor["created_at"] == belief["valid_to"] <= belief["updated_at"]
            assert rank(successor) <= rank(belief)


def test_chains_of_supersession_reach_two_and_three_steps() -> None:
    def steps(belief: Line) -> int:
        following = belief["superseded_by"]
        return 0 if following is None else 1 + steps(BY_ID[following])

    assert {0, 1, 2, 3} == set(map(steps, BELIEFS))


def test_a_stricter_successor_retires_what_it_replaces_without_a_link() -> None:
    ends = {belief["valid_to"] for belief in BELIEFS if belief["status"] == MemoryStatus.RETIRED}
    (successor,) = (belief for belief in BELIEFS if belief["created_at"] in ends)
    (replaced,) = (belief for belief in BELIEFS if belief["valid_to"] == successor["created_at"])
    assert rank(replaced) < rank(successor)


def test_retired_beliefs_have_an_end_and_expired_ones_have_run_out() -> None:
    for belief in BELIEFS:
        if belief["status"] == MemoryStatus.RETIRED:
            assert belief["valid_to"] is not None
        if belief["status"] == MemoryStatus.EXPIRED:
            assert belief["expires_at"] <= belief["updated_at"]


@pytest.mark.parametrize("owner", list(BELIEF_COUNTS))
def test_some_live_rows_have_run_out_and_some_last_beyond_the_year(owner: Owner) -> None:
    live = [belief for belief in beliefs_of(owner) if is_live(belief)]
    assert {MemoryStatus.ACTIVE, MemoryStatus.PROVISIONAL} == {row["status"] for row in live if has_run_out(row)}
    assert any(belief["expires_at"] is not None and belief["expires_at"] >= "2027" for belief in live)


def test_review_flags_follow_formation_unless_they_were_dismissed() -> None:
    dismissed = []
    for belief in BELIEFS:
        if belief["flagged_for_review"]:
            assert waits_by_rule(belief)
        elif waits_by_rule(belief):
            dismissed.append(belief)
    assert all(belief["created_at"] < belief["updated_at"] for belief in dismissed)
    assert {MARA, TOMAS, YUKI} == set(map(owner_of, dismissed))
    assert len(dismissed) <= 15
    flagged = Counter(owner_of(belief) for belief in BELIEFS if belief["flagged_for_review"] and is_live(belief))
    assert all(flagged[owner] >= 10 for owner in BELIEF_COUNTS)


def test_status_follows_authority_unless_something_happened() -> None:
    for belief in BELIEFS:
        if is_live(belief) and belief["authority"] != Authority.INFERRED:
            assert belief["status"] == MemoryStatus.ACTIVE
        if belief["status"] == MemoryStatus.ACTIVE and belief["authority"] == Authority.INFERRED:
            assert belief["revision"] > 1
        if not is_live(belief):
            assert belief["revision"] > 1
        assert (belief["formation_run_id"] is None) == (belief["authority"] == Authority.USER)
        assert (belief["consolidation_policy_version"] is None) == (belief["authority"] == Authority.USER)


def test_hypotheses_are_modest_and_short_lived() -> None:
    hypotheses = [belief for belief in BELIEFS if belief["derivation"] == Derivation.HYPOTHESIS]
    assert {MARA, TOMAS, YUKI} == set(map(owner_of, hypotheses))
    for belief in hypotheses:
        assert belief["confidence"] <= 0.35
        assert belief["evidence_count"] >= 2
        assert belief["authority"] == Authority.INFERRED
        assert time_of(belief["expires_at"]) - time_of(belief["last_evidence_at"]) <= timedelta(days=30)


def test_statements_are_distinct_but_for_scopes_and_polarities() -> None:
    same: defaultdict[tuple[Owner, str], list[Line]] = defaultdict(list)
    for belief in BELIEFS:
        same[owner_of(belief), normalized(belief["statement"])].append(belief)
    repeated = [group for group in same.values() if len(group) > 1]
    for first, second in repeated:
        assert first["subject"] == second["subject"]
        assert first["belief_type"] == second["belief_type"]
        if first["scope"] == second["scope"]:
            assert {first["polarity"], second["polarity"]} == set(Polarity)
            assert [second["id"]] == first["conflicts_with"]
    twins = Counter(owner_of(first) for first, second in repeated if first["scope"] != second["scope"])
    opposites = Counter(owner_of(first) for first, second in repeated if first["scope"] == second["scope"])
    assert {MARA: 1, TOMAS: 1, YUKI: 1} == twins
    assert {MARA: 1, TOMAS: 1} == opposites


def test_every_person_named_in_a_subject_has_a_name_and_every_name_a_belief() -> None:
    named = {(owner_of(person), person["key"]) for person in PEOPLE}
    assert len(named) == len(PEOPLE)
    assert all(person["name"] and not person["name"].startswith("person:") for person in PEOPLE)
    used = {
        (owner_of(belief), belief["subject"].removeprefix("person:"))
        for belief in BELIEFS
        if belief["subject"].startswith("person:")
    }
    assert named == used


def test_statements_come_in_many_scripts_and_languages() -> None:
    text = "".join(belief["statement"] for belief in BELIEFS)
    names = [unicodedata.name(character, "") for character in sorted(set(text))]
    for script in SCRIPTS:
        assert any(name.startswith(script) for name in names), script
    assert any(unicodedata.category(character) == "So" for character in text)
    for phrase in ("Oma Trudi nennt jede App", "À Anvers, Tomas fait", "La madre de Tomas"):
        assert phrase in text


def test_the_first_page_of_the_first_principal_shows_what_there_is_to_see() -> None:
    newest = [belief for belief in reversed(beliefs_of(MARA)) if is_live(belief)][:15]
    assert set(Sensitivity) == {belief["sensitivity"] for belief in newest}
    assert set(Authority) == {belief["authority"] for belief in newest}
    assert {True, False} == {belief["flagged_for_review"] for belief in newest}
    assert sum(bool(belief["conflicts_with"]) for belief in newest) >= 4
    assert any(belief["derivation"] == Derivation.HYPOTHESIS for belief in newest)
    assert any(belief["subject"].startswith("person:") for belief in newest)
    assert any(unicodedata.bidirectional(character) == "AL" for belief in newest for character in belief["statement"])
    superseding = {belief["superseded_by"] for belief in BELIEFS}
    assert any(belief["id"] in superseding for belief in newest)
