"""Decisions read from bytes: cheap to draw by the thousand, and simpler where the bytes are smaller."""

from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")


class Choices:
    """Decides one thing after the other; where the bytes are at an end, the first and simplest way each time."""

    def __init__(self, content: bytes) -> None:
        self._content = iter(content)

    def below(self, end: int) -> int:
        """A number from zero on; `end` is at most 256."""
        return next(self._content, 0) % end

    def pick(self, items: Sequence[Item]) -> Item:
        """One of the items, of which the first is the simplest."""
        return items[self.below(len(items))]

    def happens(self, one_in: int) -> bool:
        """Whether what happens once in so many times does so now."""
        return self.below(one_in) == one_in - 1
