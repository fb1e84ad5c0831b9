"""The statements of a page and of a count, each one SQL text for all values of its shape.

A page is found as keys first; its rows are then read by primary key, with the links that the ceiling shows. The other
side of the keyset is asked in the same statement: it sees the same rows. Source: The store on PostgreSQL, A page.
"""

from dataclasses import dataclass
from functools import cache, lru_cache

from sqlalchemy import TextClause, text

from store.domain.encodings import RowShape
from store.ports.memories import Direction, MemoryBrowseQuery
from store.postgres.classes import FilterShape, beyond, opposite, order, rows_due, rows_of_classes, shape_of
from store.postgres.encoding import encoded_rows
from store.postgres.predicates import visible
from store.postgres.rows import rows_by_key, shown_columns
from store.postgres.text_search import counted_matches, matching_beyond, matching_page

ENCODED_STATEMENTS_MAX = 400
"""Statements that are kept, as many as a connection keeps prepared."""

_KEY = "m.id, m.store_position"


@dataclass(frozen=True, slots=True, kw_only=True)
class PageShape:
    """What of a browse query decides the text of its statement."""

    filter: FilterShape
    direction: Direction
    continued: bool
    with_opposite: bool


def page_shape(query: MemoryBrowseQuery) -> PageShape:
    """The shape of a query. Without a keyset there is no other side to ask for."""
    continued = query.keyset is not None
    return PageShape(
        filter=shape_of(query.filter),
        direction=query.direction,
        continued=continued,
        with_opposite=query.with_opposite and continued,
    )


def page_parameters(query: MemoryBrowseQuery) -> dict[str, object]:
    """The parameters of a page beside those of its filter."""
    keyset = query.keyset
    return {
        "limit": query.limit + 1,
        "position": None if keyset is None else keyset.position,
        "after": None if keyset is None else keyset.id,
    }


@cache
def page_statement(shape: PageShape) -> TextClause:
    """The rows of a page in the order walked: the columns of a record, then whether the other side holds a row.

    With that side asked and no row on the page there is one row whose columns of a record are null.
    """
    return text(_rows_of_page(shape, shown_columns("m")))


@lru_cache(ENCODED_STATEMENTS_MAX)
def encoded_page_statement(shape: PageShape, row: RowShape) -> TextClause:
    """The same page as one row: the JSON of all rows, negative positions, ids, and whether the other side holds a row.

    The rows come in no order: sorted here, long texts would be moved, and written to files when they are many. By the
    negative position and the id they ascend as they are walked forward.
    """
    side = _opposite(shape) if shape.with_opposite else "null"
    return text(f"""select {encoded_rows(row)}, array_agg(-m.store_position), array_agg(m.id), {side}
        from beliefs m where {visible("m")} and m.id = any (array(select page.id from ({_page(shape)}) page))""")


def _rows_of_page(shape: PageShape, columns: str) -> str:
    keys = _page(shape)
    rows = f"""select {columns} from {rows_by_key("m", f"({keys}) page", "page")}
        where m.sensitivity <= :ceiling"""
    if not shape.with_opposite:
        return f"{rows} order by {order(shape.direction, 'page')}"
    return f"""select page.*, side.holds from (select {_opposite(shape)} as holds) side
        left join lateral ({rows}) page on true order by {order(shape.direction, "page")}"""


def _page(shape: PageShape) -> str:
    if shape.filter.is_text_search:
        return matching_page(shape.filter, shape.direction, continued=shape.continued)
    condition = beyond(shape.direction) if shape.continued else "true"
    limited = f"order by {order(shape.direction)} limit :limit"
    keys = rows_of_classes(shape.filter, _KEY, condition=condition, tail=limited)
    if shape.filter.due:
        keys += f" union all {rows_due(shape.filter, _KEY, condition=condition)}"
    return f"select * from ({keys}) m {limited}"


def _opposite(shape: PageShape) -> str:
    back = opposite(shape.direction)
    if shape.filter.is_text_search:
        return matching_beyond(shape.filter, back)
    condition = beyond(back, inclusive=True)
    # Ordered, though any row will do: it keeps the planner in the range that lies beyond the keyset.
    keys = rows_of_classes(shape.filter, _KEY, condition=condition, tail=f"order by {order(back)} limit 1")
    if shape.filter.due:
        keys += f" union all {rows_due(shape.filter, _KEY, condition=condition)}"
    return f"exists ({keys})"


@cache
def count_statement(shape: FilterShape) -> TextClause:
    """How many rows a filter selects. Exact: it reads an entry of the index for each."""
    if shape.is_text_search:
        return text(counted_matches(shape))
    counts = rows_of_classes(shape, "count(*) as number")
    if shape.due:
        counts += f" union all {rows_due(shape, 'count(*) as number')}"
    return text(f"select coalesce(sum(number), 0)::bigint from ({counts}) counted")
