"""Pages and counts over a text, where no session or subject narrows it.

A term is either frequent, and then the newest rows of the owner hold enough of it, or rare, and then the index of
lexemes finds every match in a few steps. So a page first walks the newest rows, then walks as many as the matches met
so far promise to suffice, and then asks the index for all matches. Each of the three is the whole answer where it comes
to one; the later stages do nothing after it. What stays slow is a frequent term that occurs in the oldest part of a
very large owner alone: all its matches are fetched and sorted. Source: The store on PostgreSQL, Text.
"""

from store.ports.memories import Direction
from store.postgres.classes import OF_TEXT, SELECTED_BY_CLASS, FilterShape, beyond, found_elsewhere, order
from store.postgres.predicates import owned
from store.postgres.tables import IN_ORDER_OF_POSITION

WALK_ROWS = 500
"""Rows that are walked before anything is known of the text."""
WALK_ROWS_MAX = 30_000
WALK_MARGIN = 1.5
"""How many more rows than the first walk promises the second one reads."""

_IN_ORDER = f"{owned('m')} and m.{IN_ORDER_OF_POSITION}"
# `is true`, lest the planner combine the index of lexemes with one that is led by the owner.
_MATCHING = f"""(m.tenant_id = :tenant) is true and (m.principal_id = :principal) is true and {OF_TEXT}"""


def _walk(direction: Direction, condition: str, limit: str) -> str:
    return f"""(
        select * from beliefs m where {_IN_ORDER} and {condition} order by {order(direction)} limit {limit}
    ) m"""


def _reaches_beyond(direction: Direction, condition: str) -> str:
    """Whether the owner has more rows than the first walk reads."""
    return f"""exists (
        select from beliefs m where {_IN_ORDER} and {condition} order by {order(direction)} offset {WALK_ROWS} limit 1
    )"""


def matching_page(shape: FilterShape, direction: Direction, *, continued: bool) -> str:
    """The keys of a page of matching rows, in the order walked."""
    condition = beyond(direction) if continued else "true"
    selected = f"{SELECTED_BY_CLASS} and {found_elsewhere(shape)}"
    limited = f"order by {order(direction)} limit :limit"
    promised = f"ceil(CAST(:limit AS bigint) * {WALK_ROWS * WALK_MARGIN} / found)"
    return f"""with
    first as materialized (
        select m.id, m.store_position from {_walk(direction, condition, str(WALK_ROWS))}
        where {selected} and {OF_TEXT} {limited}
    ),
    after_first as materialized (
        select done, case when not done and found > 0 and {promised} <= {WALK_ROWS_MAX} then {promised} else 0 end
            as promised
        from (
            select found,
                case when found >= :limit then true else not {_reaches_beyond(direction, condition)} end as done
            from (select count(*) as found from first) counted offset 0
        ) judged
    ),
    second as materialized (
        select m.id, m.store_position from {_walk(direction, condition, "(select promised from after_first)")}
        where {selected} and {OF_TEXT} {limited}
    ),
    after_second as materialized (
        select done, (select count(*) from second) >= :limit as done_now from after_first
    ),
    third as materialized (
        select m.id, m.store_position from (
            select * from beliefs m where {_MATCHING}
            limit (select case when done or done_now then 0 end from after_second)
        ) m where {selected} and {condition} {limited}
    )
    select * from first where (select done from after_second)
    union all select * from second where (select not done and done_now from after_second)
    union all select * from third"""


def matching_beyond(shape: FilterShape, direction: Direction) -> str:
    """Whether a matching row lies at the keyset or beyond it, in a direction: the same stages, for one row."""
    condition = beyond(direction, inclusive=True)
    selected = f"{SELECTED_BY_CLASS} and {found_elsewhere(shape)}"
    return f"""case
        when exists (select from {_walk(direction, condition, str(WALK_ROWS))} where {selected} and {OF_TEXT}) then true
        when not {_reaches_beyond(direction, condition)} then false
        else exists (
            select from (select * from beliefs m where {_MATCHING} offset 0) m where {selected} and {condition}
        )
    end"""


def counted_matches(shape: FilterShape) -> str:
    """How many rows match: each is fetched."""
    return f"""select count(*) from (select * from beliefs m where {_MATCHING} offset 0) m
        where {SELECTED_BY_CLASS} and {found_elsewhere(shape)}"""
