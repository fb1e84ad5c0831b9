"""How pages are read, whatever stands in the way: hidden rows, other statuses, missing statistics, an empty table.

Costs are counted in pages of memory and rows, never in time. All statements run prepared, with generic plans, as the
store's sessions run them. Source: The store on PostgreSQL, Traps; A page; Text.
"""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from itertools import product
from typing import Any
from uuid import UUID

import asyncpg
import pytest
from sqlalchemy import TextClause
from sqlalchemy.engine import make_url

from store.domain.lexical import TextQuery
from store.domain.vocabulary import STORED_STATUSES, BeliefType, MemoryStatus, Sensitivity
from store.ports.memories import Direction, Keyset, MemoryBrowseQuery, MemoryFilter
from store.postgres import memories_reads, memories_writes
from store.postgres.codes import subject_key
from store.postgres.predicates import visible_parameters
from store.postgres.text_search import WALK_ROWS
from tests.databases import DatabaseServer
from tests.factories import NOW
from tests.plans import Plan, World, counting, explain, fill, page, prepare

# One worker's: the worlds take longer to make than to ask.
pytestmark = [pytest.mark.postgres, pytest.mark.xdist_group("plans")]

RUN_OUT_EVERY = 1_000
"""Of so many rows one has run out and waits for the sweep."""

LIMIT = 50
ROWS = LIMIT + 1
PAGES_A_ROW = 5
"""Three levels of the primary key, the row, and one to spare: a row of a page is read by its key."""
PAGES_A_CLASS = 8
"""The way into a range and its leaves: a class is read once for a page and once for its other side."""

MIXED = World(name="mixed", rows=120_000, expires_at=f"case when i % {RUN_OUT_EVERY} = 0 then formed end")
HIDDEN = World(name="hidden", rows=20_000, sensitivity="case when i <= 100 then 0 else 3 end")
RETIRED = World(name="retired", rows=20_000, status="case when i <= 100 then 2 else 5 end")
WORLDS = (MIXED, HIDDEN, RETIRED)

WHOLE_RANGES = frozenset({"Seq Scan", "Bitmap Heap Scan", "BitmapAnd", "Hash Join", "Merge Join"})
"""Kinds of nodes that read more than a page asks for."""


@dataclass(frozen=True, slots=True)
class Database:
    """A filled database: where each world's positions lie, and whether it was vacuumed and analysed."""

    url: str
    first_positions: dict[str, int]
    is_maintained: bool

    def keyset(self, world: World, fraction: float | None) -> Keyset | None:
        """A place in a world's rows, 0 at its oldest and 1 at its newest; None for none."""
        if fraction is None:
            return None
        return Keyset(position=self.first_positions[world.name] + int(world.rows * fraction), id=UUID(int=0))


async def connect(url: str) -> "asyncpg.Connection[asyncpg.Record]":
    return await asyncpg.connect(make_url(url).set(drivername="postgresql").render_as_string(hide_password=False))


async def _fill(url: str, *worlds: World) -> dict[str, int]:
    connection = await connect(url)
    try:
        # VACUUM can't mark a page as visible to all whose rows were committed asynchronously.
        await connection.execute("set synchronous_commit = on")
        # Nobody analyses or vacuums behind the tests' back.
        await connection.execute("alter table beliefs set (autovacuum_enabled = off)")
        for world in worlds:
            await fill(connection, world)
        found = await connection.fetch("select principal_id, min(store_position) from beliefs group by principal_id")
        return {row["principal_id"]: row["min"] for row in found}
    finally:
        await connection.close()


async def _maintain(url: str) -> None:
    connection = await connect(url)
    try:
        await connection.execute("set statement_timeout = 0")
        await connection.execute("vacuum analyze beliefs")
    finally:
        await connection.close()


@pytest.fixture(scope="module")
def untouched(postgres_server: DatabaseServer) -> Iterator[Database]:
    """The worlds in a table that nobody ever analysed or vacuumed."""
    url = asyncio.run(postgres_server.create())
    yield Database(url, asyncio.run(_fill(url, *WORLDS)), is_maintained=False)
    asyncio.run(postgres_server.drop(url))


@pytest.fixture(scope="module")
def maintained(postgres_server: DatabaseServer, untouched: Database) -> Iterator[Database]:
    """The same rows after VACUUM and ANALYZE."""
    url = asyncio.run(postgres_server.copy(untouched.url))
    asyncio.run(_maintain(url))
    yield Database(url, untouched.first_positions, is_maintained=True)
    asyncio.run(postgres_server.drop(url))


@pytest.fixture(params=["untouched", "maintained"])
def database(request: pytest.FixtureRequest) -> Database:
    """The worlds, with and without statistics and a visibility map."""
    found: Database = request.getfixturevalue(request.param)
    return found


@pytest.fixture
async def connection(database: Database) -> AsyncIterator["asyncpg.Connection[asyncpg.Record]"]:
    """A session with the role's settings."""
    opened = await connect(database.url)
    yield opened
    await opened.close()


def everything(world: World, ceiling: Sensitivity = Sensitivity.RESTRICTED) -> MemoryFilter:
    """The default filter of a world's owner."""
    return MemoryFilter(owner=world.owner, ceiling=ceiling, now=NOW)


async def plan_of(connection: "asyncpg.Connection[asyncpg.Record]", query: MemoryBrowseQuery) -> Plan:
    """How a page is read when its plan stands already."""
    execution = await prepare(connection, *page(query))
    await connection.fetch(execution)
    return await explain(connection, execution)


SESSION = UUID("5e551000-0000-4000-8000-000000000001")
TYPES = frozenset({BeliefType.FACT, BeliefType.PREFERENCE})

# Each filter, the index that must answer it, and how many values of it make classes of their own.
FILTERS: dict[str, tuple[dict[str, Any], str, int]] = {
    "live": ({}, "beliefs_by_class", 1),
    "review queue": ({"flagged": True}, "beliefs_flagged", 1),
    "type": ({"belief_types": TYPES}, "beliefs_by_type", 2),
    "session": ({"session_id": SESSION}, "beliefs_by_session", 1),
    "shown subject": ({"subject": "subject 1"}, "beliefs_by_display_subject", 1),
    "subject key": ({"subject": "person:1"}, "beliefs_by_subject", 1),
    "review queue of a type": ({"flagged": True, "belief_types": TYPES}, "beliefs_flagged", 1),
    "session and text": ({"session_id": SESSION, "text": TextQuery.parse("every")}, "beliefs_by_session", 1),
    "confidence": ({"confidence_min": Decimal("0.4"), "confidence_max": Decimal("0.599")}, "beliefs_by_class", 1),
    "formation": ({"formed_after": NOW - timedelta(days=31), "formed_before": NOW}, "beliefs_by_class", 1),
    "retired": ({"statuses": frozenset({MemoryStatus.RETIRED})}, "beliefs_by_class", 1),
    "expired": ({"statuses": frozenset({MemoryStatus.EXPIRED})}, "beliefs_by_class", 1),
    "all": ({"statuses": frozenset(MemoryStatus)}, "beliefs_by_class", 1),
}
ROW_FILTERED = frozenset({"review queue of a type", "session and text", "confidence", "formation"})
PLACES = (None, 0.5, 0.001)


@pytest.mark.parametrize("ceiling", Sensitivity)
@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
async def test_a_page_costs_a_page_whatever_is_hidden(
    database: Database, connection: "asyncpg.Connection[asyncpg.Record]", world: World, name: str, ceiling: Sensitivity
) -> None:
    fields, index, values = FILTERS[name]
    filter = replace(everything(world, ceiling), **fields)
    classes = len(filter.visible_sensitivities) * len(filter.statuses & STORED_STATUSES) * values
    due = world.rows // RUN_OUT_EVERY * (MemoryStatus.EXPIRED in filter.statuses)
    # A row filter looks at the row itself, and so does whoever can't trust the visibility map.
    looks_at_rows = name in ROW_FILTERED or not database.is_maintained

    for place, direction in product(PLACES, Direction):
        query = MemoryBrowseQuery(
            filter=filter, limit=LIMIT, keyset=database.keyset(world, place), direction=direction, with_opposite=True
        )
        plan = await plan_of(connection, query)

        assert plan.indexes <= {index, "beliefs_pkey", "beliefs_due"}
        assert not plan.kinds & WHOLE_RANGES
        # Of each class the row at which the page continues, and what the filter beside the range refuses. All rows
        # that wait for the sweep are read, once for each side.
        assert plan.rows_removed <= classes * (ROWS if name in ROW_FILTERED else 1) + 2 * due
        assert plan.rows_sorted <= classes * ROWS + due
        assert plan.buffers <= ROWS * PAGES_A_ROW + classes * (PAGES_A_CLASS + ROWS * looks_at_rows) + 2 * due


# For each text the most that its page may cost, in pages of memory, as a multiple of a page without a text.
TEXTS = {"absent": 1, "one55": 1, "thousandth3": 3, "hundredth3": 5, "frequent": 2, "every": 2}


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("ceiling", [Sensitivity.PUBLIC, Sensitivity.RESTRICTED])
@pytest.mark.parametrize("world", [MIXED, HIDDEN], ids=lambda world: world.name)
async def test_a_text_costs_a_few_pages(
    database: Database, connection: "asyncpg.Connection[asyncpg.Record]", world: World, ceiling: Sensitivity, text: str
) -> None:
    filter = everything(world, ceiling)
    plain = await plan_of(connection, MemoryBrowseQuery(filter=everything(MIXED), limit=LIMIT))

    for place, direction in product((None, 0.5), Direction):
        query = MemoryBrowseQuery(
            filter=replace(filter, text=TextQuery.parse(text)),
            limit=LIMIT,
            keyset=database.keyset(world, place),
            direction=direction,
            with_opposite=True,
        )
        plan = await plan_of(connection, query)

        assert {"beliefs_by_position", "beliefs_search", "beliefs_pkey"} >= plan.indexes
        assert not plan.kinds & (WHOLE_RANGES - {"Bitmap Heap Scan"})
        assert plan.buffers <= TEXTS[text] * plain.buffers


async def test_a_text_that_nobody_wrote_reads_one_walk_and_no_match(
    connection: "asyncpg.Connection[asyncpg.Record]",
) -> None:
    filter = replace(everything(MIXED), text=TextQuery.parse("absent"))

    plan = await plan_of(connection, MemoryBrowseQuery(filter=filter, limit=LIMIT))

    assert plan.rows_removed == WALK_ROWS


@pytest.mark.parametrize("name", FILTERS)
async def test_a_count_reads_its_own_range(connection: "asyncpg.Connection[asyncpg.Record]", name: str) -> None:
    fields, index, _ = FILTERS[name]

    plan = await explain(connection, await prepare(connection, *counting(replace(everything(MIXED), **fields))))

    assert {index, "beliefs_due"} >= plan.indexes
    assert not plan.kinds & WHOLE_RANGES


async def test_a_counted_text_reads_its_matches(connection: "asyncpg.Connection[asyncpg.Record]") -> None:
    filter = replace(everything(MIXED), text=TextQuery.parse("thousandth3"))

    plan = await explain(connection, await prepare(connection, *counting(filter)))

    assert plan.indexes == {"beliefs_search"}
    assert plan.buffers <= 2 * MIXED.rows // 1_000


def _look_ups() -> dict[str, tuple[TextClause, dict[str, object], str]]:
    """The statements that look rows up by a key, and the index by which each must."""
    id = UUID(bytes=hashlib.md5(b"mixed1", usedforsecurity=False).digest())
    owner = visible_parameters(MIXED.owner, Sensitivity.RESTRICTED)
    of_subject = {"subject": "Subject 1", "subject_key": subject_key("Subject 1"), "shown": "Nobody", "limit": 10}
    return {
        "find": (memories_reads.FIND, {**owner, "ids": [id]}, "beliefs_pkey"),
        "superseded": (memories_reads.FIND_SUPERSEDED, {**owner, "ids": [id]}, "beliefs_by_successor"),
        "lock": (memories_writes.FIND_FOR_UPDATE, {**owner, "id": id}, "beliefs_pkey"),
        "lock several": (memories_writes.FIND_MANY_FOR_UPDATE, {**owner, "ids": [id]}, "beliefs_pkey"),
        "statement": (memories_writes.FIND_SAME_STATEMENT_IDS, {**owner, "hashes": [b"?"]}, "beliefs_by_statement"),
        "linked": (memories_writes.FIND_LINKED_IDS, {**owner, "ids": [id]}, "beliefs_by_successor"),
        "due": (memories_writes.FIND_DUE_FOR_UPDATE, {**owner, "now": NOW, "limit": 10}, "beliefs_to_be_swept"),
        "renamed": (memories_writes.FIND_RENAMED_FOR_UPDATE, {**owner, **of_subject}, "beliefs_by_subject"),
        "text": (memories_writes.NEXT_STATEMENT_TEXTS, {**owner, "after": id, "limit": 10}, "beliefs_pkey"),
    }


@pytest.mark.parametrize("name", _look_ups())
async def test_a_row_is_looked_up_by_its_key(connection: "asyncpg.Connection[asyncpg.Record]", name: str) -> None:
    statement, parameters, index = _look_ups()[name]

    plan = await explain(connection, await prepare(connection, statement, parameters))

    assert index in plan.indexes
    assert {index, "beliefs_pkey"} >= plan.indexes
    assert not plan.kinds & WHOLE_RANGES


async def test_plans_that_were_made_while_the_table_was_empty_stay_good(
    postgres_server: DatabaseServer, own_database_url: str
) -> None:
    world = World(name="mixed", rows=3_000)
    connection = await connect(own_database_url)
    try:
        await connection.execute("alter table beliefs set (autovacuum_enabled = off)")
        expected: dict[str, frozenset[str]] = {}
        for fields, index, _ in FILTERS.values():
            filter = replace(everything(world), **fields)
            expected[await prepare(connection, *page(MemoryBrowseQuery(filter=filter, limit=LIMIT)))] = frozenset(
                {index, "beliefs_pkey", "beliefs_due"}
            )
            expected[await prepare(connection, *counting(filter))] = frozenset({index, "beliefs_due"})
        for statement, parameters, index in _look_ups().values():
            expected[await prepare(connection, statement, parameters)] = frozenset({index, "beliefs_pkey"})
        searched = replace(everything(world), text=TextQuery.parse("thousandth3"))
        expected[await prepare(connection, *page(MemoryBrowseQuery(filter=searched, limit=LIMIT)))] = frozenset(
            {"beliefs_by_position", "beliefs_search", "beliefs_pkey"}
        )
        for execution in expected:
            await connection.execute(execution)

        await fill(connection, world)
        plans = {execution: await explain(connection, execution) for execution in expected}
    finally:
        await connection.close()

    assert {} == {
        execution.split("(")[0]: plan.indexes
        for execution, plan in plans.items()
        if not plan.indexes <= expected[execution] or plan.kinds & (WHOLE_RANGES - {"Bitmap Heap Scan"})
    }
