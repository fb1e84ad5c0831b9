"""Sessions run in UTC whatever zone the database prefers, and no page depends on it."""

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import text

from store.ports.memories import MemoryBrowseQuery
from store.postgres.engine import create_engine
from store.postgres.migrating import UnsuitableSettings, check_settings, migrate
from store.postgres.store import PostgresStore
from tests.contract.test_encoded_pages import TIMES_ASKED, WHOLE
from tests.factories import NOW, memory, owner
from tests.faults.obstacles import connected
from tests.worlds import everything, keep

pytestmark = pytest.mark.postgres

ADA = owner()
ZONE = "Asia/Kolkata"
SHOWN = 3


async def set_zone(url: str, whose: str) -> None:
    """Give the database, or our role in it, a zone of its own."""
    async with connected(url) as connection:
        database = await connection.fetchval("select quote_ident(current_database())")
        await connection.execute(f"alter {whose.format(database)} set TimeZone = '{ZONE}'")


@pytest.fixture
async def expected(own_database_url: str) -> AsyncIterator[list[Any]]:
    """What is answered before anything is set."""
    store = PostgresStore(own_database_url)
    await keep(
        store, *(memory(owner=ADA, expires_at=NOW + timedelta(hours=number), valid_from=NOW) for number in range(1, 9))
    )
    yield await answers(store)
    await store.close()


async def answers(store: PostgresStore) -> list[Any]:
    """A page of records, and the same as JSON by the single reads that a gateway asks."""
    query = MemoryBrowseQuery(filter=everything(ADA), limit=SHOWN)
    found: list[Any] = []
    for _ in range(TIMES_ASKED):
        async with store.single_read() as snapshot:
            found.append(await snapshot.memories.browse_encoded(query, WHOLE))
    async with store.snapshot() as snapshot:
        found += [
            await snapshot.memories.browse(query),
            await snapshot.memories.overview(ADA, ceiling=everything(ADA).ceiling, now=NOW),
        ]
    return found


async def zone_of(url: str) -> str | None:
    engine = create_engine(url, pool_size=1, pool_timeout_seconds=5)
    async with engine.connect() as connection:
        zone: str | None = await connection.scalar(text("show TimeZone"))
    await engine.dispose()
    return zone


async def test_the_role_runs_in_utc_where_the_database_prefers_another_zone(
    own_database_url: str, expected: list[Any]
) -> None:
    await set_zone(own_database_url, "database {}")

    assert "UTC" == await zone_of(own_database_url)
    await check_settings(own_database_url)
    store = PostgresStore(own_database_url)
    assert expected == await answers(store)
    await store.close()


async def test_a_role_with_another_zone_is_refused_and_set_by_migrating(
    own_database_url: str, expected: list[Any]
) -> None:
    await set_zone(own_database_url, "role current_user in database {}")

    assert ZONE == await zone_of(own_database_url)
    with pytest.raises(UnsuitableSettings, match="TimeZone"):
        await check_settings(own_database_url)
    # A gateway that runs already, whose pool connects anew: the same all the same.
    store = PostgresStore(own_database_url)
    assert expected == await answers(store)
    await store.close()

    await migrate(own_database_url)
    assert "UTC" == await zone_of(own_database_url)
    await check_settings(own_database_url)
