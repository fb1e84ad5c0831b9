"""One transaction on one connection, opened with its first statement."""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from sqlalchemy import CursorResult, Executable, Row
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from store.postgres.failures import ConnectionLost, judged_failures
from store.postgres.turns import Turns

Parameters = Mapping[str, object] | Sequence[Mapping[str, object]] | None
AnyRow = Row[*tuple[Any, ...]]  # Any: what a row of hand-written SQL holds is known to its reader alone
Result = TypeVar("Result")

END_SECONDS_MAX = 30.0
"""How long the end of a transaction may take, which nothing else breaks off; after that nobody knows of a commit."""


class Session:
    """Statements of one transaction, one after the other, however many tasks ask.

    A statement that is cancelled is cancelled in PostgreSQL too, and its connection is thrown away.
    Raises: StoreError, or StatementRefused, from every method.
    """

    def __init__(self, engine: AsyncEngine, turns: Turns) -> None:
        self._engine = engine
        self._turns = turns
        self._connection: AsyncConnection | None = None
        self._lock = asyncio.Lock()

    async def fetch(self, statement: Executable, parameters: Parameters = None) -> Sequence[AnyRow]:
        """Every row of the answer."""
        async with self._lock:
            return (await self._run(statement, parameters)).all()

    async def fetch_value(self, statement: Executable, parameters: Parameters = None) -> Any:  # as the column is
        """The first column of the first row; None without a row."""
        async with self._lock:
            return (await self._run(statement, parameters)).scalar()

    async def execute(self, statement: Executable, parameters: Parameters = None) -> int:
        """Run a statement, or run it for each of several sets of parameters; how many rows it wrote (-1: unknown)."""
        async with self._lock:
            return (await self._run(statement, parameters)).rowcount

    async def commit(self) -> None:
        """Keep what was written, and close. It is not broken off: a cancellation takes effect after it.

        So whoever is cancelled before it knows that nothing was kept, and whoever returns from it that all was.
        """
        async with self._lock:
            await carried_out(self._keep())

    async def close(self) -> None:
        """Undo what was not committed and give the connection back."""
        if self._connection is not None:
            connection, self._connection = self._connection, None
            await carried_out(self._give_back(connection))

    async def _keep(self) -> None:
        connection, self._connection = self._connection, None
        if connection is None:
            return
        try:
            with judged_failures():
                async with asyncio.timeout(END_SECONDS_MAX):
                    await connection.commit()
        finally:
            await self._give_back(connection)

    async def _give_back(self, connection: AsyncConnection) -> None:
        try:
            with judged_failures():
                async with asyncio.timeout(END_SECONDS_MAX):
                    await connection.close()
        finally:
            self._turns.end()

    async def _run(self, statement: Executable, parameters: Parameters) -> CursorResult[*tuple[Any, ...]]:
        is_first = self._connection is None
        try:
            return await self._send(statement, parameters)
        except ConnectionLost:
            if not is_first or self._connection is None:
                raise
            # The pool held a connection that had died. Nothing was asked before, and nothing is committed.
            await self.close()
            return await self._send(statement, parameters)

    async def _send(self, statement: Executable, parameters: Parameters) -> CursorResult[*tuple[Any, ...]]:
        with judged_failures():
            if self._connection is None:
                self._connection = await self._connected()
            return await self._connection.execute(statement, parameters)

    async def _connected(self) -> AsyncConnection:
        await self._turns.take()
        try:
            return await self._engine.connect()
        except BaseException:
            self._turns.end()
            raise


@asynccontextmanager
async def open_session(engine: AsyncEngine, turns: Turns, kind: type[Session] = Session) -> AsyncIterator[Session]:
    """A session that is closed at the end; what was not committed is undone."""
    session = kind(engine, turns)
    try:
        yield session
    finally:
        await session.close()


async def carried_out(work: Coroutine[Any, Any, Result]) -> Result:
    """The result of work that is not broken off; a cancellation takes effect where the caller waits next."""
    caller = asyncio.current_task()
    assert caller is not None, "a coroutine runs in a task"
    task = asyncio.create_task(work)
    is_cancelled = False
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError:
            is_cancelled = True
    if is_cancelled:
        asyncio.get_running_loop().call_soon(_cancel_again, caller)
    return task.result()


def _cancel_again(task: "asyncio.Task[Any]") -> None:
    """Ask again for a cancellation that was not followed, unless it was a timeout's, which has ended meanwhile."""
    if task.cancelling():
        # Counted once, as a timeout around the caller expects.
        task.uncancel()
        task.cancel()
