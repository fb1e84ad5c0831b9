"""What an operator does to somebody's memories: the public operations, journaled, and the erasure of a principal.

The entry is written before the operation, so that no access is without one.
Source: belief store decisions, Review and delete (principal erase).
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from uuid import UUID

from gateway.service.derived_reading import MemoryItemPage, MemoryItemView
from gateway.service.derived_reviews import derivation_tombstones
from gateway.service.derived_rows import find_derived_batch
from gateway.service.environment import Environment
from gateway.service.erasure import erase_statements, tombstones_of
from gateway.service.errors import MalformedRequest
from gateway.service.guards import require_key
from gateway.service.journaling import journal_act
from gateway.service.memories import PublicMemoryService
from gateway.service.memory_reading import MemoryPage
from gateway.service.memory_requests import MemoryDelete, MemoryPaging, MemoryReview, MemorySelection
from gateway.service.principal import Principal
from store.domain.derived import DerivedRecord
from store.domain.journal import NO_SESSION, Payload
from store.domain.owners import WHOLE_STORE, Owner
from store.domain.vocabulary import AccessScope, EventKind, Sensitivity
from store.ports.store import Store, Transaction

ERASE_BATCH = 200
_OPERATOR_SCOPES = frozenset({AccessScope.MEMORY_READ, AccessScope.MEMORY_WRITE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasure:
    """What the erasure of a principal removed."""

    beliefs: int
    tokens: int


class OperatorService:
    """Acts on one owner's memories in an operator's hand."""

    def __init__(self, store: Store, environment: Environment, memories: PublicMemoryService) -> None:
        """Act through the public operations over a store."""
        self._store = store
        self._environment = environment
        self._memories = memories

    async def browse(self, owner: Owner, selection: MemorySelection, paging: MemoryPaging) -> MemoryPage:
        """One page, as the owner would see it; raises as PublicMemoryService does."""
        await self._journal(owner, "list")
        async with self._memories.reading() as reading:
            return await reading.browse(_as_operator(owner), selection, paging)

    async def browse_items(self, owner: Owner, selection: MemorySelection, paging: MemoryPaging) -> MemoryItemPage:
        """One page that holds derived records too. Raises MalformedRequest where they are no surface."""
        if not self._memories.shows_derived:
            raise MalformedRequest(
                "include_derived", "needs derived records, which AGENT_MEMORY_RECONSOLIDATION_ENABLED turns on"
            )
        await self._journal(owner, "list")
        async with self._memories.reading_items() as reading:
            return await reading.browse(_as_operator(owner), selection, paging)

    async def read(self, owner: Owner, id: str, ceiling: Sensitivity) -> MemoryItemView:
        """One belief, or derived record where these are a surface, as the owner would see it."""
        await self._journal(owner, "get")
        if self._memories.shows_derived:
            async with self._memories.reading_items() as items:
                return await items.read(_as_operator(owner), id, ceiling)
        async with self._memories.reading() as reading:
            return await reading.read(_as_operator(owner), id, ceiling)

    async def review(self, owner: Owner, request: MemoryReview) -> MemoryItemView:
        """One review outcome, as the owner would give it."""
        await self._journal(owner, "review")
        return await self._memories.review(_as_operator(owner), request)

    async def delete(self, owner: Owner, request: MemoryDelete) -> UUID:
        """One deletion, as the owner would ask for it."""
        await self._journal(owner, "delete")
        return await self._memories.delete(_as_operator(owner), request)

    async def erase_principal(self, owner: Owner, *, progress: Callable[[int], None] = lambda _: None) -> Erasure:
        """Erase everything believed about a principal, entomb each statement and derivation, revoke the tokens.

        In transactions of at most 200 statements; `progress` is told how many beliefs are gone so far.
        Run again after a failure, it goes on.
        """
        await self._journal(owner, "erase")
        now = self._environment.clock()
        tokens = await self._store.transact(lambda transaction: transaction.tokens.revoke_all(owner, at=now))
        # Before the beliefs, whose erasure leaves nothing of what rests on them to be recognised by.
        await self._erase_all_derived(owner, now)
        erased = 0
        while True:
            texts = await self._store.transact(partial(_some_statements, owner=owner))
            if not texts:
                break
            erased += await self._store.transact(partial(self._erase, owner=owner, texts=texts, now=now))
            progress(erased)
        # And what was derived meanwhile.
        await self._erase_all_derived(owner, now)
        await self._store.transact(partial(_finish, owner=owner, beliefs=erased, tokens=tokens, now=now))
        return Erasure(beliefs=erased, tokens=tokens)

    async def _erase_all_derived(self, owner: Owner, now: datetime) -> None:
        """Entomb every derivation before one goes, with which what rests on it loses its content."""
        after: UUID | None = None
        while records := await self._store.transact(partial(self._entomb_derived, owner=owner, after=after, now=now)):
            after = records[-1].id
        while await self._store.transact(partial(self._erase_derived, owner=owner, now=now)):
            pass

    async def _entomb_derived(
        self, transaction: Transaction, *, owner: Owner, after: UUID | None, now: datetime
    ) -> list[DerivedRecord]:
        keyring = self._environment.keyring
        records = await find_derived_batch(transaction, owner=owner, after=after)
        tombstones = [
            each
            for record in records
            if record.content is not None
            for each in derivation_tombstones(keyring, owner, record, record.content, now)
        ]
        hashes = {tombstone.statement_hash for tombstone in tombstones}
        await transaction.journal.lock_statements(owner, hashes)
        await require_key(transaction.facts, keyring)
        await transaction.journal.erase_rejections(owner, hashes)
        for tombstone in tombstones:
            await transaction.journal.add_tombstone(tombstone)
        return records

    async def _erase_derived(self, transaction: Transaction, *, owner: Owner, now: datetime) -> int:
        records = await self._entomb_derived(transaction, owner=owner, after=None, now=now)
        await transaction.derived.erase(owner, [record.id for record in records], at=now)
        return len(records)

    async def _erase(self, transaction: Transaction, *, owner: Owner, texts: Collection[str], now: datetime) -> int:
        keyring = self._environment.keyring
        tombstones = [tombstone for text in texts for tombstone in tombstones_of(keyring, owner, text, now)]
        hashes = frozenset(tombstone.statement_hash for tombstone in tombstones)
        await transaction.journal.lock_statements(owner, hashes)
        await require_key(transaction.facts, keyring)
        return await erase_statements(transaction, owner, hashes, tombstones, now=now)

    async def note(self, action: str, owner: Owner = WHOLE_STORE, **details: str | int) -> None:
        """Write an act that another service does, or has done, into the journal."""
        await self._store.transact(
            lambda transaction: journal_act(transaction, now=self._now(), action=action, owner=owner, **details)
        )

    async def _journal(self, owner: Owner, action: str) -> None:
        await self.note(action, owner)

    def _now(self) -> datetime:
        return self._environment.clock()


def _as_operator(owner: Owner) -> Principal:
    return Principal(owner=owner, scopes=_OPERATOR_SCOPES)


async def _some_statements(transaction: Transaction, *, owner: Owner) -> list[str]:
    rows = await transaction.memories.find_statement_texts(owner, after=None, limit=ERASE_BATCH)
    return [statement for _, statement in rows]


async def _append(transaction: Transaction, *, owner: Owner, kind: EventKind, payload: Payload, now: datetime) -> None:
    await transaction.journal.append(owner, kind, session_id=NO_SESSION, memory_id=None, at=now, payload=payload)


async def _finish(transaction: Transaction, *, owner: Owner, beliefs: int, tokens: int, now: datetime) -> None:
    await transaction.journal.erase_people(owner)
    payload: Payload = {"beliefs": beliefs, "tokens": tokens}
    await _append(transaction, owner=owner, kind=EventKind.PRINCIPAL_ERASED, payload=payload, now=now)
