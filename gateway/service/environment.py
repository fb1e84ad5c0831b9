"""What a service is given from outside: the clock, new identifiers, the keys, and where it reports what it did."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Protocol
from uuid import UUID, uuid4

from store.domain.keyring import Keyring
from store.domain.vocabulary import Sensitivity


class Measures(Protocol):
    """Counts that carry no statement, subject or identifier. Source: belief store decisions, Metrics."""

    def operation(self, operation: str, *, outcome: str, ceiling: Sensitivity) -> None:
        """One request of an operation: `ok` or the code of its failure."""
        ...

    def page(self, *, size: int, continued: bool) -> None:
        """One page of so many beliefs, the first of a walk or a later one."""
        ...

    def text_query(self, *, has_lexemes: bool) -> None:
        """One query that searches text, and whether it can match anything."""
        ...

    def cursor_rejected(self, *, reason: str) -> None:
        """One cursor refused as `malformed` or `out_of_range`."""
        ...


class NoMeasures:
    """Reports nothing: for operator commands, which end before anybody could ask."""

    def operation(self, operation: str, *, outcome: str, ceiling: Sensitivity) -> None:
        """Report nothing."""

    def page(self, *, size: int, continued: bool) -> None:
        """Report nothing."""

    def text_query(self, *, has_lexemes: bool) -> None:
        """Report nothing."""

    def cursor_rejected(self, *, reason: str) -> None:
        """Report nothing."""


def system_clock() -> datetime:
    """The current time, aware, in UTC."""
    return datetime.now(UTC)


@dataclass(slots=True, kw_only=True)
class Environment:
    """What every service needs beside the store. `keyring` is replaced, whole, when another key is made current."""

    keyring: Keyring
    clock: Callable[[], datetime] = system_clock
    new_id: Callable[[], UUID] = uuid4
    measures: Measures = field(default_factory=NoMeasures)
