"""How a command answers: JSON or a table on standard output, one sentence on standard error, and an exit code.

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
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import IntEnum
from typing import Any, Protocol

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from gateway.cli.interruption import Interrupted
from gateway.database import DatabaseUnavailable, StartRefused
from gateway.observability.logs import describe_exception
from gateway.service.errors import Conflict, GatewayError, MalformedRequest, NotFound, Unavailable
from gateway.service.keys import KeyFileError
from gateway.settings import SettingsError


class Advance(Protocol):
    """What a long work calls when some of it is done."""

    def __call__(self, completed: int, of: int | None = None, /) -> None:
        """So much is done in all, of so much where that is known."""
        ...


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
    MalformedRequest: ExitCode.USAGE,
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
    for kind, code in _CODES.items():
        if isinstance(error, kind):
            return code, str(error)
    return ExitCode.FAILED, f"an internal error occurred: {describe_exception(error)}"


def show_failure(message: str) -> None:
    """One sentence on standard error."""
    end = "" if message.endswith((".", ";", "?")) else "."
    print(f"{_printable(message[:1].upper() + message[1:])}{end}", file=sys.stderr)


def note(message: str) -> None:
    """A remark on standard error, where it is not part of the answer."""
    print(_printable(message), file=sys.stderr)


def show_json(value: object) -> None:
    """The answer as JSON."""
    print(json.dumps(value, ensure_ascii=False, indent=2))


def show_table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """The answer as a table, as wide as the terminal; without a terminal nothing is cut off."""
    console = Console(width=None if sys.stdout.isatty() else 100_000, highlight=False)
    table = Table(*columns, box=None, pad_edge=False, header_style="bold", expand=False)
    for row in rows:
        table.add_row(*(Text(_printable(_cell(value))) for value in row))
    console.print(table)


def show_values(values: Mapping[str, object]) -> None:
    """The answer as names and values, one on a line."""
    width = max(map(len, values), default=0)
    for name, value in values.items():
        print(f"{name:<{width}}  {_printable(_cell(value))}")


@contextmanager
def progress(description: str, total: int | None) -> Iterator[Advance]:
    """A bar on standard error while the work lasts, told how much is done, and of how much; only on a terminal."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal, transient=True) as bar:
        task = bar.add_task(description, total=total)

        def advance(completed: int, of: int | None = None) -> None:
            bar.update(task, completed=completed, total=of or total)

        yield advance


def _cell(value: Any) -> str:  # Any: what a view or a setting holds
    match value:
        case None:
            return "-"
        case bool():
            return "yes" if value else "no"
        case list() | tuple() | set() | frozenset():
            return ", ".join(map(str, value)) or "-"
        case _:
            return str(value)


def _printable(text: str) -> str:
    """Without control characters: a statement must not steer the terminal."""
    return "".join(character if character.isprintable() or character == "\n" else "\ufffd" for character in text)
