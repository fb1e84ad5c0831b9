"""PgBouncer in transaction mode between the store and PostgreSQL: everything is answered as it is without it.

With prepared statements from version 1.21 on; with a URL that forbids them on every version.
"""

import asyncio
import itertools
import os
import pwd
import re
import shutil
import socket
import subprocess
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg
import pytest
from sqlalchemy.engine import URL, make_url

from store.domain.owners import Owner
from store.domain.vocabulary import EventKind, ReviewOutcome, Sensitivity
from store.ports.errors import StoreUnavailable
from store.ports.memories import MemoryBrowseQuery
from store.ports.store import Snapshot, Store
from store.postgres.engine import PREPARED_STATEMENTS
from store.postgres.maintenance import PostgresMaintenance
from store.postgres.migrating import check_settings, migrate
from store.postgres.store import PostgresStore
from tests.factories import NOW, candidate, owner
from tests.faults.obstacles import WAIT_SECONDS, connected
from tests.services.deployment import Deployment
from tests.worlds import ask, browse, everything, find

pytestmark = pytest.mark.postgres

# Debian keeps it where only root looks.
PROGRAM = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
WITH_PREPARED = (1, 21)
SERVER_CONNECTIONS = 3
CLIENTS = 12
OWNERS = [owner(f"owner {number}") for number in range(CLIENTS)]
BELIEFS = 4
NAME = "bounced"
ROUNDS = 3
SERVED = """
    select count(*) from pg_stat_activity
    where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()
        and application_name = $1
"""
CONFIGURATION = """
[databases]
* = {server}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = {size}
max_client_conn = 100
query_wait_timeout = 30
{further}
"""


@dataclass(frozen=True, slots=True)
class Bouncer:
    """A running PgBouncer, and whether the clients may prepare statements through it."""

    port: int
    is_prepared: bool

    def url(self, direct: str) -> str:
        """The way through it to the database of a URL."""
        way = make_url(direct).set(host="127.0.0.1", port=self.port).difference_update_query(["host", "port"])
        query = {"ssl": "disable"} | ({} if self.is_prepared else {PREPARED_STATEMENTS: "0"})
        return way.update_query_dict(query).render_as_string(hide_password=False)


def _version(program: str) -> tuple[int, ...]:
    told = subprocess.run([program, "--version"], check=True, capture_output=True, text=True).stdout
    found = re.search(r"PgBouncer (\d+)\.(\d+)", told)
    assert found is not None, told
    return tuple(map(int, found.groups()))


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


def _server(url: URL) -> str:
    host, port = url.query.get("host", url.host), url.query.get("port", url.port or 5432)
    password = f" password={url.password}" if url.password else ""
    return f"host={host} port={port} user={url.username}{password} application_name={NAME}"


def _account(url: URL) -> str:
    directory = url.query.get("host")
    owner = Path(directory).stat().st_uid if isinstance(directory, str) and directory.startswith("/") else 0
    return pwd.getpwuid(owner).pw_name if owner else "nobody"


@pytest.fixture(params=[True, False], ids=["prepared", "unprepared"])
def bouncer(request: pytest.FixtureRequest, own_database_url: str, tmp_path: Path) -> Iterator[Bouncer]:
    """A PgBouncer before the server of the tests; skipped where none, or none new enough, is installed."""
    if PROGRAM is None:
        pytest.skip("pgbouncer is not installed")
    if request.param and _version(PROGRAM) < WITH_PREPARED:
        pytest.skip("this pgbouncer hands on no prepared statements")
    port, file = _free_port(), tmp_path / "pgbouncer.ini"
    further = "max_prepared_statements = 100" if request.param else ""
    server = _server(make_url(own_database_url))
    file.write_text(CONFIGURATION.format(server=server, port=port, size=SERVER_CONNECTIONS, further=further))
    command = [PROGRAM, str(file)]
    if os.geteuid() == 0:
        # It refuses to run as root. Its file is read before it becomes the account that may use the server's socket.
        command = [PROGRAM, "--user", _account(make_url(own_database_url)), str(file)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            log = itertools.takewhile(lambda line: "process up" not in line, process.stderr)
            assert "FATAL" not in "".join(log)
            yield Bouncer(port, is_prepared=request.param)
        finally:
            process.terminate()
            process.communicate(timeout=WAIT_SECONDS)


async def test_a_start_leaves_no_statement_behind(bouncer: Bouncer, own_database_url: str) -> None:
    """Another gateway's driver would give the same names to its own."""
    await migrate(bouncer.url(own_database_url))
    await check_settings(bouncer.url(own_database_url))

    # Asked one after the other, all were given the same server connection.
    database = make_url(own_database_url).database
    asking = await asyncpg.connect(
        host="127.0.0.1", port=bouncer.port, user="?", database=database, ssl=False, statement_cache_size=0
    )
    left = await asking.fetch("select name from pg_prepared_statements where name like '\\_\\_asyncpg%'")
    assert 1 == await asking.fetchval(SERVED.replace("and pid <> pg_backend_pid()", ""), NAME)
    await asking.close()
    assert [] == left


async def test_upkeep_stands_back_and_leaves_no_setting_and_no_lock_behind(
    bouncer: Bouncer, own_database_url: str
) -> None:
    maintenance = PostgresMaintenance(bouncer.url(own_database_url))

    assert not await maintenance.vacuum()
    with pytest.raises(StoreUnavailable, match="pooler"):
        await maintenance.compact(full=False)
    assert 0 == await maintenance.dead_rows()

    asking = await asyncpg.connect(
        host="127.0.0.1",
        port=bouncer.port,
        user="?",
        database=make_url(own_database_url).database,
        ssl=False,
        statement_cache_size=0,
    )
    changed = await asking.fetch("select name from pg_settings where source = 'session' and name like '%time%'")
    held = await asking.fetchval("select count(*) from pg_locks where locktype = 'advisory'")
    await asking.close()
    assert ([], 0) == (changed, held)


async def test_everything_is_answered_as_without_it(bouncer: Bouncer, own_database_url: str) -> None:
    """More clients than server connections, as two gateways that start one after the other on the same ones."""
    way = bouncer.url(own_database_url)
    direct = PostgresStore(own_database_url)
    formed = [await _formed(await Deployment(direct).prepare(), each) for each in OWNERS]
    for _ in range(2):
        await migrate(way)
        await check_settings(way)
        stores = [PostgresStore(way, pool_size=CLIENTS // 2, pool_timeout_seconds=WAIT_SECONDS) for _ in range(2)]
        for store in stores:
            await store.check()
        for _ in range(ROUNDS):
            through = await asyncio.gather(
                *(
                    _answers(stores[number % 2], each, formed[number], first=number)
                    for number, each in enumerate(OWNERS)
                )
            )
            assert [await _answers(direct, *each) for each in zip(OWNERS, formed, strict=True)] == through
        for store in stores:
            await store.close()
    await direct.close()


async def test_writes_are_applied_once_as_without_it(bouncer: Bouncer, own_database_url: str) -> None:
    direct, store = (
        PostgresStore(url, pool_size=CLIENTS, pool_timeout_seconds=WAIT_SECONDS)
        for url in (own_database_url, bouncer.url(own_database_url))
    )
    deployment = await Deployment(store).prepare()

    async def work(whose: Owner) -> tuple[UUID, UUID]:
        ids = await _formed(deployment, whose)
        for outcome, id in zip(ReviewOutcome, ids, strict=False):
            for _ in range(2):
                await deployment.review(id, outcome, of=whose, key=f"review-{outcome.value}")
        for _ in range(2):
            await deployment.delete(ids[3], of=whose, key="delete")
        return ids[0], ids[3]

    worked = await asyncio.gather(*(work(whose) for whose in OWNERS))

    for whose, (reviewed, deleted) in zip(OWNERS, worked, strict=True):
        assert not (await Deployment(direct).get(reviewed, of=whose)).flagged_for_review
        assert await find(direct, whose, deleted) is None
        kinds = [event.kind for event in await Deployment(direct).events(of=whose)]
        assert BELIEFS == kinds.count(EventKind.FORMED)
        assert [1, 2, 1] == [kinds.count(kind) for kind in (EventKind.REVIEWED, EventKind.REJECTED, EventKind.DELETED)]
    async with connected(own_database_url) as connection:
        assert 0 < await connection.fetchval(SERVED, NAME) <= SERVER_CONNECTIONS
    for each in (direct, store):
        await each.close()


async def _formed(deployment: Deployment, whose: Owner) -> list[UUID]:
    candidates = [candidate(f"Sails {number}", sensitivity=Sensitivity.SENSITIVE) for number in range(BELIEFS)]
    return [await deployment.formed(each, of=whose) for each in candidates]


async def _answers(store: Store, whose: Owner, ids: Sequence[UUID], *, first: int = 0) -> list[Any]:
    """Pages, counts and details, as single reads and in a snapshot; asked in their order from one of them on."""
    filter = everything(whose)
    query = MemoryBrowseQuery(filter=filter, limit=3)

    def single(question: Callable[[Snapshot], Awaitable[Any]]) -> Callable[[], Awaitable[Any]]:
        async def asked() -> Any:
            async with store.single_read() as snapshot:
                return await question(snapshot)

        return asked

    questions: list[Callable[[], Awaitable[Any]]] = [
        single(lambda snapshot: snapshot.memories.find(whose, ids[0], ceiling=Sensitivity.RESTRICTED)),
        single(lambda snapshot: snapshot.memories.browse(query)),
        single(lambda snapshot: snapshot.memories.count(filter)),
        lambda: ask(store, lambda snapshot: snapshot.memories.overview(whose, ceiling=Sensitivity.RESTRICTED, now=NOW)),
        lambda: browse(store, query),
        lambda: find(store, whose, ids[-1]),
    ]
    answers = {}
    for number in range(first, first + len(questions)):
        place = number % len(questions)
        answers[place] = await questions[place]()
    return [answers[place] for place in sorted(answers)]
