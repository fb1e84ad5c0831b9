"""The embedded PostgreSQL server: one for all processes that use the same root directory.

The root directory (mode 0700) holds the cluster (`data/`), our settings (`gateway.conf`), the logs (`postgres.log`,
`log/`), the socket where its path is short enough, and two locks. Who starts or stops the server holds `start.lock`;
who uses it holds `users.lock`, shared. The last to leave can take `users.lock` alone and stops the server.
Source: The embedded PostgreSQL, "Shape of the supervisor" and "Root".
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import quote

from store.postgres.embedded.account import Account, choose_account
from store.postgres.embedded.binaries import find_binaries
from store.postgres.embedded.cluster import DATA_DIRECTORY, INITDB_SECONDS, RECOVERY_SECONDS, Cluster, log_files
from store.postgres.embedded.commands import blocking_directory, can_enter
from store.postgres.embedded.configuration import PORT, USER
from store.postgres.embedded.databases import Databases
from store.postgres.embedded.errors import EmbeddedPostgresError
from store.postgres.embedded.lock_files import write_file
from store.postgres.embedded.locks import exclusive_lock, refuse_network_file_system, shared_lock, try_exclusive

_START_LOCK = "start.lock"
_USERS_LOCK = "users.lock"
_SOCKET_RECORD = "socket_directory"
_SHORT_DIRECTORY_PREFIX = "belief-gateway-"

# 107 bytes on Linux, 103 on macOS, the file's own name included.
SOCKET_PATH_BYTES_MAX = 103
LOCK_WAIT_SECONDS = INITDB_SECONDS + 2 * RECOVERY_SECONDS


class EmbeddedServer:
    """One process's share in the server of a root directory.

    Blocking: call it before the event loop runs, or in a thread. `binaries` names the directory of PostgreSQL's
    programs (None: found), `account` the user that root becomes to run them (None: chosen). Without `durable`, which
    counts only where this process starts the server, a crash can lose acknowledged writes: for tests.
    Raises: EmbeddedPostgresError, with a message for the operator, from every method that touches the server.
    """

    def __init__(
        self, root: Path, *, binaries: Path | None = None, account: str | None = None, durable: bool = True
    ) -> None:
        self._root = root.absolute()
        self._binaries = binaries
        self._account = account
        self._durable = durable
        self._cluster: Cluster | None = None
        self._users: int | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Use the server: reuse it when it runs, else start it, after making the cluster on the first start.

        Called again it does nothing, or restarts a server that died meanwhile. A start that fails or is interrupted
        leaves no server behind that nobody uses. A failing start is retried for half a minute before it is an error.
        """
        with self._refusals_explained():
            account = self._prepare_root()
            with self._start_lock() as start_lock:
                account.own(self._root / _START_LOCK)
                self._cluster = Cluster(
                    self._root,
                    account=account,
                    binaries=find_binaries(self._binaries),
                    socket_directory=self._settle_socket_directory(account),
                    durable=self._durable,
                )
                if self._users is None:
                    self._users = shared_lock(self._root / _USERS_LOCK)
                    account.own(self._root / _USERS_LOCK)
                try:
                    self._cluster.start(start_lock)
                except BaseException:
                    self._leave()
                    raise

    def stop(self) -> None:
        """Leave the server, and stop it if nobody else uses it. Called again, or before a start, it does nothing."""
        if self._users is not None:
            with self._refusals_explained(), self._start_lock():
                self._leave()

    @contextmanager
    def reserved(self) -> Iterator[int]:
        """Keep everybody else from the server, which is not started by it; raises where somebody uses it.

        Gives the descriptor of the start lock, for `run_reserved`. Who would start the server meanwhile waits.
        """
        with self._refusals_explained():
            account = self._prepare_root()
            with self._start_lock() as start_lock:
                account.own(self._root / _START_LOCK)
                users = shared_lock(self._root / _USERS_LOCK)
                try:
                    account.own(self._root / _USERS_LOCK)
                    if not try_exclusive(users):
                        raise EmbeddedPostgresError(
                            f"The PostgreSQL in {self._root} is in use: stop the gateway first."
                        )
                    yield start_lock
                finally:
                    os.close(users)

    @contextmanager
    def run_reserved(self, start_lock: int) -> Iterator[Databases]:
        """Run the reserved server until the block is left."""
        account = self._prepare_root()
        self._cluster = Cluster(
            self._root,
            account=account,
            binaries=find_binaries(self._binaries),
            socket_directory=self._settle_socket_directory(account),
            durable=self._durable,
        )
        try:
            self._cluster.start(start_lock)
            yield Databases(self._cluster)
        finally:
            self._stop()

    @contextmanager
    def alone(self) -> Iterator[Databases]:
        """Run the server as its only user until the block is left; raises where somebody uses it."""
        with self.reserved() as start_lock, self.run_reserved(start_lock) as databases:
            yield databases

    def create_database(self, name: str) -> None:
        """Create the database unless it exists, and drop what a broken-off restore left beside it.

        Two processes that do so at once create it once.
        """
        databases = Databases(self._started_cluster)
        with self._refusals_explained(), self._start_lock():
            databases.create(name)
            databases.discard_leftovers(name)

    def dump(self, database: str, path: Path) -> None:
        """Write a database to a file that `Databases.load` takes, as it stands at one moment, beside its users."""
        with self._refusals_explained():
            Databases(self._started_cluster).dump(database, path)

    def url(self, database: str) -> str:
        """The SQLAlchemy URL of a database. It names the port too, lest PGPORT of the environment be taken."""
        host = quote(str(self.socket_directory), safe="/")
        return f"postgresql+asyncpg://{USER}@/{quote(database, safe='')}?host={host}&port={PORT}"

    @property
    def socket_directory(self) -> Path:
        """Where the socket lies: the root directory, or a short one when that path is too long. Known once started."""
        return self._started_cluster.socket_directory

    @property
    def pid(self) -> int | None:
        """The process id of the server (its postmaster); None when no server answers on our socket."""
        return self._cluster.process if self._cluster else None

    @property
    def log_files(self) -> tuple[Path, ...]:
        """The server's log files, that of its start first."""
        return log_files(self._root)

    @property
    def _started_cluster(self) -> Cluster:
        assert self._cluster is not None, "the server has not been started"
        return self._cluster

    @contextmanager
    def _refusals_explained(self) -> Iterator[None]:
        """Tell the operator which file the system refused, instead of a traceback."""
        try:
            yield
        except OSError as error:
            raise EmbeddedPostgresError(
                f"The embedded PostgreSQL can't use {error.filename or self._root}: {error.strerror}."
            ) from error

    @contextmanager
    def _start_lock(self) -> Iterator[int]:
        with exclusive_lock(self._root / _START_LOCK, wait_seconds=LOCK_WAIT_SECONDS) as descriptor:
            yield descriptor

    def _prepare_root(self) -> Account:
        """Make the root directory of the account that runs the server; nothing above it is changed."""
        # The start lock is the first file made here: a directory without it belongs to something else.
        if self._root.exists() and any(self._root.iterdir()) and not (self._root / _START_LOCK).exists():
            raise EmbeddedPostgresError(f"{self._root} holds other files: choose an empty or a new directory.")
        self._root.parent.mkdir(parents=True, exist_ok=True)
        account = choose_account(self._root / DATA_DIRECTORY, configured=self._account)
        blocking = blocking_directory(account, self._root.parent)
        if blocking is not None:
            raise EmbeddedPostgresError(
                f"User {account.name}, who runs PostgreSQL for root, may not enter {blocking} on the way to "
                f"{self._root}: run as an ordinary user, choose another data directory, or allow it with "
                f"chmod o+x {blocking}."
            )
        self._root.mkdir(mode=0o700, exist_ok=True)
        account.own(self._root)
        self._root.chmod(0o700)
        refuse_network_file_system(self._root)
        return account

    def _settle_socket_directory(self, account: Account) -> Path:
        """The root directory, else the short directory recorded there, else a new one; made for the account alone."""
        if _can_hold_socket(self._root):
            return self._root
        record = self._root / _SOCKET_RECORD
        if record.exists():
            recorded = Path(record.read_text())
            # It may be gone since a restart of the system, and its name taken by another user.
            if recorded.is_dir() and not recorded.is_symlink() and recorded.stat().st_uid == account.user_id:
                return recorded
        # TMPDIR can be long, or closed to the account.
        for parent in (Path(tempfile.gettempdir()), Path("/tmp")):  # noqa: S108 (mkdtemp makes it safely)
            if _can_hold_socket(parent / f"{_SHORT_DIRECTORY_PREFIX}12345678") and can_enter(account, parent):
                short = Path(tempfile.mkdtemp(prefix=_SHORT_DIRECTORY_PREFIX, dir=parent))
                account.own(short)
                write_file(record, os.fsencode(short), account)
                return short
        raise EmbeddedPostgresError(f"The path of {self._root} is too long for a socket: choose a shorter one.")

    def _leave(self) -> None:
        """Give up our share, under the start lock; the last one stops the server."""
        users, self._users = self._users, None
        assert users is not None
        try:
            if try_exclusive(users):
                self._stop()
        finally:
            os.close(users)

    def _stop(self) -> None:
        """Stop the server that nobody uses, and remove what its socket needed."""
        cluster = self._started_cluster
        cluster.stop()
        if cluster.socket_directory != self._root:
            (self._root / _SOCKET_RECORD).unlink()
            shutil.rmtree(cluster.socket_directory)


def _can_hold_socket(directory: Path) -> bool:
    """Whether the socket's path is short enough there, and free of the comma that separates hosts in a URL."""
    socket = directory / f".s.PGSQL.{PORT}"
    return len(os.fsencode(socket)) <= SOCKET_PATH_BYTES_MAX and "," not in str(directory)
