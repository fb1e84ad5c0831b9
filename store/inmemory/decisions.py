"""Reviewing and deleting step by step, over the single operations of any transaction: the meaning of Decisions."""

from collections.abc import Collection
from datetime import datetime

from store.domain.journal import Receipt, Tombstone
from store.domain.memories import MemoryRecord
from store.domain.owners import Owner
from store.domain.vocabulary import EventKind, Sensitivity
from store.ports.decisions import Admission, LockedRow, LockedRows, ReviewWrite
from store.ports.derived import DerivedWrites
from store.ports.journal import JournalWrites
from store.ports.memories import MemoryReads, MemoryWrites
from store.ports.store import FactReads, StoreFact


class StepwiseDecisions:
    """The Decisions of a transaction, given its other parts."""

    def __init__(
        self,
        memories: MemoryWrites,
        shown: MemoryReads,
        derived: DerivedWrites,
        journal: JournalWrites,
        facts: FactReads,
    ) -> None:
        self._memories = memories
        self._shown = shown
        self._derived = derived
        self._journal = journal
        self._facts = facts

    async def admit(self, receipt: Receipt, *, ceiling: Sensitivity, locked: bool) -> Admission:
        """Take the key; where it was free, read the belief. Read here, it is always locked."""
        key_id = await self._facts.find(StoreFact.KEY_ID)
        if not await self._journal.add_receipt(receipt):
            held = await self._journal.find_receipt(receipt.owner, receipt.key)
            held_hash = None if held is None else held.request_hash
            return Admission(is_new=False, held_hash=held_hash, key_id=key_id, record=None, position=None)
        record = await self._memories.find_for_update(receipt.owner, receipt.memory_id, ceiling=ceiling)
        position = None if record is None else (await self._memories.next_positions(1))[0]
        return Admission(is_new=True, held_hash=None, key_id=key_id, record=record, position=position)

    async def write_review(self, write: ReviewWrite, *, ceiling: Sensitivity) -> MemoryRecord | None:
        """Write the belief, its rejection and its event, unless something changed meanwhile; as it is shown then."""
        record = write.record
        if write.key_id is not None and await self._facts.find(StoreFact.KEY_ID) != write.key_id:
            return None
        if await self._memories.find_for_update(record.owner, record.id, ceiling=ceiling) != write.expected:
            return None
        await self._memories.put(record)
        if write.rejection is not None:
            await self._journal.add_rejection(write.rejection)
        await self._journal.append(
            record.owner,
            write.event,
            session_id=record.source_session_id,
            memory_id=record.id,
            at=write.at,
            payload={"outcome": write.outcome.value},
        )
        return await self._shown.find(record.owner, record.id, ceiling=ceiling)

    async def lock_rows(self, owner: Owner, hashes: Collection[bytes]) -> LockedRows:
        """Lock the rows of the statements and those linked with them."""
        erased = await self._memories.find_same_statement_ids(owner, hashes)
        linked = await self._memories.find_linked_ids(owner, erased)
        records = await self._memories.find_many_for_update(owner, erased | linked)
        return LockedRows(
            key_id=await self._facts.find(StoreFact.KEY_ID),
            rows=tuple(
                LockedRow(record.id, record.source_session_id, record.sensitivity, record.id in erased)
                for record in records
            ),
        )

    async def erase_rows(
        self,
        owner: Owner,
        hashes: Collection[bytes],
        tombstones: Collection[Tombstone],
        *,
        locked: LockedRows,
        at: datetime,
    ) -> bool:
        """Erase the rows and what hangs on them, unless a link appeared that is not locked."""
        ids = [row.id for row in locked.rows]
        erased = [row.id for row in locked.erased]
        met = await self._memories.find_linked_ids(owner, erased) - set(ids)
        if await self._memories.find_many_for_update(owner, met):
            return False
        await self._memories.unlink(owner, set(ids) - set(erased), gone=erased)
        sessions = [(row.session_id, row.id) for row in locked.erased]
        await self._journal.append_each(owner, EventKind.DELETED, memories=sessions, at=at)
        await self._memories.erase(owner, erased)
        await self._memories.erase_facts(owner, hashes)
        await self._derived.retire_dependents(owner, erased, at=at)
        await self._derived.erase_by_hashes(owner, hashes, at=at)
        await self._journal.erase_rejections(owner, hashes)
        for tombstone in tombstones:
            await self._journal.add_tombstone(tombstone)
        return True
