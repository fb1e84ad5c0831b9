"""Review: what each outcome does, once, whatever is repeated."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

from gateway.service.errors import AuthorizationError, Conflict, MalformedRequest, NotFound
from gateway.service.memory_requests import MemoryReview
from gateway.service.principal import Principal
from store.domain.journal import Rejection
from store.domain.vocabulary import (
    AccessScope,
    EventKind,
    MemoryStatus,
    Portability,
    RejectionKind,
    ReviewOutcome,
    Sensitivity,
)
from tests.factories import candidate, identifier, owner
from tests.services.deployment import ADA, Deployment
from tests.worlds import collected

PRIVATE = candidate("Keeps a diary", sensitivity=Sensitivity.SENSITIVE, confidence=Decimal("0.75"))


async def rejections(deployment: Deployment) -> list[Rejection]:
    async with deployment.store.snapshot() as snapshot:
        return await collected(snapshot.journal.rejections(ADA))


async def test_dismiss_clears_the_flag_and_moves_to_the_head(deployment: Deployment) -> None:
    id = await deployment.formed(PRIVATE)
    before = await deployment.get(id)
    other = await deployment.formed(candidate("Sails"))

    view = await deployment.review(id, ReviewOutcome.DISMISS)

    after = await deployment.get(id)
    assert not view.flagged_for_review
    assert (view.status, view.confidence, view.portability) == (before.status, 0.75, before.portability)
    assert after.store_position > (await deployment.get(other)).store_position
    assert (after.revision, after.updated_at) == (before.revision, deployment.clock.now)
    event = (await deployment.events())[-1]
    assert (event.kind, event.memory_id, event.session_id) == (EventKind.REVIEWED, id, before.source_session_id)
    assert await rejections(deployment) == []


async def test_untrue_retires_and_leaves_a_rejection(deployment: Deployment) -> None:
    id = await deployment.formed(PRIVATE)

    view = await deployment.review(id, ReviewOutcome.UNTRUE)

    assert (view.status, view.flagged_for_review, view.confidence) == (MemoryStatus.RETIRED, True, 0.55)
    assert view.valid_to == deployment.clock.now
    assert (await deployment.get(id)).revision == 2
    [rejection] = await rejections(deployment)
    assert (rejection.kind, rejection.memory_id) == (RejectionKind.UNTRUE, id)
    assert (await deployment.events())[-1].kind is EventKind.REJECTED


async def test_untrue_of_what_is_valid_later_ends_it_when_it_begins(deployment: Deployment) -> None:
    begins = deployment.clock.now + timedelta(days=30)
    id = await deployment.formed(candidate(valid_from=begins))

    assert (await deployment.review(id, ReviewOutcome.UNTRUE)).valid_to == begins


async def test_untrue_of_a_superseded_belief_retires_it(deployment: Deployment) -> None:
    old = await deployment.formed(candidate("Lives in Bremen"))
    await deployment.formed(candidate("Lives in Kiel", supersedes=old))

    view = await deployment.review(old, ReviewOutcome.UNTRUE)

    assert (view.status, view.superseded_by) == (MemoryStatus.RETIRED, None)


async def test_untrue_of_a_retired_belief_changes_no_column(deployment: Deployment) -> None:
    old = await deployment.formed(candidate("Lives in Bremen"))
    await deployment.formed(candidate("Lives in hiding", supersedes=old, sensitivity=Sensitivity.RESTRICTED))
    before = await deployment.get(old)

    await deployment.review(old, ReviewOutcome.UNTRUE)

    assert await deployment.get(old) == before
    assert [rejection.memory_id for rejection in await rejections(deployment)] == [old]


async def test_not_here_keeps_it_live_and_local(deployment: Deployment) -> None:
    id = await deployment.formed(PRIVATE)

    view = await deployment.review(id, ReviewOutcome.NOT_HERE)

    assert (view.status, view.flagged_for_review) == (MemoryStatus.PROVISIONAL, True)
    assert (view.portability, view.confidence) == (Portability.LOCAL, 0.55)
    assert (await deployment.get(id)).revision == 2
    assert (await deployment.events())[-1].kind is EventKind.REJECTED


async def test_confidence_does_not_fall_below_zero(deployment: Deployment) -> None:
    id = await deployment.formed(candidate(confidence=Decimal("0.1")))

    assert (await deployment.review(id, ReviewOutcome.NOT_HERE)).confidence == 0


@pytest.mark.parametrize(
    ("outcome", "portability"),
    [(ReviewOutcome.DISMISS, Portability.PORTABLE), (ReviewOutcome.NOT_HERE, Portability.LOCAL)],
)
async def test_what_changes_nothing_leaves_a_receipt_alone(
    deployment: Deployment, outcome: ReviewOutcome, portability: Portability
) -> None:
    id = await deployment.formed(candidate(portability=portability))
    before = (await deployment.get(id), await deployment.events())

    await deployment.review(id, outcome, key="once")

    assert (await deployment.get(id), await deployment.events()) == before
    async with deployment.store.snapshot() as snapshot:
        assert [receipt.key for receipt in await collected(snapshot.journal.receipts(ADA))] == ["once"]


async def test_a_repeated_key_answers_from_the_live_record(deployment: Deployment) -> None:
    id = await deployment.formed(PRIVATE)
    await deployment.review(id, ReviewOutcome.NOT_HERE, key="once")
    await deployment.review(id, ReviewOutcome.DISMISS)

    again = await deployment.review(id, ReviewOutcome.NOT_HERE, key="once")

    assert (again.confidence, again.flagged_for_review) == (0.55, False)


async def test_a_repeated_key_does_not_do_again_what_was_undone_since(deployment: Deployment) -> None:
    id = await deployment.formed(PRIVATE)
    await deployment.review(id, ReviewOutcome.DISMISS, key="dismissed")
    flagged = replace(await deployment.get(id), flagged_for_review=True)
    await deployment.store.transact(lambda transaction: transaction.memories.put(flagged))

    view = await deployment.review(id, ReviewOutcome.DISMISS, key="dismissed")

    assert view.flagged_for_review
    assert flagged == await deployment.get(id)
    assert 1 == sum(event.kind is EventKind.REVIEWED for event in await deployment.events())


async def test_a_key_of_another_request_is_a_conflict(deployment: Deployment) -> None:
    id, other = await deployment.formed(PRIVATE), await deployment.formed(candidate("Sails"))
    await deployment.review(id, ReviewOutcome.DISMISS, key="once")

    for change in (
        deployment.review(id, ReviewOutcome.UNTRUE, key="once"),
        deployment.review(other, ReviewOutcome.DISMISS, key="once"),
        deployment.review(id, ReviewOutcome.DISMISS, key="once", ceiling=Sensitivity.SENSITIVE),
        deployment.delete(id, key="once"),
        deployment.review(identifier(10**6), ReviewOutcome.DISMISS, key="once"),
    ):
        with pytest.raises(Conflict):
            await change
    with pytest.raises(Conflict):
        await deployment.memories.review(
            Principal(owner=ADA, scopes=frozenset({AccessScope.MEMORY_WRITE})),
            MemoryReview(
                id="no uuid",
                ceiling=Sensitivity.RESTRICTED,
                outcome=ReviewOutcome.DISMISS,
                idempotency_key="once",
            ),
        )


async def test_keys_belong_to_one_owner(deployment: Deployment) -> None:
    bo = owner("bo")
    mine, theirs = await deployment.formed(PRIVATE), await deployment.formed(PRIVATE, of=bo)

    await deployment.review(mine, ReviewOutcome.DISMISS, key="once")
    await deployment.review(theirs, ReviewOutcome.DISMISS, key="once", of=bo)

    assert not (await deployment.get(theirs, of=bo)).flagged_for_review


async def test_a_review_key_replayed_after_the_deletion_is_not_found(deployment: Deployment) -> None:
    id = await deployment.formed(PRIVATE)
    await deployment.review(id, ReviewOutcome.DISMISS, key="once")
    await deployment.delete(id)

    with pytest.raises(NotFound):
        await deployment.review(id, ReviewOutcome.DISMISS, key="once")


async def test_what_was_not_found_takes_no_key(deployment: Deployment) -> None:
    id = await deployment.formed(PRIVATE)
    for outcome in ReviewOutcome:
        with pytest.raises(NotFound):
            await deployment.review(id, outcome, key="once", ceiling=Sensitivity.INTERNAL)
        with pytest.raises(NotFound):
            await deployment.review(id, outcome, key="once", of=owner("bo"))

    view = await deployment.review(id, ReviewOutcome.DISMISS, key="once")

    assert not view.flagged_for_review


@pytest.mark.parametrize("key", ["", " ", "a b", "é", "x" * 201, "tab\t"])
async def test_a_key_out_of_its_alphabet_is_refused(deployment: Deployment, key: str) -> None:
    with pytest.raises(MalformedRequest, match="idempotency_key"):
        await deployment.memories.review(
            Principal(owner=ADA, scopes=frozenset({AccessScope.MEMORY_WRITE})),
            MemoryReview(
                id=str(identifier()),
                ceiling=Sensitivity.RESTRICTED,
                outcome=ReviewOutcome.DISMISS,
                idempotency_key=key,
            ),
        )


async def test_a_reader_may_not_review(deployment: Deployment) -> None:
    with pytest.raises(AuthorizationError):
        await deployment.memories.review(
            Principal(owner=ADA, scopes=frozenset({AccessScope.MEMORY_READ})),
            MemoryReview(id="any", ceiling=Sensitivity.PUBLIC, outcome=ReviewOutcome.DISMISS, idempotency_key="k"),
        )


async def test_concurrent_requests_with_one_key_apply_once(deployment: Deployment) -> None:
    id = await deployment.formed(PRIVATE)

    views = await asyncio.gather(*(deployment.review(id, ReviewOutcome.NOT_HERE, key="once") for _ in range(6)))

    assert len({view.model_dump_json() for view in views}) == 1
    assert views[0].confidence == 0.55
    kinds = [event.kind for event in await deployment.events()]
    assert kinds.count(EventKind.REJECTED) == 1
