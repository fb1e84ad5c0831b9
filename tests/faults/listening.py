"""A gateway of this process behind the server that the program runs, and clients that may vanish."""

import asyncio
import json
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass

from gateway.cli.listening import listen
from gateway.cli.serving import GatewayServer
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
            await _cut(writer)


@asynccontextmanager
async def listening(gateway: Gateway) -> AsyncIterator[Listening]:
    """Serve a gateway on a free port until the block is left."""
    with closing(listen("127.0.0.1", 0)) as listener:
        server = GatewayServer(gateway.app)
        port = listener.getsockname()[1]
        task = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            while not server.started:
                await asyncio.sleep(0.005)
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
) -> bytes:
    """One request as it is sent."""
    content = b"" if body is None else json.dumps(body).encode()
    lines = {
        "host": "gateway.test",
        "authorization": f"Bearer {secret}",
        **({} if body is None else {"content-type": "application/json", "content-length": str(len(content))}),
        **(headers or {}),
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"{method} {target} HTTP/1.1\r\n{head}\r\n".encode() + content


async def read_answer(reader: StreamReader) -> tuple[int, dict[str, str], bytes]:
    """The next answer of a connection: status, headers by their names in lower case, body."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    status, *lines = head.strip().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return int(status.split()[1]), headers, body


async def _cut(writer: StreamWriter) -> None:
    """Close with a reset, as a process that is killed may."""
    transport = writer.transport
    transport.abort()
    while not transport.is_closing():
        await asyncio.sleep(0)
