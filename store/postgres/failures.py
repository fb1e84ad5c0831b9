"""What becomes of the driver's failures: the one place that judges them.

A driver's message can quote a row, a parameter or a statement. It stands in `__cause__` of a failure of the connection
or the server alone; where PostgreSQL judged our data, nothing of the driver's error is kept but its code.
Source: The store on PostgreSQL, Traps.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import asyncpg
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from store.ports.errors import StoreContention, StoreError, StoreInconsistent, StoreUnavailable

_CONTENTION = ("40001", "40P01")
_INCONSISTENT = ("23", "XX001", "XX002")
# Connection, authorization and database; a standby; a transaction that failed before or idled too long; resources; a
# lock that is not available; a timeout or the operator.
_UNAVAILABLE = ("08", "28", "3D", "25006", "25P02", "25P03", "53", "55P03", "57")


class StatementRefused(Exception):
    """A statement of ours was refused for a reason that is a bug. The message names the code, never what was sent."""


class ConnectionLost(StoreUnavailable):
    """The connection broke, or could not be made. What was not committed was not done."""


@contextmanager
def judged_failures() -> Iterator[None]:
    """Raise the store's own error in place of the driver's. Raises StoreError, or StatementRefused for a bug."""
    try:
        yield
    except (DBAPIError, PoolTimeout, asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
        failure = _judged(error)
        # `from None` hides the driver's error, and the row that it may quote, from every traceback.
        raise failure from error if isinstance(failure, StoreUnavailable) else None


def _judged(error: Exception) -> StoreError | StatementRefused:
    if isinstance(error, PoolTimeout):
        return StoreUnavailable("every connection is in use")
    if isinstance(error, OSError) or (isinstance(error, DBAPIError) and error.connection_invalidated):
        return ConnectionLost("the database can't be reached")
    driver_error = error.driver_exception if isinstance(error, DBAPIError) else error
    if isinstance(driver_error, asyncpg.InvalidCachedStatementError):
        return StoreContention("a migration changed what a prepared statement reads")
    if not isinstance(driver_error, asyncpg.PostgresError):
        # The driver itself refuses a value, before it is sent.
        return StatementRefused(type(driver_error).__name__)
    sqlstate = driver_error.sqlstate or ""
    if sqlstate.startswith(_CONTENTION):
        return StoreContention("two transactions stood in each other's way")
    if sqlstate.startswith(_UNAVAILABLE):
        return StoreUnavailable(f"the database refuses for now (SQLSTATE {sqlstate})")
    if sqlstate.startswith(_INCONSISTENT):
        return StoreInconsistent(f"what is written contradicts what is stored ({_place(driver_error)})")
    return StatementRefused(_place(driver_error))


def _place(error: asyncpg.PostgresError) -> str:
    """The code and the constraint that the server named: names of ours, never values."""
    return " at ".join(filter(None, (error.sqlstate, getattr(error, "constraint_name", None))))
