"""What a restored store takes over from the one that it replaces: everything that was forbidden since the backup."""

import itertools
from uuid import UUID, uuid4

import pytest

from gateway.service.replacing import ReplacementService, TakenOver
from gateway.service.tokens import TokenService
from store.domain.formation import FormationOutcome
from store.domain.owners import WHOLE_STORE
from store.domain.vocabulary import MemoryStatus, Portability, ReviewOutcome
from store.inmemory.store import InMemoryStore
from store.ports.store import StoreFact, Transaction
from tests.factories import candidate, identifier, keyring, owner
from tests.services.deployment import ADA, Deployment
from tests.services.test_transfer import exported, take, written

OLD, NEW = bytes(range(32)), bytes(range(32, 64))


@pytest.fixture
async def former() -> Deployment:
    """The store in use."""
    return await Deployment(InMemoryStore()).prepare()


async def backed_up(former: Deployment, restored: Deployment) -> None:
    """Bring the restored store to what the former one is now."""
    assert 0 == (await take(restored, written(*await exported(former)))).refused


async def take_over(former: Deployment, restored: Deployment) -> TakenOver:
    return await ReplacementService(former.store, restored.store, restored.environment).take_over()


async def test_what_was_forbidden_since_is_forbidden_again(former: Deployment, deployment: Deployment) -> None:
    gone, wrong, local, kept = [
        await former.formed(candidate(text)) for text in ("Keeps bees", "Smokes", "Sails", "Cooks")
    ]
    await backed_up(former, deployment)
    await former.delete(gone)
    await former.review(wrong, ReviewOutcome.UNTRUE)
    await former.review(local, ReviewOutcome.NOT_HERE)
    deployment.ids = map(identifier, itertools.count(1_000))
    twin = await deployment.formed(candidate("KEEPS bees", subject="Another"))

    taken = await take_over(former, deployment)

    assert TakenOver(tombstones=1, rejections=2, erased=2, tokens=0) == taken
    assert [None, None] == [await deployment.find(id) for id in (gone, twin)]
    assert MemoryStatus.RETIRED is (await deployment.get(wrong)).status
    assert Portability.LOCAL is (await deployment.get(local)).portability
    assert (await former.get(local)).confidence == (await deployment.get(local)).confidence
    assert (await former.get(kept)).updated_at == (await deployment.get(kept)).updated_at
    for text in ("keeps bees", "smokes"):
        assert FormationOutcome.BLOCKED is (await deployment.form(candidate(text))).outcome
    assert TakenOver() == await take_over(former, deployment)


async def test_what_the_backup_knew_already_is_not_done_again(former: Deployment, deployment: Deployment) -> None:
    gone, wrong, local = [await former.formed(candidate(text)) for text in ("Keeps bees", "Smokes", "Sails")]
    await former.delete(gone)
    await former.review(wrong, ReviewOutcome.UNTRUE)
    await former.review(local, ReviewOutcome.NOT_HERE)
    await backed_up(former, deployment)
    before = await exported(deployment)

    assert TakenOver() == await take_over(former, deployment)

    assert before == await exported(deployment)
    [act] = await deployment.events(of=WHOLE_STORE)
    assert {"action": "restore", "tombstones": 0, "rejections": 0, "erased": 0, "tokens": 0} == act.payload


async def test_a_deletion_under_another_key_is_found_by_its_text(former: Deployment, deployment: Deployment) -> None:
    gone = await former.formed(candidate("Keeps bees"))
    await backed_up(former, deployment)
    former.environment.keyring = keyring(NEW)

    async def use_new_key(transaction: Transaction) -> None:
        await transaction.facts.put(StoreFact.KEY_ID, keyring(NEW).current.id)

    await former.store.transact(use_new_key)
    formed = await former.formed(candidate("Keeps bees", subject="Another"))
    await former.delete(formed)
    deployment.environment.keyring = keyring(OLD, NEW)

    taken = await take_over(former, deployment)

    assert (1, 1) == (taken.tombstones, taken.erased)
    assert await deployment.find(gone) is None


async def test_a_deletion_that_is_asked_for_again_is_answered_as_it_was(
    former: Deployment, deployment: Deployment
) -> None:
    gone = await former.formed(candidate("Keeps bees"))
    await backed_up(former, deployment)
    await former.delete(gone, key="once")

    await take_over(former, deployment)

    assert gone == await deployment.delete(gone, key="once")


async def test_a_revoked_token_stays_revoked(former: Deployment, deployment: Deployment) -> None:
    made = TokenService(former.store, clock=former.clock, new_id=uuid4)
    tokens = [(await made.create(ADA, scopes=["memory.read"], label="x", expires_at=None))[0] for _ in range(2)]

    async def copy(transaction: Transaction) -> None:
        for token in tokens:
            await transaction.tokens.add(token)

    await deployment.store.transact(copy)
    await made.revoke(tokens[0].id)

    assert 1 == (await take_over(former, deployment)).tokens

    listed = await TokenService(deployment.store, new_id=uuid4).list()
    assert {tokens[0].id: True, tokens[1].id: False} == {token.id: token.revoked_at is not None for token in listed}


async def test_an_erased_principal_is_erased_again(former: Deployment, deployment: Deployment) -> None:
    bo = owner("bo")
    ids: list[UUID] = [await former.formed(candidate(f"Statement {number}"), of=bo) for number in range(7)]
    await backed_up(former, deployment)
    await former.operators.erase_principal(bo)

    assert 7 == (await take_over(former, deployment)).erased

    assert [None] * 7 == [await deployment.find(id, of=bo) for id in ids]
