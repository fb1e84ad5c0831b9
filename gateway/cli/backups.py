"""The embedded store as a whole: backed up into one file, restored from it, brought to another PostgreSQL."""

from pathlib import Path
from typing import Annotated

import typer

from gateway.cli.answers import CommandFailed, ExitCode, note, show_json
from gateway.cli.interruption import run_to_the_end
from gateway.cli.options import AsJson, DataDirectory, settings_of
from gateway.cli.refusals import some_path
from gateway.restoring import back_up, confirm_upgrade, restore, upgrade
from gateway.service.errors import MalformedRequest
from store.domain.lexical import LEXICAL_VERSION


def backup(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", parser=some_path, help="The file to write; nothing may stand there yet.")
    ],
    *,
    data_dir: DataDirectory = None,
) -> None:
    """Write the embedded database and the key file together to one file, beside a running gateway.

    It holds every belief and the hash key: it is readable by its owner alone, and must stay so.
    """
    settings = settings_of(data_dir=data_dir, database_url=None)
    manifest = run_to_the_end(lambda _: back_up(settings, file.absolute()))
    print(f"Backed up {manifest.members['database.dump'].bytes} bytes and the key file to {file}.")


def restore_backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", parser=some_path, help="A file that `backup` wrote.")],
    *,
    replace: Annotated[
        bool, typer.Option("--replace", help="Put it in the place of a store that is not empty, which is lost.")
    ] = False,
    as_json: AsJson = False,
    data_dir: DataDirectory = None,
) -> None:
    """Put the store of a backup in the place of the embedded one. No gateway may run meanwhile.

    What was deleted, rejected or revoked in the replaced store since stays so.
    """
    settings = settings_of(data_dir=data_dir, database_url=None)
    try:
        restored = run_to_the_end(lambda _: restore(settings, file.absolute(), replace=replace))
    except MalformedRequest as error:
        raise CommandFailed(f"{file} {error.reason}", ExitCode.USAGE) from error
    taken = restored.taken_over
    if as_json:
        counts = {name: getattr(taken, name) for name in ("tombstones", "rejections", "erased", "tokens")}
        show_json({"created_at": restored.manifest.created_at.isoformat(), "taken_over": counts})
    else:
        print(f"Restored the store of {restored.manifest.created_at:%Y-%m-%d %H:%M:%S %Z}.")
        if replace:
            print(
                f"Taken over from the replaced one: {taken.tombstones} tombstones, {taken.rejections} rejections, "
                f"{taken.tokens} revocations; {taken.erased} beliefs were erased."
            )
    if restored.manifest.lexical_version != LEXICAL_VERSION:
        note("Its words are of another version: run `belief-gateway reindex`.")


def upgrade_cluster(
    *,
    old_binaries: Annotated[
        Path | None,
        typer.Option(
            "--old-binaries",
            parser=some_path,
            metavar="PATH",
            help="The directory of PostgreSQL's programs of the version that it is of.",
        ),
    ] = None,
    confirm: Annotated[bool, typer.Option("--confirm", help="Remove the old cluster that an upgrade kept.")] = False,
    data_dir: DataDirectory = None,
) -> None:
    """Bring the embedded PostgreSQL to the major version of the programs in use. No gateway may run meanwhile.

    The old cluster is kept beside the new one until `upgrade --confirm`.
    """
    settings = settings_of(data_dir=data_dir, database_url=None)
    if confirm == (old_binaries is not None):
        raise CommandFailed("say either --old-binaries or --confirm", ExitCode.USAGE)
    if old_binaries is None:
        if not run_to_the_end(lambda _: confirm_upgrade(settings)):
            raise CommandFailed("there is no old cluster to remove", ExitCode.NOT_FOUND)
        print("Removed the old cluster.")
        return
    upgraded = run_to_the_end(lambda _: upgrade(settings, old_binaries.absolute()))
    print(f"Upgraded from PostgreSQL {upgraded.former} to {upgraded.current}; the old cluster is kept.")
    note("When you are content, run `belief-gateway upgrade --confirm`.")
