"""Paired worlds: one script, once with hidden beliefs and derived records in it and once without, and every answer the
same, every operation that the store is asked for included.

A tombstone or rejection of what is hidden crosses the ceiling by decision, and is left out here.
Source: belief store decisions, Formation; Derived records.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
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
from store.domain.vocabulary import STORED_STATUSES, ReviewOutcome, Sensitivity, sensitivities_within, within
from store.inmemory.store import InMemoryStore
from tests.factories import NOW, OTHER_SESSION, SESSION, candidate, identifier
from tests.services.deployment import ADA, Deployment, as_principal
from tests.services.derivations import hypothesis, proposal

STATEMENTS = ("Keeps bees", "Sails", "Drinks tea")
OF_ALL = ("sum up", "sum up", "sum up", "delete", "sweep")
WORLDS = max(100, settings().max_examples)
READER = as_principal(ADA)


@dataclass(frozen=True)
class Step:
    """One act of the script. `targets` count what was formed and derived before in the same kind of world.

    `ends`: what is formed or derived by it runs out soon.
    """

    hidden: bool
    act: str
    texts: Sequence[str] = ("Sails",)
    session: UUID = SESSION
    sensitivity: Sensitivity = Sensitivity.PUBLIC
    targets: Sequence[int] = (0,)
    ends: bool = False
    outcome: ReviewOutcome = ReviewOutcome.DISMISS


def steps(ceiling: Sensitivity) -> st.SearchStrategy[list[Step]]:
    """Scripts in which much is said twice, of the ceiling itself as a rule: what meets nothing tells nothing."""
    visible = sorted(sensitivities_within(ceiling))
    hidden = sorted(set(Sensitivity) - set(visible))

    def step(*, is_hidden: bool) -> st.SearchStrategy[Step]:
        acts = ["form", "form", "form", "derive", "suppose", "review"]
        outcomes = [ReviewOutcome.DISMISS, ReviewOutcome.NOT_HERE] if is_hidden else list(ReviewOutcome)
        usual = Sensitivity.RESTRICTED if is_hidden else ceiling
        return st.builds(
            Step,
            hidden=st.just(is_hidden),
            act=st.sampled_from(acts if is_hidden else [*acts, "derive", "review", *OF_ALL]),
            texts=st.sampled_from([STATEMENTS[:2]] * 3 + [(text,) for text in STATEMENTS]),
            session=st.sampled_from([SESSION, OTHER_SESSION]),
            sensitivity=st.sampled_from([usual] * 4 + (hidden if is_hidden else visible)),
            targets=st.lists(st.integers(0, 7), min_size=1, max_size=2),
            ends=st.sampled_from([False] * 3 + [True]),
            outcome=st.sampled_from(outcomes),
        )

    return st.lists(st.one_of(step(is_hidden=False), step(is_hidden=True)), min_size=8, max_size=20)


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
                case "derive" | "suppose":
                    return await self._derive(step)
                case "sum up":
                    await self._sum_up()
                case "sweep":
                    await self.deployment.sweeps.sweep()
                case "review" | "delete":
                    return await self._write(step)
        except (GatewayError, InvalidRecord) as error:
            return type(error).__name__
        return "done"

    def _end(self, step: Step) -> datetime | None:
        return self.deployment.clock.now + timedelta(hours=2) if step.ends else None

    async def _form(self, step: Step) -> str:
        """What a session brings: beliefs from an event each."""
        outcomes = []
        for text in step.texts:
            wish = candidate(
                text,
                sensitivity=step.sensitivity,
                source_session_id=step.session,
                source_event_ids=(STATEMENTS.index(text) + 1,),
                expires_at=self._end(step),
            )
            result = await self.deployment.formation.form(ADA, wish)
            if result.id is not None and result.id not in self.beliefs[step.hidden]:
                self.beliefs[step.hidden].append(result.id)
            outcomes.append(f"{result.outcome} {result.id}")
        return ", ".join(outcomes)

    async def _derive(self, step: Step) -> str:
        """Over beliefs and what was derived before; a hidden one also says again what is visible, more strictly."""
        sources = [*self.beliefs[step.hidden], *self.derived[step.hidden]]
        if step.hidden:
            sources += [*self.beliefs[False], *self.derived[False]]
        if not sources:
            return "nothing"
        saying: dict[str, list[UUID]] = {}
        for chosen in dict.fromkeys(sources[target % len(sources)] for target in step.targets):
            for text in await self._texts(chosen):
                saying.setdefault(text, []).append(chosen)
        changes: dict[str, Any] = {"sensitivity": step.sensitivity, "expires_at": self._end(step)}
        if step.act == "suppose":
            ids = dict.fromkeys(id for each in saying.values() for id in each)
            wish = hypothesis(" ".join(step.texts), *ids, **changes)
        else:
            wish = proposal(*saying.items(), **changes)
        result = await self.deployment.derivation.derive(ADA, wish)
        self._note(result.id, hidden=step.hidden)
        return result.outcome.value

    async def _sum_up(self) -> None:
        await self.deployment.summaries.sum_up(ADA)
        for record in sorted(await self.deployment.stored_derived(), key=lambda record: record.store_position):
            if record.content is not None:
                self._note(record.id, hidden=not within(record.sensitivity, self.ceiling))

    def _note(self, id: UUID | None, *, hidden: bool) -> None:
        if id is not None and id not in self.derived[hidden]:
            self.derived[hidden].append(id)

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
        id, key = str(targets[step.targets[0] % len(targets)]), str(self.deployment.clock.now.timestamp())
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
@settings(max_examples=WORLDS, suppress_health_check=[HealthCheck.too_slow])
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
    for number, step in enumerate(
        (
            Step(False, "form", ("Sails", "Keeps bees")),
            Step(True, "derive", sensitivity=Sensitivity.RESTRICTED),
            Step(False, "derive"),
            Step(False, "suppose", ("Drinks tea",), targets=(0, 1)),
            Step(False, "sum up"),
        )
    ):
        await world.play(number, step)

    stored = {record.id: record.sensitivity for record in await world.deployment.stored_derived()}
    assert [Sensitivity.RESTRICTED] == [stored[id] for id in world.derived[True]]
    assert [Sensitivity.PUBLIC] * 3 == [stored[id] for id in world.derived[False]]
    assert 4 == len(stored)
