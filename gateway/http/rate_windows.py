"""A storage of the `limits` library: fixed windows of one length, counted in the memory of one process.

They end in the order in which they began: before each count those that have ended are forgotten from the front. The
library's own storage in memory starts a task for every count, which visits every key: a request would cost the more,
the more principals ask. Source: limits, Custom storage backends.
"""

import time
from collections import OrderedDict
from collections.abc import Callable, Collection
from dataclasses import dataclass

from limits.aio.storage import Storage


@dataclass(slots=True)
class _Window:
    ends_at: float
    counted: int = 0


class ProcessStorage(Storage):
    """What was counted under each key since the first count of its window."""

    STORAGE_SCHEME = None
    base_exceptions = ()

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        """Count from nothing; `clock` tells seconds since the epoch, as `get_expiry` does."""
        super().__init__()
        self._clock = clock
        self._windows: OrderedDict[str, _Window] = OrderedDict()

    @property
    def keys(self) -> Collection[str]:
        """Whose windows are kept."""
        return self._windows.keys()

    async def incr(self, key: str, expiry: int, amount: int = 1) -> int:
        """Count so many in a window of `expiry` seconds, the same for every key: what the window holds now."""
        now = self._clock()
        while self._windows and next(iter(self._windows.values())).ends_at <= now:
            self._windows.popitem(last=False)
        window = self._windows.get(key)
        if window is None:
            window = self._windows[key] = _Window(now + expiry)
        window.counted += amount
        return window.counted

    async def get(self, key: str) -> int:
        """What the window of a key holds; 0 without one."""
        window = self._current(key)
        return 0 if window is None else window.counted

    async def get_expiry(self, key: str) -> float:
        """When the window of a key ends; now without one."""
        window = self._current(key)
        return self._clock() if window is None else window.ends_at

    async def check(self) -> bool:
        """Memory is always there."""
        return True

    async def reset(self) -> int:
        """Forget every window: how many there were."""
        count = len(self._windows)
        self._windows.clear()
        return count

    async def clear(self, key: str) -> None:
        """Forget the window of a key."""
        self._windows.pop(key, None)

    def _current(self, key: str) -> _Window | None:
        window = self._windows.get(key)
        return window if window is not None and window.ends_at > self._clock() else None
