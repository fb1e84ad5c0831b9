"""A second hash key: added, made current, followed; what was deleted under one stays deleted under the other."""

import asyncio
import stat
from pathlib import Path

import pytest

from gateway.service.errors import Conflict, Unavailable
from gateway.service.key_rotation import HASH_KEYS_MAX, HashKeyService
from gateway.service.keys import KeyFileError, open_keyring, read_key_file
from store.domain.formation import FormationOutcome
from store.domain.keyring import Keyring
from store.domain.owners import WHOLE_STORE
from store.domain.vocabulary import ReviewOutcome, Sensitivity
from store.inmemory.store import InMemoryStore
from store.ports.store import Store, StoreFact
from tests.factories import candidate
from tests.services.deployment import ADA, Deployment
from tests.services.test_transfer import exported, line, take, written


class Machine:
    """A gateway with a key file of its own, on a store that several share."""

    def __init__(self, deployment: Deployment, path: Path) -> None:
        self.deployment = deployment
        self.path = path
        self.keys = HashKeyService(deployment.store, deployment.environment, path)

    @property
    def file(self) -> Keyring:
        keyring = read_key_file(self.path)
        assert keyring is not None
        return keyring

    def copy_file_to(self, other: "Machine") -> None:
        other.path.write_bytes(self.path.read_bytes())


async def machine(store: Store, path: Path) -> Machine:
    deployment = Deployment(store, keyring=await open_keyring(store, path))
    await deployment.prepare()
    return Machine(deployment, path)


@pytest.fixture
async def first(store: Store, tmp_path: Path) -> Machine:
    return await machine(store, tmp_path / "first")


@pytest.fixture
async def second(store: Store, tmp_path: Path, first: Machine) -> Machine:
    (tmp_path / "second").write_bytes(first.path.read_bytes())
    return await machine(store, tmp_path / "second")


async def fact(store: Store) -> str | None:
    async with store.snapshot() as snapshot:
        return await snapshot.facts.find(StoreFact.KEY_ID)


async def test_a_key_that_was_added_is_not_used_before_it_is_made_current(first: Machine, store: Store) -> None:
    old = first.keys.current_id

    added = await first.keys.rotate()

    assert added != old
    assert [old, added] == [key.id for key in first.file.keys]
    assert old == first.file.current.id == first.keys.current_id == await fact(store)
    assert 0o600 == stat.S_IMODE(first.path.stat().st_mode)

    assert added == await first.keys.activate(None)

    assert added == first.file.current.id == first.keys.current_id == await fact(store)
    assert added == await first.keys.activate(None)


async def test_a_gateway_without_the_key_refuses_until_the_file_is_copied(first: Machine, second: Machine) -> None:
    added = await first.keys.rotate()
    await first.keys.activate(added)
    with pytest.raises(Unavailable):
        await second.deployment.form(candidate("Sails"))
    with pytest.raises(KeyFileError, match="copy the file"):
        await second.keys.follow()

    first.copy_file_to(second)

    assert await second.keys.follow()
    assert not await second.keys.follow()
    assert FormationOutcome.FORMED is (await second.deployment.form(candidate("Sails"))).outcome


async def test_a_gateway_with_the_key_follows_and_starts_again(first: Machine, second: Machine, store: Store) -> None:
    added = await first.keys.rotate()
    first.copy_file_to(second)
    await first.keys.activate(added)

    assert await second.keys.follow()

    assert added == second.keys.current_id
    assert added == (await open_keyring(store, second.path)).current.id
    assert added != second.file.current.id, "the copy was made before; the database's word stands"


async def test_what_was_deleted_under_one_key_stays_deleted_under_the_next(first: Machine) -> None:
    deployment = first.deployment
    gone = await deployment.formed(candidate("Keeps bees"))
    wrong = await deployment.formed(candidate("Smokes"))
    kept = await deployment.formed(candidate("Sails"))
    await deployment.delete(gone)
    await deployment.review(wrong, ReviewOutcome.UNTRUE)

    await first.keys.activate(await first.keys.rotate())

    for statement in ("keeps  BEES", "Smokes"):
        assert FormationOutcome.BLOCKED is (await deployment.form(candidate(statement))).outcome
    assert (await deployment.form(candidate("Sails", source_event_ids=(2,)))).outcome is FormationOutcome.REINFORCED
    formed = await deployment.formed(candidate("sails", subject="Somebody", sensitivity=Sensitivity.RESTRICTED))
    await deployment.delete(formed)
    assert await deployment.find(kept) is None, "a row that was hashed under the old key"
    assert FormationOutcome.BLOCKED is (await deployment.form(candidate("Sails"))).outcome


async def test_a_tombstone_of_the_old_key_erases_what_the_new_one_hashed(first: Machine, tmp_path: Path) -> None:
    deployment = first.deployment
    await deployment.delete(await deployment.formed(candidate("Keeps bees")))
    tombstones = [each for each in await exported(deployment) if each["kind"] == "tombstone"]
    assert 1 == len(tombstones)
    await first.keys.activate(await first.keys.rotate())
    other = Deployment(InMemoryStore(), keyring=deployment.environment.keyring)
    await other.prepare()
    kept = await other.formed(candidate("Sails"))
    gone = [await other.formed(candidate(text, scope=text)) for text in ("Keeps bees", "KEEPS bees")]

    report = await take(other, written(*tombstones))

    assert {"tombstone_restored": 1} == report.counts
    assert [None, None] == [await other.find(id) for id in gone]
    assert await other.find(kept) is not None
    assert {"tombstone_skipped": 1} == (await take(other, written(*tombstones))).counts


async def test_a_tombstone_of_the_new_key_erases_what_the_old_one_hashed(first: Machine) -> None:
    deployment = first.deployment
    gone = await deployment.formed(candidate("Keeps bees"))
    keyring = deployment.environment.keyring
    await first.keys.activate(await first.keys.rotate())
    other = deployment.environment.keyring
    buried = line(
        "tombstone",
        statement_hash=other.statement_hash(ADA, "Keeps bees").hex(),
        key_id=other.current.id,
        created_at="2026-05-04T07:10:00.000000Z",
    )
    assert keyring.current.id != other.current.id

    assert {"tombstone_restored": 1} == (await take(deployment, written(buried))).counts

    assert await deployment.find(gone) is None


async def test_a_candidate_and_the_tombstone_of_another_key_in_one_file(first: Machine) -> None:
    deployment = first.deployment
    await first.keys.activate(await first.keys.rotate())
    old = deployment.environment.keyring.keys[0]
    buried = line(
        "tombstone",
        statement_hash=Keyring(current=old, keys=(old,)).statement_hash(ADA, "Keeps bees").hex(),
        key_id=old.id,
        created_at="2026-05-04T07:10:00.000000Z",
    )

    report = await take(deployment, written(line(), buried, line(statement="keeps bees")))

    assert {"formed": 1, "tombstone_restored": 1, "blocked": 1} == report.counts
    assert [] == [each for each in await exported(deployment) if each["kind"] == "belief"]


async def test_deleting_and_forming_under_two_keys_at_once_leaves_nothing(
    first: Machine, second: Machine, store: Store
) -> None:
    added = await first.keys.rotate()
    first.copy_file_to(second)
    for number in range(10):
        statement = f"Keeps bees {number}"
        id = await first.deployment.formed(candidate(statement))
        second.deployment.clock.now = first.deployment.clock.now
        results = await asyncio.gather(
            first.deployment.delete(id),
            second.deployment.formation.form(ADA, candidate(statement, source_event_ids=(number + 2,))),
            *([first.keys.activate(added)] if number == 4 else []),
            return_exceptions=True,
        )
        assert not isinstance(results[0], BaseException) or isinstance(results[0], Unavailable)
        await second.keys.follow()
        if isinstance(results[0], Unavailable):
            await first.deployment.delete(id)
    assert [] == [each for each in await exported(first.deployment) if each["kind"] == "belief"]


async def test_a_broken_off_activation_is_finished(first: Machine, store: Store) -> None:
    old = first.file
    added = await first.keys.rotate()
    before = first.path.read_bytes()
    await first.keys.activate(added)
    first.path.write_bytes(before)
    assert old.current.id == first.file.current.id

    restarted = await machine(store, first.path)

    assert added == restarted.keys.current_id
    assert added == await restarted.keys.activate(None)
    assert added == first.file.current.id


async def test_an_older_key_can_be_made_current_again(first: Machine, store: Store) -> None:
    old = first.keys.current_id
    await first.keys.activate(await first.keys.rotate())

    assert old == await first.keys.activate(old)

    assert old == await fact(store) == first.file.current.id
    with pytest.raises(Conflict):
        await first.keys.activate("0" * 32)


async def test_of_two_activations_one_is_a_conflict(first: Machine, second: Machine) -> None:
    added, another = await first.keys.rotate(), await first.keys.rotate()
    first.copy_file_to(second)
    await first.keys.activate(added)

    with pytest.raises(Conflict):
        await second.keys.activate(another)


async def test_a_file_holds_a_bounded_number_of_keys(first: Machine) -> None:
    for _ in range(HASH_KEYS_MAX - 1):
        await first.keys.rotate()

    with pytest.raises(Conflict):
        await first.keys.rotate()

    assert HASH_KEYS_MAX == len(first.file.keys)


async def test_rotations_at_once_lose_no_key(first: Machine, second: Machine, store: Store) -> None:
    same = HashKeyService(store, second.deployment.environment, first.path)

    ids = await asyncio.gather(*(keys.rotate() for keys in (first.keys, same, first.keys, same)))

    assert set(ids) < {key.id for key in first.file.keys}


async def test_a_copy_of_the_file_is_made_once_and_closed(first: Machine, tmp_path: Path) -> None:
    copy = tmp_path / "elsewhere" / "key"

    await first.keys.backup(copy)

    assert first.file == read_key_file(copy)
    assert 0o600 == stat.S_IMODE(copy.stat().st_mode)
    with pytest.raises(Conflict):
        await first.keys.backup(copy)


async def test_every_act_upon_a_key_stands_in_the_journal_without_it(first: Machine, tmp_path: Path) -> None:
    added = await first.keys.rotate()
    await first.keys.activate(added)
    await first.keys.backup(tmp_path / "copy")

    acts = [event.payload for event in await first.deployment.events(of=WHOLE_STORE)]

    assert [
        {"action": "key_rotate", "key": added},
        {"action": "key_activate", "key": added},
        {"action": "key_backup"},
    ] == acts
    assert [] == await exported(first.deployment)
