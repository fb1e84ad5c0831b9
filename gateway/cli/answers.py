"""How a command answers: JSON or values on standard output, one sentence on standard error, and an exit code.

| Exit code | Means |
|---|---|
| 0 | done |
| 1 | failed or refused |
| 2 | wrong usage: an option, a setting, a parameter |
| 3 | the database, or what it needs, is not available; trying again may help |
| 4 | no such memory or token |
| 5 | a conflict with what was acknowledged before |
"""

import json
import sys
from collections.abc import Mapping
from enum import IntEnum
from typing import Any

from gateway.cli.interruption import Interrupted
from gateway.cli.refusals import refusal_of
from gateway.database import DatabaseUnavailable, StartRefused
from gateway.observability.logs import describe_exception
from gateway.service.errors import Conflict, GatewayError, MalformedRequest, NotFound, Unavailable
from gateway.service.keys import KeyFileError
from gateway.settings import SettingsError


class ExitCode(IntEnum):
    """How a command ended."""

    OK = 0
    FAILED = 1
    USAGE = 2
    UNAVAILABLE = 3
    NOT_FOUND = 4
    CONFLICT = 5


class CommandFailed(Exception):
    """A command that ends with a sentence and an exit code of its own choice."""

    def __init__(self, message: str, code: ExitCode = ExitCode.FAILED) -> None:
        """Say why."""
        super().__init__(message)
        self.code = code


_CODES: Mapping[type[Exception], ExitCode] = {
    SettingsError: ExitCode.USAGE,
    StartRefused: ExitCode.FAILED,
    KeyFileError: ExitCode.FAILED,
    DatabaseUnavailable: ExitCode.UNAVAILABLE,
    NotFound: ExitCode.NOT_FOUND,
    Conflict: ExitCode.CONFLICT,
    Unavailable: ExitCode.UNAVAILABLE,
    GatewayError: ExitCode.FAILED,
    Interrupted: ExitCode.FAILED,
}
"""The exit code of what a command may raise; the messages of all these are for operators."""


def failure_of_command(error: Exception) -> tuple[ExitCode, str]:
    """The exit code and the sentence for what a command raised; an unknown failure is named without its text."""
    if isinstance(error, CommandFailed):
        return error.code, str(error)
    if isinstance(error, MalformedRequest):
        return ExitCode.USAGE, refusal_of(error)
    for kind, code in _CODES.items():
        if isinstance(error, kind):
            return code, str(error)
    return ExitCode.FAILED, f"an internal error occurred: {describe_exception(error)}"


def show_failure(message: str) -> None:
    """One sentence on standard error."""
    end = "" if message.endswith((".", ";", "?")) else "."
    print(f"{printable(message[:1].upper() + message[1:])}{end}", file=sys.stderr)


def note(message: str) -> None:
    """A remark on standard error, where it is not part of the answer."""
    print(printable(message), file=sys.stderr)


def show_json(value: object) -> None:
    """The answer as JSON."""
    print(json.dumps(value, ensure_ascii=False, indent=2))


def show_values(values: Mapping[str, object]) -> None:
    """The answer as names and values, one on a line."""
    width = max(map(len, values), default=0)
    for name, value in values.items():
        print(f"{name:<{width}}  {printable(cell(value))}")


def cell(value: Any) -> str:  # Any: what a view or a setting holds
    """A value as an operator reads it."""
    match value:
        case None:
            return "-"
        case bool():
            return "yes" if value else "no"
        case list() | tuple() | set() | frozenset():
            return ", ".join(map(str, value)) or "-"
        case _:
            return str(value)


def printable(text: str) -> str:
    """Without control characters: a statement must not steer the terminal."""
    return "".join(character if character.isprintable() or character == "\n" else "\ufffd" for character in text)
