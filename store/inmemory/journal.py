"""Events, receipts, tombstones, rejections and people in memory."""

from collections import Counter
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from datetime import datetime
from typing import TypeVar
from uuid import UUID

from store.domain.journal import Event, EventFilter, Payload, Receipt, Rejection, Tombstone
from store.domain.owners import WHOLE_STORE, Owner
from store.domain.people import Person
from store.domain.vocabulary import EventKind, RejectionKind
from store.inmemory.state import Sequences, State

Key = TypeVar("Key")
Value = TypeVar("Value")


class InMemoryJournalReads:
    """Everything beside the beliefs of one owner, for export."""

    def __init__(self, state: State) -> None:
        self._state = state

    async def events(self, owner: Owner) -> AsyncIterator[Event]:
        """The owner's events by session and number."""
        for _, event in sorted(self._state.of(owner).events.items()):
            yield event

    async def entries(self, filter: EventFilter, *, start: int | None, limit: int) -> list[Event]:
        """At most `limit` events of all owners by number: the first ones from a number on, or without one the last."""
        found = sorted(
            (
                event
                for held in self._state.owners.values()
                for event in held.events.values()
                if _is_meant(filter, event)
            ),
            key=lambda event: (event.number, event.owner, event.session_id),
        )
        if start is None:
            return found[-limit:]
        return [event for event in found if event.number >= start][:limit]

    async def receipts(self, owner: Owner) -> AsyncIterator[Receipt]:
        """The owner's receipts by key."""
        for _, receipt in sorted(self._state.of(owner).receipts.items()):
            yield receipt

    async def tombstones(self, owner: Owner) -> AsyncIterator[Tombstone]:
        """The owner's tombstones by hash."""
        for _, tombstone in sorted(self._state.of(owner).tombstones.items()):
            yield tombstone

    async def rejections(self, owner: Owner) -> AsyncIterator[Rejection]:
        """The owner's rejections by hash and kind."""
        for _, rejection in sorted(self._state.of(owner).rejections.items()):
            yield rejection

    async def people(self, owner: Owner) -> AsyncIterator[Person]:
        """The owner's people by key."""
        for _, person in sorted(self._state.of(owner).people.items()):
            yield person

    async def owners(self) -> list[Owner]:
        """Every owner of whom anything is stored, in order."""
        held = (owner for owner, state in self._state.owners.items() if not state.is_empty())
        return sorted(owner for owner in held if owner != WHOLE_STORE)

    async def principals(self, tenant: str, *, after: str | None, limit: int) -> list[str]:
        """Those of the owners that are of a tenant, by principal in code points, at most `limit`, after one of them."""
        names = [owner.principal for owner in await self.owners() if owner.tenant == tenant]
        return [name for name in names if after is None or name > after][:limit]

    async def stored_by_sensitivity(self) -> Mapping[str, int]:
        """How many beliefs are stored in all, by sensitivity."""
        return Counter(
            row.record.sensitivity.value for held in self._state.owners.values() for row in held.memories.values()
        )


def _is_added(held: dict[Key, Value], key: Key, value: Value) -> bool:
    """Write a value where none stands; False where one does, be it the same."""
    if key in held:
        return False
    held[key] = value
    return True


def _is_meant(filter: EventFilter, event: Event) -> bool:
    return (
        filter.tenant in {None, event.owner.tenant}
        and filter.principal in {None, event.owner.principal}
        and (filter.kinds is None or event.kind in filter.kinds)
        and (filter.since is None or event.occurred_at >= filter.since)
        and (filter.until is None or event.occurred_at < filter.until)
    )


class InMemoryJournalWrites:
    """Appending and blocking, inside one transaction. The store runs one at a time, so no lock is ever waited for."""

    def __init__(self, state: State, sequences: Sequences) -> None:
        self._state = state
        self._numbers = sequences.events

    async def append(
        self, owner: Owner, kind: EventKind, *, session_id: UUID, memory_id: UUID | None, at: datetime, payload: Payload
    ) -> None:
        """Append one event under the next number of the journal."""
        number = self._numbers.take()
        self._state.for_writing(owner).events[session_id, number] = Event(
            owner=owner,
            session_id=session_id,
            number=number,
            kind=kind,
            memory_id=memory_id,
            occurred_at=at,
            payload=dict(payload),
        )

    async def append_each(
        self, owner: Owner, kind: EventKind, *, memories: Sequence[tuple[UUID, UUID]], at: datetime
    ) -> None:
        """Append one event without payload for each (session, memory)."""
        for session_id, memory_id in memories:
            await self.append(owner, kind, session_id=session_id, memory_id=memory_id, at=at, payload={})

    async def restore_event(self, event: Event) -> bool:
        """Write an event under its own number; False if one stands there. Later numbers lie above it."""
        events = self._state.for_writing(event.owner).events
        key = (event.session_id, event.number)
        if key in events:
            return False
        events[key] = event
        self._numbers.rise_above(event.number)
        return True

    async def find_event(self, owner: Owner, session_id: UUID, number: int) -> Event | None:
        """The event under that number."""
        return self._state.of(owner).events.get((session_id, number))

    async def find_receipt(self, owner: Owner, key: str) -> Receipt | None:
        """The receipt of an idempotency key."""
        return self._state.of(owner).receipts.get(key)

    async def add_receipt(self, receipt: Receipt) -> bool:
        """Take the key; False if it is taken."""
        receipts = self._state.for_writing(receipt.owner).receipts
        return _is_added(receipts, receipt.key, receipt)

    async def erase_receipts(self, tenant: str, *, before: datetime, limit: int) -> int:
        """Remove at most `limit` receipts older than a moment; how many."""
        old = [
            receipt
            for owner, held in self._state.owners.items()
            if owner.tenant == tenant
            for receipt in held.receipts.values()
            if receipt.created_at < before
        ]
        erased = sorted(old, key=lambda receipt: receipt.created_at)[:limit]
        for receipt in erased:
            del self._state.for_writing(receipt.owner).receipts[receipt.key]
        return len(erased)

    async def lock_statements(self, owner: Owner, hashes: Collection[bytes]) -> None:
        """Nothing to wait for: this transaction has the whole store to itself."""

    async def blocked(self, owner: Owner, hashes: Collection[bytes], *, kinds: Collection[RejectionKind]) -> bool:
        """Whether a tombstone, or a rejection of one of the kinds, stands on one of the hashes."""
        rejections = self._state.of(owner).rejections
        return await self.entombed(owner, hashes) or any(
            (hash, kind) in rejections for hash in hashes for kind in kinds
        )

    async def entombed(self, owner: Owner, hashes: Collection[bytes]) -> bool:
        """Whether a tombstone stands on one of the hashes."""
        tombstones = self._state.of(owner).tombstones
        return any(hash in tombstones for hash in hashes)

    async def add_tombstone(self, tombstone: Tombstone) -> bool:
        """Write a tombstone; False if it stands already."""
        tombstones = self._state.for_writing(tombstone.owner).tombstones
        return _is_added(tombstones, tombstone.statement_hash, tombstone)

    async def add_rejection(self, rejection: Rejection) -> bool:
        """Write a rejection; False if one of its hash and kind stands already."""
        rejections = self._state.for_writing(rejection.owner).rejections
        return _is_added(rejections, (rejection.statement_hash, rejection.kind), rejection)

    async def erase_rejections(self, owner: Owner, hashes: Collection[bytes]) -> None:
        """Remove the rejections of these hashes, which a tombstone replaces."""
        rejections = self._state.for_writing(owner).rejections
        for key in [key for key in rejections if key[0] in hashes]:
            del rejections[key]

    async def find_person(self, owner: Owner, key: str) -> Person | None:
        """The person behind a key."""
        return self._state.of(owner).people.get(key)

    async def put_person(self, person: Person) -> bool:
        """Write a person's name; False if it is that already."""
        people = self._state.for_writing(person.owner).people
        if people.get(person.key) == person:
            return False
        people[person.key] = person
        return True

    async def erase_people(self, owner: Owner) -> None:
        """Remove every person of the owner."""
        self._state.for_writing(owner).people.clear()
