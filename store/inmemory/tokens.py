"""Access tokens in memory."""

import builtins
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from store.domain.owners import Owner
from store.domain.tokens import AccessToken
from store.inmemory.state import State
from store.ports.errors import StoreInconsistent


class InMemoryTokenReads:
    """Tokens as they are looked up and listed."""

    def __init__(self, state: State) -> None:
        self._state = state

    async def find(self, token_hash: bytes) -> AccessToken | None:
        """The token of this hash, valid or not."""
        return next((token for token in self._state.tokens.values() if token.token_hash == token_hash), None)

    async def list(self, *, tenant: str | None, principal: str | None) -> builtins.list[AccessToken]:
        """Tokens by creation, narrowed to a tenant and a principal where they are given."""
        tokens = (
            token
            for token in self._state.tokens.values()
            if tenant in {None, token.owner.tenant} and principal in {None, token.owner.principal}
        )
        return sorted(tokens, key=lambda token: (token.created_at, token.id))


class InMemoryTokenWrites:
    """Tokens as they are made and ended."""

    def __init__(self, state: State) -> None:
        self._state = state

    async def add(self, token: AccessToken) -> None:
        """Insert a token; raises StoreInconsistent if its id or hash is taken."""
        tokens = self._state.tokens
        if token.id in tokens or any(held.token_hash == token.token_hash for held in tokens.values()):
            raise StoreInconsistent("a token of this id or hash is stored already")
        tokens[token.id] = token

    async def revoke(self, id: UUID, *, at: datetime) -> bool:
        """Revoke a token; False if there is none of that id or it is revoked already."""
        token = self._state.tokens.get(id)
        if token is None or token.revoked_at is not None:
            return False
        self._state.tokens[id] = replace(token, revoked_at=at)
        return True

    async def revoke_all(self, owner: Owner, *, at: datetime) -> int:
        """Revoke every token of one owner that is not revoked yet; how many."""
        standing = [token for token in self._state.tokens.values() if token.owner == owner and token.revoked_at is None]
        for token in standing:
            self._state.tokens[token.id] = replace(token, revoked_at=at)
        return len(standing)

    async def touch(self, id: UUID, *, at: datetime) -> None:
        """Write the time of the last use."""
        token = self._state.tokens.get(id)
        if token is not None:
            self._state.tokens[id] = replace(token, last_used_at=at)
