"""Access tokens as they are stored: the hash of 256 random bits, and whom they stand for."""

import hashlib
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from store.domain.owners import Owner
from store.domain.vocabulary import AccessScope

TOKEN_BYTES = 32
TOKEN_LABEL_LENGTH_MAX = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessToken:
    """A bearer token without its secret. `expires_at` None: until it is revoked."""

    id: UUID
    token_hash: bytes
    owner: Owner
    scopes: frozenset[AccessScope]
    label: str
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None

    def is_valid(self, now: datetime) -> bool:
        """Whether it opens anything at this moment."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


def token_hash(secret: str) -> bytes:
    """The 32 bytes under which a token is stored and looked up."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()
