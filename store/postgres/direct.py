"""Single reads straight through the driver: one statement on one connection of the pool, without a transaction.

What SQLAlchemy does for a statement beside the pool, its own results and transactions, costs more than a page does.
Its text is still SQLAlchemy's, translated once. Source: Performance, Recommended design.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import Executable, PoolProxiedConnection, TextClause
from sqlalchemy.engine import make_url
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.util import greenlet_spawn

from store.postgres.browsing import ENCODED_STATEMENTS_MAX
from store.postgres.failures import ConnectionLost, judged_failures
from store.postgres.sessions import Parameters, Session, carried_out

_DIALECT = make_url("postgresql+asyncpg://").get_dialect()()
DirectRow = Sequence[Any]  # Any: what a row of hand-written SQL holds is known to its reader alone


class DirectSession(Session):
    """A session for one statement, which is whole in itself. Hand-written SQL goes directly; the rest as ever.

    A statement that is cancelled is cancelled in PostgreSQL too, and its connection is thrown away.
    """

    async def fetch(self, statement: Executable, parameters: Parameters = None) -> Sequence[Any]:  # Any: rows of both
        """Every row of the answer, its values by their place."""
        if not isinstance(statement, TextClause):
            return await super().fetch(statement, parameters)
        text, names = _translated(statement)
        assert not isinstance(parameters, Sequence), "a single read is asked once"
        given = parameters or {}
        arguments = [given[name] for name in names]
        try:
            return await self._ask(text, arguments)
        except ConnectionLost:
            # The pool held a connection that had died, and may hold others. Asked again the usual way, it throws them
            # away; a read that was not answered can be asked again.
            return await super().fetch(statement, parameters)

    async def fetch_value(self, statement: Executable, parameters: Parameters = None) -> Any:  # as the column is
        """The first column of the first row; None without a row."""
        rows = await self.fetch(statement, parameters)
        return rows[0][0] if rows else None

    async def _ask(self, text: str, arguments: Sequence[object]) -> Sequence[DirectRow]:
        await self._turns.take()
        try:
            with judged_failures():
                return await self._answered(text, arguments)
        finally:
            self._turns.end()

    async def _answered(self, text: str, arguments: Sequence[object]) -> Sequence[DirectRow]:
        held = await self._engine.raw_connection()
        driver = held.driver_connection
        assert driver is not None, "the pool gave a connection"
        try:
            rows: Sequence[DirectRow] = await driver.fetch(text, *arguments)
        except BaseException as error:
            is_failure = isinstance(error, Exception)
            is_broken = driver.is_closed()
            await carried_out(_give_back(held, error, is_broken=is_broken or not is_failure))
            if is_broken and is_failure:
                raise ConnectionLost("the database can't be reached") from error
            raise
        # Nothing was begun on it, so that nothing is sent now, and nothing waited for.
        held.close()
        return rows


async def _give_back(held: PoolProxiedConnection, error: BaseException, *, is_broken: bool) -> None:
    """Give back a connection that failed; one that broke, or whose statement was broken off, is thrown away."""
    if is_broken:
        await greenlet_spawn(held.invalidate, error)
    await greenlet_spawn(held.close)


@lru_cache(ENCODED_STATEMENTS_MAX)
def _translated(statement: TextClause) -> tuple[str, Sequence[str]]:
    """The text of a statement as the driver takes it, and the names of its arguments in their order."""
    compiled = statement.compile(dialect=_DIALECT)
    assert isinstance(compiled, SQLCompiler), "a statement of SQL"
    return str(compiled), tuple(compiled.positiontup or ())
