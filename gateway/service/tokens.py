"""Bearer tokens: made, listed, revoked, and resolved to the principal they stand for.

A token is 256 random bits; only its hash is stored. A resolved one is remembered for at most a second,
so that a revocation holds within a second; a miss is never remembered. What has the form of a signed token
is handed on where an issuer of those is known: no token of ours holds a dot.
"""

import asyncio
import logging
import secrets
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol
from uuid import UUID

from gateway.service.environment import system_clock
from gateway.service.errors import MalformedRequest
from gateway.service.principal import Principal
from store.domain.memories import InvalidRecord, check_text
from store.domain.owners import OWNER_NAME_LENGTH_MAX, Owner
from store.domain.tokens import TOKEN_BYTES, TOKEN_LABEL_LENGTH_MAX, AccessToken, token_hash
from store.domain.vocabulary import AccessScope
from store.ports.errors import StoreError
from store.ports.store import Store, Transaction

REMEMBERED_SECONDS = 1.0
REMEMBERED_COUNT_MAX = 10_000
LAST_USE_INTERVAL = timedelta(hours=1)
SECRET_LENGTH_MAX = 512
"""Characters; nothing longer is looked up."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Remembered:
    token: AccessToken
    until: float


class SignedTokens(Protocol):
    """Tokens that an issuer signs."""

    async def resolve(self, secret: str) -> Principal | None:
        """The principal of a valid token, None for any other text. Raises Unavailable."""
        ...

    async def close(self) -> None:
        """Wait for what is under way."""
        ...


class TokenService:
    """Access tokens over the store, and beside them those of an issuer where one is given."""

    def __init__(
        self,
        store: Store,
        *,
        clock: Callable[[], datetime] = system_clock,
        new_id: Callable[[], UUID],
        monotonic: Callable[[], float] = time.monotonic,
        on_last_use_failure: Callable[[], None] = lambda: None,
        signed: SignedTokens | None = None,
    ) -> None:
        """`monotonic` counts seconds for what is remembered; a failure to write a last use is only counted."""
        self._store = store
        self._clock = clock
        self._new_id = new_id
        self._monotonic = monotonic
        self._on_last_use_failure = on_last_use_failure
        self._signed = signed
        self._remembered: dict[bytes, _Remembered] = {}
        self._touched: dict[UUID, datetime] = {}
        self._writes: set[asyncio.Task[None]] = set()

    async def resolve(self, secret: str) -> Principal | None:
        """The principal of a valid token, None for any other text. Raises StoreUnavailable and Unavailable."""
        if self._signed is not None and secret.count(".") == 2:
            return await self._signed.resolve(secret)
        if not 1 <= len(secret) <= SECRET_LENGTH_MAX:
            return None
        hashed = token_hash(secret)
        remembered = self._remembered.get(hashed)
        if remembered is None or remembered.until <= self._monotonic():
            asked_at = self._monotonic()
            async with self._store.single_read() as snapshot:
                token = await snapshot.tokens.find(hashed)
            if token is None:
                self._remembered.pop(hashed, None)
                return None
            if len(self._remembered) >= REMEMBERED_COUNT_MAX:
                self._remembered.clear()
            # Counted from before the question: the answer may have been under way for a while.
            remembered = _Remembered(token=token, until=asked_at + REMEMBERED_SECONDS)
            self._remembered[hashed] = remembered
        now = self._clock()
        if not remembered.token.is_valid(now):
            return None
        self._note_use(remembered.token, now)
        return Principal(owner=remembered.token.owner, scopes=remembered.token.scopes)

    async def create(
        self, owner: Owner, *, scopes: Collection[str], label: str, expires_at: datetime | None
    ) -> tuple[AccessToken, str]:
        """Make a token: its record, and the secret that is shown this once.

        Raises MalformedRequest for an unknown scope, a name or label out of bounds, an expiry that has passed.
        """
        now = self._clock()
        try:
            check_text("tenant", owner.tenant, OWNER_NAME_LENGTH_MAX)
            check_text("principal", owner.principal, OWNER_NAME_LENGTH_MAX)
            check_text("label", label, TOKEN_LABEL_LENGTH_MAX)
        except InvalidRecord as error:
            raise MalformedRequest(error.field, error.reason) from error
        if expires_at is not None and expires_at <= now:
            raise MalformedRequest("expires_at", "must lie in the future")
        secret = secrets.token_urlsafe(TOKEN_BYTES)
        token = AccessToken(
            id=self._new_id(),
            token_hash=token_hash(secret),
            owner=owner,
            scopes=frozenset(_scope(scope) for scope in scopes),
            label=label,
            created_at=now,
            expires_at=expires_at,
            revoked_at=None,
            last_used_at=None,
        )
        if not token.scopes:
            raise MalformedRequest("scopes", "must name at least one scope")

        async def work(transaction: Transaction) -> None:
            await transaction.tokens.add(token)

        await self._store.transact(work)
        return token, secret

    async def list(self, *, tenant: str | None = None, principal: str | None = None) -> Sequence[AccessToken]:
        """Tokens by creation, revoked and expired ones too."""
        async with self._store.snapshot() as snapshot:
            return await snapshot.tokens.list(tenant=tenant, principal=principal)

    async def revoke(self, id: UUID) -> bool:
        """Revoke a token; False if there is none of that id or it is revoked already."""
        now = self._clock()

        async def work(transaction: Transaction) -> bool:
            return await transaction.tokens.revoke(id, at=now)

        return await self._store.transact(work)

    async def close(self) -> None:
        """Wait for the last uses, and whatever else is under way."""
        await asyncio.gather(*self._writes)
        if self._signed is not None:
            await self._signed.close()

    def _note_use(self, token: AccessToken, now: datetime) -> None:
        """Write the last use, at most hourly, off the request."""
        last = max(filter(None, (token.last_used_at, self._touched.get(token.id))), default=None)
        if last is not None and now - last < LAST_USE_INTERVAL:
            return
        self._touched[token.id] = now
        task = asyncio.create_task(self._write_use(token.id, now))
        self._writes.add(task)
        task.add_done_callback(self._writes.discard)

    async def _write_use(self, id: UUID, now: datetime) -> None:
        async def work(transaction: Transaction) -> None:
            await transaction.tokens.touch(id, at=now)

        try:
            await self._store.transact(work)
        except StoreError:
            self._on_last_use_failure()
            _log.warning("the last use of a token could not be written")


def _scope(text: str) -> AccessScope:
    try:
        return AccessScope(text)
    except ValueError:
        known = ", ".join(scope.value for scope in AccessScope)
        raise MalformedRequest("scopes", f"must each be one of {known}") from None
