"""Signed tokens of an OpenID issuer: a JSON Web Token, judged by the issuer's public keys, stands for a principal.

The principal is `sub`, its tenant and its scopes stand in claims that the settings name; scopes that are not known here
are left out. What the token itself offers as a key or as the way to one is never looked at, and nothing of a token
is logged. A signed token can't be revoked here: it opens what it says until it runs out, or its key is taken back.
Source: RFC 7519, JSON Web Token; RFC 8725, JSON Web Token Best Current Practices.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import jwt

from gateway.service.environment import system_clock
from gateway.service.issuer_keys import ALGORITHMS, IssuerKeys
from gateway.service.principal import Principal
from store.domain.memories import InvalidRecord, check_text
from store.domain.owners import OWNER_NAME_LENGTH_MAX, Owner
from store.domain.vocabulary import AccessScope

SIGNED_TOKEN_LENGTH_MAX = 16_384
"""Characters; nothing longer is looked at."""
TIME_SECONDS_MAX = 10**11
"""Since 1970; a claim beyond is none of our times."""

_ADMITTED = frozenset(algorithm for algorithms in ALGORITHMS.values() for algorithm in algorithms)
_KNOWN_SCOPES = frozenset(scope.value for scope in AccessScope)
# The times are judged here, by the clock that all services share.
_OPTIONS: Any = {  # Any: the library's own type of options
    "require": ["iss", "aud", "exp", "sub"],
    "verify_exp": False,
    "verify_nbf": False,
    "verify_iat": False,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Issuer:
    """Whose tokens are taken, for whom they must be made, and which claims say tenant and scopes."""

    issuer: str
    audience: str
    tenant_claim: str
    scopes_claim: str
    leeway: timedelta


class SignedTokenService:
    """Resolves the signed tokens of one issuer."""

    def __init__(self, issuer: Issuer, keys: IssuerKeys, *, clock: Callable[[], datetime] = system_clock) -> None:
        """Judge by these keys, at the time of this clock."""
        self._issuer = issuer
        self._keys = keys
        self._clock = clock

    async def resolve(self, secret: str) -> Principal | None:
        """The principal of a valid token, None for any other text.

        Raises Unavailable while the issuer's keys were never had.
        """
        if len(secret) > SIGNED_TOKEN_LENGTH_MAX or not secret.isascii():
            return None
        try:
            header = jwt.get_unverified_header(secret)
        except jwt.PyJWTError:
            return None
        algorithm, id = header.get("alg"), header.get("kid")
        if not isinstance(algorithm, str) or algorithm not in _ADMITTED or not isinstance(id, str | None):
            return None
        if "crit" in header:
            # No extension of the format is known here, so none that a token calls critical can be kept.
            return None
        key = await self._keys.find(id, algorithm)
        if key is None:
            return None
        try:
            claims = jwt.decode(
                secret,
                key.key,
                algorithms=[algorithm],
                audience=self._issuer.audience,
                issuer=self._issuer.issuer,
                options=_OPTIONS,
            )
        except jwt.PyJWTError:
            return None
        return self._principal(claims) if self._is_current(claims) else None

    async def close(self) -> None:
        """Wait for what is under way."""
        await self._keys.close()

    def _is_current(self, claims: Mapping[str, Any]) -> bool:
        """Whether it is in force: before `exp`, and not before `nbf` or `iat`, give or take the leeway."""
        now, leeway = self._clock().timestamp(), self._issuer.leeway.total_seconds()
        times = [claims[name] for name in ("exp", "nbf", "iat") if name in claims]
        # Comparisons alone: what is no number is none of these types, and no number that is not finite lies within.
        if not all(type(moment) in (int, float) and abs(moment) <= TIME_SECONDS_MAX for moment in times):
            return False
        begins = max((claims[name] for name in ("nbf", "iat") if name in claims), default=now)
        return bool(begins - leeway <= now < claims["exp"] + leeway)

    def _principal(self, claims: Mapping[str, Any]) -> Principal | None:
        """Who it stands for; None where a claim is missing or out of bounds."""
        tenant, subject = claims.get(self._issuer.tenant_claim), claims["sub"]
        if not isinstance(tenant, str) or not isinstance(subject, str):
            return None
        try:
            check_text("tenant", tenant, OWNER_NAME_LENGTH_MAX)
            check_text("sub", subject, OWNER_NAME_LENGTH_MAX)
        except InvalidRecord:
            return None
        granted = claims.get(self._issuer.scopes_claim, "")
        words = granted.split() if isinstance(granted, str) else granted
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            return None
        scopes = frozenset(AccessScope(word) for word in words if word in _KNOWN_SCOPES)
        return Principal(owner=Owner(tenant=tenant, principal=subject), scopes=scopes)
