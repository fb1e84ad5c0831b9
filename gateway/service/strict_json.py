"""JSON taken strictly: one object, in UTF-8, bounded in depth and digits, each name once, finite numbers.

Source: belief store decisions, Errors; RFC 8259.
"""

import json
import math
import re
from collections.abc import Callable, Iterable
from typing import Any

from gateway.service.errors import MalformedRequest

JSON_DEPTH_MAX = 64
JSON_INTEGER_DIGITS_MAX = 64

_STRUCTURE = re.compile(r'"(?:[^"\\]++|\\.)*"?|[\[\]{}]', re.DOTALL)
"""A string, whole, or one bracket."""


def parse_object(
    name: str, content: bytes | str, *, parse_float: Callable[[str], Any] = float
) -> dict[str, Any]:  # Any: JSON
    """The JSON object that stands in a body, a parameter or a line; `name` is what a refusal names.

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
            parse_float=lambda digits: _finite(parse_float(digits)),
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


def _finite(number: Any) -> Any:  # Any: float or Decimal
    if not math.isfinite(number):
        raise _Refused("must hold finite numbers only")
    return number


def _refuse_constant(_: str) -> None:
    raise _Refused("must hold finite numbers only")
