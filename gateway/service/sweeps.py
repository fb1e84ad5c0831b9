"""The bounded sweep: writes down what has run out, removes derived records that have, and forgets old receipts.

It changes no answer; what it writes bounds the cost of pages.
Source: belief store decisions, Effective status; Review and delete (receipts).
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from gateway.service.derived_reviews import session_of
from gateway.service.environment import Environment
from store.domain.derived import DerivedRecord, runs_at
from store.domain.formation import expired
from store.domain.memories import is_live
from store.domain.owners import Owner
from store.domain.vocabulary import EventKind
from store.ports.store import Store, Transaction

SWEEP_BATCH = 500
RECEIPT_RETENTION_MIN = timedelta(days=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepResult:
    """How many beliefs were written as expired, receipts were forgotten, and derived records that ran out removed."""

    expired: int = 0
    receipts: int = 0
    derived: int = 0


class SweepService:
    """Sweeps tenant by tenant, in transactions of at most 500 rows; the few derived records of an owner go at once."""

    def __init__(self, store: Store, environment: Environment, *, receipt_retention: timedelta) -> None:
        """Keep receipts for at least 30 days, whatever is asked."""
        self._store = store
        self._environment = environment
        self._receipt_retention = max(receipt_retention, RECEIPT_RETENTION_MIN)

    async def sweep(self) -> SweepResult:
        """Sweep every tenant until nothing is left to do."""
        async with self._store.snapshot() as snapshot:
            tenants = sorted({owner.tenant for owner in await snapshot.journal.owners()})
        now = self._environment.clock()
        result = SweepResult()
        for tenant in tenants:
            result = SweepResult(
                expired=result.expired + await self._expire_all(tenant, now),
                receipts=result.receipts + await self._forget_all(tenant, now - self._receipt_retention),
                derived=result.derived + await self._erase_all_derived(tenant, now),
            )
        return result

    async def _expire_all(self, tenant: str, now: datetime) -> int:
        total = 0
        while count := await self._store.transact(lambda transaction: _expire(transaction, tenant, now)):
            total += count
        return total

    async def _erase_all_derived(self, tenant: str, now: datetime) -> int:
        total = 0
        while count := await self._store.transact(lambda transaction: _erase_derived(transaction, tenant, now)):
            total += count
        return total

    async def _forget_all(self, tenant: str, before: datetime) -> int:
        total = 0
        while count := await self._store.transact(
            lambda transaction: transaction.journal.erase_receipts(tenant, before=before, limit=SWEEP_BATCH)
        ):
            total += count
        return total


async def _erase_derived(transaction: Transaction, tenant: str, now: datetime) -> int:
    """Remove derived records that have run out, all of an owner together, since they may rest on each other.

    Nobody is shown them any more.
    """
    keys = await transaction.derived.find_due_keys(tenant, now=now, limit=SWEEP_BATCH)
    erased = 0
    for owner in sorted({owner for owner, _ in keys}, key=lambda owner: owner.principal):
        due = await _due_of(transaction, owner, now)
        sessions = [(session_of(record), record.id) for record in due]
        await transaction.derived.erase(owner, [record.id for record in due], at=now)
        await transaction.journal.append_each(owner, EventKind.EXPIRED, memories=sessions, at=now)
        erased += len(due)
    return erased


async def _due_of(transaction: Transaction, owner: Owner, now: datetime) -> list[DerivedRecord]:
    due: list[DerivedRecord] = []
    after: UUID | None = None
    while ids := await transaction.derived.find_withheld_ids(owner, now=now, after=after, limit=SWEEP_BATCH):
        records = await transaction.derived.find_many_for_update(owner, ids)
        due += [each for each in records if not runs_at(each, now)]
        after = ids[-1]
    return due


async def _expire(transaction: Transaction, tenant: str, now: datetime) -> int:
    records = await transaction.memories.find_due_for_update(tenant, now=now, limit=SWEEP_BATCH)
    for record in records:
        assert not is_live(record, now)
        await transaction.memories.put(expired(record))
        await transaction.journal.append(
            record.owner,
            EventKind.EXPIRED,
            session_id=record.source_session_id,
            memory_id=record.id,
            at=now,
            payload={},
        )
    return len(records)
