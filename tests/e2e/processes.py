"""The real program in processes of its own, on a data directory of the test's: served, killed, asked, looked into.

Everything that a process writes is kept, and nothing is left running: neither a gateway nor a PostgreSQL.
"""

import asyncio
import json
import os
import shutil
import sys
import tempfile
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import urlsplit

import asyncpg
import httpx
import psutil

from store.domain.owners import Owner
from store.postgres.embedded.lock_files import names_live_server, recorded_process
from store.postgres.embedded.locks import exclusive_lock
from store.postgres.embedded.server import EmbeddedServer
from tests.databases import run_directory

CHECKOUT = Path(__file__).parents[2]
WAIT_SECONDS = 90
DATABASE = "beliefs"
LAST_LINE = "Ctrl-C stops it."

Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record]"


class Place:
    """A data directory that the account which runs PostgreSQL for root can reach; it need not exist yet."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.data = directory / "data"
        self.postgres = self.data / "postgres"
        self._lock_file = self.postgres / "data" / "postmaster.pid"

    def token(self, owner: Owner) -> str:
        """The full token that the demo made for a principal."""
        principals = json.loads((self.data / "demo.json").read_bytes())["principals"]
        tokens = {Owner(tenant=each["tenant"], principal=each["principal"]): each["token"] for each in principals}
        return str(tokens[owner])

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[Connection]:
        """A connection to the database past the gateway."""
        connection = await asyncpg.connect(host=str(self.postgres), user="postgres", database=DATABASE)
        try:
            yield connection
        finally:
            await connection.close()

    def kill_postgres(self) -> None:
        """Kill the server of the data directory and all its processes at once, if there is one."""
        if not names_live_server(self._lock_file):
            return
        recorded = recorded_process(self._lock_file)
        assert recorded is not None
        with suppress(psutil.NoSuchProcess):
            postmaster = psutil.Process(recorded)
            for victim in (postmaster, *postmaster.children()):
                with suppress(psutil.NoSuchProcess):
                    victim.kill()

    def postgres_log(self) -> str:
        """Everything in the log files of the PostgreSQL server."""
        return "".join(path.read_text(errors="replace") for path in EmbeddedServer(self.postgres).log_files)

    async def run(self, *arguments: str | Path, expect: int = 0, **variables: str) -> "Finished":
        """Run a command of the program on the data directory to its end; it must exit as expected."""
        process = await _start(*arguments, "--data-dir", self.data, variables=variables)
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                output, log = await process.communicate()
        except BaseException:
            process.kill()
            await process.communicate()
            raise
        finished = Finished(output.decode(), log.decode())
        assert expect == process.returncode, finished.log
        return finished

    @asynccontextmanager
    async def serving(self, **variables: str) -> AsyncIterator["Server"]:
        """Serve the demo until the block is left, then stop everything as a signal does."""
        async with self.started(**variables) as server:
            yield server
            await server.stop()

    @asynccontextmanager
    async def started(self, **variables: str) -> AsyncIterator["Server"]:
        """Serve the demo; the block stops the server, or it is killed at its end."""
        async with self.starting(**variables) as server:
            await server.served()
            yield server

    @asynccontextmanager
    async def starting(self, **variables: str) -> AsyncIterator["Server"]:
        """The same, before it serves."""
        ports = ("--port", "0", "--metrics-port", "0")
        process = await _start("serve", "--demo", *ports, "--data-dir", self.data, variables=variables)
        async with AsyncExitStack() as stack:
            server = Server(process)
            stack.push_async_callback(server.kill)
            yield server


@dataclass(frozen=True, slots=True)
class Finished:
    """What a command wrote to standard output and to standard error."""

    output: str
    log: str

    @property
    def answer(self) -> Any:  # Any: JSON
        """The output of a command that was asked for JSON."""
        return json.loads(self.output)


class _Lines:
    """What a process writes to one of its outputs, as it comes."""

    def __init__(self, stream: asyncio.StreamReader | None) -> None:
        assert stream is not None
        self.lines: list[str] = []
        self._has_ended = False
        self._news = asyncio.Condition()
        self._reading = asyncio.create_task(self._read(stream))

    @property
    def text(self) -> str:
        return "".join(self.lines)

    async def wait_for(self, text: str) -> bool:
        """Return when a line holds the text, or when none will any more; whether one does."""
        async with asyncio.timeout(WAIT_SECONDS), self._news:
            await self._news.wait_for(lambda: self._has_ended or any(text in line for line in self.lines))
        return any(text in line for line in self.lines)

    async def end(self) -> None:
        """Wait for the end of the output."""
        await self._reading

    async def _read(self, stream: asyncio.StreamReader) -> None:
        while line := await stream.readline():
            await self._add(line.decode(errors="replace"))
        self._has_ended = True
        await self._add("")

    async def _add(self, line: str) -> None:
        async with self._news:
            self.lines.append(line)
            self._news.notify_all()


@dataclass
class Server:
    """A process that serves, or is about to."""

    process: Process
    url: str = ""
    metrics_url: str = ""
    _output: _Lines = field(init=False)
    _log: _Lines = field(init=False)

    def __post_init__(self) -> None:
        self._output = _Lines(self.process.stdout)
        self._log = _Lines(self.process.stderr)

    @property
    def output(self) -> str:
        """What it has written to standard output."""
        return self._output.text

    @property
    def log(self) -> str:
        """What it has written to standard error."""
        return self._log.text

    async def served(self) -> None:
        """Wait until it serves, and learn its addresses."""
        if not await self._output.wait_for(LAST_LINE):
            await self.ended()
            raise AssertionError(f"it ended before it served: {self.log}")
        words = self._output.text.split()
        self.url = words[words.index("on") + 1]
        self.metrics_url = words[words.index("Metrics") + 1]
        response = await self.ask("GET", "/readyz")
        assert 200 == response.status_code, self.log

    async def logged(self, text: str) -> None:
        """Wait for a line of the log that holds the text."""
        assert await self._log.wait_for(text), self.log

    def client(self, token: str | None = None) -> httpx.AsyncClient:
        """A client of its own connections, for a caller with a token."""
        headers = {} if token is None else {"authorization": f"Bearer {token}"}
        return httpx.AsyncClient(base_url=self.url, headers=headers, verify=False, trust_env=False, timeout=30)

    @property
    def address(self) -> tuple[str, int]:
        """Host and port of the API."""
        place = urlsplit(self.url)
        assert place.hostname is not None
        assert place.port is not None
        return place.hostname, place.port

    async def ask(self, method: str, target: str) -> httpx.Response:
        """One request without credentials."""
        async with self.client() as client:
            return await client.request(method, target)

    async def metrics(self) -> str:
        """What it shows at /metrics."""
        response = await self.ask("GET", self.metrics_url)
        assert 200 == response.status_code
        return response.text

    async def stop(self) -> None:
        """Ask for the end, as Ctrl-C does, and wait for it."""
        self.process.terminate()
        await self.ended()
        assert 0 == self.process.returncode, self.log

    async def kill(self) -> None:
        """Kill it, if it still runs."""
        self.strike()
        await self.ended()

    def strike(self) -> None:
        """Kill it without waiting for its end."""
        with suppress(ProcessLookupError):
            self.process.kill()

    async def ended(self) -> None:
        """Wait for its end and for the rest of what it has written."""
        async with asyncio.timeout(WAIT_SECONDS):
            await self.process.wait()
            await self._output.end()
            await self._log.end()


@asynccontextmanager
async def new_place() -> AsyncIterator[Place]:
    """A place that is removed at the end, whatever still runs there."""
    place = Place(_reachable_directory())
    try:
        yield place
    finally:
        place.kill_postgres()
        shutil.rmtree(place.directory, ignore_errors=True)


@asynccontextmanager
async def demo_place() -> AsyncIterator[Place]:
    """A place where the demo was served once, and stopped; what a first start does is over."""
    async with new_place() as place:
        await _copy(await _demo_data(), place.data)
        yield place


async def _demo_data() -> Path:
    """The data directory that every place of a demo is copied from; one worker of a run makes it."""
    shared = run_directory("demo")
    shared.mkdir(exist_ok=True)
    made = shared / "data"
    with exclusive_lock(shared / "lock", wait_seconds=WAIT_SECONDS):
        if not made.exists():
            async with new_place() as place:
                async with place.serving():
                    pass
                place.data.rename(made)
    return made


async def _copy(source: Path, target: Path) -> None:
    """Copy a directory with its owners and modes."""
    process = await asyncio.create_subprocess_exec("cp", "-Rp", source, target)
    assert 0 == await process.wait()


def _reachable_directory() -> Path:
    # Not below pytest's own directory: the account that runs PostgreSQL for root may not enter that.
    directory = Path(tempfile.mkdtemp(prefix="belief-gateway-e2e-"))
    directory.chmod(0o755)
    return directory


async def _start(*arguments: str | Path, variables: Mapping[str, str]) -> Process:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("AGENT_MEMORY_", "PG"))}
    given = {f"AGENT_MEMORY_{name.upper()}": value for name, value in variables.items()}
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "gateway", *arguments),
        cwd=CHECKOUT,
        env=inherited | given,
        stdin=DEVNULL,
        stdout=PIPE,
        stderr=PIPE,
    )
