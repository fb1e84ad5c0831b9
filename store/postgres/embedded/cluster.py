"""One PostgreSQL cluster and its server: made, asked, started and stopped.

Whether the server runs is asked on our own socket, never read from a process id. Everything here but the questions
is done by who holds the start lock.
Source: The embedded PostgreSQL, "Shape of the supervisor".
"""

import os
import shutil
import time
from enum import Enum
from pathlib import Path

from store.postgres.embedded.account import Account
from store.postgres.embedded.binaries import Binaries, discard_other_copies, runnable_binaries
from store.postgres.embedded.commands import Outcome, run_command
from store.postgres.embedded.configuration import CONFIGURATION_FILE, LOG_DIRECTORY, PORT, USER, configuration
from store.postgres.embedded.errors import EmbeddedPostgresError
from store.postgres.embedded.lock_files import names_live_server, recorded_process, release_stale, write_file

DATA_DIRECTORY = "data"
FORMER_DATA_PREFIX = "data.of-"
_UNFINISHED_DATA_DIRECTORY = "data.new"
_STARTUP_LOG = "postgres.log"

# After kill -9 of everything the old processes take some tries to vanish.
RETRY_SECONDS = 30
# Crash recovery replays up to max_wal_size (1 GB), which can take minutes on a slow disk.
RECOVERY_SECONDS = 300
INITDB_SECONDS = 120
STOP_SECONDS = 60
# The daily rotation empties a file; one that grew beyond this by restarts on the same weekday is removed at a start.
LOG_FILE_BYTES_MAX = 16 * 1024 * 1024

_POLL_SECONDS = 0.05


class Answer(Enum):
    """What pg_isready tells by its exit status: REJECTING is a server that starts, recovers or shuts down."""

    ACCEPTING = 0
    REJECTING = 1
    SILENT = 2


class Cluster:
    """The cluster in `root/data`, run by the account, with its socket in the given directory.

    Raises: EmbeddedPostgresError from every method that runs a program; OSError for what the system refuses.
    """

    def __init__(
        self, root: Path, *, account: Account, binaries: Binaries, socket_directory: Path, durable: bool
    ) -> None:
        self.socket_directory = socket_directory
        self._root = root
        self._data = root / DATA_DIRECTORY
        self._lock_file = self._data / "postmaster.pid"
        self._account = account
        self._binaries = binaries
        self._durable = durable

    @property
    def process(self) -> int | None:
        """The process id of the server that answers; None when none does."""
        return None if self.answer() is Answer.SILENT else recorded_process(self._lock_file)

    def answer(self) -> Answer:
        """Ask on our own socket whether a server is there; user and database are named, or its log fills."""
        outcome = self._ask("pg_isready", "-q", wait_seconds=RETRY_SECONDS)
        try:
            return Answer(outcome.status)
        except ValueError as error:
            raise EmbeddedPostgresError(f"pg_isready failed: {outcome.last_line}") from error

    def query(self, statement: str) -> list[str]:
        """The lines that the server answers to an administrative statement."""
        outcome = self._ask("psql", "-XqtA", "-c", statement, wait_seconds=RECOVERY_SECONDS)
        if outcome.status != 0:
            raise EmbeddedPostgresError(f"PostgreSQL refused an administrative statement: {outcome.last_line}")
        return outcome.output.splitlines()

    def transfer(self, program: str, *arguments: str, database: str) -> None:
        """Run pg_dump or pg_restore on a database to its end, however long it takes.

        What it writes is not shown: a failure can quote a row.
        """
        outcome = self._ask(program, *arguments, database=database, wait_seconds=None)
        if outcome.status != 0:
            raise EmbeddedPostgresError(f"{program} failed with exit code {outcome.status}.")

    def start(self, start_lock: int) -> None:
        """Reuse the server, or start it with our current settings, after making the cluster if there is none.

        initdb inherits the descriptor of the start lock: if we are killed, the lock lasts until initdb has ended.
        """
        self._refuse_other_major_version()
        self._binaries = runnable_binaries(self._binaries, self._account, self._root)
        if self.answer() is Answer.SILENT:
            discard_other_copies(self._binaries, self._root)
            if not (self._data / "PG_VERSION").exists():
                self._create(start_lock)
            self._clear_logs()
            settings = configuration(self.socket_directory, durable=self._durable)
            write_file(self._root / CONFIGURATION_FILE, os.fsencode(settings), self._account)
        self._await_server()

    def stop(self) -> None:
        """Stop the server, which start() has found or started, if it is still there; its sessions are ended."""
        if self.answer() is Answer.SILENT and not names_live_server(self._lock_file):
            return
        outcome = self._control("stop", "-m", "fast", "-w", "-t", str(STOP_SECONDS), wait_seconds=2 * STOP_SECONDS)
        if outcome.status != 0 and self.answer() is not Answer.SILENT:
            raise EmbeddedPostgresError(f"PostgreSQL in {self._root} did not stop: {outcome.last_line}")

    def _refuse_other_major_version(self) -> None:
        record = self._data / "PG_VERSION"
        major_version = record.read_text().strip() if record.exists() else self._binaries.major_version
        if major_version != self._binaries.major_version:
            raise EmbeddedPostgresError(
                f"The cluster in {self._data} is of PostgreSQL {major_version}, the programs in "
                f"{self._binaries.directory} are of {self._binaries.version}: use programs of PostgreSQL "
                f"{major_version}, or run `belief-gateway upgrade`, which needs those once."
            )

    def _create(self, start_lock: int) -> None:
        """Make the cluster aside and rename it when it is whole, so that a kill leaves nothing half-made."""
        if self._data.exists():
            raise EmbeddedPostgresError(f"{self._data} exists and is no cluster: move it away.")
        kept = former_data(self._root)
        if kept is not None:
            raise EmbeddedPostgresError(
                f"An upgrade was broken off: the cluster lies in {kept}. Run `belief-gateway upgrade` again."
            )
        unfinished = self._root / _UNFINISHED_DATA_DIRECTORY
        if unfinished.exists():
            shutil.rmtree(unfinished)
        # Authentication is trust only because the socket's directory is closed to others and TCP is off.
        command = ["initdb", "-D", unfinished.name, "-U", USER, "-E", "UTF8", "--locale=C", "-A", "trust"]
        if not self._durable:
            command.append("--no-sync")
        outcome = self._run(*command, wait_seconds=INITDB_SECONDS, inherited=(start_lock,))
        if outcome.status != 0:
            raise EmbeddedPostgresError(f"initdb could not make the cluster in {unfinished}: {outcome.last_line}")
        unfinished.rename(self._data)
        # Without this a power cut could undo the rename and keep what was written since, out of sight.
        directory = os.open(self._root, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)

    def _clear_logs(self) -> None:
        (self._root / _STARTUP_LOG).unlink(missing_ok=True)
        for path in log_files(self._root):
            if path.stat().st_size > LOG_FILE_BYTES_MAX:
                path.unlink()

    def _await_server(self) -> None:
        """Try to start the server until it accepts connections; a recovery is waited for, a failing start retried."""
        began_at = time.monotonic()
        reason = "it does not answer"
        while (answer := self.answer()) is not Answer.ACCEPTING:
            limit = RECOVERY_SECONDS if answer is Answer.REJECTING else RETRY_SECONDS
            if time.monotonic() - began_at > limit:
                raise EmbeddedPostgresError(
                    f"PostgreSQL in {self._root} did not start within {limit} s: {reason} "
                    f"(see {self._root / _STARTUP_LOG} and {self._root / LOG_DIRECTORY})."
                )
            if answer is Answer.SILENT:
                refusal = self._try_to_start()
                if refusal is None:
                    # It was waited for: what it answers can be asked at once.
                    continue
                reason = refusal
            time.sleep(_POLL_SECONDS)

    def _try_to_start(self) -> str | None:
        """Start the server and wait for it; the reason if that fails, with stale lock files released for a next try."""
        outcome = self._control(
            *("start", "-l", _STARTUP_LOG, "-o", f"-c config_file={CONFIGURATION_FILE}"),
            *("-w", "-t", str(RECOVERY_SECONDS)),
            wait_seconds=RECOVERY_SECONDS + RETRY_SECONDS,
        )
        if outcome.status == 0:
            return None
        release_stale(self._lock_file, self._account)
        release_stale(self.socket_directory / f".s.PGSQL.{PORT}.lock", self._account)
        log = self._root / _STARTUP_LOG
        lines = log.read_text(errors="replace").splitlines() if log.exists() else []
        fatal = [line.partition("FATAL:")[2].strip() for line in lines if "FATAL:" in line]
        return fatal[-1] if fatal else outcome.last_line

    def _ask(self, program: str, *arguments: str, wait_seconds: float | None, database: str = "postgres") -> Outcome:
        """Run a client of the server's; it may be run by root."""
        connection = ["-h", str(self.socket_directory), "-p", str(PORT), "-U", USER, "-d", database]
        command = [str(self._binaries.program(program)), *connection, *arguments]
        return run_command(command, directory=Path("/"), wait_seconds=wait_seconds)

    def _control(self, *arguments: str, wait_seconds: float) -> Outcome:
        return self._run("pg_ctl", "-D", DATA_DIRECTORY, *arguments, wait_seconds=wait_seconds)

    def _run(self, program: str, *arguments: str, wait_seconds: float, inherited: tuple[int, ...] = ()) -> Outcome:
        """Run a program of the account's in the root directory, with paths relative to it: some end up in a shell."""
        command = [str(self._binaries.program(program)), *arguments]
        return run_command(
            command, directory=self._root, wait_seconds=wait_seconds, account=self._account, inherited=inherited
        )


def former_data(root: Path) -> Path | None:
    """The cluster of an older version that an upgrade left in the root directory; None where there is none."""
    return next(iter(sorted(root.glob(f"{FORMER_DATA_PREFIX}*"))), None)


def log_files(root: Path) -> tuple[Path, ...]:
    """The files that the server of this root directory writes its messages to, that of its start first."""
    logs = (root / _STARTUP_LOG, *sorted((root / LOG_DIRECTORY).glob("*")))
    return tuple(path for path in logs if path.exists())
