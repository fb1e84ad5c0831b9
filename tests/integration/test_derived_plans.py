"""How derived records are read and erased, in an owner of many: by keys and ranges, whatever the ceiling hides.

Costs are counted in pages of memory and rows, never in time. Every statement is planned while the tables are empty, for
any values, and run when they are full. Source: The store on PostgreSQL, Traps; A page; Text.
"""

import asyncio
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from itertools import product
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import TextClause

from gateway.observability.metrics import GatewayMetrics
from store.domain.lexical import TextQuery
from store.domain.owners import Owner
from store.domain.vocabulary import BeliefType, Sensitivity
from store.ports.memories import Direction, Keyset, MemoryBrowseQuery, MemoryFilter
from store.postgres import derived_reads, derived_writes
from store.postgres.browsing import page_parameters
from store.postgres.classes import filter_parameters
from store.postgres.codes import subject_key
from store.postgres.derived_browsing import (
    derived_count_statement,
    derived_page_shape,
    derived_page_statement,
    derived_shape,
)
from store.postgres.lexemes import search_prefix
from store.postgres.predicates import owner_parameters, visible_parameters
from store.postgres.store import PostgresStore
from tests.databases import DatabaseServer
from tests.factories import NOW, SESSION, derived, memory
from tests.faults.obstacles import Connection, connected
from tests.outsiders.watching import watching
from tests.plans import Plan, World, explain, fill, large_owner, prepare
from tests.worlds import ask, keep, keep_derived

# One worker's: the worlds take longer to make than to ask.
pytestmark = [pytest.mark.postgres, pytest.mark.xdist_group("derived plans")]

BELIEFS = 2_000
"""Of each level a quarter."""
SOURCES = 3
"""Beliefs that a derived record rests on."""
SHOWN, HIDDEN = 125, 5_000
LIMIT = 50
ROWS = LIMIT + 1
PAGES_A_LOOK_UP = 4
"""Three levels of a primary key, and the row."""
PAGES_TO_STAND = PAGES_A_LOOK_UP * (1 + SOURCES)
"""The way to what a record rests on, and each of these."""
PAGES_A_LEVEL = 8
"""The way into the range of a level, and its leaves."""
SPARE = 30
"""Indexes that are a level higher, and rows that lie apart which lay together."""
WHOLE_RANGES = frozenset({"Seq Scan", "BitmapAnd", "Hash Join", "Merge Join"})


@dataclass(frozen=True, slots=True, kw_only=True)
class DerivedWorld:
    """Derived records of one owner: so many public ones, and between them so many restricted ones."""

    name: str
    shown: int
    hidden: int
    first_position: int

    @property
    def owner(self) -> Owner:
        """Whose they are."""
        return large_owner(self.name)

    @property
    def beliefs(self) -> World:
        """What they rest on."""
        return World(name=self.name, rows=BELIEFS, status="2")

    @property
    def middle(self) -> Keyset:
        """A place between its records."""
        return Keyset(position=self.first_position + (self.shown + self.hidden) // 2, id=UUID(int=0))


FULL = DerivedWorld(name="full", shown=SHOWN, hidden=HIDDEN, first_position=BELIEFS + 1)
BARE = DerivedWorld(name="bare", shown=SHOWN, hidden=0, first_position=2 * BELIEFS + SHOWN + HIDDEN + 1)
WORLDS = (FULL, BARE)

# The shown records are numbered alike in every world. Belief `n` is of level n % 4: those of one level lie four apart.
_INSERT = """
with numbered as (
    select i / $4::integer as i, md5($2 || 'derived' || i)::uuid as id, nextval('belief_positions') as store_position,
        case when i % $4 = 0 then 0 else 3 end::smallint as sensitivity
    from generate_series(1, $3::integer) i order by i
),
added as (
    insert into derived_records (
        tenant_id, principal_id, id, record_kind, status, flagged_for_review, revision, sensitivity, portability,
        created_at, updated_at, store_position, derivation_hash, statement_hash, subject, subject_key, display_subject,
        display_subject_key, clauses, belief_types, session_ids, scope, authority, confidence, valid_from, method,
        method_revision, evidence_ref, search
    )
    select $1, $2, id, 'summary', 2, i % 20 = 0, 1, sensitivity, 'contextual', $7::timestamptz, $7::timestamptz,
        store_position, sha256(convert_to($2 || i, 'UTF8')), sha256(convert_to($2 || i, 'UTF8')), 'Subject', $6::bytea,
        'Subject', $6::bytea,
        jsonb_build_array(
            jsonb_build_object('text', 'Says ' || i || repeat(' at length', 30), 'source_ids', '[]'::jsonb)
        ),
        array[i % 5]::smallint[], array[$8::uuid], 'conversation', 'inferred', 0.5, $7::timestamptz, 'extraction', '1',
        'run', array_to_tsvector(array[
            ($5::text[])[sensitivity + 1] || 'every', ($5::text[])[sensitivity + 1] || 'hundredth' || i % 100,
            ($5::text[])[sensitivity + 1] || 'one' || i
        ])
    from numbered
)
insert into derived_sources (tenant_id, principal_id, derived_id, source_id, revision, is_direct, omitted)
select $1, $2, id, md5($2 || (4 * (1 + (i + k) % ($9::integer / 4 - 2)) + sensitivity))::uuid, 1, true, false
from numbered cross join generate_series(1, $10::integer) k
"""


async def fill_derived(connection: Connection, world: DerivedWorld) -> None:
    """Insert a world's beliefs and derived records."""
    await fill(connection, world.beliefs)
    await connection.execute(
        _INSERT,
        world.owner.tenant,
        world.owner.principal,
        world.shown + world.hidden,
        (world.shown + world.hidden) // world.shown,
        [search_prefix(world.owner, sensitivity) for sensitivity in Sensitivity],
        subject_key("Subject"),
        NOW - timedelta(days=30),
        SESSION,
        BELIEFS,
        SOURCES,
    )


Asked = tuple[TextClause, Mapping[str, object]]
FILTERS: dict[str, dict[str, Any]] = {  # Any: fields of a filter, each of its own type
    "all": {},
    "flagged": {"flagged": True},
    "type": {"belief_types": frozenset({BeliefType.FACT, BeliefType.PREFERENCE})},
    "session": {"session_id": SESSION},
    "subject": {"subject": "subject"},
    "confidence": {"confidence_min": Decimal("0.4"), "confidence_max": Decimal("0.599")},
    "formation": {"formed_after": NOW - timedelta(days=31), "formed_before": NOW},
    "every": {"text": TextQuery.parse("every")},
    "hundredth": {"text": TextQuery.parse("hundredth7")},
    "absent": {"text": TextQuery.parse("absent")},
}
TEXTS = frozenset({"every", "hundredth", "absent"})
CEILINGS = (Sensitivity.PUBLIC, Sensitivity.RESTRICTED)
PLACES = ("first", "middle")
PAGES = list(product(FILTERS, CEILINGS, PLACES, Direction))


def filtered(world: DerivedWorld, name: str, ceiling: Sensitivity) -> MemoryFilter:
    """A filter of a world's owner."""
    return replace(MemoryFilter(owner=world.owner, ceiling=ceiling, now=NOW), **FILTERS[name])


def page(world: DerivedWorld, name: str, ceiling: Sensitivity, place: str, direction: Direction) -> Asked:
    """The statement of a page with its other side, and its parameters."""
    query = MemoryBrowseQuery(
        filter=filtered(world, name, ceiling),
        limit=LIMIT,
        keyset=world.middle if place == "middle" else None,
        direction=direction,
        with_opposite=True,
    )
    return derived_page_statement(derived_page_shape(query)), {
        **filter_parameters(query.filter),
        **page_parameters(query),
    }


def counting(world: DerivedWorld, name: str, ceiling: Sensitivity) -> Asked:
    """The statement of a count, and its parameters."""
    filter = filtered(world, name, ceiling)
    return derived_count_statement(derived_shape(filter)), filter_parameters(filter)


def record_id(world: DerivedWorld, number: int) -> UUID:
    """The id of a record of a world."""
    return UUID(bytes=hashlib.md5(f"{world.name}derived{number}".encode(), usedforsecurity=False).digest())


def belief_id(world: DerivedWorld, number: int) -> UUID:
    """The id of a belief of a world."""
    return UUID(bytes=hashlib.md5(f"{world.name}{number}".encode(), usedforsecurity=False).digest())


def look_ups(world: DerivedWorld) -> dict[str, Asked]:
    """The statements that look records up by a key."""
    owner, shown = owner_parameters(world.owner), visible_parameters(world.owner, Sensitivity.RESTRICTED)
    id, digest = record_id(world, 1), hashlib.sha256(f"{world.name}1".encode()).digest()
    return {
        "find": (derived_reads.FIND, {**shown, "id": id, "now": NOW}),
        "stored": (derived_reads.FIND_STORED, {**shown, "ids": [id]}),
        "closure": (derived_reads.CLOSURE, {**shown, "ids": [id], "depth": 16, "limit": 4_096}),
        "lock": (derived_writes.FIND_FOR_UPDATE, {**shown, "id": id, "now": NOW}),
        "lock several": (derived_writes.FIND_MANY_FOR_UPDATE, {**owner, "ids": [id]}),
        "ancestors": (derived_writes.FIND_ANCESTORS, {**owner, "ids": [id]}),
        "equal": (derived_writes.FIND_EQUAL_IDS, {**owner, "hashes": [digest]}),
        "ids": (derived_writes.NEXT_IDS, {**owner, "after": id, "limit": 10}),
        "lexemes": (derived_writes.NEXT_FOR_LEXEMES, {**owner, "after": id, "limit": 10}),
    }


def erasure(world: DerivedWorld, **fields: object) -> Asked:
    """The statement of an erasure, and its parameters."""
    nothing = {"removed": [], "erased": [], "hashes": [], "at": NOW}
    return derived_writes.ERASE, {**owner_parameters(world.owner), **nothing, **fields}


# Of level 0, on which SOURCES of the shown records rest where none is hidden.
RESTED_ON = belief_id(BARE, 400)


def asked() -> dict[tuple[object, ...], Asked]:
    """Every statement, by what it is about."""
    found: dict[tuple[object, ...], Asked] = {}
    for world in WORLDS:
        found |= {("page", world.name, *each): page(world, *each) for each in PAGES}
        found |= {("count", world.name, *each): counting(world, *each) for each in product(FILTERS, CEILINGS)}
        found |= {("look-up", world.name, name): each for name, each in look_ups(world).items()}
        withheld = {**owner_parameters(world.owner), "now": NOW, "after": UUID(int=0), "limit": 10}
        found["withheld", world.name] = derived_writes.NEXT_WITHHELD_IDS, withheld
        found["removed", world.name] = erasure(world, removed=[record_id(world, 41)])
    found["dependents",] = erasure(BARE, erased=[RESTED_ON])
    return found


async def _explained(url: str, *, maintained: bool) -> dict[tuple[object, ...], Plan]:
    async with connected(url) as connection:
        await connection.execute("set statement_timeout = 0")
        # VACUUM can't mark a page as visible to all whose rows were committed asynchronously.
        await connection.execute("set synchronous_commit = on")
        for table in ("beliefs", "derived_records", "derived_sources"):
            await connection.execute(f"alter table {table} set (autovacuum_enabled = off)")
        executions = {key: await prepare(connection, *each) for key, each in asked().items()}
        for execution in executions.values():
            await connection.execute(execution)
        for world in WORLDS:
            await fill_derived(connection, world)
        if maintained:
            await connection.execute("vacuum analyze")
        plans = {}
        for key, execution in executions.items():
            trial = connection.transaction()
            await trial.start()
            plans[key] = await explain(connection, execution)
            await trial.rollback()
        return plans


@pytest.fixture(scope="module", params=[False, True], ids=["untouched", "maintained"])
def plans(request: pytest.FixtureRequest, postgres_server: DatabaseServer) -> Iterator[dict[tuple[object, ...], Plan]]:
    """How each statement ran, in tables that nobody ever analysed or vacuumed, and in others."""
    url = asyncio.run(postgres_server.create())
    yield asyncio.run(_explained(url, maintained=request.param))
    asyncio.run(postgres_server.drop(url))


Plans = Mapping[tuple[object, ...], Plan]
OF_SOURCES = frozenset({"derived_sources_pkey", "beliefs_pkey", "derived_records_pkey"})
OF_CASCADE = frozenset({"derived_sources_by_source", "derived_records_by_derivation", "derived_records_by_statement"})


@pytest.mark.parametrize("name", FILTERS)
def test_a_page_reads_its_range_and_what_its_rows_rest_on(plans: Plans, name: str) -> None:
    index = "derived_records_search" if name in TEXTS else "derived_records_by_level"
    for world, ceiling, place, direction in product(WORLDS, CEILINGS, PLACES, Direction):
        plan = plans["page", world.name, name, ceiling, place, direction]

        assert plan.indexes <= OF_SOURCES | {index}
        assert not plan.kinds & WHOLE_RANGES
        if name not in TEXTS:
            assert not plan.kinds & {"Bitmap Heap Scan"}
            assert plan.rows_sorted <= 2 * ROWS


def test_a_page_costs_a_page(plans: Plans) -> None:
    for world, ceiling, place, direction in product(WORLDS, CEILINGS, PLACES, Direction):
        plan = plans["page", world.name, "all", ceiling, place, direction]
        levels = 1 if ceiling is Sensitivity.PUBLIC else 2

        of_levels = levels * (2 * PAGES_A_LEVEL + (ROWS + 1) * (1 + PAGES_TO_STAND))
        assert plan.buffers <= of_levels + ROWS * 3 * PAGES_A_LOOK_UP


@pytest.mark.parametrize("name", FILTERS)
def test_what_lies_above_the_ceiling_costs_nothing(plans: Plans, name: str) -> None:
    for place, direction in product(PLACES, Direction):
        full, bare = (plans["page", world.name, name, Sensitivity.PUBLIC, place, direction] for world in WORLDS)

        # Each side of the page looks at every match of a text.
        assert full.buffers <= bare.buffers + SPARE + (2 if name in TEXTS else 1) * SHOWN
        assert full.rows_removed <= bare.rows_removed
    full, bare = (plans["count", world.name, name, Sensitivity.PUBLIC] for world in WORLDS)
    assert full.buffers <= bare.buffers + SPARE + SHOWN
    assert full.rows_removed <= bare.rows_removed


@pytest.mark.parametrize("name", look_ups(FULL))
def test_a_record_is_looked_up_by_its_key(plans: Plans, name: str) -> None:
    index = "derived_records_by_derivation" if name == "equal" else "derived_records_pkey"
    plan = plans["look-up", FULL.name, name]

    assert plan.indexes <= OF_SOURCES | {index}
    assert not plan.kinds & WHOLE_RANGES
    assert plan.buffers <= 10 * PAGES_TO_STAND


def test_those_withheld_are_found_in_the_order_of_their_ids(plans: Plans) -> None:
    plan = plans["withheld", FULL.name]

    assert plan.indexes <= OF_SOURCES
    assert not plan.kinds & WHOLE_RANGES
    assert 0 == plan.rows_sorted


def test_an_erasure_reads_what_goes_and_what_rests_on_it(plans: Plans) -> None:
    # In the larger world a record rests on nothing that is removed; in the other one SOURCES records rest on a belief.
    rows = {("removed", FULL.name): 1, ("removed", BARE.name): 1, ("dependents",): SOURCES}
    for key, count in rows.items():
        plan = plans[key]

        assert plan.indexes <= OF_SOURCES | OF_CASCADE
        assert not plan.kinds & WHOLE_RANGES
        # Parts that write are no part of the root. Of each row its look-ups, and its entries in every index.
        buffers = sum(Plan(part).buffers for part in plan.root["Plans"])
        assert buffers <= 20 * PAGES_A_LOOK_UP + count * 10 * PAGES_TO_STAND


async def test_what_256_records_rest_on_is_found_in_one_statement(postgres_store: PostgresStore) -> None:
    beliefs = [memory(f"Fact {number}") for number in range(240)]
    branches = [derived(*beliefs[start : start + 15]) for start in range(0, 240, 15)]
    root = derived(*branches)
    await keep(postgres_store, *beliefs)
    await keep_derived(postgres_store, *branches, root)
    metrics = GatewayMetrics()

    with watching(metrics) as traces:
        found = await ask(
            postgres_store,
            lambda snapshot: snapshot.derived.closure(
                root.owner, [root.id], ceiling=Sensitivity.RESTRICTED, depth=16, limit=256
            ),
        )

    near_and_far = [sorted(record.id for record in level) for level in (branches, beliefs)]
    assert [root.id, *near_and_far[0], *near_and_far[1]][:256] == found
    [transaction] = traces.transactions
    assert 2 == len(transaction)
