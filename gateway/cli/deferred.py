"""Commands that are known by an outline, and loaded when they are used: most of a start is imports.

To list the commands takes none of their modules, and to run one its own module alone.
"""

import gc
from collections import UserDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup


@contextmanager
def collecting_nothing() -> Iterator[None]:
    """Collect no garbage while what is made is there to stay, such as modules; it is never looked through later."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """What the list of commands shows of one, and where the command, or the group of commands, is defined.

    `summary` is the first paragraph of its help.
    """

    name: str
    summary: str
    module: str
    attribute: str

    def load(self) -> Any:  # Any: the library's own class
        """The command itself; imports its module."""
        with collecting_nothing():
            defined = getattr(import_module(self.module), self.attribute)
        holder = typer.Typer(rich_markup_mode=None)
        if isinstance(defined, typer.Typer):
            holder.add_typer(defined, name=self.name)
        else:
            holder.command(self.name)(defined)
        return typer.main.get_group(holder).commands[self.name]


class LoadedOnUse(UserDict[str, Any]):  # Any: the library's own class
    """Commands by their names: filled with outlines, and giving for each the command, loaded then."""

    def __getitem__(self, name: str) -> Any:  # Any: the library's own class
        """The command of that name. Raises KeyError where there is none."""
        found = super().__getitem__(name)
        if isinstance(found, Outline):
            found = self.data[name] = found.load()
        return found


class DeferringGroup(TyperGroup):
    """A group that shows its commands by their outlines, and loads the one that is called."""

    outlines: ClassVar[Sequence[Outline]]
    """The commands of a subclass, in the order of the list."""

    def __init__(self, **attributes: Any) -> None:  # Any: the library's own
        """Load nothing yet."""
        super().__init__(**attributes)
        self.commands = LoadedOnUse({outline.name: outline for outline in self.outlines})

    def list_commands(self, ctx: Any) -> list[str]:  # Any: the library's own class
        """The names alone."""
        return list(self.commands)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # Any: the library's own class
        """What can be shown of a command without loading it; None where there is no such command."""
        shown = (outline for outline in self.outlines if outline.name == cmd_name)
        outline = next(shown, None)
        return None if outline is None else TyperCommand(name=outline.name, short_help=outline.summary)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # Any: the library's own classes
        """The command that is called, loaded."""
        name, shown, rest = super().resolve_command(ctx, args)
        return name, None if shown is None or name is None else self.commands[name], rest
