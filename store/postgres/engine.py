"""The engine: how this program connects to PostgreSQL.

No setting is sent at the start of a connection, and no state is left on one between transactions, so that PgBouncer may
stand between in transaction mode; `migrate` sets on the role what a session needs.
Source: Growing past one machine; The store on PostgreSQL, Settings of the role.
"""

from sqlalchemy.engine import URL, make_url
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

# More than the forms of a page that one process meets; the default of 100 would parse some of them again and again.
PREPARED_STATEMENTS_MAX = 400
PREPARED_STATEMENTS = "prepared_statement_cache_size"
"""The parameter of the URL by which an operator bounds them, or with 0 forbids them."""


def create_engine(url: str, *, pool_size: int, pool_timeout_seconds: float) -> AsyncEngine:
    """An engine with at most `pool_size` connections; who waits longer than the timeout for one gets an error.

    A connection is not tried before it is used: that is a round trip a request. The first statement of a transaction
    is sent again where its connection turns out to be dead. The URL can set prepared_statement_cache_size itself.
    """
    parsed = make_url(url)
    if PREPARED_STATEMENTS not in parsed.query:
        parsed = parsed.update_query_dict({PREPARED_STATEMENTS: str(PREPARED_STATEMENTS_MAX)})
    return create_async_engine(
        parsed,
        hide_parameters=True,
        pool_size=pool_size,
        max_overflow=0,
        pool_timeout=pool_timeout_seconds,
        # The driver keeps those of single reads itself; where the URL forbids them, it keeps none either.
        connect_args={"timeout": pool_timeout_seconds, "statement_cache_size": _kept_statements(parsed)},
    )


def unnamed_statements(url: str) -> dict[str, object]:
    """Arguments of the driver by which it names no statement, where the URL forbids prepared ones.

    Behind a pooler a named one would meet another client's of the same name on the server connection that both were
    given in turn. An unnamed one is asked for and run before the server connection goes to another client.
    """
    parsed = make_url(url)
    return {"statement_cache_size": 0} if PREPARED_STATEMENTS in parsed.query and _kept_statements(parsed) == 0 else {}


def _kept_statements(url: URL) -> int:
    given = url.query[PREPARED_STATEMENTS]
    assert isinstance(given, str), "given once"
    return int(given)
