"""What an owner decides about one belief, to review or to delete it, in as few steps as a store can take.

Each operation is a sequence of the single ones of MemoryWrites and JournalWrites, as StepwiseDecisions of the in-memory
store takes them: that is its meaning. A store for which every step is a round trip takes several in one.
Source: belief store decisions, Review and delete.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol
from uuid import UUID

from store.domain.journal import Receipt, Rejection, Tombstone
from store.domain.memories import MemoryRecord
from store.domain.owners import Owner
from store.domain.vocabulary import EventKind, ReviewOutcome, Sensitivity


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """Whether a write is new, and what it is about.

    `key_id` is the current hash key that the store names. `record` and `position`, a fresh one, are given with a new
    write of a visible belief; `held_hash`, of the request that used the key before, with a repeated one. Without both,
    the receipt that held the key was swept meanwhile.
    """

    is_new: bool
    held_hash: bytes | None
    key_id: str | None
    record: MemoryRecord | None
    position: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewWrite:
    """What a review writes of a belief that was read as `expected`.

    With a `key_id` it is written only while the store names this hash key as the current one.
    """

    expected: MemoryRecord
    record: MemoryRecord
    event: EventKind
    outcome: ReviewOutcome
    rejection: Rejection | None
    key_id: str | None
    at: datetime


class LockedRow(NamedTuple):
    """A row that is locked for an erasure, and whether it is one of those to be erased."""

    id: UUID
    session_id: UUID
    sensitivity: Sensitivity
    is_erased: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LockedRows:
    """The rows that an erasure touches, whatever their sensitivity, and the current hash key that the store names."""

    key_id: str | None
    rows: tuple[LockedRow, ...]

    @property
    def erased(self) -> Sequence[LockedRow]:
        """The rows to be erased."""
        return [row for row in self.rows if row.is_erased]


class Decisions(Protocol):
    """Reviewing and deleting, inside one transaction."""

    async def admit(self, receipt: Receipt, *, ceiling: Sensitivity, locked: bool) -> Admission:
        """Take the receipt's key; where it was free, read its belief if the ceiling shows it, locked or as it stands.

        Waits for a concurrent transaction that holds the key, or the belief.
        """
        ...

    async def write_review(self, write: ReviewWrite, *, ceiling: Sensitivity) -> MemoryRecord | None:
        """Write a belief with the traces of its review, and answer it as it is shown then.

        None, and nothing is written, where it is no longer as expected or the hash key is not the current one.
        """
        ...

    async def lock_rows(self, owner: Owner, hashes: Collection[bytes]) -> LockedRows:
        """Lock, in id order, the rows with one of the statement hashes and those linked with them."""
        ...

    async def erase_rows(
        self,
        owner: Owner,
        hashes: Collection[bytes],
        tombstones: Collection[Tombstone],
        *,
        locked: LockedRows,
        at: datetime,
    ) -> bool:
        """Erase what was locked to be erased, with its copies, links and rejections; note it, and write the tombstones.

        Retire the derived records that rest on it or say it, and remove those with one of the hashes as derivation's.

        False, and nothing is written, where a linked row appeared meanwhile that is not locked. The same is sent
        whatever was locked.
        """
        ...
