"""PostgreSQL for tests, as a plugin of pytest: one server a run, one migrated template, one database a worker.

TEST_DATABASE_URL (postgresql+asyncpg) names a server to use; databases of our own are made in it and dropped. Without
it the embedded server runs in a temporary directory, which all xdist workers of a run share. To copy the template costs
a checkpoint, up to a second; to empty the worker's database costs milliseconds, so that only a test that changes more
than rows asks for one of its own.
"""

import asyncio
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import asyncpg
import pytest
from sqlalchemy.engine import URL, make_url

from store.postgres.embedded.server import EmbeddedServer
from store.postgres.migrating import ROLE_SETTINGS, RoleSetting, migrate
from store.postgres.store import PostgresStore
from store.postgres.tables import metadata

_RUN = "BELIEF_GATEWAY_TEST_RUN"
_TEMPLATE_LOCK = 0x74656D706C617465


def pytest_configure() -> None:
    """Name the run. The workers of xdist inherit the name."""
    os.environ.setdefault(_RUN, uuid4().hex[:12])


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove what the run left, once its workers have ended."""
    if hasattr(config, "workerinput"):
        return
    left = run_directory("")
    for directory in left.parent.glob(f"{left.name}*"):
        shutil.rmtree(directory, ignore_errors=True)
    given = os.environ.get("TEST_DATABASE_URL")
    if given:
        asyncio.run(_drop(make_url(given), _template()))


def run_directory(content: str) -> Path:
    """Where the workers of a run keep for each other what takes long to make; removed at its end."""
    # Not below pytest's own directory: the account that runs PostgreSQL for root may not enter that.
    return Path(tempfile.gettempdir()) / f"belief-gateway-test-{os.environ[_RUN]}-{content}"


def _template() -> str:
    return f"belief_gateway_template_{os.environ[_RUN]}"


@dataclass(frozen=True, slots=True)
class DatabaseServer:
    """A server in which databases can be made, and its template."""

    url: URL
    template: str

    async def create(self) -> str:
        """The URL of a new, empty, migrated database."""
        return await self._create(f"template {self.template} strategy file_copy", ROLE_SETTINGS)

    async def create_bare(self) -> str:
        """The URL of a new database, without tables and settings."""
        return await self._create("", ())

    async def copy(self, url: str) -> str:
        """The URL of a copy of a migrated database, to which nobody is connected."""
        return await self._create(f"template {make_url(url).database} strategy file_copy", ROLE_SETTINGS)

    async def _create(self, origin: str, settings: Sequence[RoleSetting]) -> str:
        name = f"belief_gateway_{uuid4().hex}"
        connection = await _connect(self.url)
        try:
            await connection.execute(f"create database {name} {origin}")
            for setting in settings:
                await connection.execute(
                    f"alter role current_user in database {name} set {setting.name} = '{setting.value}'"
                )
        finally:
            await connection.close()
        return _rendered(self.url.set(database=name))

    async def empty(self, url: str) -> None:
        """Remove every row of a database, and start its sequences anew."""
        statements = [f"delete from {table.name}" for table in metadata.tables.values()]
        statements += ["alter sequence belief_positions restart", "alter sequence event_numbers restart"]
        connection = await _connect(make_url(url))
        try:
            await connection.execute("; ".join(statements))
        finally:
            await connection.close()

    async def drop(self, url: str) -> None:
        """Drop a database, whoever is connected."""
        await _drop(self.url, make_url(url).database or "")


async def _connect(url: URL) -> "asyncpg.Connection[asyncpg.Record]":
    return await asyncpg.connect(_rendered(url.set(drivername="postgresql")))


async def _drop(url: URL, database: str) -> None:
    connection = await _connect(url)
    try:
        await connection.execute(f"drop database if exists {database} with (force)")
    finally:
        await connection.close()


def _rendered(url: URL) -> str:
    return url.render_as_string(hide_password=False)


async def _make_template(url: URL) -> None:
    """Make the migrated template unless another worker has."""
    connection = await _connect(url)
    try:
        await connection.execute("select pg_advisory_lock($1)", _TEMPLATE_LOCK)
        if not await connection.fetchval("select true from pg_database where datname = $1", _template()):
            await connection.execute(f"create database {_template()}")
        await migrate(_rendered(url.set(database=_template())))
    finally:
        await connection.close()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[DatabaseServer]:
    """The server of the run, with its template."""
    given = os.environ.get("TEST_DATABASE_URL")
    if given:
        asyncio.run(_make_template(make_url(given)))
        yield DatabaseServer(make_url(given), _template())
        return
    with EmbeddedServer(run_directory("postgres"), durable=False) as server:
        url = make_url(server.url("postgres"))
        asyncio.run(_make_template(url))
        yield DatabaseServer(url, _template())


@pytest.fixture(scope="session")
def worker_database_url(postgres_server: DatabaseServer) -> Iterator[str]:
    """The URL of the worker's database, in whatever state the last test left it."""
    url = asyncio.run(postgres_server.create())
    yield url
    asyncio.run(postgres_server.drop(url))


@pytest.fixture
async def database_url(postgres_server: DatabaseServer, worker_database_url: str) -> str:
    """The URL of the worker's database: migrated and empty."""
    await postgres_server.empty(worker_database_url)
    return worker_database_url


@pytest.fixture
async def own_database_url(postgres_server: DatabaseServer) -> AsyncIterator[str]:
    """The URL of a database of the test's own: migrated and empty."""
    url = await postgres_server.create()
    yield url
    await postgres_server.drop(url)


@pytest.fixture
async def bare_database_url(postgres_server: DatabaseServer) -> AsyncIterator[str]:
    """The URL of a database of the test's own, without tables and settings."""
    url = await postgres_server.create_bare()
    yield url
    await postgres_server.drop(url)


@pytest.fixture
async def postgres_store(database_url: str) -> AsyncIterator[PostgresStore]:
    """A store on an empty database."""
    store = PostgresStore(database_url)
    yield store
    await store.close()
