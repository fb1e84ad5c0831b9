"""The database that the settings name: an external one, or the embedded one, which is started for who uses it.

Source: The embedded PostgreSQL, "Recommendation".
"""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TypeVar

from gateway.settings import Settings
from store.postgres.embedded.errors import EmbeddedPostgresError
from store.postgres.embedded.server import EmbeddedServer

DATABASE = "beliefs"

Result = TypeVar("Result")


class StartRefused(Exception):
    """The gateway can't run on these settings; the message tells the operator what to do."""


class DatabaseUnavailable(Exception):
    """The database can't be reached or started; the message is for the operator."""


class Database:
    """The database that the settings name: the embedded one while it is used, or an external one."""

    def __init__(self, settings: Settings) -> None:
        """Touch nothing yet."""
        self._settings = settings
        self._server: EmbeddedServer | None = None

    @property
    def is_embedded(self) -> bool:
        """Whether this program runs the server itself."""
        return self._settings.database_url is None

    @property
    def shown(self) -> str:
        """What an operator is told of it: no password."""
        external = self._settings.database_shown
        return f"the database {external}" if external else f"the embedded PostgreSQL in {self.root}"

    @property
    def root(self) -> Path:
        """The directory of the embedded server."""
        return self._settings.data_dir / "postgres"

    @asynccontextmanager
    async def used(self) -> AsyncIterator[str]:
        """Use it: its URL. The embedded server is started for it, and stopped again after its last user.

        Raises DatabaseUnavailable where the embedded one can't be started or stopped.
        """
        if self._settings.database_url is not None:
            yield self._settings.database_url.get_secret_value()
            return
        make_data_directory(self._settings.data_dir)
        self._server = EmbeddedServer(self.root, binaries=self._settings.postgres_binaries)
        try:
            await operate(self._server.start)
            await operate(partial(self._server.create_database, DATABASE))
            yield self._server.url(DATABASE)
        finally:
            await operate(self._server.stop)

    async def dump(self, path: Path) -> None:
        """Write the database to a file, beside its users; only of the embedded one while it is used."""
        assert self._server is not None, "the embedded server is used"
        await operate(partial(self._server.dump, DATABASE, path))

    async def revive(self) -> None:
        """Start the embedded server again where it died; an external one is for others to mend."""
        if self._server is not None:
            await operate(self._server.start)


async def operate(work: Callable[[], Result]) -> Result:
    """Run blocking work on the embedded server in a thread to its end, even where we are cancelled.

    Its effects are ours to undo. Raises DatabaseUnavailable.
    """
    task = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(task)
    except EmbeddedPostgresError as error:
        raise DatabaseUnavailable(str(error)) from error
    except asyncio.CancelledError:
        await asyncio.gather(task, return_exceptions=True)
        raise


def make_data_directory(directory: Path) -> None:
    """Make the data directory, closed to others but for passing through to PostgreSQL's own where root needs it."""
    try:
        directory.mkdir(mode=0o711 if os.geteuid() == 0 else 0o700, parents=True, exist_ok=True)
    except FileExistsError as error:
        raise StartRefused(f"The data directory {directory} is not a directory.") from error
    except OSError as error:
        raise StartRefused(f"The data directory {directory} can't be made: {error.strerror}.") from error
