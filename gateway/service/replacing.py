"""What a store that is restored from a backup takes over from the one that it replaces: what people forbade since.

Statements that were deleted are erased and entombed, beliefs and derived records that were found untrue or out of place
are so again, and tokens that were revoked stay revoked. Nobody is served from the restored store until that is done.
Source: belief store decisions, Review and delete (restore).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import TypeVar
from uuid import UUID

from gateway.service.derived_reviews import forbidding_hashes, placement_hashes
from gateway.service.derived_rows import all_derived
from gateway.service.environment import Environment
from gateway.service.erasure import STATEMENTS_BATCH, erase_statements
from gateway.service.guards import require_key
from gateway.service.journaling import journal_act
from store.domain.derived_reviews import review_derived
from store.domain.journal import Receipt, Rejection, Tombstone
from store.domain.owners import Owner
from store.domain.reviews import review
from store.domain.tokens import AccessToken
from store.domain.vocabulary import ReceiptKind, RejectionKind, ReviewOutcome, Sensitivity
from store.ports.store import Store, Transaction

Item = TypeVar("Item")

_OUTCOMES = {RejectionKind.UNTRUE: ReviewOutcome.UNTRUE, RejectionKind.NOT_HERE: ReviewOutcome.NOT_HERE}


@dataclass(slots=True)
class TakenOver:
    """How much of the replaced store was applied: tombstones and rejections, erased beliefs, revoked tokens."""

    tombstones: int = 0
    rejections: int = 0
    erased: int = 0
    tokens: int = 0


class ReplacementService:
    """Applies what one store forbids to another. The environment's keys hold those of both."""

    def __init__(self, former: Store, restored: Store, environment: Environment) -> None:
        """Read from the former store, write to the restored one."""
        self._former = former
        self._restored = restored
        self._environment = environment

    async def take_over(self) -> TakenOver:
        """Apply everything, and note it in the journal. Done again it changes nothing more. Raises StoreError."""
        taken = TakenOver()
        async with self._former.snapshot() as former:
            owners = await former.journal.owners()
            tokens = await former.tokens.list(tenant=None, principal=None)
        for owner in owners:
            # Read whole before anything is written: a snapshot that waits for long is ended by the server.
            async with self._former.snapshot() as former:
                tombstones = [each async for each in former.journal.tombstones(owner)]
                rejections = [each async for each in former.journal.rejections(owner)]
                receipts = [each async for each in former.journal.receipts(owner)]
            await self._bury(owner, tombstones, taken)
            for rejection in rejections:
                taken.rejections += await self._restored.transact(partial(self._apply, rejection=rejection))
            await self._forbid_derived(owner, tombstones, rejections)
            # A deletion that is asked for again is answered as it was.
            deletions = [receipt for receipt in receipts if receipt.kind is ReceiptKind.DELETE_COMPLETED]
            for batch in _batches(deletions):
                await self._restored.transact(partial(self._add_receipts, owner=owner, receipts=batch))
        for token in tokens:
            taken.tokens += await self._restored.transact(partial(_revoke, token=token))
        await self._restored.transact(
            partial(
                journal_act,
                now=self._environment.clock(),
                action="restore",
                tombstones=taken.tombstones,
                rejections=taken.rejections,
                erased=taken.erased,
                tokens=taken.tokens,
            )
        )
        return taken

    async def _bury(self, owner: Owner, tombstones: Sequence[Tombstone], taken: TakenOver) -> None:
        """Entomb what was deleted, and erase what the restored store holds of it, found by its text."""
        for batch in _batches(tombstones):
            taken.tombstones += await self._restored.transact(partial(_entomb, owner=owner, tombstones=batch))
        buried = frozenset(tombstone.statement_hash for tombstone in tombstones)
        keyring = self._environment.keyring
        after: UUID | None = None
        while buried and (rows := await self._restored.transact(partial(_statements, owner=owner, after=after))):
            after = rows[-1][0]
            equal = [hashes for _, text in rows if (hashes := keyring.statement_hashes(owner, text)) & buried]
            if equal:
                hashes = frozenset[bytes]().union(*equal)
                taken.erased += await self._restored.transact(partial(self._erase, owner=owner, hashes=hashes))

    async def _erase(self, transaction: Transaction, *, owner: Owner, hashes: frozenset[bytes]) -> int:
        await require_key(transaction.facts, self._environment.keyring)
        return await erase_statements(transaction, owner, hashes, [], now=self._environment.clock())

    async def _forbid_derived(
        self, owner: Owner, tombstones: Sequence[Tombstone], rejections: Sequence[Rejection]
    ) -> None:
        """Erase, retire or keep to their scope the derived records that the former store forbids, found by their texts.

        They may stand here under other ids than there, since what is withheld is made anew.
        """
        buried = frozenset(tombstone.statement_hash for tombstone in tombstones)
        by_kind = {
            kind: frozenset(rejection.statement_hash for rejection in rejections if rejection.kind is kind)
            for kind in _OUTCOMES
        }
        forbidden = buried.union(*by_kind.values())
        if not forbidden:
            return
        keyring, now = self._environment.keyring, self._environment.clock()
        async for record in all_derived(self._restored, owner):
            content = record.content
            if content is None:
                continue
            forbidding = frozenset(hash for _, hash in forbidding_hashes(keyring, owner, record, content))
            said = keyring.statement_hashes(owner, content.statement)
            # By the hashes of its derivation it is removed, by those of its statement it is retired.
            hashes = frozenset[bytes]().union(*(each for each in (forbidding - said, said) if each & buried))
            if hashes:
                await self._restored.transact(partial(self._erase_derived, owner=owner, hashes=hashes))
                continue
            known_by = {
                RejectionKind.UNTRUE: forbidding,
                RejectionKind.NOT_HERE: frozenset(placement_hashes(keyring, record, content).values()),
            }
            for kind, outcome in _OUTCOMES.items():
                if known_by[kind] & by_kind[kind]:
                    await self._restored.transact(
                        partial(_review_derived, owner=owner, id=record.id, outcome=outcome, now=now)
                    )

    async def _erase_derived(self, transaction: Transaction, *, owner: Owner, hashes: frozenset[bytes]) -> None:
        await require_key(transaction.facts, self._environment.keyring)
        await transaction.derived.erase_by_hashes(owner, hashes, at=self._environment.clock())

    async def _add_receipts(self, transaction: Transaction, *, owner: Owner, receipts: Sequence[Receipt]) -> None:
        """Keep the receipts of deletions, and remove derived records of which nothing was left to be entombed."""
        for receipt in receipts:
            await transaction.journal.add_receipt(receipt)
        ids = [receipt.memory_id for receipt in receipts]
        await transaction.derived.erase(owner, ids, at=self._environment.clock())

    async def _apply(self, transaction: Transaction, *, rejection: Rejection) -> bool:
        """Note a rejection that came after the backup, and review the belief that it named as it was reviewed."""
        if await transaction.journal.entombed(rejection.owner, [rejection.statement_hash]):
            return False
        if not await transaction.journal.add_rejection(rejection):
            return False
        outcome = _OUTCOMES.get(rejection.kind)
        record = await transaction.memories.find_for_update(
            rejection.owner, rejection.memory_id, ceiling=Sensitivity.RESTRICTED
        )
        if outcome is None or record is None:
            return True
        [position] = await transaction.memories.next_positions(1)
        effect = review(record, outcome, position=position, now=self._environment.clock())
        if effect.record is not None:
            await transaction.memories.put(effect.record)
        return True


def _batches(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    return (items[start : start + STATEMENTS_BATCH] for start in range(0, len(items), STATEMENTS_BATCH))


async def _statements(transaction: Transaction, *, owner: Owner, after: UUID | None) -> list[tuple[UUID, str]]:
    return await transaction.memories.find_statement_texts(owner, after=after, limit=STATEMENTS_BATCH)


async def _entomb(transaction: Transaction, *, owner: Owner, tombstones: Sequence[Tombstone]) -> int:
    """Write the tombstones that do not stand yet, in place of the rejections of their statements; how many."""
    await transaction.journal.erase_rejections(owner, [tombstone.statement_hash for tombstone in tombstones])
    return sum([await transaction.journal.add_tombstone(tombstone) for tombstone in tombstones])


async def _review_derived(
    transaction: Transaction, *, owner: Owner, id: UUID, outcome: ReviewOutcome, now: datetime
) -> None:
    for record in await transaction.derived.find_many_for_update(owner, [id]):
        [position] = await transaction.memories.next_positions(1)
        effect = review_derived(record, outcome, position=position, now=now)
        if effect is not None:
            await transaction.derived.put(effect.record)


async def _revoke(transaction: Transaction, *, token: AccessToken) -> bool:
    return token.revoked_at is not None and await transaction.tokens.revoke(token.id, at=token.revoked_at)
