"""Reviewing and deleting a derived record, within the transaction that took the idempotency key.

Like a derivation, a decision that forbids one locks its hashes first, and reads it again under the lock. Beliefs are
never touched. Source: belief store decisions, Derived records (Review).
"""

from datetime import datetime
from uuid import UUID

from gateway.service.environment import Environment
from gateway.service.errors import NotFound
from gateway.service.guards import require_key
from gateway.service.memory_requests import MemoryReview
from store.domain.derived import DerivedContent, DerivedRecord, RecordKind
from store.domain.derived_reviews import review_derived
from store.domain.journal import NO_SESSION, Rejection, Tombstone
from store.domain.keyring import Keyring
from store.domain.owners import Owner
from store.domain.vocabulary import EventKind, RejectionKind, ReviewOutcome, Sensitivity
from store.ports.store import Transaction


def derivation_hashes(keyring: Keyring, owner: Owner, content: DerivedContent) -> dict[str, bytes]:
    """The hash of what a derived record says, as a derivation, by the id of each key of the ring."""
    return keyring.derivation_hashes_by_key(owner, [clause.text for clause in content.clauses])


def placement_hashes(keyring: Keyring, record: DerivedRecord, content: DerivedContent) -> dict[str, bytes]:
    """The hash by which it is known that such a record was kept to its scope, by the id of each key of the ring."""
    return keyring.placement_hashes_by_key(
        record.owner,
        record_kind=record.record_kind.value,
        sensitivity=record.sensitivity.value,
        clauses=[clause.text for clause in content.clauses],
    )


def forbidding_hashes(
    keyring: Keyring, owner: Owner, record: DerivedRecord, content: DerivedContent
) -> list[tuple[str, bytes]]:
    """(key id, hash) of all by which what a record says is kept from being derived again, under every key of the ring.

    That is its clauses, however they are ordered, and the whole as a single one. The words of a hypothesis are nobody
    else's, so they are forbidden as a statement too; those of a summary are what beliefs say.
    """
    whole = content.statement
    by_key = [derivation_hashes(keyring, owner, content), keyring.derivation_hashes_by_key(owner, [whole])]
    if record.record_kind is RecordKind.HYPOTHESIS:
        by_key.append(keyring.hashes_by_key(owner, whole))
    return list(dict.fromkeys(item for hashes in by_key for item in hashes.items()))


def derivation_tombstones(
    keyring: Keyring, owner: Owner, record: DerivedRecord, content: DerivedContent, now: datetime
) -> list[Tombstone]:
    """The tombstones of what a record says."""
    return [
        Tombstone(owner=owner, statement_hash=hash, key_id=key, created_at=now)
        for key, hash in forbidding_hashes(keyring, owner, record, content)
    ]


def session_of(record: DerivedRecord) -> UUID:
    """The session in which what happens to a derived record is noted: the first one behind it."""
    return NO_SESSION if record.content is None else record.content.session_ids[0]


async def apply_review(
    transaction: Transaction,
    environment: Environment,
    owner: Owner,
    id: UUID,
    request: MemoryReview,
    now: datetime,
) -> DerivedRecord:
    """Apply an outcome; the record as it is shown then. What rests on one that is untrue is retired with it.

    Raises NotFound and Unavailable.
    """
    keyring = environment.keyring
    seen = None
    if request.outcome is ReviewOutcome.UNTRUE:
        seen = await _locked(transaction, keyring, owner, id, request.ceiling, now)
    record = await transaction.derived.find_for_update(owner, id, ceiling=request.ceiling, now=now)
    if record is None:
        raise NotFound
    if request.outcome is not ReviewOutcome.DISMISS:
        await require_key(transaction.facts, keyring)
    # What was retired since it was looked at is untrue all the same.
    said = seen if record.content is None and seen is not None else record
    if request.outcome is ReviewOutcome.UNTRUE:
        await _reject(transaction, keyring, said, RejectionKind.UNTRUE, now)
    [position] = await transaction.memories.next_positions(1)
    effect = review_derived(record, request.outcome, position=position, now=now)
    if effect is None:
        return record
    if request.outcome is ReviewOutcome.NOT_HERE:
        await _reject(transaction, keyring, record, RejectionKind.NOT_HERE, now)
    await transaction.derived.put(effect.record)
    if request.outcome is ReviewOutcome.UNTRUE:
        await transaction.derived.retire_dependents(owner, [id], at=now)
    await transaction.journal.append(
        owner,
        effect.event,
        session_id=session_of(record),
        memory_id=id,
        at=now,
        payload={"outcome": request.outcome.value},
    )
    return effect.record


async def apply_deletion(
    transaction: Transaction,
    environment: Environment,
    owner: Owner,
    id: UUID,
    *,
    ceiling: Sensitivity,
    now: datetime,
) -> None:
    """Remove a record, and every other of the owner that says the same, and entomb the derivation.

    What rests on them is retired. Raises NotFound and Unavailable.
    """
    keyring = environment.keyring
    seen = await _locked(transaction, keyring, owner, id, ceiling, now)
    record = await transaction.derived.find_for_update(owner, id, ceiling=ceiling, now=now)
    if record is None:
        raise NotFound
    await require_key(transaction.facts, keyring)
    gone = {id: record}
    # What was retired since it was looked at is forbidden all the same.
    said = seen if record.content is None else record
    if said.content is not None:
        forbidden = await _forbidden(transaction, keyring, said, said.content)
        hashes = [hash for _, hash in forbidden]
        equal = await transaction.derived.find_equal_ids(owner, hashes)
        gone |= {other.id: other for other in await transaction.derived.find_many_for_update(owner, equal)}
        placed = placement_hashes(keyring, said, said.content).values()
        await transaction.journal.erase_rejections(owner, {*hashes, *placed})
        for key_id, hash in forbidden:
            tombstone = Tombstone(owner=owner, statement_hash=hash, key_id=key_id, created_at=now)
            await transaction.journal.add_tombstone(tombstone)
    await transaction.derived.erase(owner, gone, at=now)
    if said.content is not None:
        # Other clauses may say the same together.
        statement = keyring.statement_hashes(owner, said.content.statement)
        await transaction.derived.erase_by_hashes(owner, statement, at=now)
    sessions = [(session_of(other), other.id) for other in gone.values()]
    await transaction.journal.append_each(owner, EventKind.DELETED, memories=sessions, at=now)


async def _locked(
    transaction: Transaction, keyring: Keyring, owner: Owner, id: UUID, ceiling: Sensitivity, now: datetime
) -> DerivedRecord:
    """The record as it was before the right to derive what it says was held. Raises NotFound."""
    seen = await transaction.shown_derived.find(owner, id, ceiling=ceiling, now=now)
    if seen is None:
        raise NotFound
    if seen.content is not None:
        hashes = {hash for _, hash in forbidding_hashes(keyring, owner, seen, seen.content)}
        await transaction.journal.lock_statements(owner, hashes)
    return seen


async def _reject(
    transaction: Transaction, keyring: Keyring, record: DerivedRecord, kind: RejectionKind, now: datetime
) -> None:
    """Note that what a record says was rejected, under the current key; of one that says nothing there is no note."""
    if record.content is None:
        return
    # What is only out of place forbids nothing: it is remembered for when it is derived anew.
    noted = list(placement_hashes(keyring, record, record.content).items())
    if kind is RejectionKind.UNTRUE:
        noted = await _forbidden(transaction, keyring, record, record.content)
    for key_id, hash in noted:
        if key_id == keyring.current.id:
            rejection = Rejection(
                owner=record.owner,
                statement_hash=hash,
                key_id=key_id,
                kind=kind,
                memory_id=record.id,
                created_at=now,
            )
            await transaction.journal.add_rejection(rejection)


async def _forbidden(
    transaction: Transaction, keyring: Keyring, record: DerivedRecord, content: DerivedContent
) -> list[tuple[str, bytes]]:
    """The forbidding hashes; without those of a statement that a belief says too, since beliefs are never touched."""
    owner = record.owner
    found = forbidding_hashes(keyring, owner, record, content)
    statement = keyring.statement_hashes(owner, content.statement)
    if not await transaction.memories.find_same_statement_ids(owner, statement):
        return found
    return [(key_id, hash) for key_id, hash in found if hash not in statement]
