"""The database that the settings name: an external one, or the embedded one, which is started for who uses it.

Source: The embedded PostgreSQL, "Recommendation".
"""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from gateway.settings import Settings
from store.postgres.embedded.errors import EmbeddedPostgresError
from store.postgres.embedded.server import EmbeddedServer

DATABASE = "beliefs"


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
        return f"the database {external}" if external else f"the embedded PostgreSQL in {self._root}"

    @property
    def _root(self) -> Path:
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
        self._server = EmbeddedServer(self._root, binaries=self._settings.postgres_binaries)
        try:
            await self._operate(self._server.start)
            await self._operate(partial(self._server.create_database, DATABASE))
            yield self._server.url(DATABASE)
        finally:
            await self._operate(self._server.stop)

    async def revive(self) -> None:
        """Start the embedded server again where it died; an external one is for others to mend."""
        if self._server is not None:
            await self._operate(self._server.start)

    async def _operate(self, work: Callable[[], None]) -> None:
        """Run blocking work in a thread to its end, even where we are cancelled: its effects are ours to undo."""
        task = asyncio.ensure_future(asyncio.to_thread(work))
        try:
            await asyncio.shield(task)
        except EmbeddedPostgresError as error:
            raise DatabaseUnavailable(str(error)) from error
        except asyncio.CancelledError:
            await asyncio.gather(task, return_exceptions=True)
            raise


def make_data_directory(directory: Path) -> None:
    """Make the data directory, closed to others but for passing through to PostgreSQL's own where root needs it."""
    try:
        directory.mkdir(mode=0o711 if os.geteuid() == 0 else 0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StartRefused(f"The data directory {directory} can't be made: {error.strerror}.") from error
