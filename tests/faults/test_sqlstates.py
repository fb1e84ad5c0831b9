"""Each kind of refusal by the server, provoked, and what the store makes of it.

Source: belief store decisions, Errors (types); GraphQL over HTTP, PostgreSQL and asyncpg edges.
"""

import asyncio
import traceback
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from uuid import uuid4

import pytest
from sqlalchemy import text
from sqlalchemy.engine import make_url
from sqlalchemy.ext.asyncio import AsyncEngine

from gateway.http.errors import failure_of
from store.ports.errors import StoreContention, StoreError, StoreInconsistent, StoreUnavailable
from store.postgres.engine import create_engine
from store.postgres.failures import KINDS, ConnectionLost, Kind, StatementRefused
from store.postgres.sessions import open_session
from store.postgres.turns import Turns
from tests.faults.obstacles import blocked, connected

pytestmark = pytest.mark.postgres

SECRET = "Keeps a secret rowing boat"
RAISED: dict[Kind, type[Exception]] = {
    Kind.CONTENTION: StoreContention,
    Kind.UNAVAILABLE: StoreUnavailable,
    Kind.INCONSISTENT: StoreInconsistent,
}
TWICE = "insert into store_facts (tenant_id, name, value) values ('', 'twice', 'a'), ('', 'twice', 'b')"
LONG_DOCUMENT = "select to_tsvector('simple', string_agg(n::text, ' ')) from generate_series(1, 400000) n"
PROVOKED: dict[str, tuple[str, type[Exception]]] = {
    # Values that the server can't take are refused before they are sent, so that one that arrives is a bug.
    "22003": ("select 2147483647::int4 + 1", StatementRefused),
    "2201B": ("select 'a' ~ '('", StatementRefused),
    "22P05": ("select '\"\\u0000\"'::jsonb ->> 0", StatementRefused),
    "42703": (f"select '{SECRET}', no_such_column", StatementRefused),
    "42P01": ("select from no_such_table", StatementRefused),
    "54000": (LONG_DOCUMENT, StatementRefused),
    "23505": (TWICE, StoreInconsistent),
    "25006": ("create table another ()", StoreUnavailable),
    "55P03": ("lock table beliefs in share mode nowait", StoreUnavailable),
    "57014": ("select pg_sleep(5)", StoreUnavailable),
    "57P01": ("select pg_terminate_backend(pg_backend_pid())", ConnectionLost),
}
BEFORE = {"25006": ["set transaction read only"], "57014": ["set local statement_timeout = '50ms'"]}


@pytest.fixture
async def engine(own_database_url: str) -> AsyncIterator[AsyncEngine]:
    engine = create_engine(own_database_url, pool_size=2, pool_timeout_seconds=5)
    yield engine
    await engine.dispose()


async def failure(engine: AsyncEngine, *statements: str) -> Exception:
    """What becomes of the failure of the last statement."""
    async with open_session(engine, Turns(1, 5)) as session:
        for statement in statements[:-1]:
            await session.execute(text(statement))
        with pytest.raises((StoreError, StatementRefused)) as raised:
            await session.execute(text(statements[-1].replace(":", "\\:")))
    return raised.value


def test_the_table_holds_every_class_that_passes_by_itself() -> None:
    """Written out, since a class that is missing in the table would be missing in what is taken from it too."""
    unavailable = {"08", "28", "3D", "25006", "25P02", "25P03", "25P04", "40003", "53", "55P03", "57", "58"}
    assert unavailable <= {known for known, kind in KINDS.items() if kind is Kind.UNAVAILABLE}
    assert {"40001", "40P01"} == {known for known, kind in KINDS.items() if kind is Kind.CONTENTION}
    assert {"23", "XX001", "XX002"} == {known for known, kind in KINDS.items() if kind is Kind.INCONSISTENT}


@pytest.mark.parametrize("sqlstate", [f"{known:0<5}" for known in KINDS])
async def test_every_class_of_the_table_means_what_the_table_says(engine: AsyncEngine, sqlstate: str) -> None:
    raised = await failure(
        engine, f"do $$ begin raise exception '{SECRET}' using errcode = '{sqlstate}', detail = '{SECRET}'; end $$"
    )

    kind = KINDS.get(sqlstate) or KINDS[sqlstate[:2]]
    assert isinstance(raised, RAISED[kind])
    assert sqlstate in str(raised)
    assert SECRET not in str(raised)
    assert (503 if kind in {Kind.UNAVAILABLE, Kind.CONTENTION} else 500) == failure_of(raised, {}).status


@pytest.mark.parametrize("sqlstate", PROVOKED)
async def test_what_the_server_really_refuses(engine: AsyncEngine, own_database_url: str, sqlstate: str) -> None:
    statement, expected = PROVOKED[sqlstate]
    async with AsyncExitStack() as stack:
        if sqlstate == "55P03":
            await stack.enter_async_context(blocked(own_database_url, "beliefs"))
        raised = await failure(engine, *BEFORE.get(sqlstate, []), statement)

    assert expected is type(raised)
    if expected is not ConnectionLost:
        assert sqlstate in str(raised)
    if expected is StatementRefused:
        assert SECRET not in "".join(traceback.format_exception(raised))
    # Whatever it was, the next one is served.
    async with open_session(engine, Turns(1, 5)) as session:
        assert 1 == await session.fetch_value(text("select 1"))


@pytest.mark.parametrize("limit", ["nologin", "login connection limit 0"])
async def test_who_is_not_let_in_is_unavailable(own_database_url: str, limit: str) -> None:
    # Roles belong to the whole server, where other tests run.
    role = f"guest_{uuid4().hex}"
    async with connected(own_database_url) as connection:
        await connection.execute(f"create role {role} {limit}")
        engine = create_engine(_url(own_database_url, username=role), pool_size=1, pool_timeout_seconds=5)
        try:
            raised = await failure(engine, "select 1")
        finally:
            await engine.dispose()
            await connection.execute(f"drop role {role}")
    assert isinstance(raised, StoreUnavailable)


async def test_a_database_that_is_gone_is_unavailable(own_database_url: str) -> None:
    engine = create_engine(_url(own_database_url, database="no_such_database"), pool_size=1, pool_timeout_seconds=5)
    raised = await failure(engine, "select 1")
    await engine.dispose()
    assert isinstance(raised, StoreUnavailable)
    assert "3D000" in str(raised)


async def test_a_deadlock_and_a_lost_update_are_contentions(engine: AsyncEngine, own_database_url: str) -> None:
    repeatable = engine.execution_options(isolation_level="REPEATABLE READ")
    async with connected(own_database_url) as connection:
        await connection.execute(
            "insert into store_facts (tenant_id, name, value) values ('', 'one', ''), ('', 'two', '')"
        )
        async with open_session(repeatable, Turns(1, 5)) as session:
            await session.execute(text("select from store_facts"))
            await connection.execute("update store_facts set value = 'theirs' where name = 'one'")
            with pytest.raises(StoreContention) as lost:
                await session.execute(text("update store_facts set value = 'ours' where name = 'one'"))
    assert "40001" in str(lost.value)

    both_hold_one = asyncio.Barrier(2)

    async def lock(first: str, second: str) -> str:
        async with open_session(engine, Turns(1, 5)) as session:
            await session.execute(text(f"update store_facts set value = 'mine' where name = '{first}'"))
            await both_hold_one.wait()
            try:
                await session.execute(text(f"update store_facts set value = 'mine' where name = '{second}'"))
            except StoreContention as error:
                return str(error)
        return ""

    told = await asyncio.gather(lock("one", "two"), lock("two", "one"))
    assert 1 == sum("40P01" in each for each in told)


def _url(url: str, **changes: str) -> str:
    return make_url(url).set(**changes).render_as_string(hide_password=False)  # type: ignore[arg-type]
