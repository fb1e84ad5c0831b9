"""What operations cost, in points, before they are done: the worst that a request can lead to, not what it finds.

A point is about what one value of an answer takes to be read and written: three millionths of a second, measured.
The cost is taken from bounds and from the request alone, so it tells nothing of what is stored, or hidden.
Both transports charge by this table.
"""

from gateway.service.memory_requests import PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX
from store.domain.memories import LINKS_SHOWN_MAX
from store.ports.memories import SUPERSEDES_SHOWN_MAX

VALUE = 1
"""One value of an answer."""
VALUE_LIST = 5
"""A list of identifiers, numbers or names within a belief: mostly empty or short."""
MEMORY = 8
"""Fetching one belief, whatever of it is shown."""
STATEMENT = 50
"""Asking the store once."""
COUNT = 1_000
"""Counting what a filter selects, which may be everything."""
TEXT_SEARCH = 12_000
"""Searching text: more than a page of 200, all values shown."""
OVERVIEW = 2_000
"""The counts over everything believed."""
WRITE = 1_000
"""One transaction with its receipt."""

CONFLICTS_MAX = LINKS_SHOWN_MAX
SUPERSEDED_MAX = SUPERSEDES_SHOWN_MAX
"""How many beliefs the links of one belief lead to at most."""

MEMORY_LISTS = 3
"""Values of a belief that are lists."""
MEMORY_VALUES = 28
"""Values of a belief that are none."""
MEMORY_SHOWN = MEMORY + MEMORY_VALUES * VALUE + MEMORY_LISTS * VALUE_LIST
"""One belief with all its values."""

REQUEST = 1
"""What is charged for any request whose credential is valid, before it is looked at."""


def page_size(first: int | None, last: int | None = None) -> int:
    """How many beliefs a page may hold: the larger one where both are given, which is refused later."""
    asked = [limit for limit in (first, last) if limit is not None]
    return min(max(*asked, 1), PAGE_LIMIT_MAX) if asked else PAGE_LIMIT_DEFAULT


def fetch_cost(size: int, *, searches_text: bool) -> int:
    """Fetching a page of so many beliefs, without showing them."""
    return STATEMENT + size * MEMORY + (TEXT_SEARCH if searches_text else 0)


def count_cost(*, searches_text: bool) -> int:
    """Counting what a filter selects."""
    return COUNT + (TEXT_SEARCH if searches_text else 0)
