"""What is written beside a belief: events, receipts, tombstones, rejections, evidence references.

None of them holds a statement or a subject. Source: belief store decisions, Review and delete.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from store.domain.owners import Owner
from store.domain.vocabulary import EventKind, ReceiptKind, RejectionKind

NO_SESSION = UUID(int=0)
"""The session of events that belong to none, such as an operator's access."""

Payload = Mapping[str, str | int | bool | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One entry of the journal, keyed (tenant, principal, session, number); numbers rise and have gaps."""

    owner: Owner
    session_id: UUID
    number: int
    kind: EventKind
    memory_id: UUID | None
    occurred_at: datetime
    payload: Payload


@dataclass(frozen=True, slots=True, kw_only=True)
class EventFilter:
    """Which events of all owners are meant; None is no filter. Times: from `since` on, before `until`."""

    tenant: str | None = None
    principal: str | None = None
    kinds: frozenset[EventKind] | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """The proof that one idempotency key of one owner was applied. It outlives the belief."""

    owner: Owner
    key: str
    kind: ReceiptKind
    request_hash: bytes
    memory_id: UUID
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Tombstone:
    """A statement that was deleted, as a keyed hash: it can't be formed again for that owner."""

    owner: Owner
    statement_hash: bytes
    key_id: str
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejection:
    """A statement that was rejected, as a keyed hash; once for each kind."""

    owner: Owner
    statement_hash: bytes
    key_id: str
    kind: RejectionKind
    memory_id: UUID
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class EvidenceReference:
    """One event of one source session on which a belief rests."""

    session_id: UUID
    number: int
