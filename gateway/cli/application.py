"""The commands of `belief-gateway`, put together."""

import sys
from typing import Annotated

import typer

from gateway.cli import keys, memories, principals, tokens
from gateway.cli.answers import failure_of_command, show_failure
from gateway.cli.backups import backup, restore_backup, upgrade_cluster
from gateway.cli.inspection import doctor, migrate, openapi, schema, settings, sweep
from gateway.cli.journal import journal
from gateway.cli.maintenance import compact, reindex
from gateway.cli.serving import serve
from gateway.cli.transfer import export_lines, import_lines
from gateway.compose import VERSION

EPILOG = "Exit codes: 0 done, 1 failed or refused, 2 wrong usage, 3 not available, 4 not found, 5 conflict."

program = typer.Typer(
    name="belief-gateway",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    epilog=EPILOG,
)
program.command()(serve)
program.command()(migrate)
program.command("import")(import_lines)
program.command("export")(export_lines)
program.command()(sweep)
program.command()(reindex)
program.command()(compact)
program.command()(journal)
program.command()(backup)
program.command("restore")(restore_backup)
program.command("upgrade")(upgrade_cluster)
program.add_typer(memories.commands, name="memory")
program.add_typer(principals.commands, name="principal")
program.add_typer(tokens.commands, name="token")
program.add_typer(keys.commands, name="key")
program.command()(schema)
program.command()(openapi)
program.command()(settings)
program.command()(doctor)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(VERSION)
        raise typer.Exit


@program.callback()
def belief_gateway(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Shows a person everything that is believed about them, and lets them correct it."""


def main() -> None:
    """Run the command line; a failure is one sentence on standard error and an exit code."""
    try:
        program()
    except Exception as error:  # noqa: BLE001 (a traceback could show a statement)
        code, message = failure_of_command(error)
        show_failure(message)
        sys.exit(code)
