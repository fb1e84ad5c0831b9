"""Review and deletion of derived records: what each outcome does, once, and never to the beliefs behind them."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from gateway.service.errors import Conflict, NotFound
from gateway.views.derived import DerivedView
from store.domain.derived import DerivedStatus
from store.domain.deriving import DerivationOutcome
from store.domain.journal import NO_SESSION, Receipt, Rejection, Tombstone
from store.domain.memories import MemoryRecord
from store.domain.vocabulary import EventKind, MemoryStatus, Portability, RejectionKind, ReviewOutcome, Sensitivity
from store.ports.store import Store, StoreFact
from tests.factories import OTHER_SESSION, SESSION, candidate, keyring, owner
from tests.services.deployment import ADA, Deployment
from tests.services.derivations import hypothesis, proposal
from tests.worlds import collected

BEES, BOATS = "Keeps bees", "Keeps a rowing boat"


async def journal(deployment: Deployment) -> tuple[list[Tombstone], list[Rejection], list[Receipt]]:
    async with deployment.store.snapshot() as snapshot:
        return (
            await collected(snapshot.journal.tombstones(ADA)),
            await collected(snapshot.journal.rejections(ADA)),
            await collected(snapshot.journal.receipts(ADA)),
        )


class Pair:
    """Two beliefs of two sessions, and a supposition and a summary over them."""

    def __init__(self, deployment: Deployment) -> None:
        self.deployment = deployment

    async def form(self, *, sensitivity: Sensitivity = Sensitivity.PUBLIC) -> "Pair":
        form = self.deployment.formed
        self.bees = await form(candidate(BEES, source_session_id=OTHER_SESSION, sensitivity=sensitivity))
        self.boats = await form(candidate(BOATS, sensitivity=sensitivity))
        self.wish = proposal((BEES, [self.bees]), (BOATS, [self.boats]))
        self.supposed = hypothesis("Likes the country", self.bees, self.boats)
        self.summary = await self.deployment.derived_id(self.wish)
        self.hypothesis = await self.deployment.derived_id(self.supposed)
        self.before = await self.beliefs()
        return self

    async def beliefs(self) -> list[MemoryRecord]:
        return [await self.deployment.get(id) for id in (self.bees, self.boats)]

    async def check_untouched(self) -> None:
        assert self.before == await self.beliefs()


@pytest.fixture
async def pair(deployment: Deployment) -> Pair:
    return await Pair(deployment).form()


async def test_dismiss_clears_the_flag_and_moves_to_the_head(deployment: Deployment, pair: Pair) -> None:
    before = await deployment.find_derived(pair.hypothesis)
    assert before is not None
    other = await deployment.formed(candidate("Sails"))

    view = await deployment.review_derived(pair.hypothesis, ReviewOutcome.DISMISS)

    after = await deployment.find_derived(pair.hypothesis)
    assert after is not None
    assert (True, False, 1) == (before.flagged_for_review, view.flagged_for_review, view.revision)
    assert after.store_position > (await deployment.get(other)).store_position
    assert after == replace(
        before, flagged_for_review=False, updated_at=deployment.clock.now, store_position=after.store_position
    )
    event = (await deployment.events())[-1]
    assert (EventKind.REVIEWED, pair.hypothesis, SESSION) == (event.kind, event.memory_id, event.session_id)
    assert {"outcome": "dismiss"} == event.payload
    await pair.check_untouched()


async def test_not_here_keeps_to_the_scope_for_good(deployment: Deployment, pair: Pair) -> None:
    view = await deployment.review_derived(pair.hypothesis, ReviewOutcome.NOT_HERE)

    assert view.content is not None
    assert (Portability.LOCAL, 2, True) == (view.content.portability, view.revision, view.flagged_for_review)
    assert 0.35 == view.content.confidence
    _, [rejection], _ = await journal(deployment)
    assert (RejectionKind.NOT_HERE, pair.hypothesis) == (rejection.kind, rejection.memory_id)
    placed = deployment.keyring.placement_hashes_by_key(
        ADA, record_kind="hypothesis", sensitivity="public", clauses=["Likes the country"]
    )
    assert [rejection.statement_hash] == list(placed.values())
    event = (await deployment.events())[-1]
    assert (EventKind.REJECTED, {"outcome": "not_here"}) == (event.kind, event.payload)
    await pair.check_untouched()

    # It blocks nothing; what is made anew is kept to its scope again.
    assert DerivationOutcome.UNCHANGED is (await deployment.derive(pair.supposed)).outcome
    replacing = await deployment.formed(candidate("Keeps no bees", supersedes=pair.bees, source_event_ids=(3,)))
    assert await deployment.find_derived(pair.hypothesis) is None
    anew = await deployment.derived_id(hypothesis("likes the Country", replacing, pair.boats))
    record = await deployment.find_derived(anew)
    assert record is not None
    assert (Portability.LOCAL, anew) == (record.portability, record.id)


async def test_untrue_retires_to_a_shell_and_blocks(deployment: Deployment, pair: Pair) -> None:
    above = await deployment.derived_id(proposal((BEES, [pair.summary])))
    shown = await deployment.find_derived(pair.summary)
    assert shown is not None
    assert shown.content is not None
    shell_statement = shown.content.statement

    view = await deployment.review_derived(pair.hypothesis, ReviewOutcome.UNTRUE)
    shell = await deployment.review_derived(pair.summary, ReviewOutcome.UNTRUE)

    for each in (view, shell):
        assert (MemoryStatus.RETIRED, 2, None, ()) == (each.status, each.revision, each.content, each.sources)
    assert (True, False) == (view.flagged_for_review, shell.flagged_for_review)
    _, rejections, _ = await journal(deployment)
    said = (["likes the country"], [BOATS, BEES], [shell_statement])
    hashes = [deployment.keyring.derivation_hash(ADA, clauses) for clauses in said]
    hashes.append(deployment.keyring.statement_hash(ADA, "likes the country"))
    assert {(hash, RejectionKind.UNTRUE) for hash in hashes} == {
        (each.statement_hash, each.kind) for each in rejections
    }
    event = (await deployment.events())[-1]
    assert (EventKind.REJECTED, SESSION) == (event.kind, event.session_id)
    for wish in (pair.supposed, pair.wish):
        assert DerivationOutcome.BLOCKED is (await deployment.derive(wish)).outcome
    # Nothing is left of what rests on it, and what it rests on can say something else together.
    resting = await deployment.find_derived(above)
    assert resting is not None
    assert resting.content is None
    assert DerivationOutcome.DERIVED is (await deployment.derive(proposal((BEES, [pair.bees])))).outcome
    await pair.check_untouched()


async def test_what_changes_nothing_leaves_its_receipt_alone(deployment: Deployment, pair: Pair) -> None:
    await deployment.review_derived(pair.summary, ReviewOutcome.NOT_HERE)
    await deployment.review_derived(pair.hypothesis, ReviewOutcome.UNTRUE)
    stored, events = await deployment.stored_derived(), await deployment.events()
    _, rejections, receipts = await journal(deployment)

    for id, outcome in (
        (pair.summary, ReviewOutcome.NOT_HERE),
        (pair.summary, ReviewOutcome.DISMISS),
        (pair.hypothesis, ReviewOutcome.UNTRUE),
        (pair.hypothesis, ReviewOutcome.NOT_HERE),
    ):
        view = await deployment.review_derived(id, outcome)
        assert id == view.id

    assert (stored, events) == (await deployment.stored_derived(), await deployment.events())
    _, rejections_after, receipts_after = await journal(deployment)
    assert rejections == rejections_after
    assert len(receipts) + 4 == len(receipts_after)


async def test_a_shell_can_be_dismissed_and_deleted(deployment: Deployment, pair: Pair) -> None:
    await deployment.review_derived(pair.hypothesis, ReviewOutcome.UNTRUE)

    assert not (await deployment.review_derived(pair.hypothesis, ReviewOutcome.DISMISS)).flagged_for_review
    assert NO_SESSION == (await deployment.events())[-1].session_id
    await deployment.delete(pair.hypothesis)

    assert [pair.summary] == [record.id for record in await deployment.stored_derived()]
    deleted = (await deployment.events())[-1]
    assert (EventKind.DELETED, pair.hypothesis, NO_SESSION) == (deleted.kind, deleted.memory_id, deleted.session_id)
    assert DerivationOutcome.BLOCKED is (await deployment.derive(pair.supposed)).outcome


async def test_a_deletion_leaves_the_beliefs_and_takes_what_rests_on_it(deployment: Deployment, pair: Pair) -> None:
    above = await deployment.derived_id(proposal((BEES, [pair.summary])))
    highest = await deployment.derived_id(proposal((BEES, [above]), omitted=[pair.boats]))
    assert above == highest
    await deployment.review_derived(pair.summary, ReviewOutcome.NOT_HERE)

    assert pair.summary == await deployment.delete(pair.summary)

    assert await deployment.find_derived(pair.summary) is None
    with pytest.raises(NotFound):
        await deployment.delete(pair.summary)
    shell = await deployment.find_derived(above)
    assert shell is not None
    assert (DerivedStatus.RETIRED, None) == (shell.status, shell.content)
    tombstones, rejections, _ = await journal(deployment)
    hashes = [deployment.keyring.derivation_hash(ADA, said) for said in ([BEES, BOATS], [f"{BEES} {BOATS}"])]
    assert sorted(hashes) == [each.statement_hash for each in tombstones]
    assert [] == rejections
    event = (await deployment.events())[-1]
    assert (EventKind.DELETED, pair.summary, SESSION, {}) == (
        event.kind,
        event.memory_id,
        event.session_id,
        event.payload,
    )
    assert DerivationOutcome.BLOCKED is (await deployment.derive(pair.wish)).outcome
    await pair.check_untouched()


async def test_a_tombstone_holds_under_every_key(deployment: Deployment) -> None:
    old, new = bytes(range(32)), bytes(range(32, 64))
    pair = await Pair(deployment).form()
    ring = keyring(new, old)
    deployment.environment.keyring = ring
    await deployment.store.transact(lambda transaction: transaction.facts.put(StoreFact.KEY_ID, ring.current.id))

    # Made under the older key, it is known under the newer one.
    assert DerivationOutcome.UNCHANGED is (await deployment.derive(pair.wish)).outcome
    await deployment.review_derived(pair.hypothesis, ReviewOutcome.UNTRUE)
    await deployment.delete(pair.summary)

    tombstones, rejections, _ = await journal(deployment)
    assert {key.id for key in ring.keys} == {each.key_id for each in tombstones}
    assert {ring.current.id} == {each.key_id for each in rejections}
    for wish in (pair.wish, pair.supposed):
        assert DerivationOutcome.BLOCKED is (await deployment.derive(wish)).outcome


async def test_a_repeated_key_answers_from_the_live_record(deployment: Deployment, pair: Pair) -> None:
    first = await deployment.review_derived(pair.hypothesis, ReviewOutcome.DISMISS, key="once")
    events = await deployment.events()

    assert first == await deployment.review_derived(pair.hypothesis, ReviewOutcome.DISMISS, key="once")
    later = await deployment.review_derived(pair.hypothesis, ReviewOutcome.UNTRUE, key="other")
    assert later == await deployment.review_derived(pair.hypothesis, ReviewOutcome.DISMISS, key="once")
    for request in (
        deployment.review_derived(pair.hypothesis, ReviewOutcome.NOT_HERE, key="once"),
        deployment.review_derived(pair.summary, ReviewOutcome.DISMISS, key="once"),
        deployment.review_derived(pair.hypothesis, ReviewOutcome.DISMISS, key="once", ceiling=Sensitivity.PUBLIC),
        deployment.delete(pair.hypothesis, key="once"),
    ):
        with pytest.raises(Conflict):
            await request
    assert len(events) + 1 == len(await deployment.events())

    await deployment.delete(pair.hypothesis, key="gone")
    assert pair.hypothesis == await deployment.delete(pair.hypothesis, key="gone")
    with pytest.raises(NotFound):
        await deployment.review_derived(pair.hypothesis, ReviewOutcome.DISMISS, key="once")


async def test_one_key_at_once_applies_once(deployment: Deployment, pair: Pair) -> None:
    views = await asyncio.gather(
        *(deployment.review_derived(pair.hypothesis, ReviewOutcome.NOT_HERE, key="once") for _ in range(4))
    )

    assert 1 == len({view.model_dump_json() for view in views})
    assert {2} == {view.revision for view in views}


async def test_what_is_not_shown_is_not_found_and_keeps_no_receipt(deployment: Deployment) -> None:
    pair = await Pair(deployment).form(sensitivity=Sensitivity.SENSITIVE)
    withheld = await deployment.derived_id(proposal((BEES, [pair.bees])))
    await deployment.review(pair.bees, ReviewOutcome.NOT_HERE)
    boats = await deployment.derived_id(proposal((BOATS, [pair.boats])))
    stored = await deployment.stored_derived()
    _, _, receipts = await journal(deployment)

    for id, ceiling, of in (
        (boats, Sensitivity.INTERNAL, ADA),
        (boats, Sensitivity.RESTRICTED, owner("bo")),
        (withheld, Sensitivity.RESTRICTED, ADA),
    ):
        for outcome in ReviewOutcome:
            with pytest.raises(NotFound):
                await deployment.review_derived(id, outcome, ceiling=ceiling, of=of)
        with pytest.raises(NotFound):
            await deployment.delete(id, ceiling=ceiling, of=of)

    assert stored == await deployment.stored_derived()
    assert receipts == (await journal(deployment))[2]


async def test_with_the_surface_off_no_derived_record_is_met(store: Store) -> None:
    on = await Deployment(store).prepare()
    pair = await Pair(on).form()
    await on.review_derived(pair.hypothesis, ReviewOutcome.DISMISS, key="once")
    off = Deployment(store, derived=False, clock=on.clock)

    requests: list[Callable[[], Awaitable[object]]] = [
        lambda: off.review_derived(pair.summary, ReviewOutcome.UNTRUE),
        lambda: off.delete(pair.summary),
        lambda: off.review_derived(pair.hypothesis, ReviewOutcome.DISMISS, key="once"),
    ]
    for request in requests:
        with pytest.raises(NotFound):
            await request()

    view = await on.review_derived(pair.hypothesis, ReviewOutcome.DISMISS, key="once")
    assert isinstance(view, DerivedView)
    # The deletion of a belief takes what rests on it, whether or not that is shown.
    await off.delete(pair.bees)
    assert all(record.content is None for record in await on.stored_derived())
