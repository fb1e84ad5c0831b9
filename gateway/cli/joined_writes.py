"""Answers that leave in one piece: the head waits for the first of the body.

The server writes a head as soon as it has one, and the event loop sends each write at once: the answer to a small
request would cost two system calls, and wake its client twice.
"""

import asyncio

from uvicorn.protocols.http.httptools_impl import RequestResponseCycle


class JoinedWrites(asyncio.Transport):
    """The connection as the answer to one request sees it, which must have a body, if an empty one."""

    def __init__(self, transport: asyncio.Transport, cycle: RequestResponseCycle) -> None:
        """Write to this connection what this exchange answers."""
        super().__init__()
        self._transport = transport
        self._cycle = cycle
        self._head: bytes | None = None

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Send at once what comes before the answer and the rest of it; hold back its head."""
        if self._head is None and self._cycle.response_started:
            self._head = bytes(data)
        elif self._head:
            self._transport.writelines((self._head, data))
            self._head = b""
        else:
            self._transport.write(data)

    def is_closing(self) -> bool:
        """Whether the connection is closed or about to be."""
        return self._transport.is_closing()

    def close(self) -> None:
        """Send what is held back, and close the connection."""
        if self._head:
            self._transport.write(self._head)
            self._head = b""
        self._transport.close()
