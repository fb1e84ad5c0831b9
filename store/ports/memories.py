"""What a store must do for beliefs: the queries it answers and the rows it writes.

Every operation names the owner, and every read that is shown names the ceiling.
"""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import NamedTuple, Protocol, TypeAlias
from uuid import UUID

from store.domain.encodings import RowShape, encode
from store.domain.journal import EvidenceReference
from store.domain.lexical import TextQuery
from store.domain.memories import MemoryRecord
from store.domain.overviews import MemoryOverview
from store.domain.owners import Owner
from store.domain.people import PERSON_PREFIX
from store.domain.vocabulary import (
    LIVE_STATUSES,
    BeliefType,
    MemoryStatus,
    Sensitivity,
    sensitivities_within,
)

SUPERSEDES_SHOWN_MAX = 16
"""Earlier beliefs that are shown behind one, nearest first."""

CHANGEABLE_FIELDS = (
    "status",
    "portability",
    "confidence",
    "utility",
    "corroboration_count",
    "evidence_count",
    "flagged_for_review",
    "conflicts_with",
    "superseded_by",
    "source_event_ids",
    "valid_to",
    "expires_at",
    "last_evidence_at",
    "last_used_at",
    "last_reinforced_at",
    "updated_at",
    "store_position",
    "revision",
)
"""What `put` writes of a record; every other field keeps the value that it was added with."""


MemoryKey: TypeAlias = tuple[Owner, UUID]
"""What names a row among those of all owners."""


class Direction(StrEnum):
    """Which way a page is walked: newest first, or back towards the newest."""

    FORWARD = "forward"
    BACKWARD = "backward"


@dataclass(frozen=True, slots=True, kw_only=True)
class Keyset:
    """The key of a row in the order store_position descending, id ascending."""

    position: int
    id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryFilter:
    """Which beliefs of one owner are meant. Kinds intersect; values within a kind unite.

    `statuses` are effective ones at `now`. `subject` is lower-cased: it asks for the raw subject when
    it starts with `person:`, else for the subject as shown. An empty `text` query matches nothing;
    None is no filter. Confidence is compared exactly, both bounds included; `created_at` lies at or after
    `formed_after` and before `formed_before`.
    """

    owner: Owner
    ceiling: Sensitivity
    now: datetime
    statuses: frozenset[MemoryStatus] = LIVE_STATUSES
    belief_types: frozenset[BeliefType] | None = None
    sensitivities: frozenset[Sensitivity] | None = None
    subject: str | None = None
    session_id: UUID | None = None
    text: TextQuery | None = None
    flagged: bool | None = None
    confidence_min: Decimal | None = None
    confidence_max: Decimal | None = None
    formed_after: datetime | None = None
    formed_before: datetime | None = None

    @property
    def visible_sensitivities(self) -> frozenset[Sensitivity]:
        """The asked sensitivities that lie at or below the ceiling."""
        within = sensitivities_within(self.ceiling)
        return within if self.sensitivities is None else within & self.sensitivities

    @property
    def subject_is_key(self) -> bool:
        """Whether the subject filter names a person by key."""
        return self.subject is not None and self.subject.startswith(PERSON_PREFIX)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryBrowseQuery:
    """One page: a filter, where to continue, which way, and how many rows (one more is returned)."""

    filter: MemoryFilter
    limit: int
    keyset: Keyset | None = None
    direction: Direction = Direction.FORWARD
    with_opposite: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryBrowseResult:
    """At most limit + 1 records in the order walked.

    `opposite`: whether the filtered set has a row at the keyset or on its other side; None if it was
    not asked, False without a keyset.
    """

    records: tuple[MemoryRecord, ...]
    opposite: bool | None


class EncodedRow(NamedTuple):
    """A belief as JSON, and its place in the order."""

    content: bytes
    position: int
    id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodedPage:
    """What MemoryBrowseResult holds, with each record as JSON."""

    rows: tuple[EncodedRow, ...]
    opposite: bool | None


def encoded_page(page: MemoryBrowseResult, shape: RowShape, now: datetime) -> EncodedPage:
    """A page of records as JSON, written one by one: what every other way to write it must equal."""
    return EncodedPage(
        rows=tuple(EncodedRow(encode(record, shape, now), record.store_position, record.id) for record in page.records),
        opposite=page.opposite,
    )


class MemoryReads(Protocol):
    """Beliefs as they are shown: links hold only what is visible, at most 64 of them."""

    async def find(self, owner: Owner, id: UUID, *, ceiling: Sensitivity) -> MemoryRecord | None:
        """The belief, or None if it is absent, foreign or above the ceiling."""
        ...

    async def find_many(self, owner: Owner, ids: Collection[UUID], *, ceiling: Sensitivity) -> list[MemoryRecord]:
        """Those of the ids that are the owner's at or below the ceiling, by id; one statement."""
        ...

    async def find_superseded(
        self, owner: Owner, ids: Collection[UUID], *, ceiling: Sensitivity
    ) -> Mapping[UUID, Sequence[MemoryRecord]]:
        """For each id the beliefs that it replaced, nearest first, then by id; one statement.

        Each line is followed back only through visible rows; at most 16 a belief. Ids without any are absent.
        """
        ...

    async def browse(self, query: MemoryBrowseQuery) -> MemoryBrowseResult:
        """One page of the filtered set, in one statement."""
        ...

    async def browse_encoded(self, query: MemoryBrowseQuery, shape: RowShape) -> EncodedPage:
        """The page that `browse` returns, as `encoded_page` writes it at the filter's moment."""
        ...

    async def count(self, filter: MemoryFilter) -> int:
        """How many beliefs the filter selects, in one statement."""
        ...

    async def overview(self, owner: Owner, *, ceiling: Sensitivity, now: datetime) -> MemoryOverview:
        """The counts of MemoryOverview, in one statement."""
        ...

    def export(self, owner: Owner) -> AsyncIterator[tuple[MemoryRecord, tuple[EvidenceReference, ...]]]:
        """Every belief of one owner with all its links and references, by ascending position."""
        ...


class MemoryWrites(Protocol):
    """Beliefs as they are written: whole rows, links included, locked until the transaction ends."""

    async def find_for_update(self, owner: Owner, id: UUID, *, ceiling: Sensitivity) -> MemoryRecord | None:
        """The visible belief, locked; None if it is absent, foreign or above the ceiling."""
        ...

    async def find_many_for_update(self, owner: Owner, ids: Collection[UUID]) -> list[MemoryRecord]:
        """Those of the ids that are the owner's, whatever their sensitivity, locked in id order."""
        ...

    async def find_same_statement_ids(self, owner: Owner, hashes: Collection[bytes]) -> frozenset[UUID]:
        """The ids of all rows with one of these statement hashes, without locking them."""
        ...

    async def find_linked_ids(self, owner: Owner, ids: Collection[UUID]) -> frozenset[UUID]:
        """The ids that the rows' conflict links name and those of rows that they supersede, without locking."""
        ...

    async def exists(self, owner: Owner, id: UUID) -> bool:
        """Whether the owner has a row of this id, in any status."""
        ...

    async def next_positions(self, count: int) -> list[int]:
        """Fresh numbers of the one store-wide sequence, ascending."""
        ...

    async def add(self, record: MemoryRecord, *, statement_hash: bytes) -> None:
        """Insert a row, its lexemes, and the copy of a live person-linked statement."""
        ...

    async def put(self, record: MemoryRecord) -> None:
        """Write the CHANGEABLE_FIELDS of a row; subject, statement, sensitivity and identity never change.

        The people_facts copy stands exactly while the row is stored as live and person-linked.
        """
        ...

    async def unlink(self, owner: Owner, ids: Collection[UUID], *, gone: Collection[UUID]) -> None:
        """Take the links to beliefs that go out of these rows, in one statement however many there are.

        No write of a belief: neither position nor updated_at moves.
        """
        ...

    async def erase(self, owner: Owner, ids: Collection[UUID]) -> None:
        """Remove the rows, their evidence and the people_facts copies."""
        ...

    async def erase_facts(self, owner: Owner, hashes: Collection[bytes]) -> None:
        """Remove every people_facts copy with one of these statement hashes."""
        ...

    async def find_references(self, owner: Owner, id: UUID) -> frozenset[EvidenceReference]:
        """The evidence references that a belief holds."""
        ...

    async def add_references(self, owner: Owner, id: UUID, references: Sequence[EvidenceReference]) -> None:
        """Hold further references, which must be new to the belief; their order is kept."""
        ...

    async def find_due_for_update(self, tenant: str, *, now: datetime, limit: int) -> list[MemoryRecord]:
        """Live rows of a tenant that have run out, at most `limit`, locked; rows locked elsewhere are left out."""
        ...

    async def find_statement_texts(self, owner: Owner, *, after: UUID | None, limit: int) -> list[tuple[UUID, str]]:
        """(id, statement) of the owner's rows by id, at most `limit`, after an id."""
        ...

    async def rewrite_lexemes(self, *, after: MemoryKey | None, limit: int) -> list[MemoryKey]:
        """Make the lexemes of the next rows of all owners anew, by owner and id, at most `limit`, after a key.

        Answers the keys of these rows, whether or not their lexemes changed. Nothing else of a row changes.
        """
        ...

    async def put_display_subject(self, owner: Owner, *, subject: str, shown: str, limit: int) -> int:
        """Rewrite the shown subject and the lexemes of at most `limit` rows that show another; how many."""
        ...
