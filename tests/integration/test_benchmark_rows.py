"""The benchmark's rows are such as the store writes: valid, found by the port as they were made, and in its order."""

from collections.abc import AsyncIterator

import pytest

from scripts.benchmarking.data import ABSENT_WORD, WORDS, Group, owner, records
from scripts.benchmarking.loading import copy_line, groups_of, load
from store.domain.lexical import TextQuery
from store.domain.memories import MemoryRecord, check_record, is_live
from store.domain.vocabulary import MemoryStatus, Sensitivity, within
from store.ports.memories import MemoryBrowseQuery, MemoryFilter
from store.ports.store import Transaction
from store.postgres.store import PostgresStore
from tests.factories import NOW, keyring

GROUP = Group(principals=(7, 8), rows=100, first_position=1)
CEILING = Sensitivity.SENSITIVE


def shown(principal: int, word: str = "") -> list[MemoryRecord]:
    """What a principal's live beliefs under the ceiling are, newest first, of those that hold a word."""
    return [
        record
        for record in reversed(list(records(GROUP)))
        if record.owner == owner(principal)
        and is_live(record, NOW)
        and within(record.sensitivity, CEILING)
        and word in record.statement
    ]


@pytest.fixture
async def loaded_store(own_database_url: str) -> AsyncIterator[PostgresStore]:
    """A store of the group's rows."""
    await load(own_database_url, [GROUP], keyring())
    store = PostgresStore(own_database_url)
    yield store
    await store.close()


async def browsed(store: PostgresStore, principal: int, text: str | None = None) -> list[MemoryRecord]:
    """What the store answers, in one page."""
    query = None if text is None else TextQuery.parse(text)
    filter = MemoryFilter(owner=owner(principal), ceiling=CEILING, now=NOW, text=query)
    async with store.snapshot() as snapshot:
        result = await snapshot.memories.browse(MemoryBrowseQuery(filter=filter, limit=200))
    return list(result.records)


@pytest.mark.postgres
async def test_rows_are_found_as_they_were_made(loaded_store: PostgresStore) -> None:
    for principal in GROUP.principals:
        assert shown(principal) == await browsed(loaded_store, principal)
        for word in (*WORDS, ABSENT_WORD):
            assert shown(principal, word) == await browsed(loaded_store, principal, word)

    async def draw(transaction: Transaction) -> list[int]:
        return await transaction.memories.next_positions(1)

    assert [GROUP.count + 1] < await loaded_store.transact(draw)


def test_rows_are_valid_and_of_every_kind() -> None:
    made = list(records(GROUP))
    for record in made:
        check_record(record)

    assert GROUP.count == len({record.id for record in made}) == len({record.statement for record in made})
    assert set(MemoryStatus) - {MemoryStatus.CANDIDATE} == {record.status for record in made}
    assert set(Sensitivity) == {record.sensitivity for record in made}
    assert any(record.conflicts_with for record in made)
    assert made == list(records(GROUP))


def test_groups_hold_all_rows_once_at_positions_without_gaps() -> None:
    groups = groups_of(range(1, 51), rows=1_000, first_position=11) + groups_of(
        [99], rows=70_000, first_position=50_011
    )

    assert 120_000 == sum(group.count for group in groups)
    assert [group.first_position + group.count for group in groups[:-1]] == [
        group.first_position for group in groups[1:]
    ]
    assert 120_011 == groups[-1].first_position + groups[-1].count


def test_a_line_of_copy_escapes_what_would_end_a_value() -> None:
    assert "a\\\\b\\tc\\nd\\re\t\\N\tt\t\\\\x00ff\t{}\n" == copy_line(["a\\b\tc\nd\re", None, True, b"\x00\xff", []])
