"""Events, receipts, tombstones, rejections and people as they are exported from PostgreSQL."""

from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any

from sqlalchemy import ColumnElement, Table, select, text, tuple_

from store.domain.journal import Event, EventFilter, Receipt, Rejection, Tombstone
from store.domain.owners import WHOLE_STORE, Owner
from store.domain.people import Person
from store.domain.vocabulary import EventKind, ReceiptKind, RejectionKind
from store.postgres.codes import SENSITIVITIES
from store.postgres.derived_tables import derived_records
from store.postgres.predicates import is_owned
from store.postgres.sessions import AnyRow, Session
from store.postgres.tables import beliefs, events, people, receipts, rejections, tombstones

BATCH_ROWS = 1_000

_OWNED_TABLES = (beliefs, derived_records, events, receipts, tombstones, rejections, people)


def _owners_of(table: Table) -> str:
    """Each owner in a table, by as many look-ups in its primary key as there are owners."""
    return f"""(with recursive owner as (
        (select tenant_id, principal_id from {table.name} order by tenant_id, principal_id limit 1)
        union all
        select following.* from owner cross join lateral (
            select m.tenant_id, m.principal_id from {table.name} m
            where (m.tenant_id, m.principal_id) > (owner.tenant_id, owner.principal_id)
            order by m.tenant_id, m.principal_id limit 1
        ) following
    ) select tenant_id, principal_id from owner)"""


_OWNERS = text(" union ".join(map(_owners_of, _OWNED_TABLES)) + " order by tenant_id, principal_id")


def _principals_of(table: Table) -> str:
    """The next principals of a tenant in a table, by as many look-ups in its primary key as there are."""
    return f"""(with recursive named as (
        (select principal_id from {table.name} where tenant_id = :tenant and principal_id > :after
            order by principal_id limit 1)
        union all
        select following.* from named cross join lateral (
            select m.principal_id from {table.name} m
            where m.tenant_id = :tenant and m.principal_id > named.principal_id
            order by m.principal_id limit 1
        ) following
    ) select principal_id from named limit :limit)"""


_PRINCIPALS = text(" union ".join(map(_principals_of, _OWNED_TABLES)) + " order by principal_id limit :limit")
_STORED_BY_SENSITIVITY = text("select sensitivity, count(*) as number from beliefs group by sensitivity")


class PostgresJournalReads:
    """The JournalReads of a session. What belongs to one owner is read in batches of the session's one snapshot."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def events(self, owner: Owner) -> AsyncIterator[Event]:
        """The owner's events by session and number."""
        async for row in self._rows(events, owner, events.c.session_id, events.c.number):
            yield event_of(row)

    async def entries(self, filter: EventFilter, *, start: int | None, limit: int) -> list[Event]:
        """At most `limit` events of all owners by number: the first ones from a number on, or without one the last."""
        key = (events.c.number, events.c.tenant_id, events.c.principal_id, events.c.session_id)
        query = select(events).where(*_conditions(filter)).limit(limit)
        if start is None:
            rows = await self._session.fetch(query.order_by(*(column.desc() for column in key)))
            return [event_of(row) for row in reversed(rows)]
        rows = await self._session.fetch(query.where(events.c.number >= start).order_by(*key))
        return [event_of(row) for row in rows]

    async def receipts(self, owner: Owner) -> AsyncIterator[Receipt]:
        """The owner's receipts by key."""
        async for row in self._rows(receipts, owner, receipts.c.key):
            yield receipt_of(row)

    async def tombstones(self, owner: Owner) -> AsyncIterator[Tombstone]:
        """The owner's tombstones by hash."""
        async for row in self._rows(tombstones, owner, tombstones.c.statement_hash):
            yield Tombstone(
                owner=owner, statement_hash=row.statement_hash, key_id=row.key_id, created_at=row.created_at
            )

    async def rejections(self, owner: Owner) -> AsyncIterator[Rejection]:
        """The owner's rejections by hash and kind."""
        async for row in self._rows(rejections, owner, rejections.c.statement_hash, rejections.c.kind):
            yield Rejection(
                owner=owner,
                statement_hash=row.statement_hash,
                key_id=row.key_id,
                kind=RejectionKind(row.kind),
                memory_id=row.memory_id,
                created_at=row.created_at,
            )

    async def people(self, owner: Owner) -> AsyncIterator[Person]:
        """The owner's people by key."""
        # In one piece: their primary key is a digest, which gives no order by key.
        rows = await self._session.fetch(select(people).where(is_owned(people, owner)).order_by(people.c.key))
        for row in rows:
            yield Person(owner=owner, key=row.key, name=row.name)

    async def owners(self) -> list[Owner]:
        """Every owner of whom anything is stored, in order."""
        owners = [Owner(tenant=row[0], principal=row[1]) for row in await self._session.fetch(_OWNERS)]
        return [owner for owner in owners if owner != WHOLE_STORE]

    async def principals(self, tenant: str, *, after: str | None, limit: int) -> list[str]:
        """Those of the owners that are of a tenant, by principal in code points, at most `limit`, after one of them."""
        # No principal has an empty name.
        parameters = {"tenant": tenant, "after": after or "", "limit": limit}
        return [row[0] for row in await self._session.fetch(_PRINCIPALS, parameters)]

    async def stored_by_sensitivity(self) -> Mapping[str, int]:
        """How many beliefs are stored in all, by sensitivity."""
        rows = await self._session.fetch(_STORED_BY_SENSITIVITY)
        return {SENSITIVITIES[row.sensitivity].value: row.number for row in rows}

    async def _rows(
        self,
        table: Table,
        owner: Owner,
        *key: ColumnElement[Any],  # Any: the columns of a key are of several types
    ) -> AsyncIterator[AnyRow]:
        """The owner's rows of a table in the order of the rest of its primary key."""
        batch = select(table).where(is_owned(table, owner)).order_by(*key).limit(BATCH_ROWS)
        rows = await self._session.fetch(batch)
        while rows:
            for row in rows:
                yield row
            if len(rows) < BATCH_ROWS:
                return
            last = tuple_(*(getattr(rows[-1], column.name) for column in table.primary_key if column in set(key)))
            rows = await self._session.fetch(batch.where(tuple_(*key) > last))


def _conditions(filter: EventFilter) -> Iterator[ColumnElement[bool]]:
    if filter.tenant is not None:
        yield events.c.tenant_id == filter.tenant
    if filter.principal is not None:
        yield events.c.principal_id == filter.principal
    if filter.kinds is not None:
        yield events.c.kind.in_(sorted(kind.value for kind in filter.kinds))
    if filter.since is not None:
        yield events.c.occurred_at >= filter.since
    if filter.until is not None:
        yield events.c.occurred_at < filter.until


def event_of(row: AnyRow) -> Event:
    """The event of a row."""
    return Event(
        owner=Owner(tenant=row.tenant_id, principal=row.principal_id),
        session_id=row.session_id,
        number=row.number,
        kind=EventKind(row.kind),
        memory_id=row.memory_id,
        occurred_at=row.occurred_at,
        payload=row.payload,
    )


def receipt_of(row: AnyRow) -> Receipt:
    """The receipt of a row."""
    return Receipt(
        owner=Owner(tenant=row.tenant_id, principal=row.principal_id),
        key=row.key,
        kind=ReceiptKind(row.kind),
        request_hash=row.request_hash,
        memory_id=row.memory_id,
        created_at=row.created_at,
    )
