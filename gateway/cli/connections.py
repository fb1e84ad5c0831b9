"""Connections as the server takes them: a bounded head of each request, which must arrive in time.

A request whose head is too large, too slow or no HTTP is refused before the application sees it, and the connection is
closed. It is answered here, in the envelope of REST since nobody can tell yet what it asks for: with an id of our own,
and without a line in the log, which any stranger could fill.
Source: belief store decisions, Errors; RFC 9112; RFC 6585 (431).
"""

import asyncio
from http import HTTPStatus
from typing import Any, cast
from uuid import uuid4

import httptools
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol
from uvicorn.server import ServerState

from gateway.cli.joined_writes import JoinedWrites
from gateway.http.exchanges import Exchanges, NoExchanges
from gateway.http.request_id import REQUEST_ID_HEADER
from gateway.rest.pages import Error, ErrorEnvelope
from gateway.rest.rendering import NOT_KEPT
from gateway.service.errors import ErrorCode

HEAD_BYTES_MAX = 32 * 1024
"""The target, and the names and values of all headers with what stands between them."""
HEAD_WAIT_SECONDS = 10.0
"""From the connection, or from the first byte after an answer, to the last byte of the head."""
IDLE_SECONDS = 30
"""How long a connection may stay open with nothing asked."""

_PER_HEADER_BYTES = len(b": \r\n")


class _HeadTooLarge(Exception):
    """Stops the parser."""


class BoundedProtocol(HttpToolsProtocol):
    """One connection. What the parser holds of an unfinished head is bounded by what was fed to it."""

    exchanges: Exchanges = NoExchanges()

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],  # Any: the server's own
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        """Expect a head."""
        super().__init__(config, server_state, app_state, _loop)
        self._expects_head = True
        self._message_ended = False
        self._has_served = False
        self._head_bytes = 0
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to wait for the first head."""
        # Not asserted: uvloop's transports are streams that do not inherit from it.
        super().connection_made(cast("asyncio.Transport", transport))
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Feed the parser, and see how much of an unfinished head it holds."""
        self._unset_keepalive_if_required()
        began_in_head = self._expects_head
        self._message_ended = False
        if began_in_head:
            # A line break before a request belongs to none, and must not keep the connection open either.
            self._await_head()
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            # Nothing is upgraded to: the request is answered as if it had not asked.
            return
        except httptools.HttpParserError as error:
            self._refuse_parsing(error)
            return
        # Of a chunk in which another message ended it is not known how much belongs to this head: it is not counted.
        whole_chunk = began_in_head and not self._message_ended
        self._head_bytes = self._head_bytes + len(data) if self._expects_head and whole_chunk else 0
        if self._head_bytes > HEAD_BYTES_MAX:
            self._refuse_head()

    def on_message_begin(self) -> None:
        """Wait for the head of a request that follows another one in the same chunk."""
        super().on_message_begin()
        self._await_head()

    def on_headers_complete(self) -> None:
        """Serve the request, unless its head is too large."""
        self._expects_head = False
        self._stop_waiting()
        lengths = (len(name) + len(value) + _PER_HEADER_BYTES for name, value in self.headers)
        if len(self.url) + sum(lengths) > HEAD_BYTES_MAX:
            raise _HeadTooLarge
        super().on_headers_complete()
        if self.scope["method"] != "HEAD":
            # The task that answers was made just now, and has not begun.
            self.cycle.transport = JoinedWrites(self.transport, self.cycle)
        self._has_served = True

    def on_message_complete(self) -> None:
        """Expect the next head."""
        super().on_message_complete()
        self._expects_head = True
        self._message_ended = True

    def _await_head(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(HEAD_WAIT_SECONDS, self._head_is_late)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _head_is_late(self) -> None:
        self._deadline = None
        if self._has_served and not self.cycle.response_complete:
            # An answer to the request before is under way: it must not be cut short.
            self._await_head()
        elif self._head_bytes:
            self.exchanges.limit_exceeded("head_seconds")
            message = f"the request line and the headers must arrive within {HEAD_WAIT_SECONDS:g} seconds"
            self._refuse(HTTPStatus.REQUEST_TIMEOUT, ErrorCode.REQUEST_TIMEOUT, message)
        else:
            self.transport.close()

    def _refuse_parsing(self, error: httptools.HttpParserError) -> None:
        if isinstance(error.__context__, _HeadTooLarge):
            self._refuse_head()
        else:
            self._refuse(HTTPStatus.BAD_REQUEST, ErrorCode.MALFORMED_REQUEST, "the request is not valid HTTP")

    def _refuse_head(self) -> None:
        self.exchanges.limit_exceeded("head_bytes")
        message = f"the request line and the headers must not exceed {HEAD_BYTES_MAX} bytes"
        self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, ErrorCode.MALFORMED_REQUEST, message)

    def _refuse(self, status: HTTPStatus, code: ErrorCode, message: str) -> None:
        """Answer and close; only close where an answer to an earlier request is under way."""
        self._stop_waiting()
        if self.transport.is_closing():
            return
        is_alone = not self._has_served or self.cycle.response_complete
        is_its_own = not (is_alone or self._expects_head or self.pipeline or self.cycle.response_started)
        if is_alone or is_its_own:
            self.transport.write(_answer(status, code, message, self.server_state))
        self.transport.close()


def _answer(status: HTTPStatus, code: ErrorCode, message: str, server_state: ServerState) -> bytes:
    """A whole response."""
    request_id = str(uuid4())
    error = Error(code=code, message=message, details={}, request_id=request_id)
    body = ErrorEnvelope(error=error).model_dump_json().encode("utf-8")
    headers = {
        "content-type": "application/json",
        "content-length": str(len(body)),
        "connection": "close",
        REQUEST_ID_HEADER: request_id,
        **NOT_KEPT,
    }
    lines = [f"{name}: {value}\r\n".encode("ascii") for name, value in headers.items()]
    dated = [b"%s: %s\r\n" % pair for pair in server_state.default_headers]
    return b"".join([STATUS_LINE[status], *dated, *lines, b"\r\n", body])


def protocol_reporting_to(exchanges: Exchanges) -> type[BoundedProtocol]:
    """The protocol of a server whose refusals are reported."""
    return type("ReportingProtocol", (BoundedProtocol,), {"exchanges": exchanges})
