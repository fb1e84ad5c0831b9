"""A gateway of this process behind the server that the program runs, and clients that may vanish."""

import asyncio
import json
from asyncio import StreamReader
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass

from gateway.cli.listening import listen
from gateway.cli.serving import GatewayServer
from tests.faults.obstacles import until
from tests.gateways import Gateway


@dataclass(frozen=True, slots=True, kw_only=True)
class Listening:
    """A gateway that listens on a port of this machine."""

    gateway: Gateway
    server: GatewayServer
    port: int

    @asynccontextmanager
    async def sending(self, *requests: bytes) -> AsyncIterator[StreamReader]:
        """Send the requests on one connection, which is cut when the block is left."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            writer.write(b"".join(requests))
            await writer.drain()
            yield reader
        finally:
            # With a reset, as a process that is killed leaves it.
            writer.transport.abort()
            await asyncio.wait([asyncio.ensure_future(writer.wait_closed())])


@asynccontextmanager
async def listening(gateway: Gateway) -> AsyncIterator[Listening]:
    """Serve a gateway on a free port until the block is left."""
    with closing(listen("127.0.0.1", 0)) as listener:
        server = GatewayServer(gateway.app)
        port = listener.getsockname()[1]
        task = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            await until(lambda: server.started)
            yield Listening(gateway=gateway, server=server, port=port)
        finally:
            server.end()
            await task


def request(
    method: str,
    target: str,
    *,
    secret: str,
    headers: Mapping[str, str] | None = None,
    body: Mapping[str, object] | None = None,
    content: bytes = b"",
) -> bytes:
    """One request as it is sent; `body` is sent as JSON, `content` as it is."""
    lines = {"host": "gateway.test", "authorization": f"Bearer {secret}", **(headers or {})}
    if body is not None:
        content = json.dumps(body).encode()
        lines["content-type"] = "application/json"
    if content:
        lines["content-length"] = str(len(content))
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"{method} {target} HTTP/1.1\r\n{head}\r\n".encode() + content


async def read_answer(reader: StreamReader) -> tuple[int, dict[str, str], bytes]:
    """The next answer of a connection: status, headers by their names in lower case, body."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    status, *lines = head.strip().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return int(status.split()[1]), headers, body
