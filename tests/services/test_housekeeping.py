"""What runs beside the requests: the sweep, renames, and operators' access."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any, cast
from uuid import UUID

import asyncpg
import pytest
from sqlalchemy import make_url

from gateway.service import sweeps
from gateway.service.errors import MalformedRequest, NotFound, Unavailable
from gateway.service.formation import FormationResult
from gateway.service.memory_requests import MemoryDelete, MemoryPaging, MemoryReview, MemorySelection
from gateway.service.people import PeopleService
from gateway.service.sweeps import RECEIPT_RETENTION_MIN
from store.domain.deriving import DerivationProposal
from store.domain.people import Person
from store.domain.vocabulary import STORED_STATUSES, EventKind, MemoryStatus, Portability, ReviewOutcome, Sensitivity
from store.ports.store import Result, Store, Transaction
from tests.e2e.disclosure import find_in_columns
from tests.factories import candidate, memory, owner
from tests.services.deployment import ADA, Deployment, as_principal
from tests.services.derivations import hypothesis, proposal
from tests.worlds import keep

MINUTE = timedelta(minutes=1)


async def answers(deployment: Deployment) -> list[Any]:
    """Pages of every status as a client sees them, cursors and all."""
    found: list[Any] = []
    async with deployment.memories.reading() as reading:
        for statuses in (None, STORED_STATUSES, {MemoryStatus.EXPIRED}):
            selection = MemorySelection(ceiling=Sensitivity.RESTRICTED, statuses=statuses)
            found.append(await reading.browse(as_principal(ADA), selection, MemoryPaging()))
            found.append(await reading.count(as_principal(ADA), selection))
        found.append(await reading.overview(as_principal(ADA), Sensitivity.RESTRICTED))
    return found


async def test_the_sweep_changes_no_answer(deployment: Deployment) -> None:
    for number in range(3):
        await deployment.formed(candidate(f"Is away {number}", expires_at=deployment.clock.now + 2 * MINUTE))
        await deployment.formed(candidate(f"Keeps bees {number}"))
    deployment.clock.advance(timedelta(hours=1))
    before = await answers(deployment)

    result = await deployment.sweeps.sweep()

    assert (result.expired, await answers(deployment)) == (3, before)
    assert [event.kind for event in await deployment.events()].count(EventKind.EXPIRED) == 3
    assert (await deployment.sweeps.sweep()).expired == 0


async def test_the_sweep_reaches_every_tenant_in_batches(deployment: Deployment) -> None:
    ends_at = deployment.clock.now + MINUTE
    for of in (ADA, owner("bo", tenant="inland")):
        await keep(
            deployment.store,
            *(memory(f"Is away {number}", owner=of, expires_at=ends_at) for number in range(502)),
        )
    deployment.clock.advance(MINUTE)

    assert (await deployment.sweeps.sweep()).expired == 2 * 502


async def supposed(deployment: Deployment) -> tuple[DerivationProposal, UUID]:
    """What is supposed for an hour, and its record."""
    ids = [
        await deployment.formed(candidate(text, source_event_ids=(number,)))
        for number, text in enumerate(("Keeps bees", "Sails"), 1)
    ]
    wish = hypothesis("Likes quixzorble", *ids, expires_at=deployment.clock.now + timedelta(hours=1))
    return wish, await deployment.derived_id(wish)


async def test_the_sweep_leaves_nothing_of_what_is_not_supposed_any_more(deployment: Deployment) -> None:
    wish, id = await supposed(deployment)
    later = await deployment.derived_id(hypothesis("Likes boats", *wish.source_ids))
    kept = await deployment.find_derived(later)
    await deployment.sweeps.sweep()
    assert 2 == len([record for record in await deployment.stored_derived() if record.content is not None])
    deployment.clock.advance(timedelta(hours=2))

    await deployment.sweeps.sweep()

    stored = await deployment.stored_derived()
    assert [kept] == [record for record in stored if record.content is not None]
    # It was not there for anyone before.
    assert await deployment.find_derived(id) is None
    events = await deployment.events()
    assert [id] == [event.memory_id for event in events if event.kind is EventKind.EXPIRED]
    await deployment.sweeps.sweep()
    assert (stored, events) == (await deployment.stored_derived(), await deployment.events())


@pytest.mark.postgres
async def test_no_column_holds_what_was_supposed_before_the_sweep(postgres_store: Store, database_url: str) -> None:
    deployment = await Deployment(postgres_store).prepare()
    await supposed(deployment)
    deployment.clock.advance(timedelta(hours=2))
    connection = await asyncpg.connect(make_url(database_url).set(drivername="postgresql").render_as_string(False))
    try:
        assert await find_in_columns(connection, {"quixzorble"})
        await deployment.sweeps.sweep()
        assert {} == await find_in_columns(connection, {"quixzorble"})
    finally:
        await connection.close()


@pytest.mark.parametrize(
    "kept_here",
    [
        False,
        True,
    ],
)
async def test_what_rests_on_what_has_run_out_is_not_shown_by_the_sweep(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch, kept_here: bool
) -> None:
    """Nor for a while, where the one is swept before the other."""
    bees = await deployment.formed(candidate("Keeps bees", expires_at=deployment.clock.now + timedelta(hours=1)))
    sails = await deployment.formed(candidate("Sails"))
    below = await deployment.derived_id(proposal(("Keeps bees", [bees])))
    above = await deployment.derived_id(proposal(("Keeps bees", [below]), ("Sails", [sails])))
    if kept_here:
        await deployment.review_derived(above, ReviewOutcome.NOT_HERE)
    deployment.clock.advance(timedelta(hours=2))
    assert [None, None] == [await deployment.find_derived(id) for id in (below, above)]
    monkeypatch.setattr(sweeps, "SWEEP_BATCH", 1)

    await deployment.sweeps.sweep()

    assert [None, None] == [await deployment.find_derived(id) for id in (below, above)]
    if not kept_here:
        assert [] == await deployment.stored_derived()


@pytest.mark.parametrize("swept", [False, True])
async def test_what_was_kept_to_its_scope_is_so_whether_or_not_it_was_swept(
    deployment: Deployment, swept: bool
) -> None:
    wish, id = await supposed(deployment)
    await deployment.review_derived(id, ReviewOutcome.NOT_HERE)
    deployment.clock.advance(timedelta(hours=2))
    if swept:
        await deployment.sweeps.sweep()

    anew = await deployment.find_derived(await deployment.derived_id(replace(wish, expires_at=None)))

    assert anew is not None
    assert Portability.LOCAL is anew.portability


async def test_receipts_are_kept_for_their_time(deployment: Deployment) -> None:
    id = await deployment.formed(candidate(sensitivity=Sensitivity.SENSITIVE))
    await deployment.review(id, ReviewOutcome.DISMISS)
    deployment.clock.advance(RECEIPT_RETENTION_MIN)
    assert (await deployment.sweeps.sweep()).receipts == 0

    deployment.clock.advance(MINUTE)

    assert (await deployment.sweeps.sweep()).receipts == 1


async def test_a_name_is_shown_and_found_at_once_and_later(deployment: Deployment) -> None:
    id = await deployment.formed(candidate("Keeps bees", subject="person:kai"))
    before = await deployment.get(id)
    assert before.display_subject == "Unnamed person"

    assert await deployment.people.name(Person(owner=ADA, key="kai", name="Kai Øst"))

    after = await deployment.get(id)
    assert after.display_subject == "Kai Øst"
    assert (after.store_position, after.updated_at, after.revision) == (
        before.store_position,
        before.updated_at,
        before.revision,
    )
    later = await deployment.formed(candidate("Sails", subject="person:kai"))
    assert (await deployment.get(later)).display_subject == "Kai Øst"
    for filter in ({"subject": "KAI ØST"}, {"subject": "person:KAI"}, {"text": "øst"}, {"text": "kai"}):
        async with deployment.memories.reading() as reading:
            selection = MemorySelection(ceiling=Sensitivity.PUBLIC, **filter)  # type: ignore[arg-type]  # by name
            page = await reading.browse(as_principal(ADA), selection, MemoryPaging())
        assert {edge.node.id for edge in page.edges} == {id, later}
        assert {edge.node.subject for edge in page.edges} == {"Kai Øst"}


async def test_a_rename_reaches_more_rows_than_a_batch(deployment: Deployment) -> None:
    await keep(deployment.store, *(memory(f"Fact {number}", subject="person:kai") for number in range(501)))

    await deployment.people.name(Person(owner=ADA, key="kai", name="Kai"))

    async with deployment.memories.reading() as reading:
        selection = MemorySelection(ceiling=Sensitivity.PUBLIC, subject="kai")
        assert await reading.count(as_principal(ADA), selection) == 501
    assert not await deployment.people.name(Person(owner=ADA, key="kai", name="Kai"))


@pytest.mark.postgres
async def test_no_belief_keeps_a_name_that_was_replaced_while_it_formed(postgres_store: Store) -> None:
    deployment = await Deployment(postgres_store).prepare()
    await deployment.people.name(Person(owner=ADA, key="kai", name="Kai"))
    is_formed, may_commit = asyncio.Event(), asyncio.Event()

    async def form_slowly(transaction: Transaction) -> FormationResult:
        result = await deployment.formation.form_within(transaction, ADA, candidate(subject="person:kai"))
        is_formed.set()
        await may_commit.wait()
        return result

    forming = asyncio.create_task(postgres_store.transact(form_slowly))
    await is_formed.wait()
    naming = asyncio.create_task(deployment.people.name(Person(owner=ADA, key="kai", name="Kai Øst")))
    # A rename that did not wait for the formation would have ended by then.
    await asyncio.wait([naming], timeout=0.2)
    may_commit.set()
    formed = await forming
    await naming

    assert formed.id is not None
    assert (await deployment.get(formed.id)).display_subject == "Kai Øst"


class Gate:
    """A store whose second transaction waits until it is let through."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._count = 0
        self.is_reached, self.is_open = asyncio.Event(), asyncio.Event()

    async def transact(self, work: Callable[[Transaction], Awaitable[Result]]) -> Result:
        self._count += 1
        if self._count == 2:
            self.is_reached.set()
            await self.is_open.wait()
        return await self._store.transact(work)


async def test_of_two_renames_at_once_the_later_one_stands_everywhere(store: Store, deployment: Deployment) -> None:
    id = await deployment.formed(candidate(subject="person:kai"))
    gate = Gate(store)
    slow = asyncio.create_task(PeopleService(cast(Store, gate)).name(Person(owner=ADA, key="kai", name="Kai")))
    await gate.is_reached.wait()

    await deployment.people.name(Person(owner=ADA, key="kai", name="Kai Øst"))
    gate.is_open.set()
    await slow

    assert (await deployment.get(id)).display_subject == "Kai Øst"


async def test_a_gateway_of_another_lexical_version_renames_nothing(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    await deployment.formed(candidate(subject="person:kai"))
    monkeypatch.setattr("gateway.service.guards.LEXICAL_VERSION", "another")

    with pytest.raises(Unavailable):
        await deployment.people.name(Person(owner=ADA, key="kai", name="Kai"))


@pytest.mark.parametrize("name", ["", "person:bo", "PERSON:bo", "a\x00b", "x" * 513])
async def test_a_name_cannot_read_like_a_key(deployment: Deployment, name: str) -> None:
    with pytest.raises(MalformedRequest, match="name"):
        await deployment.people.name(Person(owner=ADA, key="kai", name=name))


async def test_an_operators_access_is_journaled(deployment: Deployment) -> None:
    id = str(await deployment.formed(candidate(sensitivity=Sensitivity.SENSITIVE)))
    ceiling = Sensitivity.SENSITIVE
    operators = deployment.operators

    page = await operators.browse(ADA, MemorySelection(ceiling=ceiling), MemoryPaging())
    assert [str(edge.node.id) for edge in page.edges] == [id]
    assert str((await operators.read(ADA, id, ceiling)).id) == id
    with pytest.raises(NotFound):
        await operators.read(ADA, id, Sensitivity.PUBLIC)
    review = MemoryReview(id=id, ceiling=ceiling, outcome=ReviewOutcome.DISMISS, idempotency_key="a")
    assert not (await operators.review(ADA, review)).flagged_for_review
    await operators.delete(ADA, MemoryDelete(id=id, ceiling=ceiling, idempotency_key="b"))

    entries = [event for event in await deployment.events() if event.kind is EventKind.OPERATOR_ACCESS]
    assert [entry.payload["action"] for entry in entries] == ["list", "get", "get", "review", "delete"]
    assert {entry.memory_id for entry in entries} == {None}
