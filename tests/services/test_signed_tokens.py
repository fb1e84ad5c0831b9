"""Signed tokens of an issuer: whom they stand for, which are refused, and how seldom the issuer is asked."""

import asyncio
import base64
import hmac
import json
import logging
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import jwt
import pytest

from gateway.service.errors import Unavailable
from gateway.service.issuer_keys import (
    FIRST_SET_INTERVAL_SECONDS,
    KEY_SET_AGE_SECONDS,
    KEY_SET_BYTES_MAX,
    KEYS_MAX,
    UNKNOWN_KEY_INTERVAL_SECONDS,
    IssuerKeys,
    KeySetUnreadable,
    file_reader,
    parse_key_set,
)
from gateway.service.signed_tokens import SIGNED_TOKEN_LENGTH_MAX, Issuer, SignedTokenService
from gateway.service.tokens import TokenService
from store.domain.vocabulary import AccessScope
from store.inmemory.store import InMemoryStore
from tests.factories import owner
from tests.issuers import AUDIENCE, ISSUER, Signer, claims, key_set, public_entry, signer
from tests.services.deployment import ADA, Clock

LEEWAY = timedelta(seconds=30)


class Tokens:
    """A token service that knows an issuer, with clocks that stand and a set of keys that a test changes."""

    def __init__(self, *entries: object, read: Callable[[], bytes] | None = None) -> None:
        self.content: bytes | None = json.dumps({"keys": entries}).encode()
        self.readings = 0
        self.seconds = 1_000.0
        self.clock = Clock()
        self.keys = IssuerKeys(read or self.read, monotonic=lambda: self.seconds)
        issuer = Issuer(issuer=ISSUER, audience=AUDIENCE, tenant_claim="tenant", scopes_claim="scope", leeway=LEEWAY)
        signed = SignedTokenService(issuer, self.keys, clock=self.clock)
        self.service = TokenService(InMemoryStore(), clock=self.clock, new_id=uuid4, signed=signed)

    def read(self) -> bytes:
        self.readings += 1
        if self.content is None:
            raise KeySetUnreadable("nobody answers")
        return self.content

    async def opens(self, token: str) -> bool:
        return await self.service.resolve(token) is not None


@pytest.fixture(scope="module")
def first() -> Signer:
    return signer()


@pytest.mark.parametrize("algorithm", ["RS256", "PS384", "ES256", "ES384", "ES512", "EdDSA"])
async def test_a_signed_token_stands_for_its_principal(algorithm: str) -> None:
    key = signer(algorithm)

    principal = await Tokens(key.entry).service.resolve(key.token())

    assert principal is not None
    assert ADA == principal.owner
    assert {AccessScope.MEMORY_READ, AccessScope.MEMORY_WRITE} == principal.scopes


async def test_opaque_tokens_open_what_they_did(first: Signer) -> None:
    tokens = Tokens(first.entry)
    _, secret = await tokens.service.create(owner("bo"), scopes=["memory.read"], label="test", expires_at=None)

    principal = await tokens.service.resolve(secret)

    assert principal is not None
    assert owner("bo") == principal.owner
    assert 0 == tokens.readings


async def test_a_signed_token_is_nothing_where_no_issuer_is_known(first: Signer) -> None:
    service = TokenService(InMemoryStore(), new_id=uuid4)

    assert await service.resolve(first.token()) is None


@pytest.mark.parametrize(
    ("granted", "scopes"),
    [
        ("memory.read openid profile", {AccessScope.MEMORY_READ}),
        (["memory.write", "everything"], {AccessScope.MEMORY_WRITE}),
        ("", set()),
        (None, set()),
    ],
)
async def test_scopes_that_are_not_known_are_left_out(first: Signer, granted: object, scopes: set[AccessScope]) -> None:
    principal = await Tokens(first.entry).service.resolve(first.token(scope=granted))

    assert principal is not None
    assert scopes == principal.scopes


@pytest.mark.parametrize(
    "changes",
    [
        {"iss": None},
        {"iss": "https://issuer.test/"},
        {"iss": [ISSUER]},
        {"aud": None},
        {"aud": "another"},
        {"aud": ["another"]},
        {"exp": None},
        {"exp": "tomorrow"},
        {"exp": True},
        {"exp": 10**400},
        {"exp": float("nan")},
        {"exp": float("inf")},
        {"nbf": 10**12},
        {"nbf": "now"},
        {"iat": claims()["exp"] + 300},
        {"sub": None},
        {"sub": 7},
        {"sub": ""},
        {"sub": "x" * 257},
        {"sub": "a\0"},
        {"sub": "\ud800"},
        {"tenant": None},
        {"tenant": ""},
        {"tenant": ["harbour"]},
        {"scope": 1},
        {"scope": [1]},
        {"scope": {"memory.read": True}},
    ],
    ids=str,
)
async def test_claims_out_of_bounds_open_nothing(first: Signer, changes: dict[str, Any]) -> None:
    assert not await Tokens(first.entry).opens(first.token(**changes))


async def test_an_audience_among_several_is_enough(first: Signer) -> None:
    assert await Tokens(first.entry).opens(first.token(aud=["another", AUDIENCE]))


async def test_a_token_runs_out_with_its_leeway(first: Signer) -> None:
    tokens = Tokens(first.entry)
    token = first.token()
    tokens.clock.advance(timedelta(minutes=5) + LEEWAY - timedelta(seconds=1))
    assert await tokens.opens(token)

    tokens.clock.advance(timedelta(seconds=1))

    assert not await tokens.opens(token)


async def test_a_token_is_not_taken_before_its_time(first: Signer) -> None:
    tokens = Tokens(first.entry)
    begins = tokens.clock.now + LEEWAY + timedelta(seconds=1)
    token = first.token(nbf=begins.timestamp(), iat=int(tokens.clock.now.timestamp()))
    assert not await tokens.opens(token)

    tokens.clock.advance(timedelta(seconds=1))

    assert await tokens.opens(token)


def segment(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def forgeries(first: Signer) -> dict[str, str]:
    """Tokens that nobody signed who may, by what is wrong with them."""
    stranger = signer()
    header, payload, signature = first.token().split(".")
    shared = f"{segment({'alg': 'HS256', 'kid': 'first'})}.{payload}"
    mac = hmac.digest(json.dumps(first.entry).encode(), shared.encode(), "sha256")
    own = {"jwk": stranger.entry, "kid": "stranger"}
    return {
        "another's signature": stranger.token(),
        "its own key": stranger.token(headers=own),
        "no algorithm": f"{segment({'alg': 'none', 'kid': 'first'})}.{payload}.",
        "a shared secret": f"{shared}.{base64.urlsafe_b64encode(mac).decode().rstrip('=')}",
        "another algorithm": f"{segment({'alg': 'RS256', 'kid': 'first'})}.{payload}.{signature}",
        "an algorithm that is no text": f"{segment({'alg': ['ES256'], 'kid': 'first'})}.{payload}.{signature}",
        "an id that is no text": f"{segment({'alg': 'ES256', 'kid': 1})}.{payload}.{signature}",
        "other claims": f"{header}.{segment(claims(sub='bo'))}.{signature}",
        "a critical extension": first.token(headers={"crit": ["b64"], "b64": True}),
        "no header": f"bm90aGluZw.{payload}.{signature}",
        "deep nesting": f"{base64.urlsafe_b64encode(b'[' * 9_000).decode()}.{payload}.{signature}",
        "dots": "..",
        "other letters": f"é.{payload}.{signature}",
        "too much": first.token(padding="x" * SIGNED_TOKEN_LENGTH_MAX),
    }


async def test_a_forged_token_opens_nothing(first: Signer, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    tokens = Tokens(first.entry)

    for wrong, token in forgeries(first).items():
        assert not await tokens.opens(token), wrong

    assert "eyJ" not in caplog.text
    assert await tokens.opens(first.token())


async def test_without_an_id_the_key_must_be_the_only_one_that_suits(first: Signer) -> None:
    nameless, other = signer(id=None), signer("EdDSA")

    assert await Tokens(nameless.entry, other.entry).opens(nameless.token())
    assert not await Tokens(nameless.entry, first.entry).opens(nameless.token())


async def test_a_key_serves_the_algorithm_that_it_names(first: Signer) -> None:
    key = signer("RS256")
    entry = public_entry(key.key, "RS256", kid="first", alg="PS256")

    assert not await Tokens(entry, first.entry).opens(key.token())


def unusable(first: Signer) -> list[dict[str, object]]:
    private = jwt.get_algorithm_by_name("ES256").to_jwk(first.key, as_dict=True)
    return [
        {"kty": "oct", "k": "c2VjcmV0", "alg": "HS256"},
        dict(private),
        first.entry | {"use": "enc"},
        first.entry | {"key_ops": ["sign"]},
        first.entry | {"crv": "secp256k1"},
        first.entry | {"x": "nonsense"},
        first.entry | {"kid": 7},
        first.entry | {"alg": "HS256"},
        first.entry | {"alg": ["ES256"]},
        first.entry | {"key_ops": 7},
        first.entry | {"crv": ["P-256"]},
        first.entry | {"use": ["sig"]},
        {
            "kty": "RSA",
            "e": "AQAB",
            "n": "u1SU1LfVLPHCozMxH2Mo4lgOEePzNm0tRgeLezV6ffAt0gunVTLw7onLRnrq0_IzW7yWR7QkrmBL7jTKEn5u",
        },
    ]


@pytest.mark.filterwarnings("ignore::jwt.warnings.InsecureKeyLengthWarning")
def test_keys_that_must_not_verify_are_left_out(first: Signer) -> None:
    assert 1 == len(parse_key_set(key_set(first.entry, *unusable(first))))
    for entry in unusable(first):
        with pytest.raises(KeySetUnreadable):
            parse_key_set(key_set(entry))


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"[]", b'{"keys":{}}', b'{"keys":[]}', b'{"keys":[1,"a",null]}', b"\xff", b"[" * 10_000]
)
def test_what_is_no_set_of_keys_is_unreadable(content: bytes) -> None:
    with pytest.raises(KeySetUnreadable):
        parse_key_set(content)


def test_a_set_of_too_many_keys_is_unreadable(first: Signer) -> None:
    with pytest.raises(KeySetUnreadable):
        parse_key_set(key_set(*([first.entry] * (KEYS_MAX + 1))))


async def test_an_unknown_key_is_asked_for_once_a_minute(first: Signer) -> None:
    tokens = Tokens(first.entry)
    assert await tokens.opens(first.token())
    second = signer(id="second")
    assert not any([await tokens.opens(second.token()) for _ in range(50)])
    assert 1 == tokens.readings

    tokens.content = key_set(first.entry, second.entry)
    tokens.seconds += UNKNOWN_KEY_INTERVAL_SECONDS
    assert [True] * 50 == await asyncio.gather(*(tokens.opens(second.token()) for _ in range(50)))

    assert 2 == tokens.readings


async def test_the_last_good_set_is_kept(first: Signer) -> None:
    tokens = Tokens(first.entry)
    assert await tokens.opens(first.token())
    tokens.content = None
    tokens.seconds += KEY_SET_AGE_SECONDS

    assert await tokens.opens(first.token())
    assert not await tokens.opens(signer(id="second").token())
    assert await tokens.opens(first.token())
    assert 2 == tokens.readings


async def test_a_key_that_the_issuer_took_back_opens_nothing_after_a_while(first: Signer) -> None:
    tokens = Tokens(first.entry)
    assert await tokens.opens(first.token())
    tokens.content = key_set(signer(id="second").entry)
    tokens.seconds += KEY_SET_AGE_SECONDS
    await tokens.opens(first.token())

    await tokens.service.close()

    assert not await tokens.opens(first.token())


async def test_only_without_any_set_is_it_unavailable(first: Signer) -> None:
    tokens = Tokens()
    tokens.content = None
    for _ in range(3):
        with pytest.raises(Unavailable):
            await tokens.opens(first.token())
    assert 1 == tokens.readings
    assert not await tokens.opens("nonsense")
    assert not await tokens.opens("a.b.c")

    tokens.content = key_set(first.entry)
    tokens.seconds += FIRST_SET_INTERVAL_SECONDS

    assert await tokens.opens(first.token())


async def test_a_set_is_read_from_a_file_again_when_it_changes(first: Signer, tmp_path: Path) -> None:
    path = tmp_path / "jwks.json"
    tokens = Tokens(read=file_reader(path))
    with pytest.raises(Unavailable):
        await tokens.opens(first.token())
    path.write_bytes(b"x" * (KEY_SET_BYTES_MAX + 1))
    tokens.seconds += FIRST_SET_INTERVAL_SECONDS
    with pytest.raises(Unavailable):
        await tokens.opens(first.token())

    path.write_bytes(key_set(first.entry))
    tokens.seconds += FIRST_SET_INTERVAL_SECONDS

    assert await tokens.opens(first.token())
