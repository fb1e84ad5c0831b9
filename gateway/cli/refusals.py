"""What is told of an option that can't be taken: its own name, and what it must be, in our words.

The library that parses the command line tells what its types would say of a value; the services name parameters as the
transports do. An operator knows neither.
"""

from collections.abc import Mapping
from pathlib import Path

import typer
from pydantic import ValidationError

from gateway.service.errors import MalformedRequest
from store.domain.normalization import well_formed

_OPTIONS: Mapping[str, str] = {
    "id": "ID",
    "tenant": "--tenant",
    "principal": "--principal",
    "label": "--label",
    "scopes": "--scope",
    "expires_at": "--expires-at",
    "first": "--limit",
    "limit": "--limit",
    "after": "--cursor",
    "subject": "--subject",
    "session_id": "--session-id",
    "text": "--text",
    "statuses": "--status",
    "belief_types": "--belief-type",
    "idempotency_key": "--key",
    "include_derived": "--include-derived",
}
"""The options and arguments by the names of the services' parameters."""


def refusal_of(error: MalformedRequest) -> str:
    """The sentence for a parameter that a service refuses, under the name of its option."""
    return f"{_OPTIONS.get(error.parameter, error.parameter)} {error.reason}"


def in_our_words(error: typer.BadParameter) -> str:
    """The reason for which an option is refused, without the words of the library that judges its type."""
    cause = error.__cause__
    if not isinstance(cause, ValidationError):
        return error.message
    first = cause.errors()[0]
    if first["type"] == "value_error":
        return str(first["ctx"]["error"])
    return "must be a whole number" if first["type"].startswith("int") else "can't be taken"


def some_text(given: str) -> str:
    """What was given, unless it is empty: a variable of the shell that is not set is no name."""
    if not given:
        raise typer.BadParameter("must not be empty")
    return given


def utf8_text(given: str) -> str:
    """What was given, unless it is no UTF-8, in which all names are: the system passes any bytes on."""
    if not well_formed(given):
        raise typer.BadParameter("must be UTF-8")
    return given


def some_path(given: str) -> Path:
    """The path that was given. An empty one is refused, since it would mean the working directory."""
    return Path(some_text(given))
