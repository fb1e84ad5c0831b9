"""A start loads what it uses: to list the commands takes none of them, and most commands take no transport."""

import inspect
import subprocess
import sys
from collections.abc import Collection, Sequence

import pytest

from gateway.cli.application import COMMANDS
from gateway.cli.deferred import Outline
from store.postgres.migrating import NEWEST_REVISION
from store.postgres.revisions import newest_revision
from tests.architecture.tracked import ROOT

LARGE = {"alembic", "asyncpg", "graphql", "limits", "pydantic", "rich", "sqlalchemy", "starlette", "strawberry"}
TRANSPORTS = {"alembic", "graphql", "jwt", "limits", "prometheus_client", "starlette", "strawberry", "uvicorn"}
"""What serves requests, judges signed tokens, or makes a schema: of no use to a command that does none of it."""
TRANSPORTING = {"gateway.cli.serving", "gateway.cli.contracts"}
MIGRATING = {"gateway.cli.backups"}

TELL = "import sys; print(*{name.partition('.')[0] for name in sys.modules}, file=sys.stderr)"


def loaded_by(statement: str) -> set[str]:
    """The packages that are loaded when a program of one statement ends."""
    program = f"try:\n    {statement}\nfinally:\n    {TELL}"
    finished = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(finished.stderr.split())


def called(*arguments: str) -> str:
    """The statement that runs the command line."""
    return f"import sys; sys.argv[1:] = {list(arguments)}; from gateway.__main__ import main; main()"


def modules(without: Collection[str]) -> Sequence[str]:
    """The modules of the commands, without some."""
    return sorted({outline.module for outline in COMMANDS} - set(without))


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_the_list_of_commands_loads_none_of_them(option: str) -> None:
    loaded = loaded_by(called(option))

    assert "typer" in loaded
    assert set() == loaded & LARGE


@pytest.mark.parametrize("module", modules(without=TRANSPORTING))
def test_a_command_that_serves_nobody_loads_no_transport(module: str) -> None:
    unneeded = TRANSPORTS - {"alembic"} if module in MIGRATING else TRANSPORTS

    assert set() == loaded_by(f"import {module}") & unneeded


def test_the_server_loads_no_migrations_and_no_cryptography() -> None:
    assert set() == loaded_by("import gateway.cli.serving") & {"alembic", "cryptography", "jwt"}


@pytest.mark.parametrize("outline", COMMANDS, ids=lambda outline: outline.name)
def test_a_command_is_listed_with_the_first_paragraph_of_its_help(outline: Outline) -> None:
    command = outline.load()
    first_paragraph = inspect.cleandoc(command.help).partition("\n\n")[0]

    assert outline.name == command.name
    assert outline.summary == " ".join(first_paragraph.split())


def test_the_newest_revision_is_that_of_the_migrations() -> None:
    assert newest_revision() == NEWEST_REVISION
