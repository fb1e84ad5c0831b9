"""Paired worlds: one script, once with hidden beliefs in it and once without, and every answer is the same.

Two effects cross the ceiling by decision and are left out here: a tombstone or rejection refuses formation,
and a named supersession by a stricter belief retires the old one. Each has its own test.
Source: belief store decisions, Formation.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any
from uuid import UUID

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.service.cursors import decode_cursor
from gateway.service.errors import GatewayError
from gateway.service.memory_requests import MemoryPaging, MemorySelection
from store.domain.formation import Candidate
from store.domain.vocabulary import (
    STORED_STATUSES,
    Authority,
    Polarity,
    ReviewOutcome,
    Sensitivity,
    sensitivities_within,
    within,
)
from store.inmemory.store import InMemoryStore
from tests.factories import NOW, candidate, identifier
from tests.services.deployment import ADA, Deployment, as_principal

STATEMENTS = ("Keeps bees", "Sails", "Drinks tea")
SUBJECTS = ("Ada", "person:kai")


@dataclass(frozen=True)
class Step:
    """One act of the script. `target` and `named` count earlier formations of the same kind of world."""

    hidden: bool
    act: str
    candidate: Candidate
    target: int
    named: int | None
    supersedes: bool
    outcome: ReviewOutcome


def steps(ceiling: Sensitivity) -> st.SearchStrategy[list[Step]]:
    visible = sorted(sensitivities_within(ceiling))
    hidden = sorted(set(Sensitivity) - set(visible))

    def step(is_hidden: bool) -> st.SearchStrategy[Step]:
        candidates = st.builds(
            candidate,
            st.sampled_from(STATEMENTS),
            subject=st.sampled_from(SUBJECTS),
            polarity=st.sampled_from(Polarity),
            authority=st.sampled_from([Authority.USER, Authority.INFERRED]),
            sensitivity=st.sampled_from(hidden if is_hidden else visible),
            source_event_ids=st.tuples(st.integers(1, 3)),
            expires_at=st.none() | st.sampled_from([candidate().valid_from]),
        )
        # Hidden rejections and deletions cross the ceiling by decision, hidden dismissals do not.
        outcomes = [ReviewOutcome.DISMISS, ReviewOutcome.NOT_HERE] if is_hidden else list(ReviewOutcome)
        return st.builds(
            Step,
            hidden=st.just(is_hidden),
            act=st.sampled_from(["form", "form", "form", "review", "sweep"] + ([] if is_hidden else ["delete"])),
            candidate=candidates,
            target=st.integers(0, 5),
            named=st.none() | st.integers(0, 5),
            supersedes=st.booleans(),
            outcome=st.sampled_from(outcomes),
        )

    return st.lists(st.one_of(step(False), step(True)) if hidden else step(False), min_size=1, max_size=12)


class World:
    """A deployment in which the script is played, with or without its hidden steps."""

    def __init__(self, ceiling: Sensitivity, *, with_hidden: bool) -> None:
        self.ceiling = ceiling
        self.with_hidden = with_hidden
        self.formed: dict[bool, list[UUID]] = {True: [], False: []}

    async def open(self) -> "World":
        self.deployment = await Deployment(InMemoryStore()).prepare()
        return self

    async def play(self, number: int, step: Step) -> str:
        """The outcome of one step; the clock and the identifiers depend on its number alone."""
        self.deployment.clock.now = NOW + timedelta(hours=number)
        self.deployment.ids = iter([identifier(number + 1)])
        if step.hidden and not self.with_hidden:
            return "left out"
        earlier = self.formed[step.hidden]
        target = earlier[step.target % len(earlier)] if earlier else None
        try:
            match step.act:
                case "form":
                    return await self._form(step, earlier)
                case "review" if target:
                    view = await self.deployment.review(target, step.outcome, ceiling=self._ceiling(step))
                    return view.model_dump_json()
                case "delete" if target:
                    return str(await self.deployment.delete(target, ceiling=self.ceiling))
                case "sweep":
                    await self.deployment.sweeps.sweep()
        except GatewayError as error:
            return error.code.value
        return "nothing"

    def _ceiling(self, step: Step) -> Sensitivity:
        return Sensitivity.RESTRICTED if step.hidden else self.ceiling

    async def _form(self, step: Step, earlier: list[UUID]) -> str:
        # A hidden belief may contradict a visible one by name; only its supersession crosses the ceiling.
        nameable = earlier if step.supersedes or not step.hidden else earlier + self.formed[False]
        named = nameable[step.named % len(nameable)] if nameable and step.named is not None else None
        wish = step.candidate
        if named is not None:
            wish = replace(wish, supersedes=named) if step.supersedes else replace(wish, contradicts=(named,))
        result = await self.deployment.formation.form(ADA, wish)
        if result.id is not None and result.id not in earlier:
            earlier.append(result.id)
        return f"{result.outcome} {result.id}"

    async def answers(self) -> dict[str, Any]:
        """Everything that can be asked under the ceiling. Cursors count as places in the order."""
        principal = as_principal(ADA)
        answers: dict[str, Any] = {}
        async with self.deployment.memories.reading() as reading:
            for name, selection in self._selections().items():
                walked, after = [], None
                while True:
                    page = await reading.browse(
                        principal, selection, MemoryPaging(first=2, after=after), with_opposite=True
                    )
                    walked.append(
                        (
                            [edge.node.model_dump_json() for edge in page.edges],
                            [decode_cursor(edge.cursor).id for edge in page.edges],
                            page.has_next_page,
                            page.has_previous_page,
                        )
                    )
                    after = page.next_cursor
                    if after is None:
                        break
                answers[name] = (walked, await reading.count(principal, selection))
            answers["overview"] = (await reading.overview(principal, self.ceiling)).model_dump_json()
            ids = [identifier(number) for number in range(1, 14)]
            answers["many"] = await reading.find_many(principal, ids, self.ceiling)
            answers["superseded"] = await reading.find_superseded(principal, ids, self.ceiling)
        return answers

    def _selections(self) -> dict[str, MemorySelection]:
        every: Callable[..., MemorySelection] = lambda **changes: MemorySelection(ceiling=self.ceiling, **changes)  # noqa: E731
        return {
            "live": every(),
            "all": every(statuses=STORED_STATUSES),
            "flagged": every(flagged=True),
            "text": every(text="bees kai"),
            "subject": every(subject="Unnamed person", statuses=STORED_STATUSES),
            "sure": every(confidence_min=0.5, confidence_max=0.9),
            "formed": every(formed_after=NOW + timedelta(hours=2), formed_before=NOW + timedelta(hours=6)),
        }


@given(data=st.data(), ceiling=st.sampled_from([Sensitivity.PUBLIC, Sensitivity.INTERNAL, Sensitivity.SENSITIVE]))
@settings(suppress_health_check=[HealthCheck.too_slow])
async def test_what_is_hidden_leaves_no_trace(data: st.DataObject, ceiling: Sensitivity) -> None:
    script = data.draw(steps(ceiling))
    full = await World(ceiling, with_hidden=True).open()
    bare = await World(ceiling, with_hidden=False).open()
    for number, step in enumerate(script):
        outcomes = (await full.play(number, step), await bare.play(number, step))
        if not step.hidden:
            assert outcomes[0] == outcomes[1]
        assert await full.answers() == await bare.answers()


async def test_the_script_reaches_hidden_beliefs() -> None:
    """The suite above would prove nothing if no step ever met a hidden belief."""
    world = await World(Sensitivity.PUBLIC, with_hidden=True).open()
    hidden = Step(
        hidden=True,
        act="form",
        candidate=candidate("Sails", sensitivity=Sensitivity.SENSITIVE),
        target=0,
        named=None,
        supersedes=False,
        outcome=ReviewOutcome.DISMISS,
    )
    opposite = replace(hidden, hidden=False, candidate=candidate("Sails", polarity=Polarity.RETRACT))
    await world.play(0, hidden)
    await world.play(1, opposite)

    [secret], [seen] = world.formed[True], world.formed[False]

    assert (await world.deployment.get(seen)).conflicts_with == (secret,)
    assert not within((await world.deployment.get(secret)).sensitivity, Sensitivity.PUBLIC)
