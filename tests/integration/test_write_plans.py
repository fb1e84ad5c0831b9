"""How reviews and deletions find their rows, in an owner of many: each by a key."""

from collections.abc import AsyncIterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import Executable, TextClause
from sqlalchemy.ext.asyncio import AsyncEngine

from store.domain.vocabulary import EventKind, ReviewOutcome, Sensitivity
from store.ports.decisions import ReviewWrite
from store.postgres.decisions import PostgresDecisions
from store.postgres.engine import create_engine
from store.postgres.sequences import Sequences
from store.postgres.sessions import Parameters, Session
from store.postgres.turns import Turns
from tests.factories import NOW, receipt, rejection, tombstone
from tests.faults.obstacles import Connection, connected
from tests.plans import World, explain, fill, prepare

pytestmark = pytest.mark.postgres

WORLD = World(name="written", rows=60_000)
HASH, ID = "sha256(convert_to('written7', 'UTF8'))", "md5('written7')::uuid"
WHOLE_RANGES = {"Seq Scan", "BitmapAnd", "Hash Join", "Merge Join"}
BUFFERS_MAX = 200
"""A row of an owner of 60,000 is found in a few pages by its key; each index that a write touches takes a few more."""


class NotedSession(Session):
    """A session that notes what it sends."""

    def __init__(self, engine: AsyncEngine, turns: Turns) -> None:
        super().__init__(engine, turns)
        self.sent: list[tuple[TextClause, dict[str, object]]] = []

    async def fetch(self, statement: Executable, parameters: Parameters = None) -> Sequence[Any]:  # Any: as there
        self._note(statement, parameters)
        return await super().fetch(statement, parameters)

    async def fetch_value(self, statement: Executable, parameters: Parameters = None) -> Any:  # as there
        self._note(statement, parameters)
        return await super().fetch_value(statement, parameters)

    def _note(self, statement: Executable, parameters: Parameters) -> None:
        assert isinstance(statement, TextClause)
        assert isinstance(parameters, Mapping)
        plain = {name: str(value) if isinstance(value, Decimal) else value for name, value in parameters.items()}
        self.sent.append((statement, plain))


@pytest.fixture
async def connection(own_database_url: str) -> AsyncIterator[Connection]:
    async with connected(own_database_url) as opened:
        await opened.execute("alter table beliefs set (autovacuum_enabled = off)")
        await fill(opened, WORLD)
        yield opened


async def asked(url: str, connection: Connection) -> list[tuple[TextClause, dict[str, object]]]:
    """What a review and a deletion send, of which nothing is kept."""
    row = await connection.fetchrow(f"select {ID} as id, {HASH} as hash")
    assert row is not None
    engine = create_engine(url, pool_size=1, pool_timeout_seconds=5)
    session = NotedSession(engine, Turns(1, 5))
    decisions = PostgresDecisions(session, Sequences(session))
    record = None
    for key, locked in (("first", False), ("second", True)):
        admission = await decisions.admit(
            receipt(key, owner=WORLD.owner, memory_id=row["id"]), ceiling=Sensitivity.RESTRICTED, locked=locked
        )
        record = admission.record
    assert record is not None
    write = ReviewWrite(
        expected=record,
        record=record,
        event=EventKind.REJECTED,
        outcome=ReviewOutcome.UNTRUE,
        rejection=rejection(row["hash"], owner=WORLD.owner),
        key_id=None,
        at=NOW,
    )
    assert await decisions.write_review(write, ceiling=Sensitivity.RESTRICTED) is not None
    locked_rows = await decisions.lock_rows(WORLD.owner, [row["hash"]])
    assert [row["id"]] == [each.id for each in locked_rows.erased]
    graves = [tombstone(row["hash"], owner=WORLD.owner)]
    assert await decisions.erase_rows(WORLD.owner, [row["hash"]], graves, locked=locked_rows, at=NOW)
    await session.close()
    await engine.dispose()
    return [sent for sent in session.sent if "beliefs" in str(sent[0]) and "from generate_series" not in str(sent[0])]


async def test_a_write_finds_its_rows_by_their_keys(own_database_url: str, connection: Connection) -> None:
    sent = await asked(own_database_url, connection)

    assert 5 == len(sent)
    for statement, parameters in sent:
        writing = connection.transaction()
        await writing.start()
        plan = await explain(connection, await prepare(connection, statement, parameters))
        await writing.rollback()
        assert not plan.kinds & WHOLE_RANGES, statement
        assert plan.buffers <= BUFFERS_MAX, statement
