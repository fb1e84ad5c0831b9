"""Evidence in a database that was tampered with, and how often a database is asked for the largest graph."""

from collections.abc import AsyncIterator

import asyncpg
import pytest
from sqlalchemy import make_url

from gateway.observability.metrics import GatewayMetrics
from gateway.service.errors import ErrorCode, StorageInconsistency
from store.ports.errors import StoreInconsistent
from store.postgres.store import PostgresStore
from tests.factories import derived, identifier, memory
from tests.outsiders.watching import watching
from tests.services.deployment import Deployment
from tests.services.derivations import proposal
from tests.services.evidence import graph, keep_world, layered, statuses
from tests.worlds import keep, keep_derived

pytestmark = pytest.mark.postgres

ONE, TWO, THREE, FOUR, FIVE = map(identifier, range(1, 6))
STATEMENTS_MAX = 10
PINNED = "tenant_id, principal_id, derived_id, source_id, revision, is_direct, omitted"
FAULTS = {
    "a source is not there": f"delete from beliefs where id = '{ONE}'",
    "a derived source is not there": f"delete from derived_records where id = '{THREE}'",
    "a source has an earlier revision": f"update derived_sources set revision = 9 where source_id = '{ONE}'",
    "a source is more private": f"update beliefs set sensitivity = 1 where id = '{ONE}'",
    "a derived source is more private": f"update derived_records set sensitivity = 3 where id = '{THREE}'",
    "a record rests on itself": f"insert into derived_sources ({PINNED})"
    f" select tenant_id, principal_id, id, '{FIVE}', 1, true, true from derived_records where id = '{THREE}'",
    "there are too many sources": f"insert into derived_sources ({PINNED})"
    f" select tenant_id, principal_id, '{FIVE}', id, 1, true, true from beliefs where id not in ('{ONE}', '{TWO}')",
    "there is no source": f"delete from derived_sources where derived_id = '{THREE}'",
}


@pytest.fixture
async def deployment(postgres_store: PostgresStore) -> Deployment:
    """The records of `layered`, and sixteen beliefs on which nothing rests."""
    deployment = await Deployment(postgres_store).prepare()
    await keep_world(postgres_store, *layered(), *(memory(id=identifier(number)) for number in range(20, 36)))
    return deployment


@pytest.fixture
async def connection(database_url: str) -> AsyncIterator["asyncpg.Connection[asyncpg.Record]"]:
    """A connection past the store."""
    connection = await asyncpg.connect(make_url(database_url).set(drivername="postgresql").render_as_string(False))
    yield connection
    await connection.close()


@pytest.mark.parametrize("fault", FAULTS)
async def test_what_contradicts_itself_ends_the_request_as_a_whole(
    deployment: Deployment, connection: "asyncpg.Connection[asyncpg.Record]", fault: str
) -> None:
    assert ["included"] == statuses(await graph(deployment, FIVE, limits={"max_depth": 0}))
    await connection.execute(FAULTS[fault])

    with pytest.raises(StorageInconsistency) as failure:
        await graph(deployment, TWO, FIVE, limits={"max_depth": 0})
    assert (ErrorCode.STORAGE_INCONSISTENCY, "what is stored contradicts itself") == (
        failure.value.code,
        failure.value.message,
    )
    # Neither the message nor what is logged names a record.
    assert "0000" not in f"{failure.value.message}{failure.value.detail}"
    assert ["included"] == statuses(await graph(deployment, TWO))


async def test_a_derivation_over_what_rests_on_itself_is_refused(
    deployment: Deployment, connection: "asyncpg.Connection[asyncpg.Record]"
) -> None:
    await connection.execute(FAULTS["a record rests on itself"])
    before = await deployment.stored_derived()

    for wish in (proposal(("Keeps bees", [FIVE])), proposal(("Keeps bees", [THREE]), ("Drinks tea", [TWO]))):
        with pytest.raises(StoreInconsistent):
            await deployment.derive(wish)

    assert before == await deployment.stored_derived()


async def test_the_largest_graph_takes_no_more_statements_than_a_small_one(postgres_store: PostgresStore) -> None:
    deployment = await Deployment(postgres_store).prepare()
    shared = [memory(id=identifier(number)) for number in range(1, 17)]
    middle = [derived(*shared, id=identifier(100 + number)) for number in range(224)]
    roots = [derived(*middle[place::16], *shared[:2], id=identifier(900 + place)) for place in range(16)]
    await keep(postgres_store, *shared)
    await keep_derived(postgres_store, *middle, *roots)

    with watching(GatewayMetrics()) as traces:
        shown = await graph(deployment, *(root.id for root in roots), limits={"node_limit": 256})
    # As many nodes as there can be, and each of those that was derived has as many sources as it can have.
    assert (256, 240 * 16, True) == (len(shown.nodes), len(shown.edges), shown.coverage.complete)
    [transaction] = traces.transactions
    assert 3 == len(transaction[:-1]) <= STATEMENTS_MAX
