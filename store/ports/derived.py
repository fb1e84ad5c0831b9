"""What a store must do for derived records: the queries it answers and the rows it writes.

Every operation names the owner, and every read that is shown names the ceiling. A derived record *stands* at a moment
while it is active, has not run out, and every record it rests on, directly or through others, is there at the revision
that was pinned. (A belief's revision rises with every change of its status, so a pinned one is live; when the first of
them runs out is the record's own end.) One that does not stand is withheld: no read that is shown finds it.
Source: belief store decisions, Derived records; evidence graph decisions.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from store.domain.derived import Ancestor, DerivedRecord
from store.domain.owners import Owner
from store.domain.vocabulary import Sensitivity
from store.ports.memories import MemoryBrowseQuery, MemoryFilter, MemoryKey


@dataclass(frozen=True, slots=True, kw_only=True)
class DerivedBrowseResult:
    """At most limit + 1 records in the order walked; `opposite` as in MemoryBrowseResult."""

    records: tuple[DerivedRecord, ...]
    opposite: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DerivedWrite:
    """A record to be added, all it rests on, and its hashes under the current key.

    `derivation_hash` is the one of Keyring.derivation_hash for its clauses, `statement_hash` the one of
    Keyring.statement_hash for the statement as it is rendered.
    """

    record: DerivedRecord
    ancestors: Sequence[Ancestor]
    derivation_hash: bytes
    statement_hash: bytes


class DerivedReads(Protocol):
    """Derived records as they are shown."""

    async def find(self, owner: Owner, id: UUID, *, ceiling: Sensitivity, now: datetime) -> DerivedRecord | None:
        """The record where it stands or is retired; None if it is absent, foreign, above the ceiling or withheld."""
        ...

    async def browse(self, query: MemoryBrowseQuery) -> DerivedBrowseResult:
        """One page of those that stand, in one statement, in the order of beliefs.

        The filter's statuses must include active, or there are none. Its types intersect with the record's, its session
        is any of the record's, its text is looked for in subject and statement; every other field is meant as it is
        for beliefs.
        """
        ...

    async def count(self, filter: MemoryFilter) -> int:
        """How many of those that stand the filter selects, in one statement."""
        ...

    async def closure(
        self, owner: Owner, ids: Collection[UUID], *, ceiling: Sensitivity, depth: int, limit: int
    ) -> Sequence[UUID]:
        """The ids, and those of all that they rest on within so many steps; at most `limit`, nearest first, then by id.

        Ids that name nothing are among them: each is one look-up. One statement.
        """
        ...

    async def find_stored(self, owner: Owner, ids: Collection[UUID], *, ceiling: Sensitivity) -> list[DerivedRecord]:
        """Those of the ids that are the owner's at or below the ceiling, by id, withheld or not; one statement."""
        ...


class DerivedWrites(Protocol):
    """Derived records as they are written, locked until the transaction ends."""

    async def find_for_update(
        self, owner: Owner, id: UUID, *, ceiling: Sensitivity, now: datetime
    ) -> DerivedRecord | None:
        """The record that `find` answers, locked."""
        ...

    async def find_many_for_update(self, owner: Owner, ids: Collection[UUID]) -> list[DerivedRecord]:
        """Those of the ids that are the owner's, whatever their sensitivity, withheld or not, locked in id order."""
        ...

    async def find_ancestors(self, owner: Owner, ids: Collection[UUID]) -> Mapping[UUID, Sequence[Ancestor]]:
        """All that each of the ids rests on, by id; ids that rest on nothing are absent."""
        ...

    async def find_equal_ids(self, owner: Owner, hashes: Collection[bytes]) -> frozenset[UUID]:
        """The ids of the records with one of these derivation hashes, in any status."""
        ...

    async def find_withheld_ids(self, owner: Owner, *, now: datetime, after: UUID | None, limit: int) -> list[UUID]:
        """The ids of active records that do not stand, by id, at most `limit`, after an id."""
        ...

    async def find_due_keys(self, tenant: str, *, now: datetime, limit: int) -> list[MemoryKey]:
        """The keys of active records of a tenant that have run out by themselves, at most `limit`."""
        ...

    async def find_ids(self, owner: Owner, *, after: UUID | None, limit: int) -> list[UUID]:
        """The ids of the owner's records in any status, by id, at most `limit`, after an id."""
        ...

    async def exists(self, owner: Owner, id: UUID) -> bool:
        """Whether the owner has a derived record of this id, in any status."""
        ...

    async def add(self, write: DerivedWrite) -> None:
        """Insert an active record, its sources, all that it rests on, and its lexemes."""
        ...

    async def put(self, record: DerivedRecord) -> None:
        """Write revision, status, flag, portability, updated_at and position of a record.

        Where it is retired, its content, its lexemes, its sources and all that it rests on go; its hashes stay.
        """
        ...

    async def erase(self, owner: Owner, ids: Collection[UUID], *, at: datetime) -> None:
        """Remove these records; retire all that rest on them, their positions unchanged."""
        ...

    async def erase_by_hashes(self, owner: Owner, hashes: Collection[bytes], *, at: datetime) -> int:
        """Remove the records with one of these derivation hashes, retired ones too, as `erase` does; how many.

        Retire those whose rendered statement has one of the hashes as its own, and all that rest on them.
        """
        ...

    async def retire_dependents(self, owner: Owner, ids: Collection[UUID], *, at: datetime) -> None:
        """Retire every record that rests on one of the ids, directly or through others, their positions unchanged."""
        ...

    async def rewrite_lexemes(self, *, after: MemoryKey | None, limit: int) -> list[MemoryKey]:
        """Make the lexemes of the next records of all owners anew, as MemoryWrites.rewrite_lexemes does of beliefs."""
        ...

    async def put_display_subject(self, owner: Owner, *, subject: str, shown: str, limit: int) -> int:
        """Rewrite the shown subject and the lexemes of at most `limit` records that show another; how many."""
        ...
