"""Ctrl-C and SIGTERM: taken once, so that everything that was started is stopped in its order.

Not asyncio's own handling: there a second Ctrl-C breaks off what the first one began, and would leave the database
running.
"""

import asyncio
import signal
from collections.abc import Awaitable, Callable
from types import FrameType
from typing import TypeVar

import uvloop

_SIGNALS = (signal.SIGINT, signal.SIGTERM)

Result = TypeVar("Result")


class Interrupted(Exception):
    """The work was broken off by a signal, and what it had started is stopped."""


class Interruption:
    """One request to stop, for the work under way. By default the work is cancelled."""

    def __init__(self) -> None:
        """Nothing is asked for yet."""
        self.is_requested = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._reaction: Callable[[], object] | None = None

    def react_with(self, reaction: Callable[[], object]) -> None:
        """Do this from now on instead; at once if the request was made already."""
        self._reaction = reaction
        if self.is_requested:
            reaction()

    def take(self, _: int, __: FrameType | None) -> None:
        """Take a signal; every one after the first is without effect."""
        if not self.is_requested:
            self.is_requested = True
            if self._loop is not None:
                self._loop.call_soon_threadsafe(self._react)

    async def run(self, work: Callable[["Interruption"], Awaitable[Result]]) -> Result:
        """Do the work in this task."""
        task = asyncio.current_task()
        assert task is not None, "a coroutine runs in a task"
        self._loop = asyncio.get_running_loop()
        self.react_with(task.cancel)
        return await work(self)

    def _react(self) -> None:
        if self._reaction is not None:
            self._reaction()


def run_to_the_end(work: Callable[[Interruption], Awaitable[Result]]) -> Result:
    """Run the work in an event loop of its own. Raises Interrupted where a signal cancelled it."""
    interruption = Interruption()
    former = {number: signal.signal(number, interruption.take) for number in _SIGNALS}
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(interruption.run(work))
    except asyncio.CancelledError:
        raise Interrupted("stopped") from None
    finally:
        # Once it was requested, the handlers stay to the end of the process: it may be asked again until then.
        if not interruption.is_requested:
            for number, handler in former.items():
                signal.signal(number, handler)
