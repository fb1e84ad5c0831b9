"""How long a request may be worked on: until its deadline, until its client goes away, until the server stops.

All three are one thing, a deadline that may be brought forward. What waits under it is cancelled when it has passed:
a statement under way in the database too, and a transaction is undone unless it is being committed. Whoever still
listens is answered `unavailable`.
Source: belief store decisions, Errors; GraphQL over HTTP, Time and sockets.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from gateway.service.errors import Unavailable

DEADLINE_SECONDS = 20.0


class Deadline:
    """The moment after which one request is not worked on."""

    def __init__(self, at: float, reason: str) -> None:
        """Pass at a time of the event loop's clock; `reason` is what is answered then."""
        self.is_abandoned = False
        self._at = at
        self._reason = reason
        self._timeouts: set[asyncio.Timeout] = set()

    @asynccontextmanager
    async def kept(self) -> AsyncIterator[None]:
        """Cancel the block at the deadline; several tasks of a request may be under it. Raises Unavailable."""
        if asyncio.get_running_loop().time() >= self._at:
            raise Unavailable(self._reason)
        timeout = asyncio.timeout_at(self._at)
        try:
            async with timeout:
                self._timeouts.add(timeout)
                try:
                    yield
                finally:
                    self._timeouts.discard(timeout)
        except TimeoutError:
            if not timeout.expired():
                raise
            raise Unavailable(self._reason) from None

    def bring_forward(self, seconds: float, reason: str) -> None:
        """Pass in so many seconds unless it passes before."""
        at = asyncio.get_running_loop().time() + seconds
        if at < self._at:
            self._at, self._reason = at, reason
            for timeout in self._timeouts:
                if not timeout.expired():
                    timeout.reschedule(at)

    def abandon(self) -> None:
        """Pass at once: nobody waits for the answer any more."""
        self.is_abandoned = True
        self.bring_forward(0, "the client has gone")


class Deadlines:
    """The deadlines of all requests that one server works on, and whether it is about to stop."""

    def __init__(self, seconds: float = DEADLINE_SECONDS) -> None:
        """Give each request so many seconds from its beginning."""
        self.is_ending = False
        self._seconds = seconds
        self._has_ended = False
        self._running: set[Deadline] = set()

    @contextmanager
    def begun(self) -> Iterator[Deadline]:
        """The deadline of a request that begins, while it is worked on. After the end it has passed already."""
        now = asyncio.get_running_loop().time()
        deadline = (
            Deadline(now, "the server is stopping")
            if self._has_ended
            else Deadline(now + self._seconds, "the request took too long")
        )
        self._running.add(deadline)
        try:
            yield deadline
        finally:
            self._running.discard(deadline)

    def announce_end(self) -> None:
        """Serve on, but tell everybody to go elsewhere."""
        self.is_ending = True

    def end(self, within_seconds: float) -> None:
        """Take no new work, and let what is under way end within so many seconds."""
        self.is_ending = self._has_ended = True
        for deadline in self._running:
            deadline.bring_forward(within_seconds, "the server is stopping")
