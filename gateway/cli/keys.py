"""The hash key by which deleted statements are recognised: added, made current, copied aside."""

from pathlib import Path
from typing import Annotated

import typer

from gateway.cli.answers import note
from gateway.cli.options import DatabaseUrl, DataDirectory, with_services
from gateway.cli.refusals import some_path
from gateway.compose import Services

commands = typer.Typer(no_args_is_help=True, help="The hash key by which deleted statements are recognised.")


@commands.callback()
def keys() -> None:
    """The hash key by which deleted statements are recognised."""


@commands.command("show-id")
def show_key_id(*, data_dir: DataDirectory = None, database_url: DatabaseUrl = None) -> None:
    """Print the identifier of the current key, as the database names it. The key itself is never shown."""

    async def work(services: Services) -> str:
        return services.keys.current_id

    print(with_services(work, data_dir=data_dir, database_url=database_url))


@commands.command("rotate")
def rotate_key(*, data_dir: DataDirectory = None, database_url: DatabaseUrl = None) -> None:
    """Add a key to the key file and print its identifier. It is not used until `key activate`.

    Copy the file to every other gateway of the database before that.
    """
    print(with_services(lambda services: services.keys.rotate(), data_dir=data_dir, database_url=database_url))
    note("Copy the key file to every gateway of this database, then run `belief-gateway key activate`.")


@commands.command("activate")
def activate_key(
    id: Annotated[
        str | None, typer.Argument(metavar="ID", help="Which key of the file. Default: the one added last.")
    ] = None,
    *,
    data_dir: DataDirectory = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Make a key current, in the database and in the key file, and print its identifier.

    Gateways whose file holds it take it up within seconds; the others refuse writes until it is copied there.
    """
    print(with_services(lambda services: services.keys.activate(id), data_dir=data_dir, database_url=database_url))


@commands.command("backup")
def back_up_key(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", parser=some_path, help="The copy; nothing may stand there yet.")
    ],
    *,
    data_dir: DataDirectory = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Copy the key file, readable by its owner alone. Keep the copy apart from backups of the database."""
    with_services(lambda services: services.keys.backup(file.absolute()), data_dir=data_dir, database_url=database_url)
    print(f"Copied the key file to {file}.")
