"""The public operations on beliefs, the resolvers that both transports share.

Reads go through `reading()`; the two writes are atomic with their receipt.
Source: Memory read API, Writes; ADR-0117; belief store decisions, Review and delete.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from uuid import UUID

from gateway.service.environment import Environment
from gateway.service.erasure import erase_statements, tombstones_of
from gateway.service.errors import Conflict, NotFound
from gateway.service.guards import require_key
from gateway.service.idempotency import check_idempotency_key, request_hash
from gateway.service.identifiers import parse_identifier
from gateway.service.memory_reading import MemoryReading, measured
from gateway.service.memory_requests import MemoryDelete, MemoryReview, check_text
from gateway.service.principal import Principal
from gateway.views.memories import MemoryView, memory_view
from store.domain.journal import Receipt, Rejection
from store.domain.owners import Owner
from store.domain.reviews import review
from store.domain.vocabulary import AccessScope, ReceiptKind, ReviewOutcome, Sensitivity
from store.ports.errors import StoreContention
from store.ports.store import Store, Transaction


class PublicMemoryService:
    """Browse, read, review and delete the beliefs of the principal who asks."""

    def __init__(self, store: Store, environment: Environment) -> None:
        """Serve from a store; the environment holds clock, keys and measures."""
        self._store = store
        self._environment = environment

    @asynccontextmanager
    async def reading(self, *, single: bool = False) -> AsyncIterator[MemoryReading]:
        """Open one snapshot with one clock; every read of a request belongs in the same one.

        `single`: for one question that is one statement to the store: a page or a count without a text, a belief.
        """
        opened = self._store.single_read() if single else self._store.snapshot()
        async with opened as snapshot:
            yield MemoryReading(snapshot, now=self._environment.clock(), measures=self._environment.measures)

    async def review(self, principal: Principal, request: MemoryReview) -> MemoryView:
        """Apply one outcome once, and show the belief as it stands then.

        A repeated key answers from the live record. Raises AuthorizationError, MalformedRequest for the
        key, Conflict for a key of another request, NotFound for absent, foreign and above the ceiling.
        """
        with measured(self._environment.measures, "review", request.ceiling):
            self._check(principal, request)
            now = self._environment.clock()
            owner = principal.owner

            async def work(transaction: Transaction) -> MemoryView:
                id, is_new = await self._admit(transaction, owner, request, now)
                if is_new:
                    await self._review(transaction, owner, id, request, now)
                shown = await transaction.shown.find(owner, id, ceiling=request.ceiling)
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
                id, is_new = await self._admit(transaction, owner, request, now)
                if is_new:
                    await self._delete(transaction, owner, id, request.ceiling, now)
                return id

            return await self._store.transact(work)

    def _check(self, principal: Principal, request: MemoryReview | MemoryDelete) -> None:
        check_text(name="id", value=request.id)
        check_text(name="idempotency_key", value=request.idempotency_key)
        principal.require(AccessScope.MEMORY_WRITE)
        check_idempotency_key(request.idempotency_key)

    async def _admit(
        self, transaction: Transaction, owner: Owner, request: MemoryReview | MemoryDelete, now: datetime
    ) -> tuple[UUID, bool]:
        """Take the idempotency key: the belief's id, and whether the request is new rather than a replay."""
        id = parse_identifier(request.id)
        if id is None:
            if await transaction.journal.find_receipt(owner, request.idempotency_key):
                raise Conflict("the idempotency key was used for another request")
            raise NotFound
        receipt = _receipt(owner, id, request, now)
        if await transaction.journal.add_receipt(receipt):
            return id, True
        held = await transaction.journal.find_receipt(owner, request.idempotency_key)
        if held is None:
            # It reached its age and was swept between the two statements.
            raise StoreContention
        if held.request_hash != receipt.request_hash:
            raise Conflict("the idempotency key was used for another request")
        return id, False

    async def _review(
        self, transaction: Transaction, owner: Owner, id: UUID, request: MemoryReview, now: datetime
    ) -> None:
        keyring = self._environment.keyring
        statement_hash = b""
        if request.outcome is not ReviewOutcome.DISMISS:
            statement = await transaction.memories.find_statement_text(owner, id, ceiling=request.ceiling)
            if statement is None:
                raise NotFound
            statement_hash = keyring.statement_hash(owner, statement)
            if request.outcome is ReviewOutcome.UNTRUE:
                await transaction.journal.lock_statements(owner, keyring.statement_hashes(owner, statement))
            await require_key(transaction.facts, keyring)
        record = await transaction.memories.find_for_update(owner, id, ceiling=request.ceiling)
        if record is None:
            raise NotFound
        [position] = await transaction.memories.next_positions(1)
        effect = review(record, request.outcome, position=position, now=now)
        if effect.record is not None:
            await transaction.memories.put(effect.record)
        if effect.rejection is not None:
            await transaction.journal.add_rejection(
                Rejection(
                    owner=owner,
                    statement_hash=statement_hash,
                    key_id=keyring.current.id,
                    kind=effect.rejection,
                    memory_id=id,
                    created_at=now,
                )
            )
        if effect.event is not None:
            await transaction.journal.append(
                owner,
                effect.event,
                session_id=record.source_session_id,
                memory_id=id,
                at=now,
                payload={"outcome": request.outcome.value},
            )

    async def _delete(
        self, transaction: Transaction, owner: Owner, id: UUID, ceiling: Sensitivity, now: datetime
    ) -> None:
        keyring = self._environment.keyring
        statement = await transaction.memories.find_statement_text(owner, id, ceiling=ceiling)
        if statement is None:
            raise NotFound
        hashes = keyring.statement_hashes(owner, statement)
        await transaction.journal.lock_statements(owner, hashes)
        await require_key(transaction.facts, keyring)
        # Asked again under the lock: a deletion of the same statement may have ended meanwhile.
        if await transaction.memories.find_statement_text(owner, id, ceiling=ceiling) is None:
            raise NotFound
        await erase_statements(transaction, owner, hashes, tombstones_of(keyring, owner, statement, now), now=now)


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
