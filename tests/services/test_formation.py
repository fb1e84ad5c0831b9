"""The governed write path: what a candidate becomes, and what it does to beliefs that stand already."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest

from gateway.service.errors import Conflict, MalformedRequest, Unavailable
from gateway.service.formation import FormationResult
from store.domain.formation import Candidate, FormationOutcome
from store.domain.memories import InvalidRecord
from store.domain.vocabulary import (
    Authority,
    BeliefType,
    EventKind,
    MemoryStatus,
    Polarity,
    ReviewOutcome,
    Sensitivity,
)
from store.ports.store import Store, Transaction
from tests.factories import NOW, OTHER_SESSION, SESSION, candidate, keyring, owner
from tests.services.deployment import ADA, Deployment


async def test_a_candidate_becomes_a_provisional_belief(deployment: Deployment) -> None:
    result = await deployment.form(candidate("Keeps bees", source_event_ids=(7, 3, 7)))

    assert result.outcome is FormationOutcome.FORMED
    assert result.id is not None
    record = await deployment.get(result.id)
    assert record.status is MemoryStatus.PROVISIONAL
    assert (record.source_event_ids, record.evidence_count, record.corroboration_count) == ((7, 3), 2, 1)
    assert (record.origin_scopes, record.revision) == (("conversation",), 1)
    assert record.created_at == record.valid_from == record.updated_at == deployment.clock.now
    assert [event.kind for event in await deployment.events()] == [EventKind.FORMED]


async def test_the_persons_own_word_is_active_at_once(deployment: Deployment) -> None:
    id = await deployment.formed(candidate(authority=Authority.USER, sensitivity=Sensitivity.RESTRICTED))

    record = await deployment.get(id)
    assert (record.status, record.flagged_for_review) == (MemoryStatus.ACTIVE, False)


@pytest.mark.parametrize(
    ("sensitivity", "flagged"),
    [
        (Sensitivity.PUBLIC, False),
        (Sensitivity.INTERNAL, False),
        (Sensitivity.SENSITIVE, True),
        (Sensitivity.RESTRICTED, True),
    ],
)
async def test_a_private_inference_waits_for_review(
    deployment: Deployment, sensitivity: Sensitivity, flagged: bool
) -> None:
    id = await deployment.formed(candidate(sensitivity=sensitivity, authority=Authority.AFFIRMED))

    assert (await deployment.get(id)).flagged_for_review is flagged


async def test_further_evidence_reinforces_and_moves_to_the_head(deployment: Deployment) -> None:
    id = await deployment.formed(candidate("Keeps bees", subject="Ada"))
    other = await deployment.formed(candidate("Sails"))
    again = candidate("  KEEPS\u200b  bees ", subject="ada", source_session_id=OTHER_SESSION, source_event_ids=(1, 2))

    result = await deployment.form(again)

    assert (result.outcome, result.id) == (FormationOutcome.REINFORCED, id)
    record = await deployment.get(id)
    assert (record.corroboration_count, record.evidence_count) == (2, 3)
    assert record.source_event_ids == (1,)
    assert record.statement == "Keeps bees"
    assert record.last_reinforced_at == record.updated_at == deployment.clock.now
    assert record.store_position > (await deployment.get(other)).store_position
    assert record.revision == 1


async def test_the_same_evidence_writes_nothing_at_all(deployment: Deployment) -> None:
    first = candidate("Keeps bees", source_event_ids=(1, 2))
    id = await deployment.formed(first)
    other = await deployment.formed(candidate("Sails"))
    before = (await deployment.get(id), await deployment.get(other), await deployment.events())

    result = await deployment.form(replace(first, source_event_ids=(2,), contradicts=(other,)))

    assert (result.outcome, result.id) == (FormationOutcome.UNCHANGED, id)
    assert before == (await deployment.get(id), await deployment.get(other), await deployment.events())


async def test_a_belief_holds_at_most_a_thousand_references(deployment: Deployment) -> None:
    id = await deployment.formed(candidate("Keeps bees", source_event_ids=tuple(range(1, 999))))

    more = candidate("Keeps bees", source_session_id=OTHER_SESSION, source_event_ids=(1, 2, 3, 4))
    assert (await deployment.form(more)).outcome is FormationOutcome.REINFORCED
    assert (await deployment.get(id)).evidence_count == 1_000
    further = candidate("Keeps bees", source_event_ids=(5_000,))
    assert (await deployment.form(further)).outcome is FormationOutcome.UNCHANGED


@pytest.mark.parametrize(
    "changes",
    [
        {"scope": "work"},
        {"belief_type": BeliefType.PREFERENCE},
        {"sensitivity": Sensitivity.INTERNAL},
        {"subject": "Bo"},
        {"statement": "Keeps a bee"},
    ],
)
async def test_a_different_belief_forms_a_row_of_its_own(deployment: Deployment, changes: dict[str, object]) -> None:
    first = candidate("Keeps bees")
    id = await deployment.formed(first)

    result = await deployment.form(replace(first, source_event_ids=(9,), **changes))  # type: ignore[arg-type]  # by name

    assert result.outcome is FormationOutcome.FORMED
    assert result.id != id
    assert (await deployment.get(id)).conflicts_with == ()


async def test_the_opposite_statement_is_a_contradiction_of_both(deployment: Deployment) -> None:
    old = await deployment.formed(candidate("Keeps bees"))
    middle = await deployment.formed(candidate("Sails"))

    new = await deployment.formed(candidate("keeps BEES", polarity=Polarity.RETRACT))

    older, newer = await deployment.get(old), await deployment.get(new)
    assert (older.conflicts_with, newer.conflicts_with) == ((new,), (old,))
    assert older.flagged_for_review
    assert newer.flagged_for_review
    positions = [record.store_position for record in (await deployment.get(middle), older, newer)]
    assert positions == sorted(positions)
    assert older.updated_at == deployment.clock.now
    assert (older.revision, older.status) == (1, MemoryStatus.PROVISIONAL)
    kinds = [(event.kind, event.memory_id) for event in await deployment.events()][-2:]
    assert kinds == [(EventKind.FORMED, new), (EventKind.CONTRADICTED, old)]


async def test_an_opposite_that_is_no_longer_live_is_left_alone(deployment: Deployment) -> None:
    old = await deployment.formed(candidate("Keeps bees", expires_at=NOW))

    new = await deployment.formed(candidate("Keeps bees", polarity=Polarity.RETRACT))

    assert (await deployment.get(new)).conflicts_with == ()
    assert not (await deployment.get(old)).flagged_for_review


async def test_a_named_contradiction_links_beliefs_of_any_words(deployment: Deployment) -> None:
    first, second = await deployment.formed(candidate("Likes tea")), await deployment.formed(candidate("Likes maté"))

    new = await deployment.formed(candidate("Drinks coffee alone", contradicts=(second, first)))

    assert (await deployment.get(new)).conflicts_with == tuple(sorted((first, second)))
    assert all([(await deployment.get(id)).flagged_for_review for id in (first, second, new)])


async def test_a_stricter_contradiction_leaves_no_trace_on_the_older_belief(deployment: Deployment) -> None:
    old = await deployment.formed(candidate("Keeps bees"))
    before = await deployment.get(old, ceiling=Sensitivity.PUBLIC)

    new = await deployment.formed(candidate("Keeps bees", polarity=Polarity.RETRACT, sensitivity=Sensitivity.SENSITIVE))

    assert await deployment.get(old, ceiling=Sensitivity.PUBLIC) == before
    assert (await deployment.get(old, ceiling=Sensitivity.SENSITIVE)).conflicts_with == (new,)
    assert (await deployment.get(new)).conflicts_with == (old,)
    assert (await deployment.get(new)).flagged_for_review


async def test_a_contradiction_of_something_hidden_is_not_flagged_where_it_is_seen(deployment: Deployment) -> None:
    old = await deployment.formed(candidate("Keeps bees", sensitivity=Sensitivity.SENSITIVE, authority=Authority.USER))

    new = await deployment.formed(candidate("Keeps bees", polarity=Polarity.RETRACT))

    seen = await deployment.get(new, ceiling=Sensitivity.PUBLIC)
    assert (seen.flagged_for_review, seen.conflicts_with) == (False, ())
    assert (await deployment.get(old)).flagged_for_review
    assert (await deployment.get(old)).conflicts_with == (new,)


async def test_a_named_supersession_ends_the_older_belief(deployment: Deployment) -> None:
    old = await deployment.formed(candidate("Lives in Bremen"))

    new = await deployment.formed(candidate("Lives in Kiel", supersedes=old))

    record = await deployment.get(old)
    assert (record.status, record.superseded_by) == (MemoryStatus.SUPERSEDED, new)
    assert record.valid_to == record.updated_at == deployment.clock.now
    assert record.revision == 2
    assert record.store_position < (await deployment.get(new)).store_position


async def test_a_second_supersession_is_a_conflict(deployment: Deployment) -> None:
    old = await deployment.formed(candidate("Lives in Bremen"))
    await deployment.formed(candidate("Lives in Kiel", supersedes=old))
    before = (await deployment.get(old), await deployment.events())

    with pytest.raises(Conflict, match="superseded"):
        await deployment.form(candidate("Lives in Bonn", supersedes=old))

    assert (await deployment.get(old), await deployment.events()) == before


@pytest.mark.parametrize("swept", [False, True])
async def test_what_has_run_out_is_superseded_whether_or_not_it_was_swept(deployment: Deployment, swept: bool) -> None:
    old = await deployment.formed(candidate("Is away", expires_at=deployment.clock.now + timedelta(hours=1)))
    deployment.clock.advance(timedelta(hours=2))
    if swept:
        await deployment.sweeps.sweep()

    new = await deployment.formed(candidate("Is at sea", supersedes=old))

    record = await deployment.get(old)
    assert (record.status, record.superseded_by) == (MemoryStatus.SUPERSEDED, new)


async def test_evidence_of_a_belief_that_ended_does_not_form_it_again(deployment: Deployment) -> None:
    old = await deployment.formed(candidate("Lives in Bremen"))
    await deployment.formed(candidate("Lives in Kiel", supersedes=old))
    before = await deployment.events()

    assert await deployment.form(candidate("Lives in Bremen")) == FormationResult(
        outcome=FormationOutcome.UNCHANGED, id=old
    )
    assert await deployment.events() == before
    again = await deployment.form(candidate("Lives in Bremen", source_event_ids=(9,)))
    assert again.outcome is FormationOutcome.FORMED


async def test_a_stricter_supersession_retires_without_a_link(deployment: Deployment) -> None:
    old = await deployment.formed(candidate("Lives in Bremen"))

    new = await deployment.formed(candidate("Lives in hiding", supersedes=old, sensitivity=Sensitivity.RESTRICTED))

    record = await deployment.get(old)
    assert (record.status, record.superseded_by) == (MemoryStatus.RETIRED, None)
    assert record.valid_to == deployment.clock.now
    assert (await deployment.get(new)).status is MemoryStatus.PROVISIONAL


@pytest.mark.parametrize("name", ["contradicts", "supersedes"])
async def test_only_beliefs_of_the_same_owner_can_be_named(deployment: Deployment, name: str) -> None:
    foreign = await deployment.formed(candidate("Keeps bees"), of=owner("bo"))
    for id in (foreign, uuid4()):
        named: Candidate = candidate("Sails", **{name: (id,) if name == "contradicts" else id})

        with pytest.raises(MalformedRequest, match=name):
            await deployment.form(named)
    assert await deployment.events() == []


@pytest.mark.parametrize("outcome", [ReviewOutcome.UNTRUE, None])
async def test_what_was_rejected_or_deleted_cannot_form_again(
    deployment: Deployment, outcome: ReviewOutcome | None
) -> None:
    id = await deployment.formed(candidate("Keeps bees"))
    if outcome is None:
        await deployment.delete(id)
    else:
        await deployment.review(id, outcome)
    before = await deployment.events()

    for again in (
        candidate("KEEPS  bees", source_event_ids=(9,)),
        candidate("Keeps bees", scope="work", sensitivity=Sensitivity.RESTRICTED, authority=Authority.USER),
        candidate("Keeps bees", polarity=Polarity.RETRACT),
    ):
        assert (await deployment.form(again)).outcome is FormationOutcome.BLOCKED
    assert (await deployment.form(candidate("Keeps bees"), of=owner("bo"))).outcome is FormationOutcome.FORMED
    assert await deployment.events() == before


async def test_a_twin_of_a_rejected_belief_stays_and_is_not_reinforced(deployment: Deployment) -> None:
    id = await deployment.formed(candidate("Keeps bees"))
    twin = await deployment.formed(candidate("Keeps bees", scope="work"))
    await deployment.review(id, ReviewOutcome.UNTRUE)

    result = await deployment.form(candidate("Keeps bees", scope="work", source_event_ids=(9,)))

    assert result.outcome is FormationOutcome.BLOCKED
    assert (await deployment.get(twin)).status is MemoryStatus.PROVISIONAL


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"statement": ""}, "statement"),
        ({"statement": "a\x00b"}, "statement"),
        ({"statement": "x" * 8_193}, "statement"),
        ({"subject": "\ud800"}, "subject"),
        ({"source_event_ids": ()}, "source_event_ids"),
        ({"source_event_ids": (0,)}, "source_event_ids"),
        ({"valid_from": NOW.replace(tzinfo=None)}, "valid_from"),
        ({"status": MemoryStatus.RETIRED}, "status"),
        ({"contradicts": tuple(uuid4() for _ in range(65))}, "contradicts"),
    ],
)
async def test_a_value_out_of_bounds_is_refused_by_name(
    deployment: Deployment, changes: dict[str, object], field: str
) -> None:
    with pytest.raises(InvalidRecord) as refusal:
        await deployment.form(replace(candidate(), **changes))  # type: ignore[arg-type]  # by name

    assert refusal.value.field == field
    assert await deployment.events() == []


async def test_a_gateway_with_another_key_forms_nothing(store: Store, deployment: Deployment) -> None:
    other = Deployment(store, keyring=keyring(bytes(32)))

    with pytest.raises(Unavailable):
        await other.form(candidate())


async def test_a_race_of_twins_forms_one_belief(deployment: Deployment) -> None:
    results = await asyncio.gather(
        *(deployment.formation.form(ADA, candidate("Keeps bees", source_event_ids=(number,))) for number in range(1, 9))
    )

    assert [result.outcome for result in results].count(FormationOutcome.FORMED) == 1
    [id] = {result.id for result in results}
    assert id is not None
    record = await deployment.get(id)
    assert (record.corroboration_count, record.evidence_count) == (8, 8)


async def test_no_formation_slips_past_a_deletion(deployment: Deployment) -> None:
    for round in range(5):
        statement = f"Keeps bees, in round {round}"
        id = await deployment.formed(candidate(statement))
        await asyncio.gather(
            deployment.delete(id),
            *(deployment.formation.form(ADA, candidate(statement, scope=f"scope-{number}")) for number in range(4)),
        )

        async def blocked(transaction: Transaction, statement: str = statement) -> frozenset[object]:
            hashes = deployment.keyring.statement_hashes(ADA, statement)
            return frozenset(await transaction.memories.find_same_statement_ids(ADA, hashes))

        assert await deployment.store.transact(blocked) == frozenset()


async def test_evidence_of_one_session_is_not_evidence_of_another(deployment: Deployment) -> None:
    id = await deployment.formed(candidate(source_session_id=SESSION, source_event_ids=(1,)))

    result = await deployment.form(candidate(source_session_id=OTHER_SESSION, source_event_ids=(1,)))

    assert result.outcome is FormationOutcome.REINFORCED
    assert (await deployment.get(id)).evidence_count == 2
