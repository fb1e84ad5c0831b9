"""What a caller asks of beliefs, and the checks on it that need no store.

Two kinds of check, in this order on every transport: types before the scope is looked at, rules after.
Source: Memory read API, GET /v1/memories; belief store decisions, Reading and Errors.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from gateway.service.cursors import CursorOutOfRange, MalformedCursor, decode_cursor
from gateway.service.environment import Measures
from gateway.service.errors import MalformedRequest
from gateway.service.identifiers import parse_identifier
from store.domain.lexical import TextQuery, TextQueryTooLarge
from store.domain.normalization import well_formed
from store.domain.owners import Owner
from store.domain.vocabulary import (
    LIVE_STATUSES,
    BeliefType,
    MemoryStatus,
    ReviewOutcome,
    Sensitivity,
)
from store.ports.memories import Direction, Keyset, MemoryFilter

PAGE_LIMIT_DEFAULT = 50
PAGE_LIMIT_MAX = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySelection:
    """Which beliefs are meant, as the caller wrote it. None is no filter; the default status set is the live one.

    Confidence is meant from `confidence_min` to `confidence_max`, both included; the moment of formation from
    `formed_after`, included, to `formed_before`, excluded.
    """

    ceiling: Sensitivity
    statuses: Collection[MemoryStatus] | None = None
    belief_types: Collection[BeliefType] | None = None
    sensitivities: Collection[Sensitivity] | None = None
    subject: str | None = None
    session_id: str | None = None
    text: str | None = None
    flagged: bool | None = None
    confidence_min: float | None = None
    confidence_max: float | None = None
    formed_after: datetime | None = None
    formed_before: datetime | None = None

    def check_types(self) -> None:
        """Refuse what no value of the parameter can be: an empty one, and text that is not well formed."""
        for name in ("statuses", "belief_types", "sensitivities"):
            values = getattr(self, name)
            if values is not None and not values:
                raise MalformedRequest(name, "must not be empty")
        for name in ("subject", "session_id"):
            check_parameter(name, getattr(self, name))
        if self.text is not None:
            check_text(name="text", value=self.text)

    def matches_nothing(self) -> bool:
        """Whether the session's identifier is no UUID, so that no belief can be meant."""
        return self.session_id is not None and parse_identifier(self.session_id) is None

    def filter(self, owner: Owner, now: datetime) -> MemoryFilter:
        """The store's filter. Raises MalformedRequest for a text beyond its limits, and for bounds that are none."""
        self._check_bounds()
        return MemoryFilter(
            owner=owner,
            ceiling=self.ceiling,
            now=now,
            statuses=LIVE_STATUSES if self.statuses is None else frozenset(self.statuses),
            belief_types=None if self.belief_types is None else frozenset(self.belief_types),
            sensitivities=None if self.sensitivities is None else frozenset(self.sensitivities),
            # Not casefold(): both sides of the comparison are Python's lower(), as the document has it.
            subject=None if self.subject is None else self.subject.lower(),
            session_id=None if self.session_id is None else parse_identifier(self.session_id),
            text=_parse_text(self.text),
            flagged=self.flagged,
            confidence_min=_exact(self.confidence_min),
            confidence_max=_exact(self.confidence_max),
            formed_after=self.formed_after,
            formed_before=self.formed_before,
        )

    def _check_bounds(self) -> None:
        for name in ("confidence_min", "confidence_max"):
            bound = getattr(self, name)
            # No comparison with NaN holds.
            if bound is not None and not 0 <= bound <= 1:
                raise MalformedRequest(name, "must be from 0 to 1")
        lowest, highest = self.confidence_min, self.confidence_max
        if lowest is not None and highest is not None and lowest > highest:
            raise MalformedRequest("confidence_max", "must not be less than the lowest confidence asked for")
        start, end = self.formed_after, self.formed_before
        if start is not None and end is not None and start >= end:
            raise MalformedRequest("formed_before", "must be later than the first moment asked for")


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryPaging:
    """Where in the order a page lies. Neither count means the first 50; `before` alone means the last 50."""

    first: int | None = None
    after: str | None = None
    last: int | None = None
    before: str | None = None

    @property
    def walks_back(self) -> bool:
        """Whether the page is walked from its end."""
        return self.last is not None or (self.before is not None and self.first is None)

    def check_types(self) -> None:
        """Refuse an empty cursor."""
        check_parameter("after", self.after)
        check_parameter("before", self.before)

    def check_rules(self, measures: Measures) -> "Paging":
        """The direction, the limit and the keyset; MalformedRequest for a mixture, a limit or a cursor that is none."""
        backward = self.walks_back
        if self.first is not None and self.last is not None:
            raise MalformedRequest("last", "can't be used together with first")
        if backward and self.after is not None:
            raise MalformedRequest("after", "belongs to first, not to last or before")
        if not backward and self.before is not None:
            raise MalformedRequest("before", "belongs to last, not to first or after")
        name, limit = ("last", self.last) if backward else ("first", self.first)
        if limit is not None and limit < 1:
            raise MalformedRequest(name, "must be a positive integer")
        cursor_name, cursor = ("before", self.before) if backward else ("after", self.after)
        return Paging(
            direction=Direction.BACKWARD if backward else Direction.FORWARD,
            limit=PAGE_LIMIT_DEFAULT if limit is None else min(limit, PAGE_LIMIT_MAX),
            keyset=None if cursor is None else _parse_cursor(cursor_name, cursor, measures),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Paging:
    """A page's place, checked."""

    direction: Direction
    limit: int
    keyset: Keyset | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryReview:
    """One outcome for one belief, under a ceiling and an idempotency key."""

    id: str
    ceiling: Sensitivity
    outcome: ReviewOutcome
    idempotency_key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryDelete:
    """The deletion of one belief, under a ceiling and an idempotency key."""

    id: str
    ceiling: Sensitivity
    idempotency_key: str


def check_parameter(name: str, value: str | None) -> None:
    """Refuse an empty text, and one that is not well formed."""
    if value is None:
        return
    if not value:
        raise MalformedRequest(name, "must not be empty")
    check_text(name=name, value=value)


def check_text(*, name: str, value: str) -> None:
    """Refuse a text with U+0000 or a lone surrogate."""
    if not well_formed(value):
        raise MalformedRequest(name, "must hold neither U+0000 nor a lone surrogate")


def _exact(number: float | None) -> Decimal | None:
    """The shortest decimal that reads back as this number: 0.3 is three tenths, and 0.1 + 0.2 is a little more."""
    return None if number is None else Decimal(repr(number))


def _parse_text(text: str | None) -> TextQuery | None:
    if text is None:
        return None
    try:
        return TextQuery.parse(text)
    except TextQueryTooLarge as error:
        raise MalformedRequest("text", str(error).removeprefix("text ")) from error


def _parse_cursor(name: str, cursor: str, measures: Measures) -> Keyset:
    try:
        return decode_cursor(cursor)
    except MalformedCursor as error:
        measures.cursor_rejected(reason="out_of_range" if isinstance(error, CursorOutOfRange) else "malformed")
        raise MalformedRequest(name, "is not a cursor of this server") from error
