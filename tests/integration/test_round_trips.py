"""How often a request waits for PostgreSQL, counted on the wire: a write from BEGIN to the end of its transaction.

The least that is right: what must be read after a lock was granted can't be read by the statement that waits for it.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
from sqlalchemy import make_url, text

from store.domain.vocabulary import ReviewOutcome
from store.postgres.direct import DirectSession
from store.postgres.engine import PREPARED_STATEMENTS
from store.postgres.sessions import Session, open_session
from store.postgres.store import PostgresStore
from store.postgres.turns import Turns
from tests.factories import candidate, derived
from tests.integration.wire import PREPARED, Wire, watched_wire
from tests.services.deployment import ADA, Deployment
from tests.worlds import everything, keep_derived

pytestmark = pytest.mark.postgres

REVIEW = [PREPARED, PREPARED, "COMMIT;"]
"""Take the key, read and lock the belief, draw its numbers; write it with all its traces and read it as it is shown."""

UNTRUE = [PREPARED, PREPARED, PREPARED, "COMMIT;"]
"""The same, and between them the lock of the statement, which stands before the lock of its row."""

DELETE = [PREPARED] * 5 + ["COMMIT;"]
"""Take the key and read the belief; lock the statement; lock the rows; draw the numbers of the events; erase."""


@dataclass(frozen=True, slots=True)
class Watched:
    """A deployment whose statements are prepared, and the wire to its database."""

    deployment: Deployment
    wire: Wire

    def counted(self) -> list[str]:
        """The flights of the one transaction since the last time."""
        [transaction] = self.wire.transactions
        self.wire.flights.clear()
        return transaction


@pytest.fixture
async def watched(database_url: str) -> AsyncIterator[Watched]:
    async with watched_wire(database_url) as wire:
        store = PostgresStore(wire.url, pool_size=1)
        deployment = await Deployment(store).prepare()
        for outcome in ReviewOutcome:
            await deployment.review(await deployment.formed(candidate(f"Warms up {outcome}")), outcome)
        warm = await deployment.formed(candidate("Warms up"))
        for _ in range(2):
            await deployment.review(warm, ReviewOutcome.DISMISS, key="warm")
        await deployment.delete(warm)
        yield Watched(deployment, wire)
        await store.close()


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [(ReviewOutcome.DISMISS, REVIEW), (ReviewOutcome.NOT_HERE, REVIEW), (ReviewOutcome.UNTRUE, UNTRUE)],
)
async def test_a_review_waits_as_seldom_as_it_can(
    watched: Watched, outcome: ReviewOutcome, expected: list[str]
) -> None:
    id = await watched.deployment.formed(candidate("Sails"))
    watched.wire.flights.clear()

    await watched.deployment.review(id, outcome, key="once")
    assert expected == watched.counted()

    # A review that is answered again, or that changes nothing, reads what is shown in place of the write.
    await watched.deployment.review(id, outcome, key="once")
    assert REVIEW == watched.counted()
    if outcome is not ReviewOutcome.UNTRUE:
        await watched.deployment.review(id, outcome)
        assert REVIEW == watched.counted()


@pytest.mark.parametrize("copies", [0, 3])
async def test_a_deletion_waits_as_seldom_as_it_can(watched: Watched, copies: int) -> None:
    deployment = watched.deployment
    id = await deployment.formed(candidate("Sails"))
    for number in range(copies):
        other = await deployment.formed(candidate("Sails", scope=f"scope {number}"))
        await keep_derived(deployment.store, derived(*[await deployment.get(each) for each in (id, other)]))
    watched.wire.flights.clear()

    await deployment.delete(id, key="once")
    assert DELETE == watched.counted()

    await deployment.delete(id, key="once")
    assert [PREPARED, "COMMIT;"] == watched.counted()


async def test_a_single_read_is_its_statement_and_nothing_else(watched: Watched) -> None:
    """No BEGIN, no look whether the connection lives, and nothing is reset when it is given back."""

    async def read() -> None:
        async with watched.deployment.store.single_read() as snapshot:
            await snapshot.memories.count(everything(ADA))

    await read()
    watched.wire.flights.clear()
    for _ in range(3):
        await read()
    assert [PREPARED] * 3 == watched.wire.flights


async def test_a_snapshot_begins_and_ends_and_nothing_else(watched: Watched) -> None:
    async def read() -> None:
        async with watched.deployment.store.snapshot() as snapshot:
            for _ in range(2):
                await snapshot.memories.count(everything(ADA))

    await read()
    watched.wire.flights.clear()
    await read()
    begin, *statements, end = watched.wire.flights
    assert begin.startswith("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    assert ([PREPARED] * 2, "ROLLBACK;") == (statements, end)


async def test_no_connection_keeps_more_statements_than_it_may(database_url: str) -> None:
    kept = 5
    url = make_url(database_url).update_query_dict({PREPARED_STATEMENTS: str(kept)})
    store = PostgresStore(url.render_as_string(hide_password=False), pool_size=1)
    statements = [text(f"select CAST(:number AS integer) + {number}") for number in range(4 * kept)]
    for number, statement in enumerate(statements):
        for engine, kind in ((store._single, DirectSession), (store._writing, Session)):
            async with open_session(engine, Turns(1, 5), kind) as session:
                assert number == await session.fetch_value(statement, {"number": 0})
    async with store._engine.connect() as connection:
        counted = await connection.scalar(text("select count(*) from pg_prepared_statements"))
    # Those of single reads, and those of transactions; one of each that is no longer kept is closed with the next.
    assert kept < counted <= 2 * kept + 2
    await store.close()
