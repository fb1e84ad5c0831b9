"""What forbids a derivation forbids its words by whatever path they come, and takes what rests on them along; what
beliefs say is never forbidden by it.

Source: belief store decisions, Derived records (Review).
"""

from collections.abc import Callable
from uuid import UUID

import pytest

from store.domain.derived import DerivedStatus
from store.domain.deriving import DerivationOutcome, DerivationProposal
from store.domain.formation import FormationOutcome
from store.domain.vocabulary import EventKind, ReviewOutcome
from tests.factories import OTHER_SESSION, candidate
from tests.services.deployment import Deployment
from tests.services.derivations import hypothesis, proposal

BEES, BOATS, SAILS = "Keeps bees", "Keeps a rowing boat", "Sails"
SUPPOSED = "May leave soon"
LEAVES = candidate(SUPPOSED, source_event_ids=(7,))
FORBIDDING = pytest.mark.parametrize("forbidding", ["untrue", "delete"])


class Three:
    """Beliefs from an event each: one, another, and one that says what both say."""

    def __init__(self, deployment: Deployment) -> None:
        self.deployment = deployment

    async def form(self) -> "Three":
        self.bees, self.boats, self.both = [
            await self.deployment.formed(candidate(text, source_event_ids=(number,)))
            for number, text in enumerate((BEES, BOATS, f"{BEES}  keeps a ROWING boat"), 1)
        ]
        return self

    def two_clauses(self) -> DerivationProposal:
        return proposal((BEES, [self.bees]), (BOATS, [self.boats]))

    def one_clause(self) -> DerivationProposal:
        return proposal((f"{BEES} keeps a ROWING boat", [self.both]))

    def supposed(self, text: str = f"{BEES} {BOATS}") -> DerivationProposal:
        return hypothesis(text, self.bees, self.boats)


@pytest.fixture
async def three(deployment: Deployment) -> Three:
    return await Three(deployment).form()


async def forbid(deployment: Deployment, id: UUID, forbidding: str) -> None:
    if forbidding == "untrue":
        await deployment.review_derived(id, ReviewOutcome.UNTRUE)
    else:
        await deployment.delete(id)


async def outcome(deployment: Deployment, wish: DerivationProposal) -> DerivationOutcome:
    return (await deployment.derive(wish)).outcome


WISHES: dict[str, Callable[[Three], DerivationProposal]] = {
    "two clauses": Three.two_clauses,
    "one clause": Three.one_clause,
    "a supposition": Three.supposed,
}


@FORBIDDING
@pytest.mark.parametrize("other", WISHES)
@pytest.mark.parametrize("forbidden", WISHES)
async def test_what_was_forbidden_is_not_said_by_another_kind_or_cut_otherwise(
    deployment: Deployment, three: Three, forbidding: str, forbidden: str, other: str
) -> None:
    await forbid(deployment, await deployment.derived_id(WISHES[forbidden](three)), forbidding)

    assert DerivationOutcome.BLOCKED is await outcome(deployment, WISHES[other](three))
    assert DerivationOutcome.DERIVED is await outcome(deployment, three.supposed(SUPPOSED))


@FORBIDDING
async def test_what_was_forbidden_is_not_supposed_in_another_spelling(
    deployment: Deployment, three: Three, forbidding: str
) -> None:
    await forbid(deployment, await deployment.derived_id(three.two_clauses()), forbidding)

    wish = three.supposed("KEEPS bees\n keeps  a rowing BOAT")
    assert DerivationOutcome.BLOCKED is await outcome(deployment, wish)


@pytest.mark.parametrize("forbidden", WISHES)
async def test_a_deletion_takes_all_that_say_the_same(deployment: Deployment, three: Three, forbidden: str) -> None:
    ids = [await deployment.derived_id(wish(three)) for wish in WISHES.values()]
    over = await deployment.derived_id(proposal((BEES, [ids[0]]), (SUPPOSED, [await deployment.formed(LEAVES)])))

    await deployment.delete(await deployment.derived_id(WISHES[forbidden](three)))

    stored = await deployment.stored_derived()
    assert [] == [record for record in stored if record.content is not None]
    assert over in {record.id for record in stored}


@FORBIDDING
async def test_a_belief_does_not_say_what_was_a_forbidden_supposition(
    deployment: Deployment, three: Three, forbidding: str
) -> None:
    await forbid(deployment, await deployment.derived_id(three.supposed(SUPPOSED)), forbidding)

    assert FormationOutcome.BLOCKED is (await deployment.form(candidate("may  leave SOON"))).outcome


@FORBIDDING
async def test_a_belief_that_says_the_same_stays_and_is_confirmed(
    deployment: Deployment, three: Three, forbidding: str
) -> None:
    leaves = await deployment.formed(LEAVES)
    before = await deployment.get(leaves)

    await forbid(deployment, await deployment.derived_id(three.supposed(SUPPOSED)), forbidding)

    assert before == await deployment.get(leaves)
    confirmed = await deployment.form(candidate(SUPPOSED, source_event_ids=(8,)))
    assert (FormationOutcome.REINFORCED, leaves) == (confirmed.outcome, confirmed.id)
    assert DerivationOutcome.BLOCKED is await outcome(deployment, three.supposed(SUPPOSED))


@FORBIDDING
@pytest.mark.parametrize("summary", ["of two", "of one"])
async def test_what_a_forbidden_summary_repeated_is_still_believed(
    deployment: Deployment, three: Three, forbidding: str, summary: str
) -> None:
    wish = three.two_clauses() if summary == "of two" else proposal((BEES, [three.bees]))
    before = [await deployment.get(id) for id in (three.bees, three.boats, three.both)]

    await forbid(deployment, await deployment.derived_id(wish), forbidding)

    assert before == [await deployment.get(record.id) for record in before]
    confirmed = await deployment.form(candidate(BEES, source_event_ids=(8,)))
    assert (FormationOutcome.REINFORCED, three.bees) == (confirmed.outcome, confirmed.id)
    anew = await deployment.form(candidate(BEES, source_session_id=OTHER_SESSION, scope="work"))
    assert FormationOutcome.FORMED is anew.outcome
    if summary == "of two":
        assert DerivationOutcome.DERIVED is await outcome(deployment, proposal((BEES, [three.bees])))


async def test_what_is_untrue_retires_what_rests_on_it(deployment: Deployment, three: Three) -> None:
    summary = await deployment.derived_id(three.two_clauses())
    sails = await deployment.formed(candidate(SAILS, source_event_ids=(4,)))
    above = await deployment.derived_id(proposal((BEES, [summary]), (SAILS, [sails])))
    highest = await deployment.derived_id(hypothesis(SUPPOSED, above, three.both))
    apart = await deployment.derived_id(proposal((BEES, [three.bees])))
    before = await deployment.find_derived(apart)

    await deployment.review_derived(summary, ReviewOutcome.UNTRUE)

    for id in (summary, above, highest):
        shell = await deployment.find_derived(id)
        assert shell is not None
        assert (DerivedStatus.RETIRED, None, ()) == (shell.status, shell.content, shell.sources)
    assert before == await deployment.find_derived(apart)
    # What rested on it was not rejected itself.
    assert DerivationOutcome.DERIVED is await outcome(deployment, hypothesis(SUPPOSED, apart, three.both))
    rejected = [event for event in await deployment.events() if event.kind is EventKind.REJECTED]
    assert [summary] == [event.memory_id for event in rejected]
