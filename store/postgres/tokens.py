"""Access tokens in PostgreSQL: looked up by hash, before any tenant is known."""

import builtins
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import insert, select, text, update

from store.domain.owners import Owner
from store.domain.tokens import AccessToken
from store.domain.vocabulary import AccessScope
from store.postgres.predicates import is_owned
from store.postgres.sessions import Session
from store.postgres.tables import access_tokens

_COLUMNS = tuple(
    access_tokens.c[name]
    for name in (
        "id",
        "token_hash",
        "tenant_id",
        "principal_id",
        "scopes",
        "label",
        "created_at",
        "expires_at",
        "revoked_at",
        "last_used_at",
    )
)
_FIND = text(
    f"select {', '.join(column.name for column in _COLUMNS)} from access_tokens where token_hash = :token_hash"
)


class PostgresTokenReads:
    """The TokenReads of a session."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def find(self, token_hash: bytes) -> AccessToken | None:
        """The token of this hash, valid or not."""
        rows = await self._session.fetch(_FIND, {"token_hash": token_hash})
        return _token_of(rows[0]) if rows else None

    async def list(self, *, tenant: str | None, principal: str | None) -> builtins.list[AccessToken]:
        """Tokens by creation, narrowed to a tenant and a principal where they are given."""
        listing = select(*_COLUMNS).order_by(access_tokens.c.created_at, access_tokens.c.id)
        if tenant is not None:
            listing = listing.where(access_tokens.c.tenant_id == tenant)
        if principal is not None:
            listing = listing.where(access_tokens.c.principal_id == principal)
        return [_token_of(row) for row in await self._session.fetch(listing)]


class PostgresTokenWrites:
    """The TokenWrites of a session."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def add(self, token: AccessToken) -> None:
        """Insert a token; raises StoreInconsistent if its id or hash is taken."""
        await self._session.execute(
            insert(access_tokens).values(
                token_hash=token.token_hash,
                id=token.id,
                tenant_id=token.owner.tenant,
                principal_id=token.owner.principal,
                scopes=sorted(scope.value for scope in token.scopes),
                label=token.label,
                created_at=token.created_at,
                expires_at=token.expires_at,
                revoked_at=token.revoked_at,
                last_used_at=token.last_used_at,
            )
        )

    async def revoke(self, id: UUID, *, at: datetime) -> bool:
        """Revoke a token; False if there is none of that id or it is revoked already."""
        standing = access_tokens.c.revoked_at.is_(None)
        revoking = update(access_tokens).where(access_tokens.c.id == id, standing).values(revoked_at=at)
        return await self._session.execute(revoking) == 1

    async def revoke_all(self, owner: Owner, *, at: datetime) -> int:
        """Revoke every token of one owner that is not revoked yet; how many."""
        standing = access_tokens.c.revoked_at.is_(None)
        revoking = update(access_tokens).where(is_owned(access_tokens, owner), standing).values(revoked_at=at)
        return await self._session.execute(revoking)

    async def touch(self, id: UUID, *, at: datetime) -> None:
        """Write the time of the last use."""
        await self._session.execute(update(access_tokens).where(access_tokens.c.id == id).values(last_used_at=at))


def _token_of(row: Sequence[Any]) -> AccessToken:  # Any: the columns above, in their order
    return AccessToken(
        id=row[0],
        token_hash=row[1],
        owner=Owner(tenant=row[2], principal=row[3]),
        scopes=frozenset(map(AccessScope, row[4])),
        label=row[5],
        created_at=row[6],
        expires_at=row[7],
        revoked_at=row[8],
        last_used_at=row[9],
    )
