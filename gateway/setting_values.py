"""Values of settings: their closed sets, what a type alone does not judge, and how a secret is shown.

The reasons for which a value is refused never quote it, since it may be a secret.
"""

from enum import StrEnum
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Annotated
from urllib.parse import SplitResult, parse_qsl, urlencode, urlsplit

from pydantic import AfterValidator, Field, SecretStr

PREFIX = "AGENT_MEMORY_"
"""What the environment variables of all settings begin with."""
HIDDEN = "***"
_URL_SCHEMES = ("postgresql", "postgresql+asyncpg")
_SECRET_PARAMETERS = ("password", "passfile", "sslpassword")
_THIS_MACHINE = ("localhost", "127.0.0.1", "::1")


class LogLevel(StrEnum):
    """How much is logged."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class LogFormat(StrEnum):
    """How a line of the log is written."""

    TEXT = "text"
    JSON = "json"


class DocumentsMode(StrEnum):
    """What the trusted GraphQL documents are: known beside all others, or the only ones."""

    ALSO = "also"
    ONLY = "only"


class Introspection(StrEnum):
    """Who may ask what the GraphQL schema is."""

    PUBLIC = "public"
    AUTHENTICATED = "authenticated"
    OFF = "off"


def absolute(path: Path) -> Path:
    """A path from the root on, wherever the program is started. Raises ValueError."""
    try:
        return path.expanduser().absolute()
    except RuntimeError:
        raise ValueError("must not name the home directory of a user whom the system does not know") from None


def address(text: str) -> str:
    """An address to listen on. Raises ValueError."""
    if text != "localhost":
        try:
            ip_address(text)
        except ValueError:
            raise ValueError("must be an IP address or localhost") from None
    return text


def postgresql_url(secret: SecretStr) -> SecretStr:
    """The URL of a PostgreSQL in the driver's spelling; it may hold a password. Raises ValueError."""
    try:
        parts = urlsplit(secret.get_secret_value())
        # Read here since it is parsed when it is read.
        sound = parts.port is None or parts.port > 0
    except ValueError:
        raise ValueError("must be a URL such as postgresql://user@host:5432/database") from None
    if parts.scheme not in _URL_SCHEMES or not sound:
        raise ValueError("must begin with postgresql:// or postgresql+asyncpg://")
    if not parts.path.strip("/"):
        raise ValueError("must name a database, as in postgresql://user@host:5432/database")
    return SecretStr(_joined(parts._replace(scheme=_URL_SCHEMES[1])))


def key_set_place(text: str) -> str:
    """A URL of https, or of http to this machine, or the absolute path of a file. Raises ValueError."""
    scheme, separator, _ = text.partition("://")
    if not separator:
        return str(absolute(Path(text)))
    try:
        host = urlsplit(text).hostname
    except ValueError:
        raise ValueError("must be a path or a URL") from None
    if not host or not (scheme == "https" or (scheme == "http" and host in _THIS_MACHINE)):
        raise ValueError("must be a path or a URL that begins with https://")
    return text


def without_password(url: str) -> str:
    """A URL as it may be shown: the password hidden, in its own place and as a parameter."""
    parts = urlsplit(url)
    user, _, host = parts.netloc.rpartition("@")
    if ":" in user:
        user = f"{user.partition(':')[0]}:{HIDDEN}"
    query = [
        (name, HIDDEN if name.lower() in _SECRET_PARAMETERS else value)
        for name, value in parse_qsl(parts.query, keep_blank_values=True)
    ]
    shown = parts._replace(netloc=f"{user}@{host}" if user else host, query=urlencode(query, safe="*/"), fragment="")
    return _joined(shown)


def separated(text: object) -> object:
    """The parts of a text between its commas, none of them empty; anything but a text is left as it is."""
    return tuple(part.strip() for part in text.split(",") if part.strip()) if isinstance(text, str) else text


def networks(parts: tuple[str, ...]) -> tuple[str, ...]:
    """The addresses and networks in their usual spelling. Raises ValueError."""
    try:
        found = [ip_network(part) for part in parts]
    except ValueError:
        raise ValueError("must be addresses or networks such as 10.0.0.0/8, separated by commas") from None
    return tuple(str(each.network_address if each.num_addresses == 1 else each) for each in found)


def origins(parts: tuple[str, ...]) -> tuple[str, ...]:
    """The origins, each as browsers write it. Raises ValueError; a `*` is none: it would let every page read."""
    if any(part != _origin(part) for part in parts):
        raise ValueError("must be origins such as https://example.org, in lower case and separated by commas")
    return parts


def redis_url(secret: SecretStr) -> SecretStr:
    """The URL of a Redis, which may hold a password. Raises ValueError."""
    try:
        parts = urlsplit(secret.get_secret_value())
        is_sound = parts.scheme in ("redis", "rediss") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_sound = False
    if not is_sound:
        raise ValueError("must be a URL such as redis://host:6379/0")
    return secret


def _joined(parts: SplitResult) -> str:
    # Not urlunsplit: it drops the slashes of an empty host, which the URL of a socket has.
    return f"{parts.scheme}://{parts.netloc}{parts.path}{parts.query and f'?{parts.query}'}"


def _origin(text: str) -> str | None:
    """The origin of a URL as browsers write it: the default port is left out."""
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return None
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    is_default = port in (None, {"http": 80, "https": 443}[parts.scheme])
    return f"{parts.scheme}://{host}" if is_default else f"{parts.scheme}://{host}:{port}"


DirectoryOrFile = Annotated[Path, AfterValidator(absolute)]
Port = Annotated[int, Field(ge=0, le=65_535)]
BindAddress = Annotated[str, AfterValidator(address)]
