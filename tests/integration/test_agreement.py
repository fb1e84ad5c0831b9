"""The two adapters answer the same questions alike, over the same generated worlds and the lexical corpus.

Worlds share one database: each example lives in tenants of its own, and the in-memory store is a fresh one.
"""

import itertools
import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from store.domain.encodings import RowShape
from store.domain.lexical import TextQuery, TextQueryTooLarge
from store.domain.memories import MemoryRecord
from store.domain.owners import Owner
from store.domain.vocabulary import Sensitivity
from store.inmemory.store import InMemoryStore
from store.ports.memories import MemoryBrowseQuery, MemoryFilter, encoded_page
from store.ports.store import Snapshot, Store
from tests.factories import NOW, identifier, memory, owner
from tests.strategies import IDS, OWNERS, WORLDS_MAX, memory_browse_queries, row_shapes, worlds
from tests.worlds import ask, browse, charted, collected, everything, keep

pytestmark = pytest.mark.postgres

CORPUS = Path(__file__).parents[1] / "data" / "lexical_corpus.jsonl"
QUERIES_PER_WORLD = 12

Owned = TypeVar("Owned", MemoryRecord, MemoryFilter)

_example_numbers = itertools.count(1)


def moved(owned: Owned, number: int) -> Owned:
    """The same value in the tenant of one example."""
    return replace(owned, owner=moved_owner(owned.owner, number))


def moved_owner(owner: Owner, number: int) -> Owner:
    """The owner's namesake of one example."""
    return replace(owner, tenant=f"{owner.tenant} {number}")


async def answers(snapshot: Snapshot, queries: Sequence[MemoryBrowseQuery], owners: Sequence[Owner]) -> list[object]:
    """All that a store tells of the queries and of the owners, to be compared whole."""
    reads = snapshot.memories
    told: list[object] = []
    for query in queries:
        told += [query, await reads.browse(query), await reads.count(query.filter)]
    for each, ceiling in itertools.product(owners, Sensitivity):
        told += [
            each,
            ceiling,
            (overview := await reads.overview(each, ceiling=ceiling, now=NOW)),
            overview == await charted(snapshot, everything(each, ceiling=ceiling)),
            await reads.find_many(each, IDS, ceiling=ceiling),
            dict(await reads.find_superseded(each, IDS, ceiling=ceiling)),
        ]
    for each in owners:
        told.append(sorted(await collected(reads.export(each)), key=lambda exported: exported[0].id))
    return told


# The fixture is one database for all examples on purpose: a world is told from another by its tenants.
@settings(max_examples=WORLDS_MAX, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(world=worlds(), queries=st.lists(memory_browse_queries(), min_size=1, max_size=QUERIES_PER_WORLD))
async def test_generated_questions_are_answered_alike(
    postgres_store: Store, world: list[MemoryRecord], queries: list[MemoryBrowseQuery]
) -> None:
    number = next(_example_numbers)
    records = [moved(record, number) for record in world]
    asked = [replace(query, filter=moved(query.filter, number)) for query in queries]
    owners = [moved_owner(owner, number) for owner in OWNERS]
    inmemory = InMemoryStore()
    await keep(inmemory, *records)
    await keep(postgres_store, *records)

    expected = await ask(inmemory, lambda snapshot: answers(snapshot, asked, owners))

    # Whether an overview is the counts of its filters.
    assert not any(told is False for told in expected)
    assert expected == await ask(postgres_store, lambda snapshot: answers(snapshot, asked, owners))


# As above.
@settings(max_examples=WORLDS_MAX, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    world=worlds(),
    asked=st.lists(st.tuples(memory_browse_queries(), row_shapes()), min_size=1, max_size=QUERIES_PER_WORLD),
)
async def test_pages_as_json_are_the_records_as_json(
    postgres_store: Store, world: list[MemoryRecord], asked: list[tuple[MemoryBrowseQuery, RowShape]]
) -> None:
    number = next(_example_numbers)
    inmemory = InMemoryStore()
    for store in (inmemory, postgres_store):
        await keep(store, *(moved(record, number) for record in world))

    for query, shape in asked:
        await compare(inmemory, postgres_store, replace(query, filter=moved(query.filter, number)), shape)


async def compare(inmemory: Store, postgres: Store, query: MemoryBrowseQuery, shape: RowShape) -> None:
    """Ask for a page as JSON, from records at first, and written by the database once the shape recurs."""
    expected = encoded_page(await browse(inmemory, query), shape, query.filter.now)
    for store in (inmemory, postgres, postgres, postgres):
        assert expected == await ask(store, lambda snapshot: snapshot.memories.browse_encoded(query, shape))


def corpus_records(lines: Iterable[dict[str, str]]) -> list[MemoryRecord]:
    """A belief for each text of the corpus that one can hold, in its order."""
    texts = [(line.get("subject") or "Ada", line.get("statement") or line.get("text") or "") for line in lines]
    return [
        memory(statement, subject=subject, id=identifier(number), store_position=number)
        for number, (subject, statement) in enumerate(texts, start=1)
        if statement
    ]


def corpus_queries(lines: Iterable[dict[str, str]]) -> list[TextQuery]:
    """Each text and each term of the corpus as a query, those aside that are blank or too large."""
    queries: dict[TextQuery, None] = {}
    for line in lines:
        try:
            query = TextQuery.parse(line.get("term") or line.get("text") or "")
        except TextQueryTooLarge:
            continue
        if query is not None:
            queries[query] = None
    return list(queries)


async def matches(store: Store, queries: Sequence[TextQuery]) -> list[frozenset[int]]:
    """For each query the numbers of the corpus's beliefs that it finds."""

    async def found(snapshot: Snapshot) -> list[frozenset[int]]:
        pages = [
            await snapshot.memories.browse(
                MemoryBrowseQuery(filter=replace(everything(owner()), text=query), limit=2_000)
            )
            for query in queries
        ]
        return [frozenset(record.store_position for record in page.records) for page in pages]

    return await ask(store, found)


async def test_the_lexical_corpus_is_found_alike(postgres_store: Store) -> None:
    lines = [json.loads(line) for line in CORPUS.read_text(encoding="utf-8").splitlines()]
    records, queries = corpus_records(lines), corpus_queries(lines)
    inmemory = InMemoryStore()
    await keep(inmemory, *records)
    await keep(postgres_store, *records)

    expected = await matches(inmemory, queries)

    assert expected == await matches(postgres_store, queries)
    # The corpus asks for what it holds, so that agreement on nothing would not pass.
    assert sum(map(bool, expected)) > len(queries) / 2
