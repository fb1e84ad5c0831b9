"""An issuer of signed tokens, for tests: keys of several kinds, tokens signed with them, the set to judge them by."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from tests.factories import NOW

ISSUER = "https://issuer.test"
AUDIENCE = "belief-gateway"

PrivateKey = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey
_KINDS = {"RS": "RSA", "PS": "RSA", "ES": "EC", "Ed": "OKP"}


def private_key(algorithm: str) -> PrivateKey:
    """A fresh key that signs with the algorithm."""
    match _KINDS[algorithm[:2]]:
        case "RSA":
            return rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
        case "EC":
            curves = {"ES256": ec.SECP256R1(), "ES384": ec.SECP384R1(), "ES512": ec.SECP521R1()}
            return ec.generate_private_key(curves[algorithm])
        case _:
            return ed25519.Ed25519PrivateKey.generate()


def public_entry(key: PrivateKey, algorithm: str, **members: object) -> dict[str, Any]:
    """The entry of the public half in a set."""
    entry: dict[str, Any] = jwt.get_algorithm_by_name(algorithm).to_jwk(key.public_key(), as_dict=True)
    return entry | members


def key_set(*entries: Mapping[str, Any]) -> bytes:
    """A JSON Web Key Set."""
    return json.dumps({"keys": entries}).encode()


def claims(*, now: datetime = NOW, **changes: object) -> dict[str, Any]:
    """The claims of a sound token of Ada's; a change to None leaves a claim out."""
    sound = {
        "iss": ISSUER,
        "aud": AUDIENCE,
        "exp": int((now + timedelta(minutes=5)).timestamp()),
        "sub": "ada",
        "tenant": "harbour",
        "scope": "memory.read memory.write",
    }
    return {name: value for name, value in (sound | changes).items() if value is not None}


@dataclass(frozen=True)
class Signer:
    """One key of an issuer, under an id."""

    algorithm: str = "ES256"
    id: str | None = "first"
    key: PrivateKey = field(default_factory=lambda: private_key("ES256"))

    @property
    def entry(self) -> dict[str, Any]:
        """Its entry in the issuer's set."""
        return public_entry(self.key, self.algorithm, **({} if self.id is None else {"kid": self.id}))

    def token(self, *, now: datetime = NOW, headers: Mapping[str, Any] | None = None, **changes: object) -> str:
        """A token of Ada's, with changed claims."""
        named = {} if self.id is None else {"kid": self.id}
        pem = self.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        # Not through the library's own claims: it refuses to sign what it would refuse to take.
        payload = json.dumps(claims(now=now, **changes)).encode()
        return jwt.PyJWS().encode(payload, pem, self.algorithm, headers=named | dict(headers or {}))


def signer(algorithm: str = "ES256", id: str | None = "first") -> Signer:
    """A signer with a fresh key."""
    return Signer(algorithm=algorithm, id=id, key=private_key(algorithm))
