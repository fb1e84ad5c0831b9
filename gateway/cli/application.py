"""The commands of `belief-gateway`, put together."""

import sys
from typing import Annotated, Any

import typer

from gateway.cli.deferred import DeferringGroup, Outline
from gateway.cli.output import write_whole_output

EPILOG = "Exit codes: 0 done, 1 failed or refused, 2 wrong usage, 3 not available, 4 not found, 5 conflict."

COMMANDS = (
    Outline(
        name="serve",
        summary="Serve GraphQL and REST until Ctrl-C or SIGTERM, which stop everything, the embedded database "
        "included.",
        module="gateway.cli.serving",
        attribute="serve",
    ),
    Outline(
        name="migrate",
        summary="Bring the database's schema, and the settings of its role, to what this version needs.",
        module="gateway.cli.inspection",
        attribute="migrate",
    ),
    Outline(
        name="import",
        summary="Take beliefs and all else in. A second run changes nothing; an interrupted one is gone on with.",
        module="gateway.cli.transfer",
        attribute="import_lines",
    ),
    Outline(
        name="export",
        summary="Write out beliefs, people, tombstones, rejections, events and receipts, as an import takes them.",
        module="gateway.cli.transfer",
        attribute="export_lines",
    ),
    Outline(
        name="derive",
        summary="Sum up what is believed of a principal, or derive what a file proposes. A second run changes nothing.",
        module="gateway.cli.derivation",
        attribute="derive",
    ),
    Outline(
        name="sweep",
        summary="Write out what has run out: beliefs expire, derived records and receipts go. It changes no answer.",
        module="gateway.cli.maintenance",
        attribute="sweep",
    ),
    Outline(
        name="reindex",
        summary="Make the words by which beliefs are found anew, by the rules of this program and its Unicode tables.",
        module="gateway.cli.maintenance",
        attribute="reindex",
    ),
    Outline(
        name="compact",
        summary="Clear what was deleted from the files of tables, indexes and the write-ahead log.",
        module="gateway.cli.maintenance",
        attribute="compact",
    ),
    Outline(
        name="journal",
        summary="Show the last events, the oldest first. An event holds ids, kinds and counts, never a text.",
        module="gateway.cli.journal",
        attribute="journal",
    ),
    Outline(
        name="backup",
        summary="Write the embedded database and the key file together to one file, beside a running gateway.",
        module="gateway.cli.backups",
        attribute="backup",
    ),
    Outline(
        name="restore",
        summary="Put the store of a backup in the place of the embedded one. No gateway may run meanwhile.",
        module="gateway.cli.backups",
        attribute="restore_backup",
    ),
    Outline(
        name="upgrade",
        summary="Bring the embedded PostgreSQL to the major version of the programs in use. No gateway may run "
        "meanwhile.",
        module="gateway.cli.backups",
        attribute="upgrade_cluster",
    ),
    Outline(
        name="memory",
        summary="Beliefs of one principal, as an operator. Every use is journaled.",
        module="gateway.cli.memories",
        attribute="commands",
    ),
    Outline(
        name="principal",
        summary="Principals as a whole.",
        module="gateway.cli.principals",
        attribute="commands",
    ),
    Outline(
        name="token",
        summary="Access tokens of principals.",
        module="gateway.cli.tokens",
        attribute="commands",
    ),
    Outline(
        name="key",
        summary="The hash key by which deleted statements are recognised.",
        module="gateway.cli.keys",
        attribute="commands",
    ),
    Outline(
        name="schema",
        summary="Print the GraphQL schema.",
        module="gateway.cli.contracts",
        attribute="schema",
    ),
    Outline(
        name="openapi",
        summary="Print the OpenAPI document.",
        module="gateway.cli.contracts",
        attribute="openapi",
    ),
    Outline(
        name="settings",
        summary="List every setting: its variable, its value, where that comes from, and what it means. No secret is "
        "shown.",
        module="gateway.cli.inspection",
        attribute="settings",
    ),
    Outline(
        name="doctor",
        summary="Check what the gateway needs. Exit code 1 where something fails.",
        module="gateway.cli.inspection",
        attribute="doctor",
    ),
)
"""Every command, in the order of the list; each with the first paragraph of its help."""


class _Commands(DeferringGroup):
    """The commands of the program."""

    outlines = COMMANDS

    def invoke(self, ctx: Any) -> Any:  # Any: the library's own classes
        """Run the command that is called; an option of it that is refused is told of in our words."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            from gateway.cli.refusals import in_our_words  # noqa: PLC0415 (a start that goes well)

            error.message = in_our_words(error)
            raise


program = typer.Typer(
    name="belief-gateway",
    cls=_Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    # Plain: to draw boxes takes longer than all the rest of `--help`.
    rich_markup_mode=None,
    epilog=EPILOG,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        # Here and not above: what reads it out takes as long as a list of the commands.
        from importlib.metadata import version as version_of  # noqa: PLC0415

        print(version_of("belief-gateway"))
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
    write_whole_output()
    try:
        program()
    except Exception as error:  # noqa: BLE001 (a traceback could show a statement)
        from gateway.cli.answers import failure_of_command, show_failure  # noqa: PLC0415 (a start that goes well)

        code, message = failure_of_command(error)
        show_failure(message)
        sys.exit(code)
