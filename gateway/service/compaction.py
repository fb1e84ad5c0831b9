"""Clearing what was deleted from the files of the store: beside the requests, or thoroughly by an operator.

Source: The store on PostgreSQL, Erasure on disk.
"""

from gateway.service.environment import Environment
from gateway.service.journaling import journal_act
from store.domain.encodings import wire_time
from store.domain.maintenance import Compaction
from store.ports.maintenance import Maintenance
from store.ports.store import Store, StoreFact, Transaction


class CompactionService:
    """Clears the files of one store."""

    def __init__(self, store: Store, maintenance: Maintenance, environment: Environment) -> None:
        """Act on a store by its maintenance."""
        self._store = store
        self._maintenance = maintenance
        self._environment = environment

    async def vacuum(self) -> bool:
        """Clear deleted rows beside the requests; whether there was any to clear. Raises StoreError."""
        return await self._maintenance.vacuum()

    async def compact(self, *, full: bool) -> Compaction:
        """Clear deleted rows from tables, indexes and log, and note when it was done. Raises StoreError."""
        begun_at = self._environment.clock()
        done = await self._maintenance.compact(full=full)
        manner = "full" if full else "plain"

        async def note(transaction: Transaction) -> None:
            await transaction.facts.put(StoreFact.COMPACTED, f"{wire_time(begun_at)} ({manner})")
            await journal_act(
                transaction,
                now=begun_at,
                action="compact",
                manner=manner,
                log_cleared=done.log_cleared,
                readers=done.readers,
            )

        await self._store.transact(note)
        return done
