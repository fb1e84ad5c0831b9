"""How a page is read among many small owners, as records and as JSON, which is what a server sends by default.

The table is analysed while it is small, grows, is vacuumed, loses its statistics: the plan stays the same walk.
Source: The store on PostgreSQL, Traps; A page.
"""

import pytest

from gateway.views.memory_rows import WHOLE_ROW
from store.domain.vocabulary import LIVE_STATUSES, Sensitivity, sensitivities_within
from store.ports.memories import MemoryBrowseQuery
from store.postgres.browsing import encoded_page_statement, page_shape
from tests.integration.test_plans import (
    LIMIT,
    PAGES_A_CLASS,
    PAGES_A_ROW,
    ROWS,
    WHOLE_RANGES,
    _fill,
    connect,
    everything,
)
from tests.plans import World, explain, page, prepare

pytestmark = pytest.mark.postgres

OWNERS = tuple(World(name=f"owner {number}", rows=1_000) for number in range(60))
STATES = {
    "grown since it was analysed": (),
    "vacuumed": ("vacuum beliefs",),
    "without statistics": ("delete from pg_statistic where starelid = 'beliefs'::regclass",),
    "maintained": ("vacuum analyze beliefs",),
}


async def test_a_page_costs_a_page_among_many_owners(own_database_url: str) -> None:
    await _fill(own_database_url, *OWNERS[:2])
    connection = await connect(own_database_url)
    await connection.execute("analyze beliefs")
    await connection.close()
    await _fill(own_database_url, *OWNERS[2:])

    for state, statements in STATES.items():
        connection = await connect(own_database_url)
        try:
            for statement in statements:
                await connection.execute(statement)
            for ceiling in Sensitivity:
                query = MemoryBrowseQuery(filter=everything(OWNERS[7], ceiling), limit=LIMIT)
                as_records, parameters = page(query)
                as_json = encoded_page_statement(page_shape(query), WHOLE_ROW)
                classes = len(sensitivities_within(ceiling)) * len(LIVE_STATUSES)
                # The heap says which rows of a range are visible to all, until a vacuum has told the map.
                bound = ROWS * PAGES_A_ROW + classes * (PAGES_A_CLASS + ROWS)
                for form in (as_records, as_json):
                    plan = await explain(connection, await prepare(connection, form, parameters))

                    assert plan.indexes == {"beliefs_by_class", "beliefs_pkey"}, state
                    assert not plan.kinds & WHOLE_RANGES, state
                    assert plan.rows_removed == 0, state
                    assert plan.rows_sorted <= classes * ROWS, state
                    assert plan.buffers <= bound, state
        finally:
            await connection.close()
