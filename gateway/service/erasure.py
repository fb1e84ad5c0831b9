"""Erasing statements for good: the rows, their copies and links, and the tombstone that keeps them away.

Shared by the deletion of a belief, the import of a tombstone and the erasure of a principal.
Source: belief store decisions, Review and delete.
"""

from collections.abc import Collection, Iterable
from datetime import datetime
from uuid import UUID

from gateway.service.derived_reviews import derivation_hashes
from gateway.service.derived_rows import find_derived_batch
from store.domain.journal import Tombstone
from store.domain.keyring import Keyring
from store.domain.owners import Owner
from store.ports.decisions import LockedRows
from store.ports.errors import StoreContention
from store.ports.store import Transaction

STATEMENTS_BATCH = 500
"""Statements that are read at a time to be hashed again."""


async def erase_statements(
    transaction: Transaction,
    owner: Owner,
    hashes: Collection[bytes],
    tombstones: Collection[Tombstone],
    *,
    now: datetime,
) -> int:
    """Erase every row of the owner with one of these statement hashes, and write the tombstones.

    The caller holds the locks of the statements. Every sensitivity is erased; the count is for
    operators, never for an answer. Raises StoreContention when a link appeared meanwhile, to be run again.
    """
    locked = await transaction.decisions.lock_rows(owner, hashes)
    await erase_locked(transaction, owner, hashes, tombstones, locked=locked, now=now)
    return len(locked.erased)


async def erase_locked(
    transaction: Transaction,
    owner: Owner,
    hashes: Collection[bytes],
    tombstones: Collection[Tombstone],
    *,
    locked: LockedRows,
    now: datetime,
) -> None:
    """The same, once the rows are locked."""
    if not await transaction.decisions.erase_rows(owner, hashes, tombstones, locked=locked, at=now):
        raise StoreContention


def tombstones_of(keyring: Keyring, owner: Owner, statement: str, now: datetime) -> list[Tombstone]:
    """The tombstones of a statement: one under every key of the ring.

    A backup may hold the statement under an older key; its tombstone finds the row there too.
    """
    return [
        Tombstone(owner=owner, statement_hash=hash, key_id=key, created_at=now)
        for key, hash in keyring.hashes_by_key(owner, statement).items()
    ]


async def find_equal_hashes(
    transaction: Transaction, keyring: Keyring, owner: Owner, hashes: Collection[bytes], texts: Iterable[str]
) -> dict[bytes, frozenset[bytes]]:
    """For each hash whose statement the owner holds, or is among the texts: its hashes under every key of the ring.

    The same for derivations. Only the text tells which hash under one key belongs to which under another, so every
    statement of the owner is read, in batches; with a single key there is nothing to tell, and nothing is read.
    """
    if len(keyring.keys) == 1 or not hashes:
        return {}
    wanted = frozenset(hashes)
    found: dict[bytes, frozenset[bytes]] = {}

    def judge(equal: frozenset[bytes]) -> None:
        found.update(dict.fromkeys(equal & wanted, equal))

    for text in texts:
        judge(keyring.statement_hashes(owner, text))
    after: UUID | None = None
    while batch := await transaction.memories.find_statement_texts(owner, after=after, limit=STATEMENTS_BATCH):
        for _, statement in batch:
            judge(keyring.statement_hashes(owner, statement))
        after = batch[-1][0]
    after = None
    while records := await find_derived_batch(transaction, owner=owner, after=after):
        for content in (record.content for record in records if record.content is not None):
            judge(frozenset(derivation_hashes(keyring, owner, content).values()))
            judge(keyring.statement_hashes(owner, content.statement))
        after = records[-1].id
    return found
