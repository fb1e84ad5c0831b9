"""What operations cost, in points, before they are done: the worst that a request can lead to, not what it finds.

A point is about what one value of an answer takes to be read and written: three millionths of a second, measured.
The cost is taken from bounds and from the request alone, so it tells nothing of what is stored, or hidden.
Both transports charge by this table.
"""

from gateway.service.memory_requests import PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX
from store.domain.ancestry import NODE_LIMIT_DEFAULT, NODE_LIMIT_MAX, ROOTS_MAX
from store.domain.derived import ANCESTORS_MAX, CLAUSES_MAX, SOURCES_MAX
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
COUNT_DERIVED = 30_000
"""Counting derived records: each is asked whether it stands."""
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

DERIVED_CLAUSE = VALUE + VALUE_LIST
DERIVED_SOURCE = 3 * VALUE
DERIVED_CONTENT = 10 * VALUE + 2 * VALUE_LIST + CLAUSES_MAX * DERIVED_CLAUSE
"""What a derived record says: ten values, the types of its sources, and its clauses, each with its sources."""
DERIVED_SHOWN = MEMORY + 8 * VALUE + DERIVED_CONTENT + VALUE_LIST + SOURCES_MAX * DERIVED_SOURCE
"""One derived record with all its values; to fetch it is to fetch a belief."""

LONG_MEMORY = 6 * MEMORY
"""Fetching one belief, however long, and measuring it."""
GRAPH = 3 * STATEMENT + ROOTS_MAX * (1 + ANCESTORS_MAX) * LONG_MEMORY
"""Reading all that as many roots as there may be can rest on, whatever of it is shown."""
EVIDENCE_REFERENCE = 3 * VALUE
EVIDENCE_EDGE = 2 * VALUE + 2 * EVIDENCE_REFERENCE
EVIDENCE_NODE = 8 * VALUE + VALUE_LIST + SOURCES_MAX * EVIDENCE_REFERENCE + (DERIVED_SHOWN - MEMORY)
"""One node with all its values; either kind of record costs no more to show than a derived one."""

REQUEST = 1
"""What is charged for any request whose credential is valid, before it is looked at."""


def page_size(first: int | None, last: int | None = None) -> int:
    """How many beliefs a page may hold: the larger one where both are given, which is refused later."""
    asked = [limit for limit in (first, last) if limit is not None]
    return min(max(*asked, 1), PAGE_LIMIT_MAX) if asked else PAGE_LIMIT_DEFAULT


def fetch_cost(size: int, *, searches_text: bool) -> int:
    """Fetching a page of so many beliefs, without showing them."""
    return STATEMENT + size * MEMORY + (TEXT_SEARCH if searches_text else 0)


def fetch_items_cost(size: int, *, searches_text: bool) -> int:
    """Fetching a page of so many beliefs and derived records: either of the two statements may find all of them."""
    return 2 * fetch_cost(size, searches_text=searches_text)


def count_cost(*, searches_text: bool) -> int:
    """Counting what a filter selects."""
    return COUNT + (TEXT_SEARCH if searches_text else 0)


def count_items_cost(*, searches_text: bool) -> int:
    """Counting what a filter selects of beliefs and derived records."""
    return count_cost(searches_text=searches_text) + COUNT_DERIVED + (TEXT_SEARCH if searches_text else 0)


def graph_size(node_limit: int | None) -> int:
    """How many nodes a graph may hold."""
    return NODE_LIMIT_DEFAULT if node_limit is None else min(max(node_limit, 1), NODE_LIMIT_MAX)


def directory_cost() -> int:
    """Reading a page of workspaces, each use of which is written down."""
    return WRITE + STATEMENT


def graph_cost(node_limit: int) -> int:
    """Reading a graph and showing all of it."""
    size = graph_size(node_limit)
    return GRAPH + ROOTS_MAX * 2 * VALUE + size * (EVIDENCE_NODE + SOURCES_MAX * EVIDENCE_EDGE)
