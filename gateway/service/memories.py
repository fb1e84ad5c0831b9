"""The public operations on beliefs, the resolvers that both transports share.

Reads go through `reading()`; the two writes are atomic with their receipt. Where derived records are a surface too,
`reading_items()` reads both, and the writes take either's id.
Source: Memory read API, Writes; ADR-0117; belief store decisions, Review and delete.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from uuid import UUID

from gateway.service.derived_reading import ItemReading, MemoryItemView
from gateway.service.derived_reviews import apply_deletion, apply_review
from gateway.service.environment import Environment
from gateway.service.erasure import erase_locked, tombstones_of
from gateway.service.errors import Conflict, NotFound
from gateway.service.guards import check_key, require_key
from gateway.service.idempotency import check_idempotency_key, request_hash
from gateway.service.identifiers import parse_identifier
from gateway.service.memory_reading import MemoryReading, measured
from gateway.service.memory_requests import MemoryDelete, MemoryReview, check_text
from gateway.service.principal import Principal
from gateway.views.derived import derived_view
from gateway.views.memories import memory_view
from store.domain.journal import Receipt, Rejection
from store.domain.memories import MemoryRecord
from store.domain.owners import Owner
from store.domain.reviews import review
from store.domain.vocabulary import AccessScope, ReceiptKind, ReviewOutcome, Sensitivity, within
from store.ports.decisions import Admission, ReviewWrite
from store.ports.errors import StoreContention
from store.ports.store import Store, Transaction


class PublicMemoryService:
    """Browse, read, review and delete the beliefs of the principal who asks."""

    def __init__(self, store: Store, environment: Environment, *, derived: bool = False) -> None:
        """Serve from a store; the environment holds clock, keys and measures.

        `derived`: whether derived records are a surface. Without it no statement asks for one.
        """
        self._store = store
        self._environment = environment
        self._derived = derived

    @property
    def shows_derived(self) -> bool:
        """Whether derived records are a surface."""
        return self._derived

    @asynccontextmanager
    async def reading(self, *, single: bool = False) -> AsyncIterator[MemoryReading]:
        """Open one snapshot with one clock; every read of a request belongs in the same one.

        `single`: for one question that is one statement to the store: a page or a count without a text, a belief.
        """
        opened = self._store.single_read() if single else self._store.snapshot()
        async with opened as snapshot:
            yield MemoryReading(snapshot, now=self._environment.clock(), measures=self._environment.measures)

    @asynccontextmanager
    async def reading_items(self) -> AsyncIterator[ItemReading]:
        """Open one snapshot with one clock for beliefs and derived records together."""
        async with self._store.snapshot() as snapshot:
            yield ItemReading(snapshot, now=self._environment.clock(), measures=self._environment.measures)

    async def review(self, principal: Principal, request: MemoryReview) -> MemoryItemView:
        """Apply one outcome once, and show the belief, or the derived record, as it stands then.

        A repeated key answers from the live record. Raises AuthorizationError, MalformedRequest for the
        key, Conflict for a key of another request, NotFound for absent, foreign and above the ceiling.
        """
        with measured(self._environment.measures, "review", request.ceiling):
            self._check(principal, request)
            now = self._environment.clock()
            owner = principal.owner

            async def work(transaction: Transaction) -> MemoryItemView:
                # A row is locked after its statement, so that a review that locks the statement reads it first.
                locked = request.outcome is not ReviewOutcome.UNTRUE
                id, admission = await self._admit(transaction, owner, request, now, locked=locked)
                if not admission.is_new:
                    return await self._replay(transaction, owner, id, request.ceiling, now)
                if admission.record is None and self._derived:
                    return derived_view(await apply_review(transaction, self._environment, owner, id, request, now))
                shown = await self._review(transaction, owner, admission, request, now)
                if shown is None:
                    raise NotFound
                return memory_view(shown, now)

            return await self._store.transact(work)

    async def delete(self, principal: Principal, request: MemoryDelete) -> UUID:
        """Erase the belief and every row of the owner with the same statement, once; the id it had.

        A repeated key answers again. Raises as review does.
        """
        with measured(self._environment.measures, "delete", request.ceiling):
            self._check(principal, request)
            now = self._environment.clock()
            owner = principal.owner

            async def work(transaction: Transaction) -> UUID:
                id, admission = await self._admit(transaction, owner, request, now, locked=False)
                if admission.is_new and admission.record is None and self._derived:
                    await apply_deletion(transaction, self._environment, owner, id, ceiling=request.ceiling, now=now)
                elif admission.is_new:
                    await self._delete(transaction, owner, admission, request.ceiling, now)
                return id

            return await self._store.transact(work)

    def _check(self, principal: Principal, request: MemoryReview | MemoryDelete) -> None:
        check_text(name="id", value=request.id)
        check_text(name="idempotency_key", value=request.idempotency_key)
        principal.require(AccessScope.MEMORY_WRITE)
        check_idempotency_key(request.idempotency_key)

    async def _admit(
        self,
        transaction: Transaction,
        owner: Owner,
        request: MemoryReview | MemoryDelete,
        now: datetime,
        *,
        locked: bool,
    ) -> tuple[UUID, Admission]:
        """Take the idempotency key: the belief's id, and what a new request is about."""
        id = parse_identifier(request.id)
        if id is None:
            if await transaction.journal.find_receipt(owner, request.idempotency_key):
                raise Conflict("the idempotency key was used for another request")
            raise NotFound
        receipt = _receipt(owner, id, request, now)
        admission = await transaction.decisions.admit(receipt, ceiling=request.ceiling, locked=locked)
        if admission.is_new:
            return id, admission
        if admission.held_hash is None:
            # It reached its age and was swept between the two statements.
            raise StoreContention
        if admission.held_hash != receipt.request_hash:
            raise Conflict("the idempotency key was used for another request")
        return id, admission

    async def _replay(
        self, transaction: Transaction, owner: Owner, id: UUID, ceiling: Sensitivity, now: datetime
    ) -> MemoryItemView:
        """What a repeated review answers: the live record."""
        belief = await transaction.shown.find(owner, id, ceiling=ceiling)
        if belief is not None:
            return memory_view(belief, now)
        derived = None
        if self._derived:
            derived = await transaction.shown_derived.find(owner, id, ceiling=ceiling, now=now)
        if derived is None:
            raise NotFound
        return derived_view(derived)

    async def _review(
        self, transaction: Transaction, owner: Owner, admission: Admission, request: MemoryReview, now: datetime
    ) -> MemoryRecord | None:
        """Apply the outcome; the belief as it is shown then, None where there is none."""
        keyring = self._environment.keyring
        record, position = admission.record, admission.position
        if record is None or position is None:
            raise NotFound
        if request.outcome is not ReviewOutcome.DISMISS:
            check_key(admission.key_id, keyring)
        if request.outcome is ReviewOutcome.UNTRUE:
            await transaction.journal.lock_statements(owner, keyring.statement_hashes(owner, record.statement))
        shown = await self._write_review(transaction, record, request, position=position, now=now)
        if shown is not None:
            return shown
        # Read before its statement was locked, it has changed since, or the key has.
        await require_key(transaction.facts, keyring)
        changed = await transaction.memories.find_for_update(owner, record.id, ceiling=request.ceiling)
        if changed is None:
            raise NotFound
        [position] = await transaction.memories.next_positions(1)
        return await self._write_review(transaction, changed, request, position=position, now=now)

    async def _write_review(
        self, transaction: Transaction, record: MemoryRecord, request: MemoryReview, *, position: int, now: datetime
    ) -> MemoryRecord | None:
        """Write what the outcome does to a belief as it was read; None if it is not so any more."""
        keyring = self._environment.keyring
        effect = review(record, request.outcome, position=position, now=now)
        if effect.event is None:
            return await transaction.shown.find(record.owner, record.id, ceiling=request.ceiling)
        rejection = None
        if effect.rejection is not None:
            rejection = Rejection(
                owner=record.owner,
                statement_hash=keyring.statement_hash(record.owner, record.statement),
                key_id=keyring.current.id,
                kind=effect.rejection,
                memory_id=record.id,
                created_at=now,
            )
        write = ReviewWrite(
            expected=record,
            record=effect.record or record,
            event=effect.event,
            outcome=request.outcome,
            rejection=rejection,
            key_id=None if rejection is None else keyring.current.id,
            at=now,
        )
        return await transaction.decisions.write_review(write, ceiling=request.ceiling)

    async def _delete(
        self, transaction: Transaction, owner: Owner, admission: Admission, ceiling: Sensitivity, now: datetime
    ) -> None:
        keyring = self._environment.keyring
        if admission.record is None:
            raise NotFound
        id, statement = admission.record.id, admission.record.statement
        hashes = keyring.statement_hashes(owner, statement)
        await transaction.journal.lock_statements(owner, hashes)
        locked = await transaction.decisions.lock_rows(owner, hashes)
        check_key(locked.key_id, keyring)
        # Asked again under the lock: a deletion of the same statement may have ended meanwhile.
        if not any(row.id == id and within(row.sensitivity, ceiling) for row in locked.erased):
            raise NotFound
        tombstones = tombstones_of(keyring, owner, statement, now)
        await erase_locked(transaction, owner, hashes, tombstones, locked=locked, now=now)


def _receipt(owner: Owner, id: UUID, request: MemoryReview | MemoryDelete, now: datetime) -> Receipt:
    """The receipt of a write; its hash stands for operation, id, ceiling and outcome."""
    if isinstance(request, MemoryReview):
        kind, outcome = ReceiptKind.REVIEW_COMPLETED, request.outcome.value
    else:
        kind, outcome = ReceiptKind.DELETE_COMPLETED, ""
    return Receipt(
        owner=owner,
        key=request.idempotency_key,
        kind=kind,
        request_hash=request_hash(kind.value, str(id), request.ceiling.value, outcome),
        memory_id=id,
        created_at=now,
    )
