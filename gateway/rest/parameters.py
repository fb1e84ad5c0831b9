"""From text to types: query strings, path segments, headers and bodies, taken strictly.

Source: belief store decisions, Reading and Errors (types).
"""

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import TypeVar
from urllib.parse import unquote_to_bytes

from starlette.datastructures import Headers

from gateway.rest.operations import IDEMPOTENCY_KEY_HEADER, INCLUDE_DERIVED, Parameter
from gateway.service.errors import MalformedRequest
from gateway.service.memory_requests import MemoryPaging, MemorySelection, check_text
from gateway.service.strict_json import parse_object
from store.domain.vocabulary import BeliefType, MemoryStatus, ReviewOutcome, Sensitivity

INTEGER_DIGITS_MAX = 64
"""As in JSON bodies: more digits are no number that anybody means."""

_STRAY_PERCENT = re.compile(rb"%(?![0-9A-Fa-f]{2})")
_INTEGER = re.compile(rf"-?[0-9]{{1,{INTEGER_DIGITS_MAX}}}", re.ASCII)
_PRESENTABLE = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}", re.ASCII)
_BOOLEANS = {"true": True, "false": False}

Member = TypeVar("Member", bound=StrEnum)
Values = Mapping[str, Sequence[str]]
"""The values of each parameter that was given, in the order of the query string."""


def parse_query(query: bytes, parameters: Sequence[Parameter]) -> Values:
    """The values of a query string that holds what these parameters allow, and nothing else.

    Raises MalformedRequest, in this order, for bytes that are no UTF-8, U+0000, a missing parameter, one
    given twice, an unknown one, an empty one.
    """
    values: dict[str, list[str]] = {}
    for pair in query.split(b"&"):
        if pair:
            name, value = _decoded_pair(pair)
            values.setdefault(name, []).append(value)
    for name, given in values.items():
        for text in (name, *given):
            check_text(name=presentable(name), value=text)
    known = {parameter.name: parameter for parameter in parameters}
    for parameter in parameters:
        if parameter.required and parameter.name not in values:
            raise MalformedRequest(parameter.name, "is required")
    for name, given in values.items():
        if len(given) > 1 and not (name in known and known[name].repeatable):
            raise MalformedRequest(presentable(name), "must be given once")
    for name in values:
        if name not in known:
            raise MalformedRequest(presentable(name), "is not a parameter of this operation")
    for name, given in values.items():
        if "" in given and not known[name].blank_allowed:
            raise MalformedRequest(name, "must not be empty")
    return values


def _decoded_pair(pair: bytes) -> tuple[str, str]:
    name, _, value = pair.replace(b"+", b" ").partition(b"=")
    return decoded("the query string", name), decoded("the query string", value)


def decoded(name: str, encoded: bytes) -> str:
    """The text of percent-encoded UTF-8; MalformedRequest for anything else."""
    try:
        if _STRAY_PERCENT.search(encoded) is None:
            return unquote_to_bytes(encoded).decode("utf-8")
    except UnicodeDecodeError:
        pass
    raise MalformedRequest(name, "must be percent-encoded UTF-8")


def parse_ceiling(values: Values) -> Sensitivity:
    """The required ceiling, out of its enumeration."""
    return member_of("ceiling", values["ceiling"][0], Sensitivity)


def parse_include_derived(values: Values, *, served: bool) -> bool:
    """Whether a page shows derived records too. Raises MalformedRequest for what is no Boolean or not `served`."""
    included = _boolean(INCLUDE_DERIVED, values) or False
    if included and not served:
        raise MalformedRequest(INCLUDE_DERIVED, "must be false: this server shows no derived records")
    return included


def parse_selection(values: Values) -> MemorySelection:
    """The filter of a page. Raises MalformedRequest for a value outside its type."""
    return MemorySelection(
        ceiling=parse_ceiling(values),
        statuses=_members("status", values, MemoryStatus),
        belief_types=_members("belief_type", values, BeliefType),
        subject=_text("subject", values),
        session_id=_text("session_id", values),
        text=_text("text", values),
        flagged=_boolean("flagged", values),
    )


def parse_paging(values: Values) -> MemoryPaging:
    """The place of a page, walked forward. Raises MalformedRequest for a limit that is no integer."""
    limit = _text("limit", values)
    if limit is not None and not _INTEGER.fullmatch(limit):
        raise MalformedRequest("limit", "must be a positive integer")
    return MemoryPaging(first=None if limit is None else int(limit), after=_text("cursor", values))


def parse_outcome(content: bytes) -> ReviewOutcome:
    """The outcome of a review body: `{"outcome": …}` and nothing else."""
    body = parse_object("the body", content)
    if "outcome" not in body:
        raise MalformedRequest("outcome", "is required in the body")
    for name in body:
        if name != "outcome":
            raise MalformedRequest(presentable(name), "is not a member of the body")
    return member_of("outcome", body["outcome"], ReviewOutcome)


def parse_idempotency_key(headers: Headers) -> str:
    """The one Idempotency-Key of a write; its syntax is a rule, which the service checks."""
    keys = headers.getlist(IDEMPOTENCY_KEY_HEADER)
    if not keys:
        raise MalformedRequest(IDEMPOTENCY_KEY_HEADER, "is required")
    if len(keys) > 1:
        raise MalformedRequest(IDEMPOTENCY_KEY_HEADER, "must be given once")
    return keys[0]


def presentable(name: str) -> str:
    """The caller's name of a parameter where it can be one at all: a message echoes nothing else."""
    return name if _PRESENTABLE.fullmatch(name) else "a parameter"


def _text(name: str, values: Values) -> str | None:
    given = values.get(name)
    return None if given is None else given[0]


def member_of(name: str, value: object, enumeration: type[Member]) -> Member:
    """The member whose value is given. Raises MalformedRequest for any other value."""
    # Looked up by hand: a StrEnum's constructor would raise for a list and quote what was given.
    for member in enumeration:
        if member.value == value:
            return member
    raise MalformedRequest(name, f"must be one of {', '.join(member.value for member in enumeration)}")


def _members(name: str, values: Values, enumeration: type[Member]) -> frozenset[Member] | None:
    given = values.get(name)
    return None if given is None else frozenset(member_of(name, value, enumeration) for value in given)


def _boolean(name: str, values: Values) -> bool | None:
    given = _text(name, values)
    if given is None:
        return None
    if given not in _BOOLEANS:
        raise MalformedRequest(name, "must be true or false")
    return _BOOLEANS[given]
