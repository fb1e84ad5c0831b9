"""What a store must do for events, receipts, tombstones, rejections and people."""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from store.domain.journal import Event, EventFilter, Payload, Receipt, Rejection, Tombstone
from store.domain.owners import Owner
from store.domain.people import Person
from store.domain.vocabulary import EventKind, RejectionKind


class JournalReads(Protocol):
    """Everything beside the beliefs of one owner, for export."""

    def events(self, owner: Owner) -> AsyncIterator[Event]:
        """The owner's events by session and number."""
        ...

    async def entries(self, filter: EventFilter, *, start: int | None, limit: int) -> list[Event]:
        """At most `limit` events of all owners by number: the first ones from a number on, or without one the last."""
        ...

    def receipts(self, owner: Owner) -> AsyncIterator[Receipt]:
        """The owner's receipts by key."""
        ...

    def tombstones(self, owner: Owner) -> AsyncIterator[Tombstone]:
        """The owner's tombstones by hash."""
        ...

    def rejections(self, owner: Owner) -> AsyncIterator[Rejection]:
        """The owner's rejections by hash and kind."""
        ...

    def people(self, owner: Owner) -> AsyncIterator[Person]:
        """The owner's people by key."""
        ...

    async def owners(self) -> list[Owner]:
        """Every owner of whom anything is stored, in order; what belongs to the whole store has none of them."""
        ...

    async def principals(self, tenant: str, *, after: str | None, limit: int) -> list[str]:
        """Those of the owners that are of a tenant, by principal in code points, at most `limit`, after one of them."""
        ...

    async def stored_by_sensitivity(self) -> Mapping[str, int]:
        """How many beliefs are stored in all, by sensitivity."""
        ...


class JournalWrites(Protocol):
    """Appending and blocking, inside one transaction."""

    async def append(
        self, owner: Owner, kind: EventKind, *, session_id: UUID, memory_id: UUID | None, at: datetime, payload: Payload
    ) -> None:
        """Append one event under the next number of the journal."""
        ...

    async def append_each(
        self, owner: Owner, kind: EventKind, *, memories: Sequence[tuple[UUID, UUID]], at: datetime
    ) -> None:
        """Append one event without payload for each (session, memory), in as many statements whatever their number."""
        ...

    async def restore_event(self, event: Event) -> bool:
        """Write an event under its own number; False if one stands there. Later numbers lie above it."""
        ...

    async def find_event(self, owner: Owner, session_id: UUID, number: int) -> Event | None:
        """The event under that number."""
        ...

    async def find_receipt(self, owner: Owner, key: str) -> Receipt | None:
        """The receipt of an idempotency key."""
        ...

    async def add_receipt(self, receipt: Receipt) -> bool:
        """Take the key; False if it is taken. Waits for a concurrent transaction that holds it."""
        ...

    async def erase_receipts(self, tenant: str, *, before: datetime, limit: int) -> int:
        """Remove at most `limit` receipts older than a moment; how many."""
        ...

    async def lock_statements(self, owner: Owner, hashes: Collection[bytes]) -> None:
        """Wait for, and hold, the exclusive right to form or delete these statements; ascending order."""
        ...

    async def blocked(self, owner: Owner, hashes: Collection[bytes], *, kinds: Collection[RejectionKind]) -> bool:
        """Whether a tombstone, or a rejection of one of the kinds, stands on one of the hashes."""
        ...

    async def entombed(self, owner: Owner, hashes: Collection[bytes]) -> bool:
        """Whether a tombstone stands on one of the hashes."""
        ...

    async def add_tombstone(self, tombstone: Tombstone) -> bool:
        """Write a tombstone; False if it stands already."""
        ...

    async def add_rejection(self, rejection: Rejection) -> bool:
        """Write a rejection; False if one of its hash and kind stands already."""
        ...

    async def erase_rejections(self, owner: Owner, hashes: Collection[bytes]) -> None:
        """Remove the rejections of these hashes, which a tombstone replaces."""
        ...

    async def find_person(self, owner: Owner, key: str) -> Person | None:
        """The person behind a key."""
        ...

    async def put_person(self, person: Person) -> bool:
        """Write a person's name; False if it is that already."""
        ...

    async def erase_people(self, owner: Owner) -> None:
        """Remove every person of the owner."""
        ...
