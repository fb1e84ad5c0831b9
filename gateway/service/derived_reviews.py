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
from store.domain.derived import DerivedContent, DerivedRecord
from store.domain.derived_reviews import review_derived
from store.domain.journal import NO_SESSION, Rejection, Tombstone
from store.domain.keyring import Keyring
from store.domain.owners import Owner
from store.domain.vocabulary import EventKind, ReviewOutcome, Sensitivity
from store.ports.store import Transaction


def derivation_hashes(keyring: Keyring, owner: Owner, content: DerivedContent) -> dict[str, bytes]:
    """The hash of what a derived record says, as a derivation, by the id of each key of the ring."""
    return keyring.derivation_hashes_by_key(owner, [clause.text for clause in content.clauses])


def derivation_tombstones(keyring: Keyring, owner: Owner, content: DerivedContent, now: datetime) -> list[Tombstone]:
    """The tombstones of a derivation: one under every key of the ring."""
    return [
        Tombstone(owner=owner, statement_hash=hash, key_id=key, created_at=now)
        for key, hash in derivation_hashes(keyring, owner, content).items()
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
    """Apply an outcome; the record as it is shown then. Raises NotFound and Unavailable."""
    keyring = environment.keyring
    if request.outcome is ReviewOutcome.UNTRUE:
        await _lock(transaction, keyring, owner, id, request.ceiling, now)
    record = await transaction.derived.find_for_update(owner, id, ceiling=request.ceiling, now=now)
    if record is None:
        raise NotFound
    if request.outcome is not ReviewOutcome.DISMISS:
        await require_key(transaction.facts, keyring)
    [position] = await transaction.memories.next_positions(1)
    effect = review_derived(record, request.outcome, position=position, now=now)
    if effect is None:
        return record
    if effect.rejection is not None and record.content is not None:
        rejection = Rejection(
            owner=owner,
            statement_hash=derivation_hashes(keyring, owner, record.content)[keyring.current.id],
            key_id=keyring.current.id,
            kind=effect.rejection,
            memory_id=id,
            created_at=now,
        )
        await transaction.journal.add_rejection(rejection)
    await transaction.derived.put(effect.record)
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
    await _lock(transaction, keyring, owner, id, ceiling, now)
    record = await transaction.derived.find_for_update(owner, id, ceiling=ceiling, now=now)
    if record is None:
        raise NotFound
    await require_key(transaction.facts, keyring)
    gone = {id: record}
    if record.content is not None:
        tombstones = derivation_tombstones(keyring, owner, record.content, now)
        hashes = [tombstone.statement_hash for tombstone in tombstones]
        equal = await transaction.derived.find_equal_ids(owner, hashes)
        gone |= {other.id: other for other in await transaction.derived.find_many_for_update(owner, equal)}
        await transaction.journal.erase_rejections(owner, hashes)
        for tombstone in tombstones:
            await transaction.journal.add_tombstone(tombstone)
    await transaction.derived.erase(owner, gone, at=now)
    sessions = [(session_of(other), other.id) for other in gone.values()]
    await transaction.journal.append_each(owner, EventKind.DELETED, memories=sessions, at=now)


async def _lock(
    transaction: Transaction, keyring: Keyring, owner: Owner, id: UUID, ceiling: Sensitivity, now: datetime
) -> None:
    """Hold the right to derive what the record says, if it is shown and says anything."""
    seen = await transaction.shown_derived.find(owner, id, ceiling=ceiling, now=now)
    if seen is None:
        raise NotFound
    if seen.content is not None:
        await transaction.journal.lock_statements(owner, derivation_hashes(keyring, owner, seen.content).values())
