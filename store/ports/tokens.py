"""What a store must do for access tokens. They are looked up by hash before any tenant is known."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from store.domain.owners import Owner
from store.domain.tokens import AccessToken


class TokenReads(Protocol):
    """Tokens as they are looked up and listed."""

    async def find(self, token_hash: bytes) -> AccessToken | None:
        """The token of this hash, valid or not."""
        ...

    async def list(self, *, tenant: str | None, principal: str | None) -> Sequence[AccessToken]:
        """Tokens by creation, narrowed to a tenant and a principal where they are given."""
        ...


class TokenWrites(Protocol):
    """Tokens as they are made and ended."""

    async def add(self, token: AccessToken) -> None:
        """Insert a token."""
        ...

    async def revoke(self, id: UUID, *, at: datetime) -> bool:
        """Revoke a token; False if there is none of that id or it is revoked already."""
        ...

    async def revoke_all(self, owner: Owner, *, at: datetime) -> int:
        """Revoke every token of one owner that is not revoked yet; how many."""
        ...

    async def touch(self, id: UUID, *, at: datetime) -> None:
        """Write the time of the last use."""
        ...
