"""Paired worlds: one script, once with hidden beliefs and derived records in it and once without, and every answer the
same, every operation that the store is asked for included.

A tombstone or rejection of what is hidden crosses the ceiling by decision, and is left out here.
Source: belief store decisions, Formation; Derived records.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.observability.traced_store import TracedStore
from gateway.service.cursors import decode_cursor
from gateway.service.derived_reading import ItemReading, MemoryItemView
from gateway.service.errors import GatewayError
from gateway.service.memories import PublicMemoryService
from gateway.service.memory_requests import MemoryDelete, MemoryPaging, MemoryReview, MemorySelection
from gateway.views.derived import DerivedView
from store.domain.memories import InvalidRecord
from store.domain.vocabulary import STORED_STATUSES, ReviewOutcome, Sensitivity, sensitivities_within
from store.inmemory.store import InMemoryStore
from tests.factories import NOW, OTHER_SESSION, SESSION, candidate, identifier
from tests.services.deployment import ADA, Deployment, as_principal
from tests.services.derivations import proposal

STATEMENTS = ("Keeps bees", "Sails", "Drinks tea")
READER = as_principal(ADA)


@dataclass(frozen=True)
class Step:
    """One act of the script. `target` counts what was formed and derived before in the same kind of world."""

    hidden: bool
    act: str
    text: str
    session: UUID
    sensitivity: Sensitivity
    target: int
    outcome: ReviewOutcome


def steps(ceiling: Sensitivity) -> st.SearchStrategy[list[Step]]:
    visible = sorted(sensitivities_within(ceiling))

    def step(*, is_hidden: bool) -> st.SearchStrategy[Step]:
        acts = ["form", "form", "derive", "derive", "review"]
        outcomes = [ReviewOutcome.DISMISS, ReviewOutcome.NOT_HERE] if is_hidden else list(ReviewOutcome)
        return st.builds(
            Step,
            hidden=st.just(is_hidden),
            act=st.sampled_from(acts if is_hidden else [*acts, "sum up", "delete"]),
            text=st.sampled_from(STATEMENTS),
            session=st.sampled_from([SESSION, OTHER_SESSION]),
            sensitivity=st.sampled_from(sorted(set(Sensitivity) - set(visible)) if is_hidden else visible),
            target=st.integers(0, 7),
            outcome=st.sampled_from(outcomes),
        )

    return st.lists(st.one_of(step(is_hidden=False), step(is_hidden=True)), min_size=3, max_size=12)


@dataclass
class Asked:
    """The operations that a store was asked for, by name, as traces are told of them."""

    names: list[str] = field(default_factory=list)

    @contextmanager
    def exchange(self) -> Iterator[None]:
        yield

    def describe_exchange(self, route: str, method: str, status: int, *, operation: str) -> None:
        """Nothing is told here."""

    @contextmanager
    def store_operation(self, name: str) -> Iterator[None]:
        self.names.append(name)
        yield

    def close(self) -> None:
        """Nothing is held."""


class World:
    """A deployment in which the script is played, with or without its hidden steps."""

    def __init__(self, ceiling: Sensitivity, *, with_hidden: bool) -> None:
        self.ceiling = ceiling
        self.with_hidden = with_hidden
        self.beliefs: dict[bool, list[UUID]] = {True: [], False: []}
        self.derived: dict[bool, list[UUID]] = {True: [], False: []}

    async def open(self) -> "World":
        self.deployment = await Deployment(InMemoryStore()).prepare()
        self.asked = Asked()
        traced = TracedStore(self.deployment.store, self.asked)
        self.memories = PublicMemoryService(traced, self.deployment.environment, derived=True)
        return self

    async def play(self, number: int, step: Step) -> str:
        """The outcome of one step; the clock depends on its number alone."""
        self.deployment.clock.now = NOW + timedelta(hours=number)
        self.deployment.ids = map(identifier, range(100 * number + 1, 100 * number + 100))
        if step.hidden and not self.with_hidden:
            return "left out"
        try:
            match step.act:
                case "form":
                    return await self._form(step)
                case "derive":
                    return await self._derive(step)
                case "sum up":
                    await self.deployment.summaries.sum_up(ADA)
                case "review" | "delete":
                    return await self._write(step)
        except (GatewayError, InvalidRecord) as error:
            return type(error).__name__
        return "done"

    async def _form(self, step: Step) -> str:
        wish = candidate(step.text, sensitivity=step.sensitivity, source_session_id=step.session)
        result = await self.deployment.formation.form(ADA, wish)
        if result.id is not None and result.id not in self.beliefs[step.hidden]:
            self.beliefs[step.hidden].append(result.id)
        return f"{result.outcome} {result.id}"

    async def _derive(self, step: Step) -> str:
        """Over a belief and what was derived before; a hidden one also says again what is visible, more strictly."""
        sources = [*self.beliefs[step.hidden], *self.derived[step.hidden]]
        if step.hidden:
            sources += [*self.beliefs[False], *self.derived[False]]
        if not sources:
            return "nothing"
        chosen = sources[step.target % len(sources)]
        texts = await self._texts(chosen)
        wish = proposal(*((text, [chosen]) for text in texts))
        if step.hidden:
            wish = proposal(*((text, [chosen]) for text in texts), sensitivity=Sensitivity.RESTRICTED)
        result = await self.deployment.derivation.derive(ADA, wish)
        if result.id is not None and result.id not in self.derived[step.hidden]:
            self.derived[step.hidden].append(result.id)
        return result.outcome.value

    async def _texts(self, id: UUID) -> list[str]:
        belief = await self.deployment.find(id)
        if belief is not None:
            return [belief.statement]
        record = await self.deployment.find_derived(id)
        return [] if record is None or record.content is None else [clause.text for clause in record.content.clauses]

    async def _write(self, step: Step) -> str:
        targets = [*self.beliefs[step.hidden], *self.derived[step.hidden]]
        if not targets:
            return "nothing"
        id, key = str(targets[step.target % len(targets)]), str(self.deployment.clock.now.timestamp())
        ceiling = Sensitivity.RESTRICTED if step.hidden else self.ceiling
        if step.act == "delete":
            await self.memories.delete(READER, MemoryDelete(id=id, ceiling=ceiling, idempotency_key=key))
            return "deleted"
        request = MemoryReview(id=id, ceiling=ceiling, outcome=step.outcome, idempotency_key=key)
        return str(self._shown(await self.memories.review(READER, request), {}))

    async def answers(self) -> dict[str, Any]:
        """Everything that can be asked under the ceiling, and what the store was asked for it."""
        self.asked.names.clear()
        answers: dict[str, Any] = {}
        names: dict[UUID, str] = {}
        async with self.memories.reading_items() as reading:
            for name, selection in self._selections().items():
                answers[name] = [await self._walk(reading, selection, names), await reading.count(READER, selection)]
        answers["hidden"] = [await self._refusals(id) for id in self._hidden_or_absent()]
        answers["asked"] = list(self.asked.names)
        return answers

    async def _walk(self, reading: ItemReading, selection: MemorySelection, names: dict[UUID, str]) -> list[Any]:
        walked: list[Any] = []
        after: str | None = None
        while True:
            page = await reading.browse(READER, selection, MemoryPaging(first=2, after=after), with_opposite=True)
            for edge in page.edges:
                assert decode_cursor(edge.cursor).id == edge.node.id
            walked.append(
                ([self._shown(edge.node, names) for edge in page.edges], page.has_next_page, page.has_previous_page)
            )
            after = page.next_cursor
            if after is None:
                return walked

    def _shown(self, view: MemoryItemView, names: dict[UUID, str]) -> dict[str, Any]:
        """A view, in which each derived record goes by what it says: its id depends on how many were made."""
        shown = view.model_dump(mode="json")
        if isinstance(view, DerivedView):
            del shown["id"]
            for part in (shown["sources"], *((shown["content"] or {}).get("clauses", ()),)):
                for each in part:
                    for place in ("id", "source_ids"):
                        if place in each:
                            each[place] = "beliefs" if self._names_beliefs(each[place]) else "derived"
        return shown

    def _names_beliefs(self, ids: str | list[str]) -> bool:
        known = {str(id) for id in self.beliefs[False]}
        return {ids} <= known if isinstance(ids, str) else set(ids) <= known

    def _hidden_or_absent(self) -> list[UUID]:
        """As many ids of records that are not there for the reader as there are steps, in either world."""
        hidden = [*self.derived[True], *self.beliefs[True]][:2] if self.with_hidden else []
        return hidden + [identifier(9_000 + number) for number in range(2 - len(hidden))]

    async def _refusals(self, id: UUID) -> list[str]:
        found = []
        async with self.memories.reading_items() as reading:
            for read in (reading.read, reading.read_derived):
                try:
                    await read(READER, str(id), self.ceiling)
                except GatewayError as error:
                    found.append(error.message)
        for outcome in ReviewOutcome:
            request = MemoryReview(id=str(id), ceiling=self.ceiling, outcome=outcome, idempotency_key="refused")
            try:
                await self.memories.review(READER, request)
            except GatewayError as error:
                found.append(error.message)
        try:
            await self.memories.delete(
                READER, MemoryDelete(id=str(id), ceiling=self.ceiling, idempotency_key="refused")
            )
        except GatewayError as error:
            found.append(error.message)
        assert 6 == len(found)
        return found

    def _selections(self) -> dict[str, MemorySelection]:
        return {
            "live": MemorySelection(ceiling=self.ceiling),
            "all": MemorySelection(ceiling=self.ceiling, statuses=STORED_STATUSES),
            "flagged": MemorySelection(ceiling=self.ceiling, flagged=True),
            "text": MemorySelection(ceiling=self.ceiling, text="bees"),
            "session": MemorySelection(ceiling=self.ceiling, session_id=str(SESSION)),
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


async def test_the_script_reaches_hidden_records() -> None:
    """The suite above would prove nothing if no step ever derived anything, hidden and visible."""
    world = await World(Sensitivity.PUBLIC, with_hidden=True).open()
    form = Step(False, "form", "Sails", SESSION, Sensitivity.PUBLIC, 0, ReviewOutcome.DISMISS)
    for number, step in enumerate(
        (
            form,
            Step(False, "form", "Keeps bees", SESSION, Sensitivity.PUBLIC, 0, ReviewOutcome.DISMISS),
            Step(True, "derive", "Sails", SESSION, Sensitivity.RESTRICTED, 0, ReviewOutcome.DISMISS),
            Step(False, "derive", "Sails", SESSION, Sensitivity.PUBLIC, 0, ReviewOutcome.DISMISS),
            Step(False, "sum up", "Sails", SESSION, Sensitivity.PUBLIC, 0, ReviewOutcome.DISMISS),
        )
    ):
        await world.play(number, step)

    stored = {record.id: record.sensitivity for record in await world.deployment.stored_derived()}
    assert [Sensitivity.RESTRICTED] == [stored[id] for id in world.derived[True]]
    assert [Sensitivity.PUBLIC] == [stored[id] for id in world.derived[False]]
    assert 3 == len(stored)
