"""The public keys of an issuer of signed tokens: read from a file or fetched, kept, and seldom asked for again.

Anybody can send a token that names a key nobody has, so the issuer is asked again at most once a minute for it. What
was read last is kept while a later reading fails. A set that has grown old is read again beside the requests, so that
a key which the issuer took back stops opening anything.
Source: RFC 7517, JSON Web Key; RFC 8725, JSON Web Token Best Current Practices.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

import jwt

from gateway.service.errors import MalformedRequest, Unavailable
from gateway.service.strict_json import parse_object

ALGORITHMS: Mapping[str, tuple[str, ...]] = {
    "RSA": ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    "P-256": ("ES256",),
    "P-384": ("ES384",),
    "P-521": ("ES512",),
    "Ed25519": ("EdDSA",),
    "Ed448": ("EdDSA",),
}
"""The algorithms that a key may verify, by its type or curve. None of them is symmetric."""

KEY_SET_BYTES_MAX = 262_144
KEYS_MAX = 64
RSA_BITS_MIN = 2_048
FETCH_SECONDS = 10.0
"""How long the issuer may take in all to send its keys."""
UNKNOWN_KEY_INTERVAL_SECONDS = 60.0
"""How often the issuer is asked at most for a key that is not known."""
FIRST_SET_INTERVAL_SECONDS = 5.0
"""How often it is asked while it never answered: until then no signed token can be judged."""
KEY_SET_AGE_SECONDS = 600.0
"""How old a set grows before it is read again."""
_CHUNK_BYTES = 65_536

_log = logging.getLogger(__name__)


class KeySetUnreadable(Exception):
    """A set of keys that can't be had; the message names the reason and nothing of the set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IssuerKey:
    """One public key: the id by which a token names it, and the algorithms that it may verify."""

    id: str | None
    algorithms: frozenset[str]
    key: jwt.PyJWK


class IssuerKeys:
    """The keys behind one place: a path, or a URL."""

    def __init__(self, read: Callable[[], bytes], *, monotonic: Callable[[], float] = time.monotonic) -> None:
        """Nothing is read yet. `read` blocks, and raises KeySetUnreadable; `monotonic` counts seconds."""
        self._read = read
        self._monotonic = monotonic
        self._keys: tuple[IssuerKey, ...] | None = None
        self._read_at = 0.0
        self._asked_at: float | None = None
        self._reading: asyncio.Task[None] | None = None

    async def find(self, id: str | None, algorithm: str) -> jwt.PyJWK | None:
        """The key of a token's header; a token that names none must leave no choice.

        Raises Unavailable while no set was ever had.
        """
        if self._keys is None:
            await self._read_again(FIRST_SET_INTERVAL_SECONDS)
        if self._keys is None:
            raise Unavailable("the issuer's keys can't be had at the moment")
        found = _chosen(self._keys, id, algorithm)
        if found is None:
            await self._read_again(UNKNOWN_KEY_INTERVAL_SECONDS)
            found = _chosen(self._keys, id, algorithm)
        elif self._monotonic() - self._read_at >= KEY_SET_AGE_SECONDS:
            self._begin_reading(UNKNOWN_KEY_INTERVAL_SECONDS)
        return found

    async def close(self) -> None:
        """Wait for a reading under way."""
        if self._reading is not None:
            await asyncio.gather(self._reading, return_exceptions=True)

    async def _read_again(self, interval_seconds: float) -> None:
        """Wait for a reading, unless the last one was begun within the interval; requests share one."""
        reading = self._begin_reading(interval_seconds)
        if reading is not None:
            # A request that is broken off must not break off the reading for the others.
            await asyncio.shield(reading)

    def _begin_reading(self, interval_seconds: float) -> asyncio.Task[None] | None:
        if self._reading is not None and not self._reading.done():
            return self._reading
        now = self._monotonic()
        if self._asked_at is not None and now - self._asked_at < interval_seconds:
            return None
        self._asked_at = now
        self._reading = asyncio.create_task(self._take())
        return self._reading

    async def _take(self) -> None:
        try:
            self._keys = parse_key_set(await asyncio.to_thread(self._read))
            self._read_at = self._monotonic()
        except KeySetUnreadable as error:
            _log.warning("the issuer's keys could not be read: %s", error)


def parse_key_set(content: bytes) -> tuple[IssuerKey, ...]:
    """The keys of a JSON Web Key Set that can verify a token here; others in it are left out.

    Left out are symmetric and private keys, keys for encryption, short ones and unknown kinds. Raises
    KeySetUnreadable where the set is none, or no key of it is left.
    """
    try:
        entries = parse_object("the set", content).get("keys")
    except MalformedRequest as error:
        raise KeySetUnreadable(error.message) from None
    if not isinstance(entries, list) or len(entries) > KEYS_MAX:
        raise KeySetUnreadable(f"it must hold a list of at most {KEYS_MAX} keys")
    keys = tuple(key for entry in entries if (key := _issuer_key(entry)) is not None)
    if not keys:
        raise KeySetUnreadable("it holds no key that may verify a token")
    return keys


def file_reader(path: Path) -> Callable[[], bytes]:
    """A reading of a file."""

    def read() -> bytes:
        try:
            with path.open("rb") as stream:
                return _bounded(stream.read(KEY_SET_BYTES_MAX + 1))
        except OSError as error:
            raise KeySetUnreadable(f"{path}: {error.strerror}") from error

    return read


def url_reader(url: str) -> Callable[[], bytes]:
    """A reading of a URL: bounded in size and time, following no redirection."""
    # Only what leaves this machine goes through the proxy of the environment.
    opener = build_opener(_NoRedirection, *([ProxyHandler({})] if url.startswith("http://") else []))

    def read() -> bytes:
        give_up_at = time.monotonic() + FETCH_SECONDS
        content = b""
        try:
            with opener.open(Request(url, headers={"accept": "application/json"}), timeout=FETCH_SECONDS) as response:  # noqa: S310 (the settings admit https, and http to this machine)
                while chunk := response.read1(_CHUNK_BYTES):
                    content = _bounded(content + chunk)
                    if time.monotonic() > give_up_at:
                        raise KeySetUnreadable(f"the issuer took longer than {FETCH_SECONDS:.0f} s")
        except (URLError, HTTPException, OSError, ValueError) as error:
            raise KeySetUnreadable(f"the issuer did not answer: {type(error).__name__}") from error
        return content

    return read


class _NoRedirection(HTTPRedirectHandler):
    """Answers a redirection as a failure: the keys come from where the operator said."""

    def redirect_request(self, *_: object, **__: object) -> None:
        """Follow nothing."""


def _bounded(content: bytes) -> bytes:
    if len(content) > KEY_SET_BYTES_MAX:
        raise KeySetUnreadable(f"it is larger than {KEY_SET_BYTES_MAX} bytes")
    return content


def _chosen(keys: tuple[IssuerKey, ...], id: str | None, algorithm: str) -> jwt.PyJWK | None:
    suitable = [key for key in keys if algorithm in key.algorithms and id in (None, key.id)]
    return suitable[0].key if len(suitable) == 1 else None


def _issuer_key(entry: Any) -> IssuerKey | None:  # Any: JSON
    """The key of one entry of a set; None for one that must not, or can't, verify a token."""
    if not isinstance(entry, dict) or "d" in entry or entry.get("use", "sig") != "sig":
        return None
    operations = entry.get("key_ops", ["verify"])
    if not isinstance(operations, list) or "verify" not in operations:
        return None
    kind = entry.get("kty") if entry.get("kty") == "RSA" else entry.get("crv")
    admitted = ALGORITHMS.get(kind, ()) if isinstance(kind, str) else ()
    algorithms = frozenset(each for each in admitted if entry.get("alg", each) == each)
    id = entry.get("kid")
    if not algorithms or not isinstance(id, str | None):
        return None
    try:
        key = jwt.PyJWK(entry, algorithm=min(algorithms))
    except (jwt.PyJWTError, ValueError, TypeError):
        return None
    if kind == "RSA" and key.key.key_size < RSA_BITS_MIN:
        return None
    return IssuerKey(id=id, algorithms=algorithms, key=key)
