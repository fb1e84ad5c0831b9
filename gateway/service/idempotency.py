"""One caller's name for one write, and the hash of what was asked under it.

Source: belief store decisions, Review and delete (idempotency keys).
"""

import hashlib
import re

from gateway.service.errors import MalformedRequest
from store.domain.keyring import length_prefixed

KEY_LENGTH_MAX = 200
_VISIBLE = re.compile(rf"[\x21-\x7e]{{1,{KEY_LENGTH_MAX}}}", re.ASCII)


def check_idempotency_key(key: str) -> None:
    """Refuse a key that is not 1 to 200 visible ASCII characters."""
    if not _VISIBLE.fullmatch(key):
        raise MalformedRequest("idempotency_key", f"must be 1 to {KEY_LENGTH_MAX} visible ASCII characters")


def request_hash(*parts: str) -> bytes:
    """32 bytes that stand for an operation and its arguments, in order; no two lists share them."""
    return hashlib.sha256(length_prefixed(*(part.encode("utf-8", "surrogatepass") for part in parts))).digest()
