"""Restoring: what an export brings back beside rejections, under older keys, and from two imports at once."""

import asyncio
import io
import json
from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import uuid4

import pytest

from gateway.service.formation import RestoreOutcome
from gateway.service.importing import ImportReport
from store.domain.memories import MemoryRecord
from store.domain.vocabulary import MemoryStatus, ReviewOutcome
from store.inmemory.store import InMemoryStore
from store.ports.store import Store, Transaction
from tests.factories import candidate, keyring, memory, reference
from tests.services.deployment import Deployment


async def take(deployment: Deployment, lines: Iterable[dict[str, Any]]) -> ImportReport:
    content = b"".join(json.dumps(each).encode() + b"\n" for each in lines)
    return await deployment.imports.run(io.BytesIO(content), file_hash=None)


async def exported(deployment: Deployment) -> list[dict[str, Any]]:
    return [each async for each in deployment.exports.lines()]


async def test_what_stayed_live_beside_a_rejection_comes_back(deployment: Deployment) -> None:
    untrue = await deployment.formed(candidate("Keeps bees"))
    twin = await deployment.formed(candidate("Keeps bees", scope="work"))
    await deployment.review(untrue, ReviewOutcome.UNTRUE)
    lines = await exported(deployment)
    other = await Deployment(InMemoryStore()).prepare()

    await take(other, lines)

    assert await exported(other) == lines
    assert (await other.get(twin)).status is MemoryStatus.PROVISIONAL


@pytest.mark.parametrize("swept", [False, True])
async def test_a_rejection_blocks_no_belief_that_has_run_out(deployment: Deployment, swept: bool) -> None:
    away = await deployment.formed(candidate("Is away", expires_at=deployment.clock.now + timedelta(hours=1)))
    deployment.clock.advance(timedelta(hours=2))
    if swept:
        await deployment.sweeps.sweep()
    [belief] = [each for each in await exported(deployment) if each["kind"] == "belief"]
    await deployment.review(away, ReviewOutcome.UNTRUE)

    assert (await take(deployment, [belief | {"id": str(uuid4())}])).counts == {"restored": 1}


async def test_a_tombstone_finds_what_a_backup_holds_under_an_older_key(store: Store) -> None:
    older, newer = bytes(range(32)), bytes(range(1, 33))
    backup = await Deployment(store, keyring=keyring(older)).prepare()
    id = await backup.formed(candidate("Keeps bees"))
    lines = await exported(backup)
    rotated = await Deployment(InMemoryStore(), keyring=keyring(newer, older)).prepare()
    await take(rotated, lines)
    await rotated.delete(id)
    tombstones = [each for each in await exported(rotated) if each["kind"] == "tombstone"]

    # The backup is from before the rotation, and so is its current key.
    await take(Deployment(store, keyring=keyring(older, newer)), tombstones)

    assert await backup.find(id) is None


@pytest.mark.postgres
async def test_two_ends_restored_at_once_are_linked(postgres_store: Store) -> None:
    deployment = await Deployment(postgres_store).prepare()
    tea, coffee = memory("Drinks tea"), memory("Drinks coffee")
    is_restored, may_commit = asyncio.Event(), asyncio.Event()

    async def restore_slowly(transaction: Transaction) -> None:
        await deployment.formation.restore_within(
            transaction, replace(tea, conflicts_with=(coffee.id,)), [reference(1)]
        )
        is_restored.set()
        await may_commit.wait()

    async def restore(transaction: Transaction) -> RestoreOutcome:
        linked = replace(coffee, conflicts_with=(tea.id,))
        return await deployment.formation.restore_within(transaction, linked, [reference(1)])

    slow = asyncio.create_task(postgres_store.transact(restore_slowly))
    await is_restored.wait()
    other = asyncio.create_task(postgres_store.transact(restore))
    # A restoration that did not wait for the first would have ended by then.
    await asyncio.wait([other], timeout=0.2)
    may_commit.set()
    await asyncio.gather(slow, other)

    assert (await deployment.get(tea.id)).conflicts_with == (coffee.id,)
    assert (await deployment.get(coffee.id)).conflicts_with == (tea.id,)


async def test_two_beliefs_of_one_id_restored_at_once_are_one(deployment: Deployment) -> None:
    first, second = memory("Drinks tea"), memory("Drinks coffee")
    second = replace(second, id=first.id)

    async def restore(transaction: Transaction, record: MemoryRecord) -> RestoreOutcome:
        return await deployment.formation.restore_within(transaction, record, [reference(1)])

    outcomes = await asyncio.gather(
        *(deployment.store.transact(partial(restore, record=record)) for record in (first, second))
    )

    assert sorted(outcomes) == [RestoreOutcome.RESTORED, RestoreOutcome.SKIPPED]
