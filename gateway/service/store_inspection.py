"""What a store says of itself, for operators: by which key and rules it was written, how much, and until when."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from store.ports.store import Store, StoreFact


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreInspection:
    """The facts of a store; None for what was never written or done.

    `newest_at` is the last time noted on any token, `compacted` when its files were last cleared, and how.
    """

    key_id: str | None
    lexical_version: str | None
    newest_at: datetime | None
    compacted: str | None


async def inspect_store(store: Store) -> StoreInspection:
    """Read the facts, from one snapshot. Raises StoreUnavailable."""
    async with store.snapshot() as snapshot:
        tokens = await snapshot.tokens.list(tenant=None, principal=None)
        times = [moment for token in tokens for moment in (token.created_at, token.last_used_at) if moment is not None]
        return StoreInspection(
            key_id=await snapshot.facts.find(StoreFact.KEY_ID),
            lexical_version=await snapshot.facts.find(StoreFact.LEXICAL_VERSION),
            newest_at=max(times, default=None),
            compacted=await snapshot.facts.find(StoreFact.COMPACTED),
        )


async def count_stored(store: Store) -> Mapping[str, int]:
    """How many beliefs of all principals are stored, by sensitivity. Raises StoreUnavailable."""
    async with store.snapshot() as snapshot:
        return await snapshot.journal.stored_by_sensitivity()
