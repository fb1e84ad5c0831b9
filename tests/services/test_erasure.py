"""Deletion: what is gone, from everywhere, and what stays."""

import asyncio

import pytest

from gateway.service.errors import NotFound
from store.domain.formation import FormationOutcome
from store.domain.journal import Receipt, Rejection, Tombstone
from store.domain.vocabulary import EventKind, Polarity, ReviewOutcome, Sensitivity
from tests.factories import candidate, owner
from tests.services.deployment import ADA, Deployment
from tests.worlds import collected


async def journal(deployment: Deployment) -> tuple[list[Tombstone], list[Rejection], list[Receipt]]:
    async with deployment.store.snapshot() as snapshot:
        return (
            await collected(snapshot.journal.tombstones(ADA)),
            await collected(snapshot.journal.rejections(ADA)),
            await collected(snapshot.journal.receipts(ADA)),
        )


async def test_a_deletion_takes_every_row_with_the_statement(deployment: Deployment) -> None:
    id = await deployment.formed(candidate("Keeps bees"))
    twins = [
        await deployment.formed(candidate("keeps  BEES", scope="work")),
        await deployment.formed(candidate("Keeps bees", sensitivity=Sensitivity.RESTRICTED)),
        await deployment.formed(candidate("Keeps bees", polarity=Polarity.RETRACT, subject="Bo")),
    ]
    other = await deployment.formed(candidate("Keeps bees too"))
    foreign = await deployment.formed(candidate("Keeps bees"), of=owner("bo"))

    assert await deployment.delete(id, ceiling=Sensitivity.PUBLIC) == id

    assert [await deployment.find(gone) for gone in (id, *twins)] == [None] * 4
    assert await deployment.find(other) is not None
    assert await deployment.find(foreign, of=owner("bo")) is not None
    deleted = [event.memory_id for event in await deployment.events() if event.kind is EventKind.DELETED]
    assert sorted(map(str, deleted)) == sorted(map(str, (id, *twins)))
    assert all(not event.payload for event in await deployment.events() if event.kind is EventKind.DELETED)
    [tombstone], _, _ = await journal(deployment)
    assert tombstone.statement_hash == deployment.keyring.statement_hash(ADA, "Keeps bees")


async def test_a_deletion_takes_the_links_of_others(deployment: Deployment) -> None:
    gone = await deployment.formed(candidate("Drinks tea"))
    neighbour = await deployment.formed(candidate("Drinks coffee", contradicts=(gone,)))
    old = await deployment.formed(candidate("Lives in Bremen"))
    new = await deployment.formed(candidate("Lives in Kiel", supersedes=old))
    before = (await deployment.get(neighbour), await deployment.get(old))

    await deployment.delete(gone)
    await deployment.delete(new)

    after = (await deployment.get(neighbour), await deployment.get(old))
    assert after[0].conflicts_with == ()
    assert after[1].superseded_by is None
    # As they are stored: what is shown leaves out a link to what is not there.
    stored = await deployment.store.transact(
        lambda transaction: transaction.memories.find_many_for_update(ADA, [neighbour, old])
    )
    assert [((), None)] * 2 == [(record.conflicts_with, record.superseded_by) for record in stored]
    for earlier, later in zip(before, after, strict=True):
        assert (later.store_position, later.updated_at, later.revision, later.flagged_for_review) == (
            earlier.store_position,
            earlier.updated_at,
            earlier.revision,
            earlier.flagged_for_review,
        )


async def test_a_deletion_replaces_the_rejection(deployment: Deployment) -> None:
    id = await deployment.formed(candidate("Keeps bees"))
    await deployment.review(id, ReviewOutcome.UNTRUE)

    await deployment.delete(id)

    tombstones, rejections, receipts = await journal(deployment)
    assert (len(tombstones), len(rejections), len(receipts)) == (1, 0, 2)


async def test_a_repeated_deletion_answers_again_and_does_nothing(deployment: Deployment) -> None:
    id = await deployment.formed(candidate("Keeps bees"))
    await deployment.delete(id, key="once")
    before = await deployment.events()

    assert await deployment.delete(id, key="once") == id
    with pytest.raises(NotFound):
        await deployment.delete(id, key="twice")

    assert await deployment.events() == before


async def test_what_is_hidden_or_foreign_is_not_deleted(deployment: Deployment) -> None:
    id = await deployment.formed(candidate("Keeps bees", sensitivity=Sensitivity.SENSITIVE))

    with pytest.raises(NotFound):
        await deployment.delete(id, ceiling=Sensitivity.INTERNAL)
    with pytest.raises(NotFound):
        await deployment.delete(id, of=owner("bo"))

    assert await deployment.find(id) is not None
    assert await journal(deployment) == ([], [], [])


async def test_crossed_deletions_of_linked_beliefs_both_succeed(deployment: Deployment) -> None:
    for round in range(5):
        first = await deployment.formed(candidate(f"Drinks tea {round}"))
        second = await deployment.formed(candidate(f"Drinks coffee {round}", contradicts=(first,)))
        third = await deployment.formed(candidate(f"Drinks water {round}", contradicts=(first, second)))

        await asyncio.gather(*(deployment.delete(id) for id in (first, second, third)))

        assert [await deployment.find(id) for id in (first, second, third)] == [None] * 3


async def test_a_principal_is_erased_whole(deployment: Deployment) -> None:
    statements = [f"Fact number {number}" for number in range(450)]
    for statement in statements[:3]:
        await deployment.formed(candidate(statement, subject="person:kai"))
    for statement in statements[3:]:
        await deployment.formation.form(ADA, candidate(statement))
    stays = await deployment.formed(candidate(statements[0]), of=owner("bo"))

    erasure = await deployment.operators.erase_principal(ADA)

    assert erasure.beliefs == 450
    tombstones, _, _ = await journal(deployment)
    assert len(tombstones) == 450
    assert await deployment.find(stays, of=owner("bo")) is not None
    for statement in (statements[0], statements[-1]):
        assert (await deployment.form(candidate(statement))).outcome is FormationOutcome.BLOCKED
    assert (await deployment.events())[-1].kind is EventKind.PRINCIPAL_ERASED
