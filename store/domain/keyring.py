"""The keyed hash by which a statement is recognised after its text is gone.

The secrets lie in the key file, never in the database. Rows keep the hash they were written with;
look-ups ask for the hash under every key of the ring. Source: belief store decisions, Review and delete.
"""

import hashlib
import hmac
from collections.abc import Collection
from dataclasses import dataclass

from store.domain.normalization import normalized
from store.domain.owners import Owner

KEY_BYTES = 32
_KEY_ID_MESSAGE = b"belief-gateway key id"


def length_prefixed(*parts: bytes) -> bytes:
    """Join parts so that no two different lists of parts give the same bytes."""
    return b"".join(len(part).to_bytes(8, "big") + part for part in parts)


def key_id(secret: bytes) -> str:
    """The public name of a secret: 32 hexadecimal digits of the HMAC of a constant."""
    return hmac.digest(secret, _KEY_ID_MESSAGE, hashlib.sha256).hex()[:32]


@dataclass(frozen=True, slots=True, kw_only=True)
class HashKey:
    """One secret of 32 bytes, and its id."""

    id: str
    secret: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Keyring:
    """Every key of a deployment; `current` is the one that new rows are hashed with."""

    current: HashKey
    keys: tuple[HashKey, ...]

    def statement_hash(self, owner: Owner, statement: str) -> bytes:
        """The 32-byte hash of a statement, normalized, for one owner under the current key."""
        return _statement_hash(self.current, owner, normalized(statement))

    def statement_hashes(self, owner: Owner, statement: str) -> frozenset[bytes]:
        """The hash of a statement under every key of the ring, for look-ups."""
        return frozenset(self.hashes_by_key(owner, statement).values())

    def hashes_by_key(self, owner: Owner, statement: str) -> dict[str, bytes]:
        """The hash of a statement by the id of each key of the ring."""
        text = normalized(statement)
        return {key.id: _statement_hash(key, owner, text) for key in self.keys}

    def derivation_hash(self, owner: Owner, clauses: Collection[str]) -> bytes:
        """The 32-byte hash of what a derived record says, for one owner under the current key.

        The same however its clauses are ordered, spelled or repeated, and never that of a statement.
        """
        return _derivation_hash(self.current, owner, clauses)

    def derivation_hashes_by_key(self, owner: Owner, clauses: Collection[str]) -> dict[str, bytes]:
        """The same by the id of each key of the ring."""
        return {key.id: _derivation_hash(key, owner, clauses) for key in self.keys}

    def placement_hashes_by_key(
        self, owner: Owner, *, record_kind: str, sensitivity: str, clauses: Collection[str]
    ) -> dict[str, bytes]:
        """The hash of what a derived record of one kind and sensitivity says, by the id of each key of the ring.

        By it is known that the record was kept to its scope; it tells nothing of one of another sensitivity.
        """
        place = ("placed", record_kind, sensitivity)
        return {key.id: _derivation_hash(key, owner, clauses, place) for key in self.keys}

    def with_current(self, identifier: str) -> "Keyring | None":
        """The ring with the key of this id as its current one; None where it holds none such."""
        key = next((key for key in self.keys if key.id == identifier), None)
        return None if key is None else Keyring(current=key, keys=self.keys)

    def position(self, identifier: str) -> int:
        """Where the key of this id stands in the order in which keys were added."""
        return [key.id for key in self.keys].index(identifier)

    def holds(self, identifier: str) -> bool:
        """Whether a key of this id is on the ring."""
        return any(key.id == identifier for key in self.keys)


def _statement_hash(key: HashKey, owner: Owner, text: str) -> bytes:
    message = length_prefixed(owner.tenant.encode(), owner.principal.encode(), text.encode())
    return hmac.digest(key.secret, message, hashlib.sha256)


def _derivation_hash(
    key: HashKey, owner: Owner, clauses: Collection[str], domain: tuple[str, ...] = ("derived",)
) -> bytes:
    said = sorted({normalized(clause) for clause in clauses})
    # One part more than a statement has at least.
    parts = (owner.tenant, owner.principal, *domain, *said)
    return hmac.digest(key.secret, length_prefixed(*(part.encode() for part in parts)), hashlib.sha256)


def lock_number(owner: Owner, statement_hash: bytes) -> int:
    """The signed 64-bit number of the advisory lock of one owner's statement."""
    message = length_prefixed(owner.tenant.encode(), owner.principal.encode(), statement_hash)
    return int.from_bytes(hashlib.sha256(message).digest()[:8], "big", signed=True)
