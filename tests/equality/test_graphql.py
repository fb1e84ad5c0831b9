"""GraphQL documents: whatever is asked, both ways to make an answer lead to the same bytes and report the same."""

import json
from collections.abc import AsyncIterator, Iterator
from random import Random
from typing import TypeAlias

import pytest
from graphql import GraphQLObjectType, GraphQLSchema
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.graphql.schema import build_schema
from store.domain.derived import DerivedRecord
from store.domain.memories import MemoryRecord
from store.domain.owners import Owner
from store.domain.vocabulary import AccessScope
from store.inmemory.store import InMemoryStore
from store.postgres.store import PostgresStore
from tests.equality.beliefs import clique
from tests.equality.documents import Document, coordinates_of
from tests.equality.pairs import Pair, paired
from tests.equality.requests import GRAPHQL_RESPONSE, REQUEST_BYTES, Asked, written_request
from tests.equality.tally import Tally, compare, watched
from tests.factories import derived, memory, owner
from tests.gateways import FULL, WRITE
from tests.strategies import DERIVED_IDS, OWNERS, derived_worlds

SCHEMA: GraphQLSchema = build_schema(memory=True, derived=True, evidence=True)._schema
SHARDS = 5
"""Tests of the same property, each with examples of its own, so that they can run side by side."""
DOCUMENTS = 20
"""Documents that are asked of one world."""
WORLDS = 200 if settings().max_examples > 1_000 else 20
DOCUMENTS_MAX = 2_000
"""Random documents of which one at least asks for each thing that can be asked."""
TIMES_ASKED_ON_POSTGRES = 4
"""Until the shape of a row recurs, which PostgreSQL writes then."""

# The fixture is one store for all examples on purpose: a world is told from another by its tenants.
CHECKS = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.large_base_example]
WHATEVER_FAILS_IS_SHOWN = pytest.mark.filterwarnings("ignore:Generating overly large repr")
AskedBy: TypeAlias = tuple[Owner, frozenset[AccessScope], Asked]
World: TypeAlias = tuple[list[MemoryRecord], list[DerivedRecord]]


def query_type() -> GraphQLObjectType:
    """The root of all queries."""
    assert SCHEMA.query_type is not None, "every schema has one"
    return SCHEMA.query_type


def requests() -> st.SearchStrategy[list[AskedBy]]:
    """Queries, and who asks them, with which scopes."""
    contents = st.binary(min_size=REQUEST_BYTES, max_size=REQUEST_BYTES)
    asked = st.tuples(
        st.sampled_from((*[OWNERS[0]] * 6, *OWNERS[1:])),
        st.sampled_from((*[FULL] * 9, WRITE)),
        contents.map(lambda content: written_request(SCHEMA, query_type(), content)),
    )
    return st.lists(asked, min_size=DOCUMENTS, max_size=DOCUMENTS)


async def compare_all(pair: Pair, world: World, asked: list[AskedBy], tally: Tally, *, times: int = 2) -> None:
    """Ask everything of a world of its own."""
    number = await pair.keep(*world)
    for who, scopes, request in asked:
        await compare(pair, await pair.secret(who, number, scopes), request, tally, times=times)


@pytest.fixture
def tally() -> Iterator[Tally]:
    """Counts for as long as the test runs."""
    tally = Tally()
    with watched(tally):
        yield tally


@pytest.fixture
def rich_tally(tally: Tally) -> Iterator[Tally]:
    """The same of a property, which must have met enough of everything in the end."""
    yield tally
    tally.check(WORLDS * DOCUMENTS)


@pytest.fixture
async def inmemory_pair() -> AsyncIterator[Pair]:
    """Two gateways over an empty store in memory."""
    async with paired(InMemoryStore()) as pair:
        yield pair


@pytest.fixture
async def postgres_pair(postgres_store: PostgresStore) -> AsyncIterator[Pair]:
    """Two gateways over an empty store of PostgreSQL."""
    async with paired(postgres_store) as pair:
        yield pair


@WHATEVER_FAILS_IS_SHOWN
@pytest.mark.parametrize("shard", range(SHARDS))
@settings(max_examples=WORLDS, suppress_health_check=CHECKS)
@given(world=derived_worlds(), asked=requests())
async def test_any_query_is_answered_alike(
    inmemory_pair: Pair, rich_tally: Tally, shard: int, world: World, asked: list[AskedBy]
) -> None:
    await compare_all(inmemory_pair, world, asked, rich_tally)


@WHATEVER_FAILS_IS_SHOWN
@pytest.mark.postgres
@settings(max_examples=WORLDS, suppress_health_check=CHECKS)
@given(world=derived_worlds(), asked=requests())
async def test_any_query_of_postgres_is_answered_alike(
    postgres_pair: Pair, rich_tally: Tally, world: World, asked: list[AskedBy]
) -> None:
    await compare_all(postgres_pair, world, asked, rich_tally, times=TIMES_ASKED_ON_POSTGRES)


async def test_everything_in_the_schema_is_asked_for(inmemory_pair: Pair, tally: Tally) -> None:
    beliefs = clique(4)
    number = await inmemory_pair.keep(beliefs, [derived(*beliefs, id=id) for id in DERIVED_IDS])
    secret = await inmemory_pair.secret(owner(), number)
    # What a schema says of itself is the library's own.
    left = {place for place in coordinates_of(SCHEMA, query_type()) if not place.startswith("__")}
    random = Random(DOCUMENTS_MAX)

    for _ in range(DOCUMENTS_MAX):
        request = written_request(SCHEMA, query_type(), random.randbytes(REQUEST_BYTES))
        if request.document.coordinates & left:
            await compare(inmemory_pair, secret, request, tally)
            left -= tally.used
        if not left:
            break

    assert set() == left


EVERYTHING = "edges { cursor node { id statement status conflictsWith updatedAt } } pageInfo { hasNextPage endCursor }"


@pytest.mark.parametrize(
    "headers",
    [{"x-query-cost": "1"}, {"accept": GRAPHQL_RESPONSE}, {"x-query-cost": "2"}],
    ids=["cost", "media-type", "refused"],
)
async def test_headers_are_heeded_alike(pair: Pair, tally: Tally, headers: dict[str, str]) -> None:
    number = await pair.keep([memory(f"Belief {n} → ✓") for n in range(4)])
    document = Document(f"{{ memories(ceiling: RESTRICTED, first: 2) {{ {EVERYTHING} }} }}", {})
    secret = await pair.secret(owner(), number)

    status, content, *_ = await compare(
        pair, secret, Asked(document, headers=headers), tally, times=TIMES_ASKED_ON_POSTGRES
    )

    assert (status, "cost" in json.loads(content).get("extensions", {})) == (
        (400, False) if headers.get("x-query-cost") == "2" else (200, "x-query-cost" in headers)
    )


@pytest.mark.parametrize(
    ("selection", "is_planned"),
    [
        (EVERYTHING, True),
        ("nodes { id ...on Memory { subject } } edges { cursor }", True),
        ("nodes { id } edges { node { id } }", True),
        ("pageInfo { hasPreviousPage }", True),
        ("__typename", True),
        ("nodes { id } edges { node { statement } }", False),
        ("nodes { id } totalCount", False),
        ("nodes { id supersedes { id } }", False),
    ],
)
async def test_what_is_planned_and_what_is_executed(pair: Pair, tally: Tally, selection: str, is_planned: bool) -> None:
    number = await pair.keep([memory(f"Belief {n}") for n in range(3)])
    document = Document(f"query($first: Int) {{ it: memories(ceiling: PUBLIC, first: $first) {{ {selection} }} }}", {})

    await compare(pair, await pair.secret(owner(), number), Asked(document), tally, times=TIMES_ASKED_ON_POSTGRES)

    assert is_planned == (tally.layers["page"] == 1)
