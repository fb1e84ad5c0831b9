"""What the store remembers about itself, in PostgreSQL."""

import hashlib
from datetime import datetime

from sqlalchemy import select, text, update
from sqlalchemy.dialects.postgresql import insert

from store.domain.keyring import length_prefixed
from store.ports.errors import StoreInconsistent
from store.ports.store import StoreFact
from store.postgres.sessions import Session
from store.postgres.tables import WHOLE_STORE, imports, store_facts

_HOLD = text("select pg_advisory_xact_lock_shared(:number)")
_REPLACE = text("select pg_advisory_xact_lock(:number)")


def _lock_number(fact: StoreFact) -> int:
    """The signed 64-bit number of the advisory lock of a fact."""
    digest = hashlib.sha256(length_prefixed(b"fact", fact.value.encode())).digest()
    return int.from_bytes(digest[:8], "big", signed=True)


class PostgresFactReads:
    """The FactReads of a session."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def find(self, fact: StoreFact) -> str | None:
        """The value of a fact."""
        value: str | None = await self._session.fetch_value(
            select(store_facts.c.value).where(store_facts.c.tenant_id == WHOLE_STORE, store_facts.c.name == fact.value)
        )
        return value

    async def import_offset(self, file_hash: str) -> int:
        """How many bytes of a file of this hash were imported: 0 if it was never begun."""
        offset: int | None = await self._session.fetch_value(
            select(imports.c.byte_offset).where(imports.c.tenant_id == WHOLE_STORE, imports.c.file_hash == file_hash)
        )
        return offset or 0


class PostgresFactWrites(PostgresFactReads):
    """The FactWrites of a session."""

    async def claim(self, fact: StoreFact, value: str) -> str:
        """Write a fact unless it stands; the value that stands afterwards. Waits for a concurrent claim."""
        await self._session.execute(
            insert(store_facts).values(tenant_id=WHOLE_STORE, name=fact.value, value=value).on_conflict_do_nothing()
        )
        standing = await self.find(fact)
        if standing is None:
            raise StoreInconsistent("a fact that was claimed does not stand")
        return standing

    async def hold(self, fact: StoreFact) -> str | None:
        """The value of a fact, which nobody replaces until the transaction ends.

        Not by a lock of its row: who holds it without end could keep a writer of it waiting for ever.
        """
        await self._session.fetch(_HOLD, {"number": _lock_number(fact)})
        return await self.find(fact)

    async def put(self, fact: StoreFact, value: str) -> None:
        """Write a fact, whatever stands."""
        writing = insert(store_facts).values(tenant_id=WHOLE_STORE, name=fact.value, value=value)
        await self._session.execute(
            writing.on_conflict_do_update(
                index_elements=list(store_facts.primary_key), set_={"value": writing.excluded.value}
            )
        )

    async def replace(self, fact: StoreFact, *, expected: str, value: str) -> bool:
        """Write a fact where the expected value stands; False where another one does, or none.

        Waits for the transactions that hold it, and lets none hold it before this one ends.
        """
        await self._session.fetch(_REPLACE, {"number": _lock_number(fact)})
        writing = update(store_facts).where(
            store_facts.c.tenant_id == WHOLE_STORE, store_facts.c.name == fact.value, store_facts.c.value == expected
        )
        return await self._session.execute(writing.values(value=value)) == 1

    async def put_import_offset(self, file_hash: str, offset: int, *, at: datetime) -> None:
        """Remember how many bytes of a file were imported."""
        writing = insert(imports).values(tenant_id=WHOLE_STORE, file_hash=file_hash, byte_offset=offset, updated_at=at)
        await self._session.execute(
            writing.on_conflict_do_update(
                index_elements=list(imports.primary_key),
                set_={"byte_offset": writing.excluded.byte_offset, "updated_at": writing.excluded.updated_at},
            )
        )
