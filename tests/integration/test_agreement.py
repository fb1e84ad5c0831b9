"""The two adapters answer the same questions alike, over the same generated worlds and the lexical corpus.

Worlds share one database: each example lives in tenants of its own, and the in-memory store is a fresh one.
"""

import itertools
import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from store.domain.derived import DerivedRecord, retired
from store.domain.encodings import RowShape
from store.domain.lexical import TextQuery, TextQueryTooLarge
from store.domain.memories import MemoryRecord
from store.domain.owners import Owner
from store.domain.vocabulary import Portability, Sensitivity
from store.inmemory.store import InMemoryStore
from store.ports.memories import MemoryBrowseQuery, MemoryFilter, encoded_page
from store.ports.store import Snapshot, Store, Transaction
from tests.factories import NOW, identifier, memory, owner
from tests.strategies import (
    ABSENT_ID,
    DERIVED_IDS,
    IDS,
    MOMENTS,
    OWNERS,
    PHRASES,
    WORLDS_MAX,
    derived_worlds,
    memory_browse_queries,
    row_shapes,
    worlds,
)
from tests.worlds import KEYRING, ask, browse, charted, collected, everything, keep, keep_derived

pytestmark = pytest.mark.postgres

CORPUS = Path(__file__).parents[1] / "data" / "lexical_corpus.jsonl"
QUERIES_PER_WORLD = 12

Owned = TypeVar("Owned", MemoryRecord, DerivedRecord, MemoryFilter)

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


CLOSURES = (
    (DERIVED_IDS[:2], 0, 50),
    (DERIVED_IDS, 1, 14),
    (DERIVED_IDS[-2:], 2, 50),
    ((*DERIVED_IDS[4:], ABSENT_ID), 16, 12),
    (DERIVED_IDS[-1:], 16, 50),
)
"""The ids, the depth and the limit of each that is asked for."""


async def derived_answers(
    snapshot: Snapshot, queries: Sequence[MemoryBrowseQuery], owners: Sequence[Owner]
) -> list[object]:
    """All that a store shows of derived records."""
    reads = snapshot.derived
    told: list[object] = []
    for query in queries:
        told += [query, await reads.browse(query), await reads.count(query.filter)]
    first, *others = owners
    for each, ceiling in (
        *((first, ceiling) for ceiling in Sensitivity),
        *((other, Sensitivity.RESTRICTED) for other in others),
    ):
        told += [each, ceiling, await reads.find_stored(each, (*DERIVED_IDS, *IDS[:2]), ceiling=ceiling)]
        told.append([await reads.find(each, id, ceiling=ceiling, now=NOW) for id in DERIVED_IDS[:4]])
        for asked, depth, limit in CLOSURES:
            told.append(list(await reads.closure(each, asked, ceiling=ceiling, depth=depth, limit=limit)))
    return told


async def written_answers(transaction: Transaction, owners: Sequence[Owner]) -> list[object]:
    """All that a store tells of derived records to those who write them."""
    writes = transaction.derived
    told: list[object] = []
    for each in owners:
        derivations = [KEYRING.derivation_hash(each, [phrase]) for phrase in PHRASES]
        found = await writes.find_ancestors(each, (*DERIVED_IDS, *IDS))
        told += [
            each,
            await writes.find_many_for_update(each, DERIVED_IDS),
            {id: list(ancestors) for id, ancestors in found.items()},
            [sorted(await writes.find_equal_ids(each, derivations[start::3])) for start in range(3)],
            [await writes.exists(each, id) for id in DERIVED_IDS[:3]],
            [
                await writes.find_withheld_ids(each, now=now, after=after, limit=limit)
                for now, after, limit in zip(MOMENTS, (None, DERIVED_IDS[4], None), (50, 50, 2), strict=True)
            ],
            await writes.find_ids(each, after=DERIVED_IDS[2], limit=5),
        ]
    return told


async def change(transaction: Transaction, kind: str, owner: Owner, id: UUID, phrase: str) -> object:
    """One change by which derived records come to be withheld, retired or erased, or are shown otherwise."""
    derived = transaction.derived
    match kind:
        case "belief":
            for belief in await transaction.memories.find_many_for_update(owner, [id]):
                await transaction.memories.put(replace(belief, revision=2))
        case "erasure of a belief":
            await transaction.memories.erase(owner, [id])
        case "review":
            for record in await derived.find_many_for_update(owner, [id]):
                await derived.put(replace(record, revision=record.revision + 1, portability=Portability.LOCAL))
        case "retirement":
            for record in await derived.find_many_for_update(owner, [id]):
                await derived.put(retired(record, position=record.store_position + 1, now=NOW))
        case "erasure":
            await derived.erase(owner, [id], at=NOW)
        case "dependents":
            await derived.retire_dependents(owner, [id], at=NOW)
        case "derivation":
            return await derived.erase_by_hashes(owner, [KEYRING.derivation_hash(owner, [phrase])], at=NOW)
        case "statement":
            return await derived.erase_by_hashes(owner, [KEYRING.statement_hash(owner, phrase)], at=NOW)
        case _:
            assert kind == "name"
            return await derived.put_display_subject(owner, subject="person:kai", shown="Kai 海", limit=2)
    return None


CHANGES = (
    *("belief", "erasure of a belief", "review", "retirement", "erasure", "dependents"),
    *("derivation", "statement", "name"),
)


# As above.
@settings(max_examples=WORLDS_MAX, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    world=derived_worlds(),
    queries=st.lists(memory_browse_queries((*IDS, *DERIVED_IDS)), min_size=1, max_size=6),
    changes=st.lists(
        st.tuples(
            st.sampled_from(CHANGES),
            st.sampled_from((*OWNERS, OWNERS[0])),
            st.sampled_from((*IDS, *DERIVED_IDS)),
            st.sampled_from(PHRASES),
        ),
        max_size=4,
    ),
)
async def test_derived_records_are_told_alike_whatever_has_changed(
    postgres_store: Store,
    world: tuple[list[MemoryRecord], list[DerivedRecord]],
    queries: list[MemoryBrowseQuery],
    changes: list[tuple[str, Owner, UUID, str]],
) -> None:
    number = next(_example_numbers)
    beliefs, records = world
    asked = [replace(query, filter=moved(query.filter, number)) for query in queries]
    owners = [moved_owner(owner, number) for owner in OWNERS]

    async def told(store: Store) -> list[object]:
        return [
            *await ask(store, lambda snapshot: derived_answers(snapshot, asked, owners)),
            *await store.transact(lambda transaction: written_answers(transaction, owners)),
        ]

    async def work(transaction: Transaction) -> list[object]:
        return [
            await change(transaction, kind, moved_owner(owner, number), id, phrase)
            for kind, owner, id, phrase in changes
        ]

    inmemory = InMemoryStore()
    for store in (inmemory, postgres_store):
        await keep(store, *(moved(belief, number) for belief in beliefs))
        await keep_derived(store, *(moved(record, number) for record in records))

    assert await inmemory.transact(work) == await postgres_store.transact(work)
    assert await told(inmemory) == await told(postgres_store)


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
