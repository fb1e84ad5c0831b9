"""What becomes of the driver's failures: the one place that judges them.

A driver's message can quote a row, a parameter or a statement. It stands in `__cause__` of a failure of the connection
or the server alone; where PostgreSQL judged our data, nothing of the driver's error is kept but its code.
Source: The store on PostgreSQL, Traps.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import asyncpg
from sqlalchemy.exc import DBAPIError, InterfaceError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from store.ports.errors import StoreContention, StoreError, StoreInconsistent, StoreUnavailable

_CONTENTION = ("40001", "40P01")
_INCONSISTENT = ("23", "XX001", "XX002")
# Connection, authorization and database; a transaction that failed or was ended; a standby; resources; a lock that is
# not available; the operator or a timeout; a plan that a migration made stale.
_UNAVAILABLE = ("08", "28", "3D", "25006", "25P02", "25P03", "53", "55P03", "57", "0A000")


class StatementRefused(Exception):
    """PostgreSQL refused a statement of ours for a reason that is a bug. It names the code, never what was sent."""

    def __init__(self, sqlstate: str | None, place: str) -> None:
        """Hold the SQLSTATE, and the constraint, table or column that the server named."""
        super().__init__(f"SQLSTATE {sqlstate or 'unknown'}{place and f' at {place}'}")
        self.sqlstate = sqlstate


class ConnectionLost(StoreUnavailable):
    """The connection broke, or could not be made. What was not committed was not done."""


@contextmanager
def judged_failures() -> Iterator[None]:
    """Raise the store's own error in place of the driver's. Raises StoreError, or StatementRefused for a bug."""
    try:
        yield
    except (DBAPIError, PoolTimeout, asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
        failure = _judged(error)
        cause = error if isinstance(failure, StoreUnavailable) else None
    else:
        return
    # Outside the handler: __context__ would keep the driver's error, and its text, too.
    raise failure from cause


def _judged(error: Exception) -> StoreError | StatementRefused:
    if isinstance(error, PoolTimeout):
        return StoreUnavailable("every connection is in use")
    if isinstance(error, OSError) or (isinstance(error, DBAPIError) and error.connection_invalidated):
        return ConnectionLost("the database can't be reached")
    original = error.orig if isinstance(error, DBAPIError) else error
    driver_error = original if isinstance(original, asyncpg.PostgresError) else getattr(original, "__cause__", None)
    sqlstate = getattr(driver_error, "sqlstate", None)
    if sqlstate is None:
        # The driver refuses a value before it is sent, or a connection that it knows to be closed.
        return StatementRefused(None, type(driver_error or original).__name__)
    if sqlstate.startswith(_CONTENTION):
        return StoreContention("two transactions stood in each other's way")
    if sqlstate.startswith(_UNAVAILABLE):
        return StoreUnavailable(f"the database refuses for now (SQLSTATE {sqlstate})")
    place = getattr(driver_error, "constraint_name", None) or getattr(driver_error, "table_name", None) or ""
    if sqlstate.startswith(_INCONSISTENT):
        return StoreInconsistent(f"the database refuses what is stored (SQLSTATE {sqlstate}{place and f' at {place}'})")
    return StatementRefused(sqlstate, place)
