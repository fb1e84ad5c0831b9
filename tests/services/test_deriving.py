"""Derivation: what a record may rest on and say, what it takes over, and what is refused for good."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from gateway.service.errors import Unavailable
from store.domain.derived import (
    ANCESTRY_DEPTH_MAX,
    SOURCES_MAX,
    DerivedContent,
    DerivedRecord,
    DerivedStatus,
    PinnedSource,
    RecordKind,
)
from store.domain.deriving import DerivationOutcome, DerivationProposal
from store.domain.memories import InvalidRecord
from store.domain.people import Person
from store.domain.vocabulary import (
    Authority,
    BeliefType,
    EventKind,
    Polarity,
    Portability,
    ReviewOutcome,
    Sensitivity,
)
from store.ports.store import StoreFact
from tests.factories import NOW, OTHER_SESSION, SESSION, candidate, identifier, owner
from tests.services.deployment import ADA, Deployment
from tests.services.derivations import LOW, hypothesis, proposal

BEES, BOATS = "Keeps bees", "Keeps a rowing boat"


async def stands(deployment: Deployment, id: UUID) -> tuple[DerivedRecord, DerivedContent]:
    """The record and what it says; it must stand."""
    record = await deployment.find_derived(id)
    assert record is not None
    assert record.content is not None
    return record, record.content


async def two_beliefs(deployment: Deployment, **changes: Any) -> tuple[UUID, UUID]:  # fields of the second
    first = await deployment.formed(candidate(BEES))
    return first, await deployment.formed(candidate(BOATS, source_event_ids=(2,), **changes))


async def test_a_summary_says_what_its_sources_say_and_takes_over_the_weakest_of_each(deployment: Deployment) -> None:
    bees = await deployment.formed(
        candidate("Keeps\n bees", authority=Authority.USER, confidence=Decimal("0.9"), portability=Portability.PORTABLE)
    )
    boats = await deployment.formed(
        candidate(
            BOATS,
            belief_type=BeliefType.PREFERENCE,
            source_session_id=OTHER_SESSION,
            sensitivity=Sensitivity.INTERNAL,
            expires_at=NOW + timedelta(days=9),
        )
    )
    left_out = await deployment.formed(candidate("Sails"))

    result = await deployment.derive(proposal((BEES, [bees]), (BOATS, [boats]), omitted=[left_out]))

    assert result.outcome is DerivationOutcome.DERIVED
    assert result.id is not None
    record, content = await stands(deployment, result.id)
    assert f"{BEES} {BOATS}" == content.statement
    assert [(BEES, (bees,)), (BOATS, (boats,))] == [(clause.text, clause.source_ids) for clause in content.clauses]
    assert (Sensitivity.INTERNAL, Portability.CONTEXTUAL) == (record.sensitivity, record.portability)
    assert (Authority.INFERRED, Decimal("0.5")) == (content.authority, content.confidence)
    assert (BeliefType.FACT, BeliefType.PREFERENCE) == content.belief_types
    assert (SESSION, OTHER_SESSION) == content.session_ids
    assert NOW + timedelta(days=9) == content.expires_at
    latest = await deployment.get(left_out)
    assert (latest.last_evidence_at, latest.valid_from) == (content.last_evidence_at, content.valid_from)
    pinned = [PinnedSource(id=id, revision=1, omitted=id == left_out) for id in sorted((bees, boats, left_out))]
    assert pinned == list(record.sources)
    assert (1, False, deployment.clock.now) == (record.revision, record.flagged_for_review, record.created_at)
    event = (await deployment.events())[-1]
    assert (EventKind.FORMED, result.id, SESSION) == (event.kind, event.memory_id, event.session_id)
    assert {"record_kind": "summary", "sources": 3} == event.payload


async def test_the_same_derivation_is_made_once_however_it_is_spelled(deployment: Deployment) -> None:
    bees, boats = await two_beliefs(deployment)
    other_spelling = await deployment.formed(candidate("KEEPS bees", scope="conversation", subject="Bees"))
    first = await deployment.derive(proposal((BEES, [bees]), (BOATS, [boats])))
    before = await deployment.events()

    again = await deployment.derive(proposal((BOATS, [boats]), ("KEEPS bees", [other_spelling])))

    assert (DerivationOutcome.UNCHANGED, first.id) == (again.outcome, again.id)
    assert before == await deployment.events()
    assert 1 == len(await deployment.stored_derived())


@pytest.mark.parametrize(
    ("clauses", "field"),
    [
        (["Keeps bee"], "clauses"),
        (["keeps bees"], "clauses"),
        ([BEES, BEES], "clauses"),
        ([], "clauses"),
        ([" "], "clauses"),
        (["\0"], "clauses"),
    ],
)
async def test_a_clause_repeats_its_source_once(deployment: Deployment, clauses: list[str], field: str) -> None:
    bees = await deployment.formed(candidate(BEES))

    with pytest.raises(InvalidRecord) as refused:
        await deployment.derive(replace(proposal(*((text, [bees]) for text in clauses)), source_ids=(bees,)))

    assert field == refused.value.field
    assert [] == await deployment.stored_derived()


async def test_a_summary_has_bounds(deployment: Deployment) -> None:
    texts = [f"Keeps boat {number}" for number in range(5)]
    ids = [await deployment.formed(candidate(text)) for text in texts]
    long = await deployment.formed(candidate("x" * 1_000))
    refused: list[tuple[DerivationProposal, str]] = [
        (proposal(*((text, [id]) for text, id in zip(texts, ids, strict=True))), "clauses"),
        (proposal(("x" * 1_000, [long]), (texts[0], [ids[0]]), (texts[1], [ids[1]])), "clauses"),
        (proposal((texts[0], [ids[0]]), source_ids=(ids[0], ids[0])), "source_ids"),
        (proposal((texts[0], [ids[0]]), source_ids=()), "source_ids"),
        (proposal((texts[0], [ids[0]]), source_ids=(ids[1],)), "clauses"),
        (proposal((texts[0], []), source_ids=(ids[0],)), "clauses"),
        (proposal((texts[0], [ids[0]]), omitted=[identifier() for _ in range(SOURCES_MAX)]), "source_ids"),
        (proposal((texts[0], [ids[0]]), subject=""), "subject"),
        (proposal((texts[0], [ids[0]]), method="ü" * 129), "method"),
        (proposal((texts[0], [ids[0]]), method_revision=""), "method_revision"),
        (proposal((texts[0], [ids[0]]), evidence_ref="a\tb"), "evidence_ref"),
        (proposal((texts[0], [ids[0]]), confidence=Decimal("0.501")), "confidence"),
        (proposal((texts[0], [ids[0]]), confidence=Decimal("-0.1")), "confidence"),
        (proposal((texts[0], [ids[0]]), confidence=Decimal("NaN")), "confidence"),
        (proposal((texts[0], [ids[0]]), expires_at=NOW), "expires_at"),
    ]
    for wish, field in refused:
        with pytest.raises(InvalidRecord) as error:
            await deployment.derive(wish)
        assert field == error.value.field

    assert [] == await deployment.stored_derived()


async def test_a_proposal_may_be_stricter_than_its_sources_and_never_laxer(deployment: Deployment) -> None:
    id = await deployment.formed(candidate(BEES, sensitivity=Sensitivity.INTERNAL, expires_at=NOW + timedelta(days=9)))
    end = NOW + timedelta(days=3)

    made = await deployment.derived_id(
        proposal((BEES, [id]), confidence=LOW, expires_at=end, sensitivity=Sensitivity.SENSITIVE)
    )

    record, content = await stands(deployment, made)
    assert (LOW, end, Sensitivity.SENSITIVE) == (content.confidence, content.expires_at, record.sensitivity)
    assert record.flagged_for_review
    for changes in ({"sensitivity": Sensitivity.PUBLIC}, {"expires_at": NOW + timedelta(days=10)}):
        with pytest.raises(InvalidRecord):
            await deployment.derive(proposal((BEES, [id]), **changes))


async def test_only_what_is_held_is_a_source(deployment: Deployment) -> None:
    kept = await deployment.formed(candidate("Cooks"))
    foreign = await deployment.formed(candidate(BEES), of=owner("bo"))
    retracted = await deployment.formed(candidate(BEES, polarity=Polarity.RETRACT))
    ended = await deployment.formed(candidate("Sails", expires_at=NOW + timedelta(minutes=30)))
    wrong = await deployment.formed(candidate("Smokes"))
    await deployment.review(wrong, ReviewOutcome.UNTRUE)
    old = await deployment.formed(candidate("Lives in Bremen"))
    await deployment.formed(candidate("Lives in Kiel", supersedes=old))
    run_out = await deployment.derived_id(proposal(("Sails", [ended])))
    deployment.clock.advance(timedelta(hours=1))

    messages = set()
    for id, text in (
        (identifier(), BEES),
        (foreign, BEES),
        (retracted, BEES),
        (ended, "Sails"),
        (wrong, "Smokes"),
        (old, "Lives in Bremen"),
        (run_out, "Sails"),
    ):
        for wish in (proposal((text, [id])), proposal(("Cooks", [kept]), omitted=[id])):
            try:
                await deployment.derive(wish)
            except InvalidRecord as error:
                messages.add(str(error))
            else:
                # What was found untrue is refused before its source is looked at.
                assert (text, "Smokes") == ("Smokes", text)

    [message] = messages
    assert message.startswith("source_ids must name live beliefs that are not retracted")
    assert [run_out] == [record.id for record in await deployment.stored_derived()]


async def test_sources_share_a_scope(deployment: Deployment) -> None:
    bees, boats = await two_beliefs(deployment, scope="work")

    with pytest.raises(InvalidRecord, match="source_ids must name records of one scope"):
        await deployment.derive(proposal((BEES, [bees]), (BOATS, [boats])))


async def test_a_hypothesis_rests_on_two_events_in_two_beliefs(deployment: Deployment) -> None:
    bees = await deployment.formed(candidate(BEES, confidence=Decimal("0.9")))
    same_event = await deployment.formed(candidate(BOATS))
    another = await deployment.formed(candidate("Cooks", source_event_ids=(2,)))
    for sources in ((bees,), (bees, same_event)):
        with pytest.raises(InvalidRecord, match="source_ids must support a hypothesis by 2 beliefs and 2 events"):
            await deployment.derive(hypothesis("Likes the country", *sources))
    # An input that is left out supports nothing.
    with pytest.raises(InvalidRecord):
        await deployment.derive(proposal(("Likes the country", [bees]), omitted=[another], **KIND))

    id = await deployment.derived_id(hypothesis("Likes  the country", bees, another))

    record, content = await stands(deployment, id)
    assert RecordKind.HYPOTHESIS is record.record_kind
    assert record.flagged_for_review
    assert ("Likes the country", Decimal("0.35")) == (content.statement, content.confidence)
    assert content.last_evidence_at is not None
    assert content.last_evidence_at + timedelta(days=30) == content.expires_at


KIND: dict[str, Any] = {"record_kind": RecordKind.HYPOTHESIS}


async def test_a_hypothesis_is_unsure_and_ends(deployment: Deployment) -> None:
    bees, boats = await two_beliefs(deployment, confidence=LOW)
    for changes, field in (
        ({"confidence": Decimal("0.31")}, "confidence"),
        ({"expires_at": deployment.clock.now + timedelta(days=31)}, "expires_at"),
    ):
        with pytest.raises(InvalidRecord) as refused:
            await deployment.derive(hypothesis("Likes the country", bees, boats, **changes))
        assert field == refused.value.field

    id = await deployment.derived_id(hypothesis("Likes the country", bees, boats))
    _, content = await stands(deployment, id)
    assert LOW == content.confidence

    deployment.clock.advance(timedelta(days=31))
    assert await deployment.find_derived(id) is None
    with pytest.raises(InvalidRecord, match="source_ids must support a hypothesis by evidence of the last 30 days"):
        await deployment.derive(hypothesis("Likes the country", bees, boats))


async def test_no_summary_rests_on_a_hypothesis(deployment: Deployment) -> None:
    """As a summary it would be shown as what is known, without a flag."""
    bees, boats = await two_beliefs(deployment, authority=Authority.USER)
    supposed = await deployment.derived_id(hypothesis("Likes the country", bees, boats))
    for wish in (
        proposal(("Likes the country", [supposed]), (BEES, [bees])),
        proposal((BEES, [bees]), omitted=[supposed]),
    ):
        with pytest.raises(InvalidRecord) as refused:
            await deployment.derive(wish)
        assert "source_ids" == refused.value.field


async def test_what_a_person_said_is_not_what_is_supposed_of_it(deployment: Deployment) -> None:
    said = [
        await deployment.formed(candidate(text, authority=Authority.USER, source_event_ids=(number,)))
        for number, text in enumerate((BEES, BOATS), 1)
    ]

    _, content = await stands(deployment, await deployment.derived_id(hypothesis("Likes the country", *said)))

    assert Authority.INFERRED is content.authority


async def test_a_summary_rests_on_summaries_within_bounds(deployment: Deployment) -> None:
    texts = [f"Keeps boat {number}" for number in range(70)]
    ids = [await deployment.formed(candidate(text)) for text in texts]
    said = dict(zip(ids, texts, strict=True))
    level = [
        await deployment.derived_id(
            proposal((said[ids[start]], [ids[start]]), omitted=ids[start + 1 : start + SOURCES_MAX])
        )
        for start in (0, 16, 32, 48)
    ]
    with pytest.raises(InvalidRecord, match="source_ids must rest on at most 64 records"):
        await deployment.derive(proposal((texts[0], [level[0]]), omitted=level[1:]))

    top = await deployment.derived_id(proposal((texts[0], [level[0]]), (texts[16], [level[1]]), (texts[65], [ids[65]])))
    _, content = await stands(deployment, top)
    assert f"{texts[0]} {texts[16]} {texts[65]}" == content.statement
    with pytest.raises(InvalidRecord, match="clauses must repeat what each of their sources says"):
        await deployment.derive(proposal((texts[1], [level[0]])))


async def test_ancestry_has_a_depth(deployment: Deployment) -> None:
    texts = [f"Keeps boat {number}" for number in range(ANCESTRY_DEPTH_MAX + 2)]
    ids = [await deployment.formed(candidate(text)) for text in texts]
    below = ids[0]
    for depth in range(1, ANCESTRY_DEPTH_MAX + 1):
        below = await deployment.derived_id(proposal((texts[0], [below]), (texts[depth], [ids[depth]])))

    with pytest.raises(InvalidRecord, match="source_ids must not rest on each other in more than 8 steps"):
        await deployment.derive(proposal((texts[0], [below]), (texts[-1], [ids[-1]])))


async def test_a_source_that_changes_withholds_at_once_and_is_no_source_before_it_is_derived_again(
    deployment: Deployment,
) -> None:
    bees, boats = await two_beliefs(deployment)
    below = await deployment.derived_id(proposal((BEES, [bees])))
    above = await deployment.derived_id(proposal((BEES, [below]), (BOATS, [boats])))

    await deployment.review(bees, ReviewOutcome.NOT_HERE)

    assert [None, None] == [await deployment.find_derived(id) for id in (below, above)]
    with pytest.raises(InvalidRecord, match="source_ids must name live beliefs"):
        await deployment.derive(proposal((BEES, [below])))
    again = await deployment.derive(proposal((BEES, [bees])))
    assert DerivationOutcome.DERIVED is again.outcome
    assert again.id is not None
    retired = await deployment.find_derived(below)
    assert retired is not None
    assert (DerivedStatus.RETIRED, None, ()) == (retired.status, retired.content, retired.sources)
    record, _ = await stands(deployment, again.id)
    assert Portability.LOCAL is record.portability
    assert await deployment.find_derived(above) is None


async def test_a_dismissal_and_further_evidence_withhold_nothing(deployment: Deployment) -> None:
    bees = await deployment.formed(candidate(BEES, sensitivity=Sensitivity.SENSITIVE))
    id = await deployment.derived_id(proposal((BEES, [bees])))

    await deployment.review(bees, ReviewOutcome.DISMISS)
    await deployment.form(candidate(BEES, sensitivity=Sensitivity.SENSITIVE, source_event_ids=(5,)))

    await stands(deployment, id)


async def test_what_is_hidden_does_not_keep_a_derivation_from_being_made(deployment: Deployment) -> None:
    """A twin that is stricter stands beside it: by its absence a reader would learn of the other."""
    strict = await deployment.formed(candidate(BEES, sensitivity=Sensitivity.RESTRICTED))
    hidden = await deployment.derived_id(proposal((BEES, [strict])))
    plain = await deployment.formed(candidate(BEES))

    made = await deployment.derive(proposal((BEES, [plain])))

    assert DerivationOutcome.DERIVED is made.outcome
    assert made.id is not None
    again = await deployment.derive(proposal((BEES, [strict])))
    assert DerivationOutcome.UNCHANGED is again.outcome
    assert {hidden, made.id} == {record.id for record in await deployment.stored_derived()}
    await deployment.delete(made.id, ceiling=Sensitivity.PUBLIC)
    assert [] == await deployment.stored_derived()


async def test_a_person_is_shown_by_name_and_found_by_a_new_one(deployment: Deployment) -> None:
    await deployment.people.name(Person(owner=ADA, key="kai", name="Kai Iversen"))
    bees = await deployment.formed(candidate(BEES, subject="person:kai"))
    id = await deployment.derived_id(proposal((BEES, [bees]), subject="person:kai"))
    record, content = await stands(deployment, id)
    assert "Kai Iversen" == content.display_subject

    await deployment.people.name(Person(owner=ADA, key="kai", name="Kai Okafor"))

    renamed, content = await stands(deployment, id)
    assert "Kai Okafor" == content.display_subject
    assert (record.revision, record.updated_at, record.store_position) == (
        renamed.revision,
        renamed.updated_at,
        renamed.store_position,
    )


@pytest.mark.parametrize("fact", [StoreFact.KEY_ID, StoreFact.LEXICAL_VERSION])
async def test_nothing_is_derived_under_another_key_or_version(deployment: Deployment, fact: StoreFact) -> None:
    bees = await deployment.formed(candidate(BEES))
    await deployment.store.transact(lambda transaction: transaction.facts.put(fact, "another"))

    with pytest.raises(Unavailable):
        await deployment.derive(proposal((BEES, [bees])))

    assert [] == await deployment.stored_derived()


async def test_what_a_belief_was_found_to_say_wrongly_is_not_said_by_a_record(deployment: Deployment) -> None:
    """A twin in another place stays when a belief is found untrue; no record may form its statement again."""
    twin = await deployment.formed(candidate(BEES, scope="work"))
    wrong = await deployment.formed(candidate(BEES))
    boats = await deployment.formed(candidate(BOATS, scope="work"))
    await deployment.review(wrong, ReviewOutcome.UNTRUE)

    for wish in (proposal((BEES, [twin])), proposal((BEES, [twin]), (BOATS, [boats]))):
        assert DerivationOutcome.BLOCKED is (await deployment.derive(wish)).outcome
