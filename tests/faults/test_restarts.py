"""PostgreSQL dies under load and comes back: requests are unavailable meanwhile, then served by the same gateway."""

from functools import partial

import pytest

from tests.e2e.processes import Server, demo_place
from tests.faults.loads import check_kept, load_of
from tests.faults.obstacles import until

pytestmark = [pytest.mark.e2e, pytest.mark.postgres]

STARTED_AGAIN = "the database was started again"


def has_started_again(server: Server, times: int) -> bool:
    return server.log.count(STARTED_AGAIN) == times


@pytest.mark.parametrize("deaths", [1, pytest.param(10, marks=pytest.mark.long)])
async def test_a_database_that_dies_under_load_is_unavailable_and_no_worse(deaths: int) -> None:
    async with demo_place() as place, place.started(pool_wait_seconds="1") as server:
        async with place.connected() as connection:
            load = await load_of(connection)
        async with load.going_on(place, server, readers=3, writers=2):
            for death in range(1, deaths + 1):
                await load.answered(200)
                place.kill_postgres()
                await load.answered(503)
                assert 503 == (await server.ask("GET", "/readyz")).status_code
                assert 200 == (await server.ask("GET", "/livez")).status_code
                await until(partial(has_started_again, server, death))
        async with server.client() as client:
            assert 200 == (await client.get("/readyz")).status_code
        load.statuses.clear()
        async with load.going_on(place, server, readers=1, writers=1):
            await load.answered(200)
        assert {200} == set(load.statuses)
        async with place.connected() as connection:
            await check_kept(connection, load)
        await server.stop()
    assert load.acknowledged
    assert "Traceback" not in server.log
    assert "unexpected failure" not in server.log
