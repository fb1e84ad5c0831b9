"""Appending, blocking and naming in PostgreSQL, inside one transaction."""

from collections.abc import Collection, Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import Executable, delete, select, text
from sqlalchemy.dialects.postgresql import insert

from store.domain.journal import Event, Payload, Receipt, Rejection, Tombstone
from store.domain.keyring import lock_number
from store.domain.owners import Owner
from store.domain.people import Person
from store.domain.vocabulary import EventKind, RejectionKind
from store.postgres.codes import text_key
from store.postgres.journal_reads import event_of, receipt_of
from store.postgres.predicates import is_owned, owned, owner_parameters
from store.postgres.sequences import Sequences
from store.postgres.sessions import Session
from store.postgres.tables import events, people, receipts, rejections, tombstones

# Sorted inside a fence: the locks are taken in the order of the rows.
_LOCK = text("""
    select pg_advisory_xact_lock(number)
    from (select number from unnest(CAST(:numbers AS bigint[])) wanted (number) order by number offset 0) ordered
""")
_ENTOMBED = f"""exists (
    select from tombstones grave where {owned("grave")} and grave.statement_hash = any (CAST(:hashes AS bytea[]))
)"""
_IS_ENTOMBED = text(f"select {_ENTOMBED}")
_IS_BLOCKED = text(f"""select {_ENTOMBED} or exists (
    select from rejections refused
    where {owned("refused")} and refused.statement_hash = any (CAST(:hashes AS bytea[]))
        and refused.kind = any (CAST(:kinds AS text[]))
)""")
_ERASE_REJECTIONS = text(f"""
    delete from rejections refused
    where {owned("refused")} and refused.statement_hash = any (CAST(:hashes AS bytea[]))
""")
_ERASE_RECEIPTS = text("""
    delete from receipts where tenant_id = :tenant and ctid = any (array(
        select old.ctid from receipts old where old.tenant_id = :tenant and old.created_at < :before
        order by old.created_at limit :limit for update skip locked
    ))
""")


class PostgresJournalWrites:
    """The JournalWrites of a session."""

    def __init__(self, session: Session, sequences: Sequences) -> None:
        self._session = session
        self._sequences = sequences

    async def append(
        self, owner: Owner, kind: EventKind, *, session_id: UUID, memory_id: UUID | None, at: datetime, payload: Payload
    ) -> None:
        """Append one event under the next number of the journal."""
        event = Event(
            owner=owner,
            session_id=session_id,
            number=await self._sequences.next_number(),
            kind=kind,
            memory_id=memory_id,
            occurred_at=at,
            payload=payload,
        )
        await self._session.execute(insert(events).values(_event_values(event)))

    async def append_each(
        self, owner: Owner, kind: EventKind, *, memories: Sequence[tuple[UUID, UUID]], at: datetime
    ) -> None:
        """Append one event without payload for each (session, memory), in as many statements whatever their number."""
        if not memories:
            return
        numbers = await self._sequences.next_numbers(len(memories))
        rows = [
            _event_values(
                Event(
                    owner=owner,
                    session_id=session_id,
                    number=number,
                    kind=kind,
                    memory_id=memory_id,
                    occurred_at=at,
                    payload={},
                )
            )
            for number, (session_id, memory_id) in zip(numbers, memories, strict=True)
        ]
        await self._session.execute(insert(events), rows)

    async def restore_event(self, event: Event) -> bool:
        """Write an event under its own number; False if one stands there. Later numbers lie above it."""
        written = await self._is_written(insert(events).values(_event_values(event)).on_conflict_do_nothing())
        if written:
            await self._sequences.rise_above(event.number)
        return written

    async def find_event(self, owner: Owner, session_id: UUID, number: int) -> Event | None:
        """The event under that number."""
        rows = await self._session.fetch(
            select(events).where(is_owned(events, owner), events.c.session_id == session_id, events.c.number == number)
        )
        return event_of(rows[0]) if rows else None

    async def find_receipt(self, owner: Owner, key: str) -> Receipt | None:
        """The receipt of an idempotency key."""
        rows = await self._session.fetch(select(receipts).where(is_owned(receipts, owner), receipts.c.key == key))
        return receipt_of(rows[0]) if rows else None

    async def add_receipt(self, receipt: Receipt) -> bool:
        """Take the key; False if it is taken. Waits for a concurrent transaction that holds it."""
        values = {
            **_owner_values(receipt.owner),
            "key": receipt.key,
            "kind": receipt.kind.value,
            "request_hash": receipt.request_hash,
            "memory_id": receipt.memory_id,
            "created_at": receipt.created_at,
        }
        return await self._is_written(insert(receipts).values(values).on_conflict_do_nothing())

    async def erase_receipts(self, tenant: str, *, before: datetime, limit: int) -> int:
        """Remove at most `limit` receipts older than a moment, the oldest first; how many."""
        return await self._session.execute(_ERASE_RECEIPTS, {"tenant": tenant, "before": before, "limit": limit})

    async def lock_statements(self, owner: Owner, hashes: Collection[bytes]) -> None:
        """Wait for, and hold, the exclusive right to form or delete these statements; ascending order.

        What is read in the next statement was committed before the right was granted.
        """
        await self._session.fetch(_LOCK, {"numbers": sorted({lock_number(owner, each) for each in hashes})})

    async def blocked(self, owner: Owner, hashes: Collection[bytes], *, kinds: Collection[RejectionKind]) -> bool:
        """Whether a tombstone, or a rejection of one of the kinds, stands on one of the hashes."""
        parameters = {**_hash_parameters(owner, hashes), "kinds": [kind.value for kind in kinds]}
        return bool(await self._session.fetch_value(_IS_BLOCKED, parameters))

    async def entombed(self, owner: Owner, hashes: Collection[bytes]) -> bool:
        """Whether a tombstone stands on one of the hashes."""
        return bool(await self._session.fetch_value(_IS_ENTOMBED, _hash_parameters(owner, hashes)))

    async def add_tombstone(self, tombstone: Tombstone) -> bool:
        """Write a tombstone; False if it stands already."""
        values = {
            **_owner_values(tombstone.owner),
            "statement_hash": tombstone.statement_hash,
            "key_id": tombstone.key_id,
            "created_at": tombstone.created_at,
        }
        return await self._is_written(insert(tombstones).values(values).on_conflict_do_nothing())

    async def add_rejection(self, rejection: Rejection) -> bool:
        """Write a rejection; False if one of its hash and kind stands already."""
        values = {
            **_owner_values(rejection.owner),
            "statement_hash": rejection.statement_hash,
            "kind": rejection.kind.value,
            "key_id": rejection.key_id,
            "memory_id": rejection.memory_id,
            "created_at": rejection.created_at,
        }
        return await self._is_written(insert(rejections).values(values).on_conflict_do_nothing())

    async def erase_rejections(self, owner: Owner, hashes: Collection[bytes]) -> None:
        """Remove the rejections of these hashes, which a tombstone replaces."""
        await self._session.execute(_ERASE_REJECTIONS, _hash_parameters(owner, hashes))

    async def find_person(self, owner: Owner, key: str) -> Person | None:
        """The person behind a key."""
        name = await self._session.fetch_value(
            select(people.c.name).where(is_owned(people, owner), people.c.key_digest == text_key(key))
        )
        return None if name is None else Person(owner=owner, key=key, name=name)

    async def put_person(self, person: Person) -> bool:
        """Write a person's name; False if it is that already."""
        naming = insert(people).values(
            **_owner_values(person.owner), key_digest=text_key(person.key), key=person.key, name=person.name
        )
        return await self._is_written(
            naming.on_conflict_do_update(
                index_elements=list(people.primary_key),
                set_={"name": naming.excluded.name},
                where=people.c.name != naming.excluded.name,
            )
        )

    async def erase_people(self, owner: Owner) -> None:
        """Remove every person of the owner."""
        await self._session.execute(delete(people).where(is_owned(people, owner)))

    async def _is_written(self, statement: Executable) -> bool:
        return await self._session.execute(statement) == 1


def _owner_values(owner: Owner) -> dict[str, object]:
    return {"tenant_id": owner.tenant, "principal_id": owner.principal}


def _hash_parameters(owner: Owner, hashes: Collection[bytes]) -> dict[str, object]:
    return {**owner_parameters(owner), "hashes": list(hashes)}


def _event_values(event: Event) -> dict[str, object]:
    return {
        **_owner_values(event.owner),
        "session_id": event.session_id,
        "number": event.number,
        "kind": event.kind.value,
        "memory_id": event.memory_id,
        "occurred_at": event.occurred_at,
        "payload": dict(event.payload),
    }
