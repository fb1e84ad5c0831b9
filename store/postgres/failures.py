"""What becomes of the driver's failures: the one place that judges them.

A driver's message can quote a row, a parameter or a statement. It stands in `__cause__` of a failure of the connection
or the server alone; where PostgreSQL judged our data, nothing of the driver's error is kept but its code.
Source: The store on PostgreSQL, Traps.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import Enum

import asyncpg
from sqlalchemy.exc import DBAPIError, EmulatedDBAPIException
from sqlalchemy.exc import TimeoutError as PoolTimeout

from store.ports.errors import StoreContention, StoreError, StoreInconsistent, StoreUnavailable


class Kind(Enum):
    """What a SQLSTATE means to whoever asked."""

    CONTENTION = "contention"
    UNAVAILABLE = "unavailable"
    INCONSISTENT = "inconsistent"


KINDS: Mapping[str, Kind] = {
    # Connections, and whether they are let in.
    "08": Kind.UNAVAILABLE,
    "28": Kind.UNAVAILABLE,
    "3D": Kind.UNAVAILABLE,
    # A constraint of ours. Keys that two writers may take at once are not left to one, the number of an event aside.
    "23": Kind.INCONSISTENT,
    # A standby; a transaction that failed before, idled too long, or lasted too long.
    "25006": Kind.UNAVAILABLE,
    "25P02": Kind.UNAVAILABLE,
    "25P03": Kind.UNAVAILABLE,
    "25P04": Kind.UNAVAILABLE,
    # A serialization failure; a deadlock; whether a statement was carried out is not known.
    "40001": Kind.CONTENTION,
    "40P01": Kind.CONTENTION,
    "40003": Kind.UNAVAILABLE,
    # Disk, memory, connections; a lock that is not available; a timeout or the operator; files and devices.
    "53": Kind.UNAVAILABLE,
    "55P03": Kind.UNAVAILABLE,
    "57": Kind.UNAVAILABLE,
    "58": Kind.UNAVAILABLE,
    # Damaged data, damaged indexes.
    "XX001": Kind.INCONSISTENT,
    "XX002": Kind.INCONSISTENT,
}
"""What codes and classes of codes mean. One that is not named here is a bug of ours: values that the server can't take
(class 22) are refused before they are sent, and statements are written here."""


_EVENT_NUMBERS = ("23505", "events_pkey")
"""An import took the number of an event that was drawn for one and not written yet: the next try draws another."""


class StatementRefused(Exception):
    """A statement of ours was refused for a reason that is a bug. The message names the code, never what was sent."""


class ConnectionLost(StoreUnavailable):
    """The connection broke, or could not be made. What was not committed was not done."""


_DRIVER_ERRORS = (
    DBAPIError,
    EmulatedDBAPIException,
    PoolTimeout,
    asyncpg.PostgresError,
    asyncpg.InterfaceError,
    OSError,
)


@contextmanager
def judged_failures() -> Iterator[None]:
    """Raise the store's own error in place of the driver's. Raises StoreError, or StatementRefused for a bug."""
    try:
        yield
    except _DRIVER_ERRORS as error:
        failure = _judged(error)
        # `from None` hides the driver's error, and the row that it may quote, from every traceback.
        raise failure from error if isinstance(failure, StoreUnavailable) else None


def _judged(error: Exception) -> StoreError | StatementRefused:
    if isinstance(error, PoolTimeout):
        return StoreUnavailable("every connection is in use")
    if isinstance(error, OSError) or (isinstance(error, DBAPIError) and error.connection_invalidated):
        return ConnectionLost("the database can't be reached")
    driver_error = error.driver_exception if isinstance(error, DBAPIError | EmulatedDBAPIException) else error
    if isinstance(driver_error, asyncpg.InvalidCachedStatementError):
        return StoreContention("a migration changed what a prepared statement reads")
    if not isinstance(driver_error, asyncpg.PostgresError):
        # The driver itself refuses a value, before it is sent.
        return StatementRefused(type(driver_error).__name__)
    sqlstate = driver_error.sqlstate or ""
    kind = KINDS.get(sqlstate) or KINDS.get(sqlstate[:2])
    if (sqlstate, getattr(driver_error, "constraint_name", None)) == _EVENT_NUMBERS:
        kind = Kind.CONTENTION
    match kind:
        case Kind.CONTENTION:
            return StoreContention(f"two transactions stood in each other's way (SQLSTATE {sqlstate})")
        case Kind.UNAVAILABLE:
            return StoreUnavailable(f"the database refuses for now (SQLSTATE {sqlstate})")
        case Kind.INCONSISTENT:
            return StoreInconsistent(f"what is written contradicts what is stored ({_place(driver_error)})")
        case None:
            return StatementRefused(_place(driver_error))


def _place(error: asyncpg.PostgresError) -> str:
    """The code and the constraint that the server named: names of ours, never values."""
    return " at ".join(filter(None, (error.sqlstate, getattr(error, "constraint_name", None))))
