"""Making all lexemes anew by the rules of this program, after it or its Unicode tables changed.

The version of the store is marked first; from then on nobody writes lexemes or compares them. Rows are rewritten in
batches, each of which notes where it ended, so that a run that was broken off is gone on with. At the end the store is
of this version. Source: Text search: one tokenizer, PostgreSQL's index (the version).
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from uuid import UUID

from gateway.service.environment import Environment
from gateway.service.errors import Conflict
from gateway.service.journaling import journal_act
from store.domain.lexical import LEXICAL_VERSION
from store.domain.owners import Owner
from store.ports.memories import MemoryKey
from store.ports.store import Store, StoreFact, Transaction

REINDEX_BATCH = 500
_MARK = f"reindexing {LEXICAL_VERSION}"
"""What stands in place of the version meanwhile. Another program's mark is another one."""
_DERIVED = "derived"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reindexing:
    """What a run did: rows looked at, and whether it went on with an earlier one; 0 where nothing was to be done."""

    rows: int
    resumed: bool


class ReindexService:
    """Rebuilds the lexemes of a store."""

    def __init__(self, store: Store, environment: Environment) -> None:
        """Act on a store."""
        self._store = store
        self._environment = environment

    async def run(self, *, progress: Callable[[int, int], None] = lambda *_: None) -> Reindexing:
        """Rebuild where the version differs; `progress` is told how many rows of how many are done.

        Raises Conflict where another program's rebuild took over meanwhile.
        """
        async with self._store.snapshot() as snapshot:
            if await snapshot.facts.find(StoreFact.LEXICAL_VERSION) == LEXICAL_VERSION:
                return Reindexing(rows=0, resumed=False)
            total = sum((await snapshot.journal.stored_by_sensitivity()).values())
        resumed = await self._store.transact(self._begin)
        done = 0
        while rows := await self._store.transact(rebuild_batch):
            done += rows
            progress(done, max(done, total))
        await self._store.transact(partial(self._end, rows=done))
        return Reindexing(rows=done, resumed=resumed)

    async def _begin(self, transaction: Transaction) -> bool:
        """Mark the version; whether a run of ours had marked it before."""
        standing = await transaction.facts.find(StoreFact.LEXICAL_VERSION)
        if standing == _MARK:
            return True
        if standing is None or not await transaction.facts.replace(
            StoreFact.LEXICAL_VERSION, expected=standing, value=_MARK
        ):
            raise _taken_over()
        await transaction.facts.put(StoreFact.LEXICAL_PROGRESS, "")
        await journal_act(transaction, now=self._environment.clock(), action="reindex_begin")
        return False

    async def _end(self, transaction: Transaction, *, rows: int) -> None:
        if not await transaction.facts.replace(StoreFact.LEXICAL_VERSION, expected=_MARK, value=LEXICAL_VERSION) and (
            await transaction.facts.find(StoreFact.LEXICAL_VERSION) != LEXICAL_VERSION
        ):
            raise _taken_over()
        await transaction.facts.put(StoreFact.LEXICAL_PROGRESS, "")
        await journal_act(transaction, now=self._environment.clock(), action="reindex_end", rows=rows)


async def rebuild_batch(transaction: Transaction) -> int:
    """Rewrite the rows behind the place that is noted, and note where they end; how many. Derived records come last.

    Raises Conflict where the store is not marked for this program.
    """
    if await transaction.facts.hold(StoreFact.LEXICAL_VERSION) != _MARK:
        raise _taken_over()
    place = _place_of(await transaction.facts.find(StoreFact.LEXICAL_PROGRESS))
    keys: list[MemoryKey] = []
    if not place.is_derived:
        keys = await transaction.memories.rewrite_lexemes(after=place.key, limit=REINDEX_BATCH)
        if not keys:
            place = _Place(is_derived=True, key=None)
    if place.is_derived:
        keys = await transaction.derived.rewrite_lexemes(after=place.key, limit=REINDEX_BATCH)
    if keys:
        note = _note_of(_Place(is_derived=place.is_derived, key=keys[-1]))
        await transaction.facts.put(StoreFact.LEXICAL_PROGRESS, note)
    return len(keys)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """How far a rebuild has come: behind a key among the beliefs, or among the derived records; None for the start."""

    is_derived: bool
    key: MemoryKey | None


def _note_of(place: _Place) -> str:
    assert place.key is not None
    owner, id = place.key
    note = [owner.tenant, owner.principal, str(id)]
    # Without the word, as it was noted before there were derived records.
    return json.dumps([*note, _DERIVED] if place.is_derived else note)


def _place_of(note: str | None) -> _Place:
    if not note:
        return _Place(is_derived=False, key=None)
    tenant, principal, id, *kind = json.loads(note)
    return _Place(is_derived=kind == [_DERIVED], key=(Owner(tenant=tenant, principal=principal), UUID(id)))


def _taken_over() -> Conflict:
    return Conflict("another program rebuilds the lexemes, or has begun a new store: look at `doctor` and run it again")
