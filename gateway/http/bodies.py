"""JSON bodies, read within bounds and taken strictly.

Source: belief store decisions, Errors; RFC 8259 (UTF-8, objects with distinct names).
"""

import asyncio
import json
import math
import re
from collections.abc import Iterable
from typing import Any

from starlette.requests import ClientDisconnect, Request

from gateway.http.errors import TransportError
from gateway.service.errors import ErrorCode, MalformedRequest

BODY_BYTES_MAX = 1_048_576
BODY_WAIT_SECONDS = 10.0
JSON_DEPTH_MAX = 64
JSON_INTEGER_DIGITS_MAX = 64

_STRUCTURE = re.compile(r'"(?:[^"\\]|\\.)*+"?|[\[\]{}]', re.DOTALL)
"""A string, whole, or one bracket."""


def require_json(request: Request) -> None:
    """Raise unsupported_media_type unless the body is declared as JSON, in UTF-8 where a charset is named."""
    media_type, *parameters = (part.strip() for part in request.headers.get("content-type", "").lower().split(";"))
    charsets = {part.replace(" ", "") for part in parameters if part}
    if media_type != "application/json" or not charsets <= {"charset=utf-8", 'charset="utf-8"'}:
        raise TransportError(ErrorCode.UNSUPPORTED_MEDIA_TYPE, "the content type must be application/json, in UTF-8")


async def read_body(request: Request) -> bytes:
    """The bytes of the body. Raises payload_too_large beyond 1 MiB, request_timeout after 10 s."""
    try:
        async with asyncio.timeout(BODY_WAIT_SECONDS):
            return await _read(request)
    except TimeoutError:
        raise TransportError(
            ErrorCode.REQUEST_TIMEOUT, "the body took too long to arrive", {"connection": "close"}
        ) from None
    except ClientDisconnect:
        raise TransportError(ErrorCode.REQUEST_TIMEOUT, "the body did not arrive") from None


async def _read(request: Request) -> bytes:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > BODY_BYTES_MAX:
            raise TransportError(
                ErrorCode.PAYLOAD_TOO_LARGE,
                f"the body must not exceed {BODY_BYTES_MAX} bytes",
                {"connection": "close"},
            )
    return bytes(body)


def parse_object(name: str, content: bytes | str) -> dict[str, Any]:  # Any: JSON
    """The JSON object that stands in a body or a parameter.

    Raises MalformedRequest for what is no object, bad UTF-8, a name given twice, nesting beyond 64,
    integers beyond 64 digits, and numbers that are not finite.
    """
    try:
        text = content.decode("utf-8") if isinstance(content, bytes) else content
    except UnicodeDecodeError:
        raise MalformedRequest(name, "must be UTF-8") from None
    _check_depth(name, text)
    try:
        value = json.loads(
            text,
            object_pairs_hook=_distinct,
            parse_int=_bounded_integer,
            parse_float=_finite,
            parse_constant=_refuse_constant,
        )
    except _Refused as error:
        raise MalformedRequest(name, str(error)) from None
    except ValueError:
        raise MalformedRequest(name, "must be valid JSON") from None
    if not isinstance(value, dict):
        raise MalformedRequest(name, "must be a JSON object")
    return value


class _Refused(Exception):
    """A reason for which JSON is not taken."""


def _check_depth(name: str, text: str) -> None:
    """Refuse deep nesting before the parser recurses; brackets within strings do not count."""
    depth = 0
    for token in _STRUCTURE.finditer(text):
        bracket = token[0]
        if bracket in "[{":
            depth += 1
            if depth > JSON_DEPTH_MAX:
                raise MalformedRequest(name, f"must not nest deeper than {JSON_DEPTH_MAX}")
        elif bracket in "]}":
            depth -= 1


def _distinct(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:  # Any: JSON
    value: dict[str, Any] = {}
    for key, item in pairs:
        if key in value:
            raise _Refused("must not give a name twice")
        value[key] = item
    return value


def _bounded_integer(digits: str) -> int:
    if len(digits) > JSON_INTEGER_DIGITS_MAX:
        raise _Refused(f"must not hold integers of more than {JSON_INTEGER_DIGITS_MAX} digits")
    return int(digits)


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise _Refused("must hold finite numbers only")
    return number


def _refuse_constant(_: str) -> None:
    raise _Refused("must hold finite numbers only")
