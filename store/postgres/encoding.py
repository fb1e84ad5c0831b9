"""Rows as JSON, written by PostgreSQL, the same bytes as `encode` writes; all rows of a page are one value.

One value a page: rows that are sent one by one fill the server's small buffer many times over, and each time wake the
reader. They are parted by line feeds, which no JSON of ours holds: those of a text are escaped.

`concat` swallows nulls, so a column that may be null says so itself; a word that is none of its enumeration fails the
statement, as it fails where records are made. Keys stand in the text of the statement, so that each shape is a
statement of its own: only shapes that recur are written here, the others are read as records.
Source: Performance, Row to JSON and Pitfalls.
"""

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum

from store.domain.encodings import ATTRIBUTES, AttributeMember, Codec, ConstantMember, RowShape, wire_time
from store.domain.vocabulary import Authority, ClaimKind, Derivation, Longevity, Polarity, Portability
from store.postgres.classes import EFFECTIVE_STATUS
from store.postgres.codes import BELIEF_TYPES, SENSITIVITIES, STATUSES
from store.postgres.rows import shown_conflicts, shown_successor

SEPARATOR = b"\n"
ARGUMENTS_MAX = 90
"""Arguments of one call of concat; PostgreSQL takes 100."""
WRITTEN_SHAPES_MAX = 64
"""Shapes that are written by PostgreSQL at a time: each is a statement to every connection, for every kind of page."""
COUNTED_SHAPES_MAX = 512
USES_BEFORE_WRITTEN = 2
"""How often a shape is read as records first: a client can invent shapes without end."""

_NULLABLE = frozenset(
    {
        "superseded_by",
        "formation_run_id",
        "consolidation_policy_version",
        "valid_to",
        "expires_at",
        "last_evidence_at",
        "last_used_at",
        "last_reinforced_at",
    }
)
_TIME = r"""'\"YYYY-MM-DD"T"HH24\:MI\:SS.US"Z\""'"""
"""The format of a time with its quotes; colons are escaped lest they begin a parameter."""
_FIRST, _LAST = (
    f'"{wire_time(moment)}"' for moment in (datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC))
)
"""What the driver keeps as the infinities, and reads from them."""

_EXPRESSIONS: Mapping[str, str] = {
    "status": EFFECTIVE_STATUS,
    "conflicts_with": shown_conflicts("m"),
    "superseded_by": shown_successor("m"),
}
"""What stands for an attribute of a row `m`, where it is not the column alone."""

_CODED: Mapping[str, Mapping[int, StrEnum]] = {
    "belief_type": BELIEF_TYPES,
    "status": STATUSES,
    "sensitivity": SENSITIVITIES,
}
_SPELLED: Mapping[str, type[StrEnum]] = {
    "polarity": Polarity,
    "claim_kind": ClaimKind,
    "derivation": Derivation,
    "longevity": Longevity,
    "portability": Portability,
    "authority": Authority,
}

_WRITERS: Mapping[Codec, Callable[[str], str]] = {
    Codec.IDENTIFIER: lambda value: f"""'"' || ({value})::text || '"'""",
    Codec.IDENTIFIERS: lambda value: f"to_json({value})::text",
    Codec.TEXT: lambda value: f"to_json({value})::text",
    Codec.TEXTS: lambda value: f"to_json({value})::text",
    Codec.INTEGER: lambda value: f"{value}::text",
    Codec.INTEGERS: lambda value: f"to_json({value})::text",
    Codec.THOUSANDTHS: lambda value: (
        f"rtrim({value}::text, '0') || case when {value} = trunc({value}) then '0' else '' end"
    ),
    Codec.BOOLEAN: lambda value: f"case when {value} then 'true' else 'false' end",
    Codec.TIME: lambda value: (
        f"case when isfinite({value}) then to_char({value} at time zone 'UTC', {_TIME}) when {value} is null then null "
        f"when {value} > 'epoch' then {_quoted(_LAST)} else {_quoted(_FIRST)} end"
    ),
}
"""A value as JSON, null for null."""


def encoded_rows(shape: RowShape) -> str:
    """The JSON objects of all rows `m` as bytes, over the parameters of `visible` and :now; null without any."""
    return f"textsend(string_agg({_encoded_row(shape)}, chr({ord(SEPARATOR)})))"


def _encoded_row(shape: RowShape) -> str:
    parts: list[str] = []
    literal = "{"
    for index, member in enumerate(shape.members):
        literal += f'{"," if index else ""}"{member.key}":'
        if isinstance(member, ConstantMember):
            literal += f'"{member.value}"'
            continue
        parts += [_quoted(literal), _value(member)]
        literal = ""
    return _concatenated([*parts, _quoted(literal + "}")])


def _value(member: AttributeMember) -> str:
    expression = _EXPRESSIONS.get(member.attribute, f"m.{member.attribute}")
    if member.codec in {Codec.WORD, Codec.NAME}:
        return _word(member, expression)
    written = _WRITERS[member.codec](expression)
    return f"coalesce({written}, 'null')" if member.attribute in _NULLABLE else f"({written})"


def _word(member: AttributeMember, expression: str) -> str:
    """The word of an enumeration, by what the column holds; anything else fails when it is met."""
    if member.attribute in _CODED:
        held = {str(code): word for code, word in _CODED[member.attribute].items()}
    else:
        held = {_quoted(word.value): word for word in _SPELLED[member.attribute]}
    spelled = {key: word.name if member.codec is Codec.NAME else word.value for key, word in held.items()}
    branches = " ".join(f"""when {key} then '"{text}"'""" for key, text in spelled.items())
    # Not 1/0: that fails when the statement is planned.
    return f"case {expression} {branches} else ('no word: ' || ({expression}))::integer::text end"


def _quoted(text: str) -> str:
    """A literal of text of our own: names and the marks of JSON."""
    assert not {"'", "\\"} & set(text), "keys and words are names"
    # A colon before a name would begin a parameter.
    return "'" + text.replace(":", r"\:") + "'"


def _concatenated(parts: Sequence[str]) -> str:
    if len(parts) > ARGUMENTS_MAX:
        chunks = [parts[start : start + ARGUMENTS_MAX] for start in range(0, len(parts), ARGUMENTS_MAX)]
        parts = [_concatenated(chunk) for chunk in chunks]
    return f"concat({', '.join(parts)})"


class RecurringShapes:
    """Counts how often shapes are asked for, and tells which are to be written by PostgreSQL."""

    def __init__(self) -> None:
        """Know no shape."""
        self._counted: OrderedDict[RowShape, int] = OrderedDict()
        self._written: OrderedDict[RowShape, None] = OrderedDict()

    def recurs(self, shape: RowShape) -> bool:
        """Count a use; whether there were enough before it. What was not asked for longest is forgotten first."""
        if shape in self._written:
            self._written.move_to_end(shape)
            return True
        uses = self._counted.pop(shape, 0)
        if uses >= USES_BEFORE_WRITTEN:
            self._written[shape] = None
            if len(self._written) > WRITTEN_SHAPES_MAX:
                self._written.popitem(last=False)
            return True
        self._counted[shape] = uses + 1
        if len(self._counted) > COUNTED_SHAPES_MAX:
            self._counted.popitem(last=False)
        return False


assert set(ATTRIBUTES) >= _NULLABLE | set(_CODED) | set(_SPELLED), "attributes that can be written"
