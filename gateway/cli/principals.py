"""Erasing a principal: everything believed about one person, for good."""

from typing import Annotated

import typer

from gateway.cli.answers import CommandFailed, ExitCode, show_json
from gateway.cli.options import AsJson, DatabaseUrl, DataDirectory, PrincipalName, Tenant, owner_of, with_services
from gateway.cli.terminal import progress
from gateway.compose import Services
from gateway.service.operators import Erasure

commands = typer.Typer(no_args_is_help=True, help="Principals as a whole.")


@commands.callback()
def principals() -> None:
    """Principals as a whole."""


@commands.command("erase")
def erase_principal(
    tenant: Tenant,
    principal: PrincipalName,
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Say that this is meant: it can't be undone.")] = False,
    as_json: AsJson = False,
    data_dir: DataDirectory = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Erase everything believed about a principal, keep it from being formed again, and revoke the tokens.

    Interrupted, it goes on when it is run again.
    """
    if not yes:
        raise CommandFailed("nothing was erased: say --yes, since it can't be undone", ExitCode.USAGE)

    async def work(services: Services) -> Erasure:
        with progress("Erasing", None) as advance:
            return await services.operators.erase_principal(owner_of(tenant, principal), progress=advance)

    erasure = with_services(work, data_dir=data_dir, database_url=database_url)
    if as_json:
        show_json({"beliefs": erasure.beliefs, "tokens": erasure.tokens})
    else:
        print(f"Erased {erasure.beliefs} beliefs and revoked {erasure.tokens} tokens.")
