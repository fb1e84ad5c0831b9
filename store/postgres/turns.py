"""Whose turn it is to have a connection: first come, first served.

The pool hands a connection that comes back to whoever asks next, past those that wait: under a crowd some would wait
until they are refused.
"""

import asyncio

from store.ports.errors import StoreUnavailable


class Turns:
    """So many at a time; the others wait in the order in which they came."""

    def __init__(self, count: int, wait_seconds: float) -> None:
        self._free = asyncio.Semaphore(count)
        self._wait_seconds = wait_seconds

    async def take(self) -> None:
        """Wait for a turn. Raises StoreUnavailable for whoever waits longer than the limit."""
        if not self._free.locked():
            await self._free.acquire()
            return
        try:
            async with asyncio.timeout(self._wait_seconds):
                await self._free.acquire()
        except TimeoutError:
            raise StoreUnavailable("every connection is in use") from None

    def end(self) -> None:
        """Let the next one have the turn that was taken."""
        self._free.release()
