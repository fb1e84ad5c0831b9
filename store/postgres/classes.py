"""What a filter selects, as SQL: the ranges of an index that it unites, and the filters of single rows beside them.

A class is one sensitivity and one stored status (and one belief type, where types are asked). In the ranged indexes the
rows of a class lie in the order of a page, so that a page reads at most limit rows of each class, however many rows the
ceiling or the status hides. Only what is no part of the chosen range is filtered row by row: two selective filters
together cost the rows of the range. Texts of statements depend on the shape of a filter alone; all values are
parameters. Source: The store on PostgreSQL, A page (form C).
"""

from dataclasses import dataclass
from enum import Enum
from itertools import product

from store.domain.vocabulary import LIVE_STATUSES, STORED_STATUSES, BeliefType, MemoryStatus
from store.ports.memories import Direction, MemoryFilter
from store.postgres.codes import BELIEF_TYPE_CODES, SENSITIVITY_CODES, STATUS_CODES, text_key
from store.postgres.lexemes import search_query
from store.postgres.predicates import owned, visible_parameters
from store.postgres.tables import IN_CLASSES, LIVE_WITH_AN_END


class Range(Enum):
    """What leads the index that a filter is read through; the value is its condition on a row `m` of a class.

    The condition also says the one of its partial index, and that of no other.
    """

    CLASS = f"m.{IN_CLASSES}"
    BELIEF_TYPE = "m.belief_type = class.belief_type"
    SESSION = "m.source_session_id = :session"
    SUBJECT = "m.subject_key = :subject_key"
    DISPLAY_SUBJECT = "m.display_subject_key = :subject_key"
    FLAGGED = "m.flagged_for_review"


class Bound(Enum):
    """An end of what a value of a row `m` may be; the value is its condition, the name that of the filter's field."""

    CONFIDENCE_MIN = "m.confidence >= :confidence_min"
    CONFIDENCE_MAX = "m.confidence <= :confidence_max"
    FORMED_AFTER = "m.created_at >= :formed_after"
    FORMED_BEFORE = "m.created_at < :formed_before"


_BOUNDS = {bound.name.lower(): bound for bound in Bound}


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterShape:
    """What of a filter decides the text of its statement.

    `subject` (the condition of a range), `types`, `flagged`, `text` and `bounds` are filters of single rows, beside the
    range. `due` asks for live rows that have run out: they are expired, whether or not a sweep has written it.
    """

    range: Range
    subject: Range | None
    types: bool
    flagged: bool
    text: bool
    bounds: frozenset[Bound]
    due: bool

    @property
    def is_text_search(self) -> bool:
        """Whether no narrow range stands beside the text, so that lexemes are looked up instead of ranges read."""
        return self.text and self.range not in {Range.SESSION, Range.SUBJECT, Range.DISPLAY_SUBJECT}


def shape_of(filter: MemoryFilter) -> FilterShape:
    """The shape of a filter. The narrowest kind chooses the range: session, subject, the review queue, type."""
    by_subject = Range.SUBJECT if filter.subject_is_key else Range.DISPLAY_SUBJECT
    if filter.session_id is not None:
        chosen = Range.SESSION
    elif filter.subject is not None:
        chosen = by_subject
    elif filter.flagged:
        chosen = Range.FLAGGED
    elif filter.belief_types is not None:
        chosen = Range.BELIEF_TYPE
    else:
        chosen = Range.CLASS
    return FilterShape(
        range=chosen,
        subject=by_subject if filter.subject is not None and chosen is not by_subject else None,
        types=filter.belief_types is not None and chosen is not Range.BELIEF_TYPE,
        flagged=filter.flagged is not None and chosen is not Range.FLAGGED,
        text=filter.text is not None,
        bounds=frozenset(bound for name, bound in _BOUNDS.items() if getattr(filter, name) is not None),
        due=MemoryStatus.EXPIRED in filter.statuses,
    )


def filter_parameters(filter: MemoryFilter) -> dict[str, object]:
    """The parameters of every statement over a filter; a statement takes those that it names."""
    sensitivities = sorted(SENSITIVITY_CODES[sensitivity] for sensitivity in filter.visible_sensitivities)
    statuses = sorted(filter.statuses & STORED_STATUSES)
    asked_types = frozenset(BeliefType) if filter.belief_types is None else filter.belief_types
    types = sorted(BELIEF_TYPE_CODES[belief_type] for belief_type in asked_types)
    by_type = shape_of(filter).range is Range.BELIEF_TYPE
    classes = list(product(sensitivities, statuses, types if by_type else [BELIEF_TYPE_CODES[BeliefType.FACT]]))
    return {
        **visible_parameters(filter.owner, filter.ceiling),
        "now": filter.now,
        "class_sensitivities": [sensitivity for sensitivity, _, _ in classes],
        "class_statuses": [STATUS_CODES[status] for _, status, _ in classes],
        "class_runs_out": [status in LIVE_STATUSES for _, status, _ in classes],
        "class_belief_types": [belief_type for _, _, belief_type in classes],
        "sensitivities": sensitivities,
        "statuses": [STATUS_CODES[status] for status in statuses],
        "belief_types": types,
        "flagged": filter.flagged,
        **{name: getattr(filter, name) for name in _BOUNDS},
        "session": filter.session_id,
        "subject_key": None if filter.subject is None else text_key(filter.subject),
        "query": (
            None if filter.text is None else search_query(filter.owner, filter.visible_sensitivities, filter.text)
        ),
    }


_CLASSES = """unnest(
    CAST(:class_sensitivities AS smallint[]), CAST(:class_statuses AS smallint[]),
    CAST(:class_runs_out AS boolean[]), CAST(:class_belief_types AS smallint[])
) class (sensitivity, status, runs_out, belief_type)"""

# `is true`: no index of types may compete with the range.
_OF_TYPES = "(m.belief_type = any (CAST(:belief_types AS smallint[]))) is true"
_OF_FLAG = "m.flagged_for_review = :flagged"
# A subquery, so that the text is parsed once and not once a row.
OF_TEXT = "m.search @@ (select CAST(CAST(:query AS text) AS tsquery))"

_OF_CLASS = f"""{owned("m")} and m.sensitivity = class.sensitivity and m.status = class.status
    and (not class.runs_out or m.ends_at > :now)"""

EFFECTIVE_STATUS = (
    f"case when m.status in (1, 2) and m.ends_at <= :now then {STATUS_CODES[MemoryStatus.EXPIRED]} else m.status end"
)
"""The status that is shown, of a row `m` at :now. Source: belief store decisions, Effective status."""

SELECTED_BY_CLASS = f"""m.sensitivity = any (CAST(:sensitivities AS smallint[]))
    and {EFFECTIVE_STATUS} = any (CAST(:statuses AS smallint[]))"""
"""Whether a row `m` belongs to one of the classes, for rows that are found in another way."""


def order(direction: Direction, alias: str = "m") -> str:
    """The order in which rows are walked."""
    if direction is Direction.FORWARD:
        return f"{alias}.store_position desc, {alias}.id"
    return f"{alias}.store_position, {alias}.id desc"


def beyond(direction: Direction, *, inclusive: bool = False) -> str:
    """The condition on a row `m` behind the keyset in a direction, or on it.

    Written so that the position alone bounds the index: an `or` at the top reads all rows before it.
    """
    tie = "=" if inclusive else ""
    if direction is Direction.FORWARD:
        return f"m.store_position <= :position and (m.store_position < :position or m.id >{tie} :after)"
    return f"m.store_position >= :position and (m.store_position > :position or m.id <{tie} :after)"


def opposite(direction: Direction) -> Direction:
    """The other way."""
    return Direction.BACKWARD if direction is Direction.FORWARD else Direction.FORWARD


def row_filters(shape: FilterShape) -> str:
    """The filters of a single row `m` beside its class, its range and the text."""
    conditions = ["true"]
    if shape.subject is not None:
        # `is true`: no index of subjects may compete with the range.
        conditions.append(f"({shape.subject.value}) is true")
    if shape.types:
        conditions.append(_OF_TYPES)
    if shape.flagged:
        conditions.append(_OF_FLAG)
    conditions += [bound.value for bound in Bound if bound in shape.bounds]
    return " and ".join(conditions)


def found_elsewhere(shape: FilterShape) -> str:
    """What the range and the filters say of a single row `m` that was not found through the range."""
    in_range = _OF_TYPES if shape.range is Range.BELIEF_TYPE else shape.range.value
    return f"{in_range} and {row_filters(shape)}"


def _of_text(shape: FilterShape) -> str:
    return OF_TEXT if shape.text else "true"


def rows_of_classes(shape: FilterShape, columns: str, *, condition: str = "true", tail: str = "") -> str:
    """A query over the rows of each class, `tail` (its order and limit) applied to each class by itself."""
    return f"""select found.* from {_CLASSES} cross join lateral (
        select {columns} from beliefs m
        where {_OF_CLASS} and {shape.range.value} and {row_filters(shape)} and {_of_text(shape)} and {condition} {tail}
    ) found"""


def rows_due(shape: FilterShape, columns: str, *, condition: str = "true") -> str:
    """A query over the live rows that have run out: as many as the sweep lags behind.

    The fence keeps it in the index of rows with an end, whatever order is asked for around it.
    """
    return f"""select {columns} from unnest(CAST(:sensitivities AS smallint[])) class (sensitivity) cross join lateral (
        select * from beliefs due
        where {owned("due")} and due.sensitivity = class.sensitivity and {LIVE_WITH_AN_END} and due.ends_at <= :now
        offset 0
    ) m where {found_elsewhere(shape)} and {_of_text(shape)} and {condition}"""
