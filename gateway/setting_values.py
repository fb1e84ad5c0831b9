"""Values of settings that a type alone does not judge: addresses of proxies, origins of pages, the URL of a Redis.

The reasons for which one is refused never quote it.
"""

from ipaddress import ip_network
from urllib.parse import urlsplit

from pydantic import SecretStr


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
