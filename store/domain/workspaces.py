"""What a company's administrator is told of tenants and principals: names that nobody can compute or turn back.

Source: evidence graph decisions (the scope object).
"""

import hashlib
import hmac

from store.domain.keyring import HashKey, length_prefixed
from store.domain.owners import Owner

_DOMAIN = b"belief-gateway company directory"
"""Sets these hashes apart from those of statements, which are made under the same keys."""


def company_id(key: HashKey, tenant: str) -> str:
    """The name of a tenant under a key: 64 hexadecimal digits."""
    return _opaque(key, tenant)


def workspace_id(key: HashKey, owner: Owner) -> str:
    """The name of a principal of a tenant under a key: 64 hexadecimal digits, never those of a tenant."""
    return _opaque(key, owner.tenant, owner.principal)


def _opaque(key: HashKey, *parts: str) -> str:
    own = hmac.digest(key.secret, _DOMAIN, hashlib.sha256)
    return hmac.digest(own, length_prefixed(*(part.encode() for part in parts)), hashlib.sha256).hex()
