"""The extractive method, and the proposals of a file: what is derived and made anew; a second run changes nothing."""

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from gateway.service.summarizing import DerivationReport
from store.domain.derived import DerivedRecord, DerivedStatus, RecordKind
from store.domain.summaries import EXTRACTIVE_METHOD
from store.domain.vocabulary import SENSITIVITY_ORDER, BeliefType, Polarity, Portability, ReviewOutcome, Sensitivity
from tests.factories import SESSION, candidate, identifier, owner
from tests.services.deployment import ADA, Deployment
from tests.services.derivations import hypothesis, proposal

MAY = datetime(2026, 5, 3, 9, tzinfo=UTC)
MONTH = timedelta(days=31)


async def form(
    deployment: Deployment,
    text: str,
    *,
    session: int = 1,
    at: datetime = MAY,
    **changes: Any,  # fields of the candidate
) -> UUID:
    wish = candidate(text, source_session_id=identifier(session), created_at=at, valid_from=at, **changes)
    return await deployment.formed(wish)


async def standing(deployment: Deployment) -> dict[str, DerivedRecord]:
    """The records that stand, by what they were made of."""
    found = {}
    for record in await deployment.stored_derived():
        if record.content is not None and await deployment.find_derived(record.id) is not None:
            assert record.content.evidence_ref not in found
            found[record.content.evidence_ref] = record
    return found


def said(record: DerivedRecord) -> list[str]:
    assert record.content is not None
    return [clause.text for clause in record.content.clauses]


async def check_idle(deployment: Deployment, unchanged: int, *, blocked: int = 0, withheld: int = 0) -> None:
    before = await deployment.stored_derived(), await deployment.events()
    assert DerivationReport(unchanged=unchanged, blocked=blocked, withheld=withheld) == await deployment.sum_up()
    assert before == (await deployment.stored_derived(), await deployment.events())


async def test_sessions_months_and_all_of_them_are_summed_up(deployment: Deployment) -> None:
    for session, at in ((1, MAY), (2, MAY + timedelta(days=1)), (3, MAY + MONTH), (4, MAY + MONTH)):
        for number in range(3):
            await form(deployment, f"Fact {session}.{number}", session=session, at=at, source_event_ids=(number + 1,))

    assert DerivationReport(derived=7) == await deployment.sum_up()

    found = await standing(deployment)
    sessions = {f"session:{identifier(number)}" for number in (1, 2, 3, 4)}
    assert sessions | {"month:2026-05", "month:2026-06", "all"} == set(found)
    assert ["Fact 2.0", "Fact 2.1", "Fact 2.2"] == said(found[f"session:{identifier(2)}"])
    # In turns: the first of each, then the second of each.
    assert ["Fact 1.0", "Fact 2.0", "Fact 1.1", "Fact 2.1"] == said(found["month:2026-05"])
    assert ["Fact 1.0", "Fact 3.0", "Fact 2.0", "Fact 4.0"] == said(found["all"])
    for record in found.values():
        assert record.content is not None
        assert (EXTRACTIVE_METHOD, "1", "Ada") == (
            record.content.method,
            record.content.method_revision,
            record.content.subject,
        )
    sources = {source.id for source in found["all"].sources}
    assert {found["month:2026-05"].id, found["month:2026-06"].id} == sources
    await check_idle(deployment, 7)


async def test_a_session_has_its_first_beliefs_and_as_much_as_fits(deployment: Deployment) -> None:
    ids = [await form(deployment, f"Fact {number}") for number in range(18)]
    long = [await form(deployment, letter * 600, session=2) for letter in "xyz"]
    short = await form(deployment, "Is short", session=2)

    await deployment.sum_up()

    found = await standing(deployment)
    first, second = found[f"session:{identifier(1)}"], found[f"session:{identifier(2)}"]
    assert sorted(ids[:16]) == [source.id for source in first.sources]
    assert ["Fact 0", "Fact 1", "Fact 2", "Fact 3"] == said(first)
    assert sorted(ids[4:16]) == [source.id for source in first.sources if source.omitted]
    assert ["x" * 600, "Is short"] == said(second)
    assert sorted([*long, short]) == [source.id for source in second.sources]


async def test_what_says_something_alone_stands_for_itself(deployment: Deployment) -> None:
    alone = await form(deployment, "Sails", session=1)
    pair = [await form(deployment, text, session=2, at=MAY + timedelta(days=1)) for text in ("Cooks", "Sings")]

    assert DerivationReport(derived=2) == await deployment.sum_up()

    found = await standing(deployment)
    assert {f"session:{identifier(2)}", "month:2026-05"} == set(found)
    assert sorted(pair) == [source.id for source in found[f"session:{identifier(2)}"].sources]
    assert {alone, found[f"session:{identifier(2)}"].id} == {source.id for source in found["month:2026-05"].sources}
    await check_idle(deployment, 2)


async def test_scopes_and_sensitivities_are_not_mixed_and_retractions_are_left_out(deployment: Deployment) -> None:
    for scope in ("home", "work"):
        for sensitivity in (Sensitivity.PUBLIC, Sensitivity.RESTRICTED):
            for number in range(2):
                await form(deployment, f"Fact {scope} {sensitivity} {number}", scope=scope, sensitivity=sensitivity)
    await form(deployment, "Retracted", scope="home", polarity=Polarity.RETRACT)

    assert DerivationReport(derived=4) == await deployment.sum_up()

    for record in await deployment.stored_derived():
        assert record.content is not None
        assert [f"Fact {record.content.scope} {record.sensitivity} {number}" for number in range(2)] == said(record)
    await check_idle(deployment, 4)


@pytest.mark.parametrize("apart", ["scope", "subject"])
async def test_what_is_said_of_several_scopes_and_subjects_is_summed_up_for_each(
    deployment: Deployment, apart: str
) -> None:
    for place, session in (("Home", 1), ("Work", 11)):
        changes: dict[str, Any] = {apart: place}
        for text in ("Cooks", "Sings"):
            await form(deployment, text, session=session, **changes)
            await form(deployment, f"{text} at {place}", session=session + 1, **changes)

    assert 0 == (await deployment.sum_up()).refused

    for place, session in (("Home", 1), ("Work", 11)):
        for number, texts in ((session, ["Cooks", "Sings"]), (session + 1, [f"Cooks at {place}", f"Sings at {place}"])):
            [summary] = [
                record
                for record in await deployment.stored_derived()
                if record.content is not None and f"session:{identifier(number)}" == record.content.evidence_ref
            ]
            assert summary.content is not None
            assert (texts, place) == (said(summary), getattr(summary.content, apart))
            assert await deployment.find_derived(summary.id) is not None
    before = await deployment.stored_derived(), await deployment.events()
    again = await deployment.sum_up()
    assert (0, 0, 0) == (again.derived, again.refused, again.withheld)
    assert before == (await deployment.stored_derived(), await deployment.events())


async def test_a_supposition_is_no_summary_however_it_says_the_same(deployment: Deployment) -> None:
    others = [
        await form(deployment, text, session=number, at=deployment.clock.now, source_event_ids=(number,))
        for number, text in ((7, "Bakes"), (8, "Dances"))
    ]
    await deployment.derived_id(hypothesis("Cooks", *others))
    for belief_type in (BeliefType.FACT, BeliefType.PREFERENCE):
        await form(deployment, "Cooks", belief_type=belief_type)

    assert 0 == (await deployment.sum_up()).refused

    kinds = [record.record_kind for record in await deployment.stored_derived() if said(record) == ["Cooks"]]
    assert [RecordKind.HYPOTHESIS, RecordKind.SUMMARY] == sorted(kinds)


async def test_a_month_holds_its_newest_sessions_and_two_months_fit(deployment: Deployment) -> None:
    """Of 17 records a session: one and a half of them fit in a month, so that two months fit over all."""
    for session in range(6):
        at = MAY + timedelta(days=session) + MONTH * (session // 3)
        count = 14 if session % 3 == 2 else 16
        for number in range(count):
            await form(deployment, f"Fact {session}.{number}", session=session, at=at)

    await deployment.sum_up()

    found = await standing(deployment)
    for month, newest in (("month:2026-05", 2), ("month:2026-06", 5)):
        assert month not in found, f"only session {newest} fits into it"
    last = [found[f"session:{identifier(number)}"].id for number in (2, 5)]
    assert set(last) == {source.id for source in found["all"].sources}


async def test_a_session_that_grows_is_summed_up_anew(deployment: Deployment) -> None:
    for text in ("Cooks", "Sings"):
        await form(deployment, text)
    await deployment.sum_up()
    [old] = (await standing(deployment)).values()
    await form(deployment, "Sails")

    assert DerivationReport(derived=1) == await deployment.sum_up()

    [new] = (await standing(deployment)).values()
    assert ["Cooks", "Sings", "Sails"] == said(new)
    shell = await deployment.find_derived(old.id)
    assert shell is not None
    assert DerivedStatus.RETIRED is shell.status
    await check_idle(deployment, 1)


async def test_a_source_that_changed_is_summed_up_as_it_is(deployment: Deployment) -> None:
    first = await form(deployment, "Cooks")
    second = await form(deployment, "Sings")
    third = await form(deployment, "Sails")
    await deployment.sum_up()
    await deployment.review(first, ReviewOutcome.NOT_HERE)
    await deployment.review(second, ReviewOutcome.UNTRUE)

    assert DerivationReport(derived=1) == await deployment.sum_up()

    [new] = (await standing(deployment)).values()
    assert (["Sails", "Cooks"], Portability.LOCAL) == (said(new), new.portability)
    await deployment.review(third, ReviewOutcome.UNTRUE)
    assert DerivationReport() == await deployment.sum_up()
    assert {} == await standing(deployment)
    await check_idle(deployment, 0)


@pytest.mark.parametrize("forbid", ["untrue", "delete"])
async def test_a_summary_that_was_forbidden_stays_away_and_the_month_goes_on_without_it(
    deployment: Deployment, forbid: str
) -> None:
    for session in (1, 2, 3):
        for number in range(2):
            await form(deployment, f"Fact {session}.{number}", session=session)
    await deployment.sum_up()
    wrong = (await standing(deployment))[f"session:{identifier(1)}"]
    if forbid == "untrue":
        await deployment.review_derived(wrong.id, ReviewOutcome.UNTRUE)
    else:
        await deployment.delete(wrong.id)

    assert DerivationReport(derived=1, unchanged=2, blocked=1) == await deployment.sum_up()

    found = await standing(deployment)
    assert {f"session:{identifier(2)}", f"session:{identifier(3)}", "month:2026-05"} == set(found)
    await check_idle(deployment, 3, blocked=1)


async def test_what_a_person_kept_to_its_scope_stays_there(deployment: Deployment) -> None:
    first, _ = await form(deployment, "Cooks"), await form(deployment, "Sings")
    await deployment.sum_up()
    [summary] = (await standing(deployment)).values()
    await deployment.review_derived(summary.id, ReviewOutcome.NOT_HERE)
    await check_idle(deployment, 1)
    replacing = await form(deployment, "COOKS", supersedes=first, subject="Food", at=MAY - timedelta(days=1))
    assert replacing != first

    await deployment.sum_up()

    [anew] = (await standing(deployment)).values()
    assert ["Sings", "COOKS"] == said(anew)
    assert (Portability.LOCAL, True) == (anew.portability, anew.id != summary.id)


async def test_summaries_of_others_are_made_anew_where_their_clauses_stand(deployment: Deployment) -> None:
    cooks, sings, paints = [
        await form(deployment, text, session=number, at=deployment.clock.now, source_event_ids=(number,))
        for number, text in enumerate(("Cooks", "Sings", "Paints"), 1)
    ]
    strict = Sensitivity.SENSITIVE
    kept = await deployment.derived_id(
        proposal(("Cooks", [cooks]), omitted=[sings], confidence=Decimal("0.4"), sensitivity=strict)
    )
    above = await deployment.derived_id(proposal(("Cooks", [kept]), ("Paints", [paints])))
    stays = await deployment.derived_id(proposal(("Sings", [sings])))
    soon = deployment.clock.now + timedelta(minutes=5)
    run_out = await deployment.derived_id(proposal(("Sings", [stays]), ("Paints", [paints]), expires_at=soon))
    supposed = await deployment.derived_id(hypothesis("Is an artist", cooks, sings))
    deployment.clock.advance(timedelta(hours=1))
    await deployment.review(cooks, ReviewOutcome.NOT_HERE)

    report = await deployment.sum_up()

    assert DerivationReport(derived=3, withheld=1) == report
    for id in (kept, above, run_out):
        shell = await deployment.find_derived(id)
        assert shell is not None
        assert shell.content is None
    assert await deployment.find_derived(supposed) is None
    stored = {record.id: record for record in await deployment.stored_derived() if record.content is not None}
    del stored[stays], stored[supposed]
    month, *anew = sorted(stored.values(), key=lambda record: SENSITIVITY_ORDER[record.sensitivity])
    assert ["Cooks", "Sings", "Paints"] == said(month)
    below, over = sorted(anew, key=lambda record: len(said(record)))
    assert (["Cooks"], ["Cooks", "Paints"]) == (said(below), said(over))
    assert {strict} == {below.sensitivity, over.sensitivity}
    assert {below.id, paints} == {source.id for source in over.sources}
    assert below.content is not None
    assert ("elsewhere", Decimal("0.3")) == (below.content.method, below.content.confidence)
    await check_idle(deployment, 1, withheld=1)


def line(**members: Any) -> bytes:  # of a proposal's line, by their names
    bees = str(members.pop("bees"))
    usual = {
        "version": 1,
        "record_kind": "summary",
        "subject": "Ada",
        "clauses": [{"text": "Keeps bees", "source_ids": [bees]}],
        "source_ids": [bees],
        "method": "elsewhere",
        "method_revision": "7",
        "evidence_ref": "run 1",
    }
    return json.dumps({name: value for name, value in (usual | members).items() if value is not None}).encode() + b"\n"


async def test_a_file_proposes_and_each_line_is_taken_or_refused_by_itself(deployment: Deployment) -> None:
    bees = await deployment.formed(candidate("Keeps bees"))
    boats = await deployment.formed(candidate("Keeps boats", source_event_ids=(2,)))
    wrong = await deployment.derived_id(proposal(("Keeps boats", [boats])))
    await deployment.review_derived(wrong, ReviewOutcome.UNTRUE)
    both = [str(bees), str(boats)]
    supposed = [{"text": "Quixzorble", "source_ids": both}]
    boat = [{"text": "KEEPS boats", "source_ids": [str(boats)]}]
    lines = [
        line(bees=bees),
        line(bees=bees, evidence_ref="another"),
        b"\n",
        line(bees=bees, record_kind="hypothesis", clauses=supposed, source_ids=both, confidence=0.3),
        line(bees=bees, clauses=boat, source_ids=both),
        line(bees=bees, note="quixzorble"),
        line(bees=bees, method=None),
        line(bees=bees, method="extractive"),
        line(bees=bees, version=2),
        line(bees=bees, clauses=[{"text": "Quixzorble", "source_ids": [str(bees)]}]),
        line(bees=bees, clauses=[{"text": "Quixzorble", "quixzorble": 1}]),
        line(bees=bees, source_ids=["quixzorble"]),
        line(bees=bees, source_ids=[str(identifier())]),
        line(bees=bees, sensitivity="quixzorble"),
        line(bees=bees, confidence="quixzorble"),
        line(bees=bees, confidence=0.9),
        line(bees=bees, expires_at="2026-06-15T12:00:00"),
        line(bees=bees, subject="quix\0zorble"),
        b'{"quixzorble"\n',
        line(bees=bees, record_kind="quixzorble"),
    ]

    report = await deployment.summaries.take(ADA, lines)

    assert (2, 1, 1, 15) == (report.derived, report.unchanged, report.blocked, report.refused)
    reasons = dict(report.errors)
    assert "quixzorble" not in json.dumps(reasons).lower()
    members = [
        *("note", "method", "method", "version", "clauses", "clauses", "source_ids", "clauses", "sensitivity"),
        *("confidence", "confidence", "expires_at", "line", "line", "record_kind"),
    ]
    assert list(range(6, 21)) == list(reasons)
    assert members == [reason.split()[0] for reason in reasons.values()]
    assert 2 == len(await standing_of_others(deployment))


async def standing_of_others(deployment: Deployment) -> list[DerivedRecord]:
    return [record for record in await deployment.stored_derived() if record.content is not None]


async def test_the_principals_of_a_tenant_are_known(deployment: Deployment) -> None:
    others = [owner("bo"), owner("cy", tenant="elsewhere")]
    for of in (ADA, *others):
        await deployment.formed(candidate("Sails", source_session_id=SESSION), of=of)

    assert [ADA, others[0]] == await deployment.summaries.owners("harbour")
