"""The counts of an overview, in one pass over the owner's visible rows, level by level.

Each level is a range of an index, so that rows above the ceiling are not even passed by: how long it takes would tell
how many there are.
"""

from collections.abc import Sequence

from sqlalchemy import text

from store.domain.overviews import CONFIDENCE_BANDS, MemoryOverview
from store.postgres.classes import EFFECTIVE_STATUS
from store.postgres.codes import BELIEF_TYPES, SENSITIVITIES, STATUSES
from store.postgres.predicates import owned
from store.postgres.sessions import AnyRow
from store.postgres.tables import IN_CLASSES

# The first and the last moment that a belief can hold are stored as infinite ones, which lie in no month.
_CREATED_AT = "least(greatest(m.created_at, '0001-01-01 UTC'), '9999-12-31 UTC')"

# A row of the answer counts one value of one column: `of` is grouping()'s bit mask, in which that column's bit is 0.
OVERVIEW = text(f"""
    select grouping(status, belief_type, sensitivity, band, month) as of, status, belief_type, sensitivity, band, month,
        count(*) as stored, count(*) filter (where live) as live, count(*) filter (where live and flagged) as flagged
    from (
        select {EFFECTIVE_STATUS} as status, {EFFECTIVE_STATUS} in (1, 2) as live, m.belief_type, m.sensitivity,
            least(floor(m.confidence * {CONFIDENCE_BANDS}), {CONFIDENCE_BANDS - 1})::integer as band,
            to_char({_CREATED_AT} at time zone 'UTC', 'YYYY-MM') as month,
            m.flagged_for_review as flagged
        from generate_series(0, CAST(:ceiling AS integer)) visible (sensitivity) cross join lateral (
            select * from beliefs stored
            where {owned("stored")} and stored.sensitivity = visible.sensitivity and stored.{IN_CLASSES} offset 0
        ) m
    ) shown
    group by grouping sets ((status), (belief_type), (sensitivity), (band), (month), ())
""")

_STATUS, _BELIEF_TYPE, _SENSITIVITY, _BAND, _MONTH, _ALL = 0b01111, 0b10111, 0b11011, 0b11101, 0b11110, 0b11111


def overview_of(rows: Sequence[AnyRow]) -> MemoryOverview:
    """The overview of the answer's rows."""
    live = [row for row in rows if row.live]
    return MemoryOverview(
        statuses={STATUSES[row.status]: row.stored for row in rows if row.of == _STATUS},
        belief_types={BELIEF_TYPES[row.belief_type]: row.live for row in live if row.of == _BELIEF_TYPE},
        sensitivities={SENSITIVITIES[row.sensitivity]: row.live for row in live if row.of == _SENSITIVITY},
        confidence_bands={row.band: row.live for row in live if row.of == _BAND},
        months={_month(row.month): row.live for row in live if row.of == _MONTH},
        flagged=next(row.flagged for row in rows if row.of == _ALL),
    )


def _month(year_and_month: str) -> tuple[int, int]:
    year, month = year_and_month.split("-")
    return int(year), int(month)
