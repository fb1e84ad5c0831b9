"""One transaction on one connection, opened with its first statement."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from sqlalchemy import CursorResult, Executable, Row
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from store.postgres.failures import ConnectionLost, judged_failures

Parameters = Mapping[str, object] | Sequence[Mapping[str, object]] | None
AnyRow = Row[*tuple[Any, ...]]  # Any: what a row of hand-written SQL holds is known to its reader alone


class Session:
    """Statements of one transaction, one after the other, however many tasks ask.

    Raises: StoreError, or StatementRefused, from every method.
    """

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine
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
        """Keep what was written."""
        async with self._lock:
            if self._connection is not None:
                with judged_failures():
                    await self._connection.commit()

    async def close(self) -> None:
        """Undo what was not committed and give the connection back."""
        if self._connection is not None:
            connection, self._connection = self._connection, None
            with judged_failures():
                await connection.close()

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
                self._connection = await self._engine.connect()
            return await self._connection.execute(statement, parameters)


@asynccontextmanager
async def open_session(engine: AsyncEngine) -> AsyncIterator[Session]:
    """A session that is closed at the end; what was not committed is undone."""
    session = Session(engine)
    try:
        yield session
    finally:
        await session.close()
