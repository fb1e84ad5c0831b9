"""The statements of a page and of a count of derived records, each one SQL text for all values of its shape.

The active records of one sensitivity lie in an index in the order of a page, so that what the ceiling hides costs
nothing. An owner has few derived records: so the filters are tested row by row, and only what they leave is asked
whether it stands. A text is looked up in the index of lexemes. Source: The store on PostgreSQL, A page; Text.
"""

from dataclasses import dataclass
from functools import cache

from sqlalchemy import TextClause, text

from store.domain.vocabulary import MemoryStatus
from store.ports.memories import Direction, MemoryBrowseQuery, MemoryFilter
from store.postgres.classes import OF_TEXT, Bound, beyond, opposite, order
from store.postgres.derived_rows import derived_by_key, derived_columns, rests_on_what_is_there, with_sources
from store.postgres.derived_tables import IN_LEVELS
from store.postgres.predicates import owned

_KEY = "m.id, m.store_position"
_CONDITIONS = {
    "belief_types": "m.belief_types && CAST(:belief_types AS smallint[])",
    "session_id": "CAST(:session AS uuid) = any (m.session_ids)",
    "flagged": "m.flagged_for_review = :flagged",
    **{bound.name.lower(): bound.value for bound in Bound},
}
"""What each field of a filter says of a row `m`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DerivedShape:
    """What of a filter decides the text of its statement: conditions of single rows, and whether a text is asked."""

    conditions: tuple[str, ...]
    text: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DerivedPageShape:
    """What of a browse query decides the text of its statement."""

    filter: DerivedShape
    direction: Direction
    continued: bool
    with_opposite: bool


def selects_derived(filter: MemoryFilter) -> bool:
    """Whether a filter can select derived records: those that stand are active."""
    return MemoryStatus.ACTIVE in filter.statuses


def derived_shape(filter: MemoryFilter) -> DerivedShape:
    """The shape of a filter."""
    conditions = [condition for field, condition in _CONDITIONS.items() if getattr(filter, field) is not None]
    if filter.subject is not None:
        conditions.append(f"m.{'subject_key' if filter.subject_is_key else 'display_subject_key'} = :subject_key")
    return DerivedShape(conditions=tuple(conditions), text=filter.text is not None)


def derived_page_shape(query: MemoryBrowseQuery) -> DerivedPageShape:
    """The shape of a query. Without a keyset there is no other side to ask for."""
    continued = query.keyset is not None
    return DerivedPageShape(
        filter=derived_shape(query.filter),
        direction=query.direction,
        continued=continued,
        with_opposite=query.with_opposite and continued,
    )


@cache
def derived_page_statement(shape: DerivedPageShape) -> TextClause:
    """The rows of a page in the order walked: the columns of a record, then whether the other side holds a row.

    With that side asked and no row on the page there is one row whose columns of a record are null.
    """
    condition = beyond(shape.direction) if shape.continued else "true"
    keys = _keys(shape.filter, shape.direction, condition, limit=":limit")
    rows = f"""select {derived_columns("m")} from {derived_by_key("m", f"({keys}) page", "page")} {with_sources("m")}
        where m.sensitivity <= :ceiling"""
    if not shape.with_opposite:
        return text(f"{rows} order by {order(shape.direction, 'page')}")
    back = opposite(shape.direction)
    other = _keys(shape.filter, back, beyond(back, inclusive=True), limit="1")
    return text(f"""select page.*, side.holds from (select exists ({other}) as holds) side
        left join lateral ({rows}) page on true order by {order(shape.direction, "page")}""")


@cache
def derived_count_statement(shape: DerivedShape) -> TextClause:
    """How many records that stand a filter selects. Exact: it looks at each, and at all that it rests on."""
    if shape.text:
        return text(f"select count(*) from {_matching(shape)} where {rests_on_what_is_there('m')}")
    levels = _of_levels(shape, "count(*) as number", condition="true", tail="")
    return text(f"select coalesce(sum(number), 0)::bigint from ({levels}) counted")


def _keys(shape: DerivedShape, direction: Direction, condition: str, *, limit: str) -> str:
    if shape.text:
        # Sorted inside the fence, so that only as many as the page needs are asked whether they stand.
        return f"""select {_KEY} from (
            select * from {_matching(shape)} where {condition} order by {order(direction)} offset 0
        ) m where {rests_on_what_is_there("m")} order by {order(direction)} limit {limit}"""
    limited = f"order by {order(direction)} limit {limit}"
    return f"select * from ({_of_levels(shape, _KEY, condition=condition, tail=limited)}) m {limited}"


def _of_levels(shape: DerivedShape, columns: str, *, condition: str, tail: str) -> str:
    """A query over those that stand of each level, `tail` (its order and limit) applied to each level by itself."""
    return f"""select found.* from unnest(CAST(:sensitivities AS smallint[])) level (sensitivity) cross join lateral (
        select {columns} from derived_records m
        where {owned("m")} and m.sensitivity = level.sensitivity and m.{IN_LEVELS} and m.ends_at > :now
            and {_of_row(shape)} and {condition} and {rests_on_what_is_there("m")} {tail}
    ) found"""


def _matching(shape: DerivedShape) -> str:
    """A relation `m` of the rows that match the text and all else, whether or not they stand.

    `is true`, lest the planner combine the index of lexemes with one that is led by the owner.
    """
    return f"""(
        select * from (
            select * from derived_records m
            where (m.tenant_id = :tenant) is true and (m.principal_id = :principal) is true and {OF_TEXT} offset 0
        ) m where m.sensitivity = any (CAST(:sensitivities AS smallint[])) and m.{IN_LEVELS} and m.ends_at > :now
            and {_of_row(shape)}
    ) m"""


def _of_row(shape: DerivedShape) -> str:
    return " and ".join(shape.conditions) or "true"
