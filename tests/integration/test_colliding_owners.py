"""Two owners whose words begin alike in the index: the prefix keeps a search short, and never says whose a row is."""

from dataclasses import replace

import pytest

from store.domain.lexical import TextQuery
from store.domain.owners import Owner
from store.domain.vocabulary import Sensitivity
from store.ports.memories import Direction, MemoryBrowseQuery
from store.postgres.lexemes import search_prefix
from store.postgres.store import PostgresStore
from store.postgres.text_search import WALK_ROWS
from tests.factories import memory, owner
from tests.worlds import ask, browse, everything, keep

pytestmark = pytest.mark.postgres

OWNERS_MAX = 1_000_000
"""By far more than it takes: of 2^32 prefixes two of some ten thousand are expected to be the same."""


def colliding() -> tuple[Owner, Owner]:
    """Two owners with the same prefix."""
    met: dict[str, Owner] = {}
    for number in range(OWNERS_MAX):
        one = owner(f"p{number}")
        other = met.setdefault(search_prefix(one, Sensitivity.PUBLIC), one)
        if other != one:
            return other, one
    raise AssertionError("no two prefixes were the same")


async def test_a_search_finds_ones_own_whoever_shares_the_prefix(postgres_store: PostgresStore) -> None:
    ada, bo = colliding()
    # More rows than are walked before the index of words is asked.
    fillers = [memory(f"Rows {number}", owner=ada) for number in range(WALK_ROWS + 10)]
    own, foreign = memory("Keeps a heliotrope", owner=ada), memory("Keeps a heliotrope", owner=bo)
    records = [own, foreign, *fillers]
    await keep(
        postgres_store, *(replace(record, store_position=place) for place, record in enumerate(records, start=1))
    )
    filter = replace(everything(ada), text=TextQuery.parse("heliotrope"))

    found = await browse(
        postgres_store,
        MemoryBrowseQuery(filter=filter, limit=10, keyset=None, direction=Direction.FORWARD, with_opposite=False),
    )
    count = await ask(postgres_store, lambda snapshot: snapshot.memories.count(filter))

    assert [own.id] == [record.id for record in found.records]
    assert 1 == count
