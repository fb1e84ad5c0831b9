"""Export: everything of an owner as lines that an import takes back.

Beliefs stand in ascending order of position, so that a round trip keeps their order, and before the rejections, which
would block those that stayed live beside a rejected one.
Source: belief store decisions, Formation (Restoring).
"""

from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from gateway.service.records import FORMAT_VERSION
from store.domain.encodings import wire_time
from store.domain.journal import Event, EvidenceReference, Receipt, Rejection, Tombstone
from store.domain.memories import MemoryRecord
from store.domain.owners import Owner
from store.domain.people import Person
from store.ports.store import Snapshot, Store


class ExportService:
    """Writes out what the store holds, from one snapshot."""

    def __init__(self, store: Store) -> None:
        """Read from a store."""
        self._store = store

    async def lines(self, *, tenant: str | None = None, principal: str | None = None) -> AsyncIterator[dict[str, Any]]:
        """Every line of the owners asked for (all without a tenant), owner by owner."""
        async with self._store.snapshot() as snapshot:
            for owner in await snapshot.journal.owners():
                if tenant in (None, owner.tenant) and principal in (None, owner.principal):
                    async for line in _owner_lines(snapshot, owner):
                        yield line


async def _owner_lines(snapshot: Snapshot, owner: Owner) -> AsyncIterator[dict[str, Any]]:
    async for person in snapshot.journal.people(owner):
        yield person_line(person)
    async for tombstone in snapshot.journal.tombstones(owner):
        yield tombstone_line(tombstone)
    async for record, references in snapshot.memories.export(owner):
        yield belief_line(record, references)
    async for rejection in snapshot.journal.rejections(owner):
        yield rejection_line(rejection)
    async for event in snapshot.journal.events(owner):
        yield event_line(event)
    async for receipt in snapshot.journal.receipts(owner):
        yield receipt_line(receipt)


def belief_line(record: MemoryRecord, references: Sequence[EvidenceReference]) -> dict[str, Any]:
    """The line of a stored belief; reading it back gives the record, position and shown name aside."""
    withheld = {"owner", "display_subject", "store_position"}
    values = {name: getattr(record, name) for name in MemoryRecord.__dataclass_fields__ if name not in withheld}
    evidence = [[str(reference.session_id), reference.number] for reference in references]
    return _line("belief", record.owner, **values, evidence=evidence)


def person_line(person: Person) -> dict[str, Any]:
    """The line of a person."""
    return _line("person", person.owner, key=person.key, name=person.name)


def tombstone_line(tombstone: Tombstone) -> dict[str, Any]:
    """The line of a tombstone."""
    return _line(
        "tombstone",
        tombstone.owner,
        statement_hash=tombstone.statement_hash,
        key_id=tombstone.key_id,
        created_at=tombstone.created_at,
    )


def rejection_line(rejection: Rejection) -> dict[str, Any]:
    """The line of a rejection."""
    return _line(
        "rejection",
        rejection.owner,
        statement_hash=rejection.statement_hash,
        key_id=rejection.key_id,
        rejection_kind=rejection.kind,
        memory_id=rejection.memory_id,
        created_at=rejection.created_at,
    )


def event_line(event: Event) -> dict[str, Any]:
    """The line of an event."""
    return _line(
        "event",
        event.owner,
        session_id=event.session_id,
        number=event.number,
        event_kind=event.kind,
        memory_id=event.memory_id,
        occurred_at=event.occurred_at,
        payload=dict(event.payload),
    )


def receipt_line(receipt: Receipt) -> dict[str, Any]:
    """The line of a receipt."""
    return _line(
        "receipt",
        receipt.owner,
        key=receipt.key,
        receipt_kind=receipt.kind,
        request_hash=receipt.request_hash,
        memory_id=receipt.memory_id,
        created_at=receipt.created_at,
    )


def _line(kind: str, owner: Owner, **values: Any) -> dict[str, Any]:
    head = {"version": FORMAT_VERSION, "kind": kind, "tenant": owner.tenant, "principal": owner.principal}
    return head | {name: _wire(value) for name, value in values.items()}


def _wire(value: Any) -> Any:
    match value:
        case datetime():
            return wire_time(value)
        case UUID():
            return str(value)
        case Decimal():
            return float(value)
        case bytes():
            return value.hex()
        case tuple():
            return [_wire(item) for item in value]
    return value
