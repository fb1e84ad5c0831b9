"""What stands in the way of a gateway's statements, and what the server says of them meanwhile."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeAlias

import asyncpg
from sqlalchemy.engine import make_url

from store.postgres.store import PostgresStore

Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record]"

WAIT_SECONDS = 60


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[Connection]:
    """A connection past the gateway."""
    plain = make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
    connection = await asyncpg.connect(plain)
    try:
        yield connection
    finally:
        await connection.close()


@asynccontextmanager
async def blocked(url: str, *tables: str) -> AsyncIterator[None]:
    """Keep every statement that reads or writes these tables waiting until the block is left."""
    async with connected(url) as connection, connection.transaction():
        await connection.execute(f"lock table {', '.join(tables)} in access exclusive mode")
        yield


async def until_waiting(url: str, count: int) -> list[int]:
    """Wait until so many statements wait for a lock; the processes of the server that serve them."""
    async with connected(url) as connection:
        await eventually(lambda: _are_waiting(connection, count))
        return await find_waiting(connection)


async def find_waiting(connection: Connection) -> list[int]:
    """The processes of the server whose statements wait for a lock in this database."""
    rows = await connection.fetch(
        "select pid from pg_stat_activity where datname = current_database()"
        " and state = 'active' and wait_event_type = 'Lock'"
    )
    return [row["pid"] for row in rows]


async def _are_waiting(connection: Connection, count: int) -> bool:
    return len(await find_waiting(connection)) == count


async def eventually(holds: Callable[[], Awaitable[bool]]) -> None:
    """Return when it holds, for what tells nobody that it has come to hold: a server, another process."""
    async with asyncio.timeout(WAIT_SECONDS):
        while not await holds():  # noqa: ASYNC110 (nothing of this process could set an event)
            await asyncio.sleep(0.01)


async def until(holds: Callable[[], bool]) -> None:
    """The same for what is seen at once."""

    async def asked() -> bool:
        return holds()

    await eventually(asked)


async def until_idle(store: PostgresStore) -> None:
    """Return when no connection of the store is in use."""
    await until(lambda: store.connections.in_use == 0)
