"""What passes between a store and PostgreSQL, seen on the wire: each flight of messages that the client waits for."""

import asyncio
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from sqlalchemy.engine import URL, make_url

PREPARED = "statement"
"""What stands for a flight that is no simple query: the execution of a prepared statement, or its preparation."""


@dataclass(slots=True)
class Wire:
    """The URL of the way through, and the flights in their order: a simple query by its text, others as PREPARED."""

    url: str
    flights: list[str] = field(default_factory=list)

    @property
    def transactions(self) -> list[list[str]]:
        """The flights between each BEGIN, which is left out, and the end of its transaction, which is counted."""
        found: list[list[str]] = []
        for flight in self.flights:
            if flight.startswith("BEGIN"):
                found.append([])
            elif found:
                found[-1].append(flight)
        return found


@asynccontextmanager
async def watched_wire(url: str) -> AsyncIterator[Wire]:
    """A way to the database of the URL on which every flight is noted."""
    way = make_url(url)
    wire = Wire(url="")
    pumps: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        served = asyncio.current_task()
        assert served is not None, "the server runs it in a task"
        pumps.add(served)
        far_reader, far_writer = await _connect(way)
        back = asyncio.create_task(_copy(far_reader, writer))
        try:
            with suppress(asyncio.IncompleteReadError, ConnectionError):
                await _note(reader, far_writer, wire.flights)
        finally:
            far_writer.close()
            await back
            pumps.discard(served)

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    direct = way.set(host="127.0.0.1", port=port).difference_update_query(["host", "port"])
    wire.url = direct.update_query_dict({"ssl": "disable"}).render_as_string(hide_password=False)
    try:
        yield wire
    finally:
        server.close()
        await asyncio.gather(*pumps)


async def _connect(way: URL) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    directory, port = way.query.get("host"), way.query.get("port", way.port or 5432)
    if isinstance(directory, str) and directory.startswith("/"):
        return await asyncio.open_unix_connection(f"{directory}/.s.PGSQL.{port}")
    return await asyncio.open_connection(way.host or str(directory), int(str(port)))


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while received := await reader.read(65_536):
            writer.write(received)
            await writer.drain()
    writer.close()


async def _note(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, flights: list[str]) -> None:
    """Hand on each message; a simple query, a Sync and a Flush are what the client waits for an answer to."""
    begun = await reader.readexactly(4)
    writer.write(begun + await reader.readexactly(struct.unpack("!i", begun)[0] - 4))
    while True:
        head = await reader.readexactly(5)
        body = await reader.readexactly(struct.unpack("!i", head[1:])[0] - 4)
        if head[:1] == b"Q":
            flights.append(body[:-1].decode())
        elif head[:1] in {b"S", b"H"}:
            flights.append(PREPARED)
        writer.write(head + body)
        await writer.drain()
