"""What is drawn: tables on standard output, and a bar on standard error while a long work lasts."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from gateway.cli.answers import cell, printable


class Advance(Protocol):
    """What a long work calls when some of it is done."""

    def __call__(self, completed: int, of: int | None = None, /) -> None:
        """So much is done in all, of so much where that is known."""
        ...


def show_table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """The answer as a table, as wide as the terminal; without a terminal nothing is cut off."""
    console = Console(width=None if sys.stdout.isatty() else 100_000, highlight=False)
    table = Table(*columns, box=None, pad_edge=False, header_style="bold", expand=False)
    for row in rows:
        table.add_row(*(Text(printable(cell(value))) for value in row))
    console.print(table)


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
