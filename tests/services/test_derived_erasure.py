"""What is erased is erased in derived records too, whatever erases it: nothing holds its words or says them again.

The beliefs hold invented words. On PostgreSQL every column of every table is searched for them as text.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from uuid import UUID

import asyncpg
import pytest
from sqlalchemy import make_url

from gateway.service.memory_requests import MemoryPaging, MemorySelection
from gateway.service.reindexing import ReindexService
from gateway.service.replacing import ReplacementService, TakenOver
from store.domain.derived import DerivedStatus
from store.domain.deriving import DerivationOutcome
from store.domain.keyring import Keyring
from store.domain.people import Person
from store.domain.vocabulary import EventKind, Portability, ReviewOutcome, Sensitivity
from store.inmemory.store import InMemoryStore
from store.ports.store import StoreFact, Transaction
from store.postgres.store import PostgresStore
from tests.e2e.disclosure import find_in_columns
from tests.factories import candidate, keyring, owner
from tests.services.deployment import ADA, Deployment, as_principal
from tests.services.derivations import hypothesis, proposal
from tests.services.test_transfer import exported, line, take, written
from tests.worlds import derived_write

WORDS = ("quixzorble", "maßgrüntz", "snorfblatt", "vramblefex", "ploindra")
GONE = "Quixzorble keeps  Maßgrüntz"
KEPT = "Owns a rowing boat"
SUPPOSED = "Snorfblatt is liked"
OLD, NEW = bytes(range(32)), bytes(range(32, 64))


@dataclass
class Chain:
    """A belief and all that was derived of it: a summary, one over that, and a supposition."""

    gone: UUID
    kept: UUID
    summary: UUID
    above: UUID
    supposed: UUID

    @property
    def derived(self) -> tuple[UUID, ...]:
        return self.summary, self.above, self.supposed


async def chain(deployment: Deployment) -> Chain:
    await deployment.people.name(Person(owner=ADA, key="vramblefex", name="Ploindra"))
    gone = await deployment.formed(candidate(GONE, subject="person:vramblefex"))
    kept = await deployment.formed(candidate(KEPT, source_event_ids=(2,)))
    summary = await deployment.derived_id(
        proposal(("Quixzorble keeps Maßgrüntz", [gone]), (KEPT, [kept]), subject="person:vramblefex")
    )
    above = await deployment.derived_id(proposal((KEPT, [summary, kept])))
    supposed = await deployment.derived_id(hypothesis(SUPPOSED, above, gone))
    return Chain(gone, kept, summary, above, supposed)


async def check_shells(deployment: Deployment, *ids: UUID) -> None:
    """Of these nothing is left but that they were there."""
    for id in ids:
        record = await deployment.find_derived(id)
        assert record is not None
        assert (DerivedStatus.RETIRED, None, (), 2) == (
            record.status,
            record.content,
            record.sources,
            record.revision,
        )


async def test_the_deletion_of_a_belief_takes_the_content_of_all_that_rests_on_it(deployment: Deployment) -> None:
    made = await chain(deployment)
    boats = await deployment.formed(candidate("Keeps boats"))
    apart = await deployment.derived_id(proposal(("Keeps boats", [boats]), omitted=[made.kept]))
    before = await deployment.find_derived(apart)

    await deployment.delete(made.gone)

    await check_shells(deployment, *made.derived)
    assert await deployment.find(made.kept) is not None
    assert before == await deployment.find_derived(apart)


async def test_a_statement_that_is_deleted_is_not_supposed_any_more(deployment: Deployment) -> None:
    """The record that says it rests on other beliefs; another repeats it."""
    made = await chain(deployment)
    tea = await deployment.formed(candidate("Drinks tea", source_event_ids=(4,)))
    supposed = await deployment.derived_id(hypothesis("Keeps bees", made.kept, tea))
    repeated = await deployment.derived_id(hypothesis("Keeps many bees", supposed, made.kept))
    bees = await deployment.formed(candidate("keeps BEES"))

    await deployment.delete(bees)

    await check_shells(deployment, supposed, repeated)
    for wish in (hypothesis("Keeps  bees", made.kept, tea), hypothesis("KEEPS BEES", made.gone, tea)):
        assert DerivationOutcome.BLOCKED is (await deployment.derive(wish)).outcome


async def test_an_imported_tombstone_erases_as_a_deletion_does(deployment: Deployment) -> None:
    made = await chain(deployment)
    tombstone = line(
        "tombstone",
        statement_hash=deployment.keyring.statement_hash(ADA, GONE).hex(),
        key_id=deployment.keyring.current.id,
        created_at="2026-06-15T12:00:00.000000Z",
    )

    assert {"tombstone_restored": 1} == (await take(deployment, written(tombstone))).counts

    await check_shells(deployment, *made.derived)


async def test_an_imported_tombstone_of_a_derivation_erases_it(deployment: Deployment) -> None:
    """Under whatever key it was written."""
    made = await chain(deployment)
    ring = await use_keys(deployment, keyring(NEW, OLD))
    wish = proposal((KEPT, [made.kept]), ("Quixzorble keeps Maßgrüntz", [made.gone]))
    for key in ring.keys:
        tombstone = line(
            "tombstone",
            statement_hash=Keyring(current=key, keys=ring.keys)
            .derivation_hash(ADA, [clause.text for clause in wish.clauses])
            .hex(),
            key_id=key.id,
            created_at="2026-06-15T12:00:00.000000Z",
        )
        if key is ring.current:
            assert {"tombstone_restored": 1} == (await take(deployment, written(tombstone))).counts

    assert await deployment.find_derived(made.summary) is None
    await check_shells(deployment, made.above, made.supposed)
    assert DerivationOutcome.BLOCKED is (await deployment.derive(wish)).outcome


async def use_keys(deployment: Deployment, ring: Keyring) -> Keyring:
    """Make another ring the deployment's."""
    deployment.environment.keyring = ring
    await deployment.store.transact(lambda transaction: transaction.facts.put(StoreFact.KEY_ID, ring.current.id))
    return ring


async def test_a_principal_is_erased_with_everything_derived(deployment: Deployment) -> None:
    made = await chain(deployment)
    await deployment.review_derived(made.above, ReviewOutcome.NOT_HERE)
    of_bo = [await deployment.formed(candidate(text), of=owner("bo")) for text in (GONE, KEPT)]
    stays = await deployment.derived_id(proposal((KEPT, [of_bo[1]])), of=owner("bo"))

    await deployment.operators.erase_principal(ADA)

    assert [] == await deployment.stored_derived()
    assert await deployment.find_derived(stays, of=owner("bo")) is not None
    assert EventKind.PRINCIPAL_ERASED is (await deployment.events())[-1].kind
    # What was supposed and summed up is forbidden, whatever it would rest on now.
    first, second = [
        await deployment.formed(candidate(f"Has a boat {number}", source_event_ids=(number,))) for number in (1, 2)
    ]
    assert DerivationOutcome.BLOCKED is (await deployment.derive(hypothesis(SUPPOSED, first, second))).outcome


@pytest.mark.postgres
@pytest.mark.parametrize("erasing", ["delete", "principal", "tombstone", "untrue"])
async def test_no_column_holds_a_word(postgres_store: PostgresStore, database_url: str, erasing: str) -> None:
    deployment = await Deployment(postgres_store).prepare()
    made = await chain(deployment)
    connection = await asyncpg.connect(make_url(database_url).set(drivername="postgresql").render_as_string(False))
    try:
        held = await find_in_columns(connection, WORDS)
        assert {name for name in held if name.startswith("derived")}
        await ERASURES[erasing](deployment, made)
        assert {} == await find_in_columns(connection, WORDS)
    finally:
        await connection.close()


async def _delete(deployment: Deployment, made: Chain) -> None:
    await deployment.delete(made.gone)
    await _forget_person(deployment)


async def _erase_principal(deployment: Deployment, _: Chain) -> None:
    await deployment.operators.erase_principal(ADA)


async def _import_tombstone(deployment: Deployment, _: Chain) -> None:
    hash = deployment.keyring.statement_hash(ADA, GONE).hex()
    fields = {"key_id": deployment.keyring.current.id, "created_at": "2026-06-15T12:00:00.000000Z"}
    await take(deployment, written(line("tombstone", statement_hash=hash, **fields)))
    await _forget_person(deployment)


async def _reject(deployment: Deployment, made: Chain) -> None:
    """Records that were found untrue hold nothing; then the belief goes."""
    for id in (made.supposed, made.summary):
        await deployment.review_derived(id, ReviewOutcome.UNTRUE)
    await _delete(deployment, made)


async def _forget_person(deployment: Deployment) -> None:
    await deployment.store.transact(lambda transaction: transaction.journal.erase_people(ADA))


ERASURES: dict[str, Callable[[Deployment, Chain], Awaitable[None]]] = {
    "delete": _delete,
    "principal": _erase_principal,
    "tombstone": _import_tombstone,
    "untrue": _reject,
}


@pytest.fixture
async def former() -> Deployment:
    """The store in use, whose backup is restored."""
    return await Deployment(InMemoryStore()).prepare()


async def backed_up(former: Deployment, restored: Deployment) -> None:
    """Bring the restored store to what the former one is now."""
    assert 0 == (await take(restored, written(*await exported(former)))).refused
    restored.clock.now = former.clock.now
    records = await former.stored_derived()
    behind = await former.store.transact(
        lambda transaction: transaction.derived.find_ancestors(ADA, [record.id for record in records])
    )

    async def copy(transaction: Transaction) -> None:
        for record in records:
            await transaction.derived.add(derived_write(record, behind[record.id]))

    await restored.store.transact(copy)
    for record in records:
        assert await restored.find_derived(record.id) == record


async def take_over(former: Deployment, restored: Deployment) -> TakenOver:
    return await ReplacementService(former.store, restored.store, restored.environment).take_over()


async def test_what_was_forbidden_since_the_backup_is_forbidden_in_the_restored_store(
    former: Deployment, deployment: Deployment
) -> None:
    beliefs = [
        await former.formed(candidate(f"Keeps boat {number}", source_event_ids=(number,))) for number in range(1, 6)
    ]
    said = [proposal((f"Keeps boat {number}", [id])) for number, id in enumerate(beliefs, 1)]
    deleted, wrong, local, of_deleted, kept = [await former.derived_id(wish) for wish in said]
    above = await former.derived_id(proposal(("Keeps boat 1", [deleted]), ("Keeps boat 5", [kept])))
    await backed_up(former, deployment)
    await former.delete(deleted)
    await former.review_derived(wrong, ReviewOutcome.UNTRUE)
    await former.review_derived(local, ReviewOutcome.NOT_HERE)
    await former.delete(beliefs[3])

    await take_over(former, deployment)

    assert await deployment.find_derived(deleted) is None
    await check_shells(deployment, wrong, of_deleted, above)
    kept_local = await deployment.find_derived(local)
    assert kept_local is not None
    assert (Portability.LOCAL, 2) == (kept_local.portability, kept_local.revision)
    record = await deployment.find_derived(kept)
    assert record is not None
    assert DerivedStatus.ACTIVE is record.status
    for wish in said[:2]:
        assert DerivationOutcome.BLOCKED is (await deployment.derive(wish)).outcome
    before = await deployment.stored_derived()
    assert TakenOver() == await take_over(former, deployment)
    assert before == await deployment.stored_derived()


async def test_what_was_supposed_is_forgotten_where_its_statement_was_deleted_since(
    former: Deployment, deployment: Deployment
) -> None:
    made = await chain(former)
    await backed_up(former, deployment)
    believed = await former.formed(candidate(SUPPOSED))
    await former.delete(believed)

    await take_over(former, deployment)

    await check_shells(deployment, made.supposed)
    summary = await deployment.find_derived(made.summary)
    assert summary is not None
    assert summary.content is not None


async def test_a_shell_that_was_deleted_is_gone_from_the_restored_store(
    former: Deployment, deployment: Deployment
) -> None:
    """When it was deleted nothing was left of it by which a tombstone could recognise it."""
    bees = await former.formed(candidate("Keeps bees"))
    summary = await former.derived_id(proposal(("Keeps bees", [bees])))
    await backed_up(former, deployment)
    await former.delete(bees)
    await former.delete(summary)

    await take_over(former, deployment)

    assert [] == await deployment.stored_derived()


async def test_a_belief_is_not_restored_under_the_id_of_a_derived_record(deployment: Deployment) -> None:
    made = await chain(deployment)
    beliefs = [each for each in await exported(deployment) if each["kind"] == "belief"]

    report = await take(deployment, written(beliefs[0] | {"id": str(made.summary), "statement": "Sails"}))

    assert {"skipped": 1} == report.counts
    assert await deployment.find(made.summary) is None


async def test_a_derivation_that_was_made_anew_and_forbidden_is_forbidden_as_it_was_before(
    former: Deployment, deployment: Deployment
) -> None:
    """Under another id and under another key than the backup knows."""
    bees = await former.formed(candidate("Keeps bees"))
    boats = await former.formed(candidate("Keeps boats", source_event_ids=(2,)))
    supposed, summary = hypothesis("Likes the country", bees, boats), proposal(("Keeps boats", [boats]))
    old = [await former.derived_id(wish) for wish in (supposed, summary)]
    await backed_up(former, deployment)
    await use_keys(former, keyring(NEW, OLD))
    for id in (bees, boats):
        await former.review(id, ReviewOutcome.NOT_HERE)
    former.environment.keyring = keyring(NEW)
    await former.store.transact(lambda transaction: transaction.derived.erase(ADA, old, at=former.clock.now))
    anew = [await former.derived_id(wish) for wish in (supposed, summary)]
    await former.review_derived(anew[0], ReviewOutcome.UNTRUE)
    await former.delete(anew[1])
    deployment.environment.keyring = keyring(OLD, NEW)

    await take_over(former, deployment)

    stored = {record.id: record for record in await deployment.stored_derived()}
    assert [old[0]] == list(stored)
    assert DerivedStatus.RETIRED is stored[old[0]].status


async def test_words_are_made_anew_in_derived_records_too(deployment: Deployment) -> None:
    made = await chain(deployment)

    async def age(transaction: Transaction) -> None:
        await transaction.facts.put(StoreFact.LEXICAL_VERSION, "0/9.9.9")

    await deployment.store.transact(age)
    reindexing = ReindexService(deployment.store, deployment.environment)
    told: list[int] = []

    done = await reindexing.run(progress=lambda rows, _: told.append(rows))

    assert (5, [2, 5]) == (done.rows, told)
    async with deployment.memories.reading_items() as reading:
        selection = MemorySelection(ceiling=Sensitivity.RESTRICTED, text="maßgrüntz")
        page = await reading.browse(as_principal(ADA), selection, MemoryPaging())
    assert {made.gone, made.summary} == {edge.node.id for edge in page.edges}


async def test_a_rebuild_that_was_broken_off_among_derived_records_goes_on_there(deployment: Deployment) -> None:
    await chain(deployment)
    await deployment.store.transact(lambda transaction: transaction.facts.put(StoreFact.LEXICAL_VERSION, "0/9.9.9"))
    reindexing = ReindexService(deployment.store, deployment.environment)

    def break_off(rows: int, _: int) -> None:
        if rows == 5:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        await reindexing.run(progress=break_off)

    done = await reindexing.run()
    assert (0, True) == (done.rows, done.resumed)
