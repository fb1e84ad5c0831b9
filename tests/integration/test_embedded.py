"""The life of the embedded PostgreSQL server: real servers, real kills.

Source: The embedded PostgreSQL, "Shape of the supervisor", "Root" and "What survives".
"""

import asyncio
import fcntl
import os
import select
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import psutil
import pytest
from sqlalchemy import NullPool
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import create_async_engine

from store.postgres.embedded.binaries import find_binaries
from store.postgres.embedded.cluster import LOG_FILE_BYTES_MAX
from store.postgres.embedded.errors import EmbeddedPostgresError
from store.postgres.embedded.lock_files import names_live_server, recorded_process
from store.postgres.embedded.server import EmbeddedServer

pytestmark = [pytest.mark.postgres, pytest.mark.xdist_group("embedded")]
only_root = pytest.mark.skipif(os.geteuid() != 0, reason="concerns what root does for PostgreSQL")

CHECKOUT = Path(__file__).parents[2]
WAIT_SECONDS = 60
SYSTEM_BINARIES = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
USER_PROGRAM = """
import sys
from pathlib import Path
from store.postgres.embedded.server import EmbeddedServer

root, *binaries = map(Path, sys.argv[1:])
server = EmbeddedServer(root, binaries=binaries[0] if binaries else None, durable=False)
server.start()
print(server.pid, flush=True)
sys.stdin.read()
server.stop()
"""


class User(AbstractContextManager["User"]):
    """Another process that uses the server of a root directory until it is told to leave or is killed."""

    def __init__(self, root: Path, *binaries: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", USER_PROGRAM, root, *binaries],
            cwd=CHECKOUT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __exit__(self, *_: object) -> None:
        self.kill()

    def server_pid(self) -> int:
        """Wait for the start; the process id of the server."""
        assert self.process.stdout is not None
        return int(self.process.stdout.readline())

    def leave(self) -> None:
        self.process.communicate(timeout=WAIT_SECONDS)
        assert self.process.returncode == 0

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate(timeout=WAIT_SECONDS)


@contextmanager
def reachable_directory() -> Iterator[Path]:
    """A temporary directory that the account which runs PostgreSQL for root can reach."""
    with tempfile.TemporaryDirectory(prefix="embedded-test-") as name:
        directory = Path(name)
        directory.chmod(0o755)
        yield directory
        for lock_file in directory.rglob("postmaster.pid"):
            if names_live_server(lock_file):
                kill_everything(recorded_process(lock_file))


@pytest.fixture
def place() -> Iterator[Path]:
    with reachable_directory() as place:
        yield place


@pytest.fixture
def root(place: Path) -> Path:
    """A root directory that does not exist yet."""
    return place / "postgres"


@pytest.fixture(scope="module")
def stopped() -> Iterator[Path]:
    """A root directory with a cluster that is stopped; every test leaves it so."""
    with reachable_directory() as place:
        with EmbeddedServer(place / "postgres", durable=False):
            pass
        yield place / "postgres"


@pytest.fixture
def server(stopped: Path) -> Iterator[EmbeddedServer]:
    with EmbeddedServer(stopped, durable=False) as server:
        yield server


def kill_everything(postmaster: int | None) -> None:
    """Kill the server and all its children at once."""
    assert postmaster is not None
    process = psutil.Process(postmaster)
    for victim in (process, *process.children()):
        victim.kill()


def values(server: EmbeddedServer, *statements: str, database: str = "postgres") -> list[object]:
    """The first value of each statement's answer, if it has one; each statement is a transaction."""

    async def ask() -> list[object]:
        engine = create_async_engine(server.url(database), isolation_level="AUTOCOMMIT", poolclass=NullPool)
        async with engine.connect() as connection:
            results = [await connection.exec_driver_sql(statement) for statement in statements]
            return [result.scalar() if result.returns_rows else None for result in results]

    return asyncio.run(ask())


def is_stopped(root: Path) -> bool:
    """A server that was stopped removes its files; one that was killed leaves them."""
    return not (root / "data" / "postmaster.pid").exists() and not (root / ".s.PGSQL.5432").exists()


def altered_binaries(directory: Path, initdb: str) -> Path:
    """PostgreSQL's programs with a shell script in the place of initdb."""
    directory.mkdir()
    for program in find_binaries(None).directory.iterdir():
        (directory / program.name).symlink_to(program)
    (directory / "initdb").unlink()
    (directory / "initdb").write_text(f"#!/bin/sh\n{initdb}\n")
    (directory / "initdb").chmod(0o755)
    return directory


def test_what_was_written_is_there_after_a_restart(stopped: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"PGPORT": "1", "PGHOST": "nowhere", "PGDATA": "/nowhere", "LC_ALL": "tr_TR.UTF-8"}.items():
        monkeypatch.setenv(name, value)
    server = EmbeddedServer(stopped, durable=False)
    with server:
        server.create_database("a/b c")
        values(server, "CREATE TABLE kept AS SELECT 42 AS value", database="a/b c")
    assert is_stopped(stopped)
    with server:
        assert [42] == values(server, "SELECT value FROM kept", database="a/b c")
    assert is_stopped(stopped)


def test_a_start_reaches_an_existing_cluster_with_our_settings_and_drops_an_overgrown_log(stopped: Path) -> None:
    server = EmbeddedServer(stopped, durable=False)
    with server:
        overgrown = server.log_files[-1]
    (stopped / "gateway.conf").write_text("max_connections = 1\nlisten_addresses = '*'\n")
    os.truncate(overgrown, LOG_FILE_BYTES_MAX + 1)
    with server:
        assert ["100", ""] == values(server, "SHOW max_connections", "SHOW listen_addresses")
        assert overgrown.stat().st_size < LOG_FILE_BYTES_MAX


def test_a_second_start_does_nothing_or_replaces_a_server_that_died(server: EmbeddedServer) -> None:
    first = server.pid
    assert first is not None
    server.start()
    assert first == server.pid
    kill_everything(first)
    server.start()
    assert server.pid not in (None, first)


def test_two_processes_that_start_at_once_share_a_server_and_the_last_one_stops_it(root: Path) -> None:
    with User(root) as one, User(root) as other:
        server = one.server_pid()
        assert server == other.server_pid()
        # A session of its own: Ctrl-C at the terminal does not reach it.
        assert os.getsid(server) not in (os.getsid(0), os.getsid(one.process.pid))
        one.leave()
        assert not is_stopped(root)
        other.leave()
        assert is_stopped(root)


def test_two_processes_create_a_database_once(server: EmbeddedServer) -> None:
    with ThreadPoolExecutor() as threads:
        list(threads.map(server.create_database, ["once", "once"]))
    assert [1] == values(server, "SELECT count(*) FROM pg_database WHERE datname = 'once'")


def test_after_kill_of_a_user_the_next_one_reuses_the_server_and_stops_it(stopped: Path) -> None:
    with User(stopped) as killed:
        pid = killed.server_pid()
        killed.kill()
        assert not is_stopped(stopped)
        with EmbeddedServer(stopped) as server:
            assert pid == server.pid
        assert is_stopped(stopped)


def test_after_kill_of_everything_what_was_acknowledged_is_there(stopped: Path) -> None:
    server = EmbeddedServer(stopped)
    with server:
        assert ["on"] * 3 == values(server, "SHOW fsync", "SHOW synchronous_commit", "SHOW full_page_writes")
        values(server, "CREATE TABLE acknowledged (value int)", *["INSERT INTO acknowledged VALUES (1)"] * 20)
        with User(stopped) as user:
            kill_everything(user.server_pid())
            user.kill()
        server.start()
        assert [20] == values(server, "SELECT count(*) FROM acknowledged")
    assert is_stopped(stopped)


@pytest.mark.parametrize("other", ["of the same user", "of another user", "zombie", "none"])
def test_lock_files_that_name_another_process_are_overcome(stopped: Path, other: str) -> None:
    server = EmbeddedServer(stopped, durable=False)
    with server:
        lock_files = [stopped / "data" / "postmaster.pid", stopped / ".s.PGSQL.5432.lock"]
        left = [lock_file.read_text() for lock_file in lock_files]
        server_user = (stopped / "data").stat().st_uid
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, user=server_user) as process:
        if other in ("zombie", "none"):
            process.kill()
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        if other == "none":
            process.wait()
        recorded = 1 if other == "of another user" else process.pid
        for lock_file, content in zip(lock_files, left, strict=True):
            lock_file.write_text("\n".join([str(recorded), *content.splitlines()[1:], ""]))
            os.chown(lock_file, server_user, -1)
        with server:
            assert server.pid not in (None, recorded)
        assert is_stopped(stopped)


def test_an_empty_lock_file_is_overcome(stopped: Path) -> None:
    (stopped / "data" / "postmaster.pid").touch()
    with EmbeddedServer(stopped, durable=False) as server:
        assert server.pid is not None


def test_a_server_that_started_after_the_lock_file_was_written_is_another_one(
    server: EmbeddedServer, stopped: Path, place: Path
) -> None:
    assert names_live_server(stopped / "data" / "postmaster.pid")
    old = place / "postmaster.pid"
    old.write_text(f"{server.pid}\n")
    os.utime(old, (1, 1))
    assert not names_live_server(old)


def test_another_major_version_is_refused(stopped: Path) -> None:
    record = stopped / "data" / "PG_VERSION"
    major_version = record.read_text()
    record.write_text("14\n")
    with pytest.raises(
        EmbeddedPostgresError, match=f"The cluster in {stopped}/data is of PostgreSQL 14, the programs in"
    ):
        EmbeddedServer(stopped).start()
    record.write_text(major_version)


def test_a_killed_initdb_leaves_nothing_half_made(root: Path, place: Path) -> None:
    killed = altered_binaries(place / "killed", "mkdir data.new; echo 18 >data.new/PG_VERSION; kill -9 $$")
    with pytest.raises(EmbeddedPostgresError, match="initdb could not make the cluster"):
        EmbeddedServer(root, binaries=killed).start()
    assert (root / "data.new" / "PG_VERSION").exists()
    with EmbeddedServer(root, durable=False) as server:
        assert [1] == values(server, "SELECT 1")
    assert not (root / "data.new").exists()


def test_an_initdb_that_outlives_its_killed_user_is_waited_for(root: Path, place: Path) -> None:
    pipes = [place / "begun", place / "go_on"]
    for pipe in pipes:
        os.mkfifo(pipe)
        pipe.chmod(0o666)
    # Opened for both directions, a pipe waits for no other end.
    begun, go_on = (os.open(pipe, os.O_RDWR) for pipe in pipes)
    slow = altered_binaries(place / "slow", f"mkdir data.new; echo >{pipes[0]}; read -r line <{pipes[1]}")
    with User(root, slow) as killed:
        assert [begun] == select.select([begun], [], [], WAIT_SECONDS)[0]
        killed.kill()
        with (root / "start.lock").open() as lock, pytest.raises(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with User(root) as following:
            os.write(go_on, b"\n")
            following.server_pid()
            assert not (root / "data.new").exists()
            following.leave()
    os.close(begun)
    os.close(go_on)


def test_nothing_of_a_failing_row_or_statement_is_in_the_log(stopped: Path) -> None:
    server = EmbeddedServer(stopped, durable=False)
    failing = [
        "INSERT INTO rows VALUES ('canary')",
        "INSERT INTO rows SELECT 'a canary' FROM generate_series(1, 2)",
        "SELECT 'canary'::uuid",
        "SELECT canary",
        "canary",
        "DO $$ BEGIN RAISE WARNING 'canary'; RAISE EXCEPTION 'canary' USING DETAIL = 'canary'; END $$",
    ]
    with server:
        values(server, "CREATE TABLE rows (text text UNIQUE CHECK (text <> 'canary'))")
        for statement in failing:
            with pytest.raises(DBAPIError):
                values(server, statement)
        # The server tells of a backend that is killed, by default with the statement it ran.
        with pytest.raises(DBAPIError):
            values(server, "COPY (SELECT 'canary') TO PROGRAM 'kill -9 $PPID'")
        server.start()
    log = "".join(path.read_text() for path in server.log_files)
    assert "was terminated by signal 9" in log
    assert "canary" not in log


@pytest.mark.parametrize("name", ["long, " * 20, 'it\'s "here" $HOME `id` \\ 50% &port=1'])
def test_any_path_will_do(stopped: Path, place: Path, name: str) -> None:
    root = place / name / "postgres"
    root.parent.mkdir()
    stopped.rename(root)
    try:
        with EmbeddedServer(root, durable=False) as server, User(root) as user:
            assert server.pid == user.server_pid()
            assert [42] == values(server, "SELECT 42")
            user.leave()
        assert server.socket_directory == root or not server.socket_directory.exists()
    finally:
        root.rename(stopped)


@only_root
def test_a_closed_directory_on_the_way_is_named_and_left_as_it_is(place: Path) -> None:
    closed = place / "closed"
    closed.mkdir(mode=0o700)
    with pytest.raises(EmbeddedPostgresError, match=f"may not enter {closed} on the way to .*chmod o\\+x {closed}"):
        EmbeddedServer(closed / "open" / "postgres").start()
    assert 0o700 == closed.stat().st_mode & 0o777
    assert not (closed / "open" / "postgres").exists()


@only_root
def test_programs_out_of_reach_are_copied_into_the_root_directory(stopped: Path, place: Path) -> None:
    closed = place / "closed"
    closed.mkdir(mode=0o700)
    package = find_binaries(None).directory.parents[1]
    for part in (Path(package.name) / "pginstall", Path(f"{package.name}.libs")):
        shutil.copytree(package.parent / part, closed / part, ignore=shutil.ignore_patterns("include"))
    (stopped / "binaries-of-an-older-version").mkdir()
    with EmbeddedServer(stopped, binaries=closed / package.name / "pginstall" / "bin", durable=False) as server:
        assert psutil.Process(server.pid).exe().startswith(f"{stopped}/binaries-")
    assert is_stopped(stopped)
    assert 1 == len(list(stopped.glob("binaries-*")))


@only_root
def test_a_cluster_of_another_user_is_refused(root: Path) -> None:
    (root / "data").mkdir(parents=True)
    (root / "start.lock").touch()
    with pytest.raises(EmbeddedPostgresError, match=f"The cluster in {root}/data belongs to user id 0"):
        EmbeddedServer(root).start()


def test_a_directory_of_something_else_is_left_alone(root: Path) -> None:
    (root / "data").mkdir(parents=True)
    mode = root.stat().st_mode
    with pytest.raises(EmbeddedPostgresError, match="holds other files"):
        EmbeddedServer(root).start()
    assert mode == root.stat().st_mode


def test_missing_programs_are_named(root: Path, place: Path) -> None:
    with pytest.raises(EmbeddedPostgresError, match=f"{place} holds no PostgreSQL: initdb, .* is missing there"):
        EmbeddedServer(root, binaries=place).start()


@pytest.mark.skipif(not SYSTEM_BINARIES, reason="the system has no PostgreSQL server")
def test_the_settings_suit_the_server_of_the_system(root: Path) -> None:
    with EmbeddedServer(root, binaries=SYSTEM_BINARIES[0], durable=False) as server:
        assert ["belief-gateway"] == values(server, "SHOW cluster_name")
