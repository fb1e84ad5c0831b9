"""Bringing records into a store and reading it back, whatever the adapter."""

import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import TypeVar
from uuid import UUID

from store.domain.derived import Ancestor, DerivedRecord
from store.domain.memories import MemoryRecord
from store.domain.overviews import CONFIDENCE_BANDS, MemoryOverview
from store.domain.owners import Owner
from store.domain.vocabulary import Sensitivity
from store.ports.derived import DerivedWrite
from store.ports.memories import Direction, Keyset, MemoryBrowseQuery, MemoryBrowseResult, MemoryFilter
from store.ports.store import Snapshot, Store, Transaction
from tests.factories import NOW, keyring

Item = TypeVar("Item")
Answer = TypeVar("Answer")

KEYRING = keyring()


async def keep(store: Store, *records: MemoryRecord) -> None:
    """Store records exactly as they are, in one transaction."""

    async def work(transaction: Transaction) -> None:
        for record in records:
            await transaction.memories.add(
                record, statement_hash=KEYRING.statement_hash(record.owner, record.statement)
            )

    await store.transact(work)


async def keep_derived(store: Store, *records: DerivedRecord) -> None:
    """Store derived records exactly as they are, in one transaction; each rests on what its sources rest on."""

    async def work(transaction: Transaction) -> None:
        for record in records:
            behind = await transaction.derived.find_ancestors(record.owner, [source.id for source in record.sources])
            await transaction.derived.add(derived_write(record, *(behind[id] for id in sorted(behind))))

    await store.transact(work)


def derived_write(record: DerivedRecord, *behind: Iterable[Ancestor]) -> DerivedWrite:
    """The write of an active record that rests on its sources and on what stands behind them."""
    assert record.content is not None
    ancestors = {ancestor.id: ancestor for ancestor in itertools.chain(*behind)}
    ancestors |= {source.id: Ancestor(id=source.id, revision=source.revision) for source in record.sources}
    clauses = [clause.text for clause in record.content.clauses]
    return DerivedWrite(
        record=record,
        # In no order that a store might keep by chance.
        ancestors=list(ancestors.values())[::-1],
        derivation_hash=KEYRING.derivation_hash(record.owner, clauses),
        statement_hash=KEYRING.statement_hash(record.owner, record.content.statement),
    )


async def ask(store: Store, question: Callable[[Snapshot], Awaitable[Answer]]) -> Answer:
    """Answer one question from a snapshot of its own."""
    async with store.snapshot() as snapshot:
        return await question(snapshot)


async def find(
    store: Store, owner: Owner, id: UUID, *, ceiling: Sensitivity = Sensitivity.RESTRICTED
) -> MemoryRecord | None:
    """The belief as it is shown under a ceiling."""
    return await ask(store, lambda snapshot: snapshot.memories.find(owner, id, ceiling=ceiling))


async def browse(store: Store, query: MemoryBrowseQuery) -> MemoryBrowseResult:
    """One page."""
    return await ask(store, lambda snapshot: snapshot.memories.browse(query))


async def selected(store: Store, filter: MemoryFilter) -> list[MemoryRecord]:
    """The whole filtered set in its order, on one page."""
    return list((await browse(store, MemoryBrowseQuery(filter=filter, limit=1_000))).records)


async def walk(
    store: Store, filter: MemoryFilter, *, limit: int, direction: Direction = Direction.FORWARD
) -> list[MemoryRecord]:
    """The filtered set page by page, in the order walked, as a client with cursors does it."""
    walked: list[MemoryRecord] = []
    keyset: Keyset | None = None
    while True:
        query = MemoryBrowseQuery(filter=filter, limit=limit, keyset=keyset, direction=direction)
        page = (await browse(store, query)).records
        walked += page[:limit]
        if len(page) <= limit:
            return walked
        keyset = keyset_of(page[limit - 1])


def keyset_of(record: MemoryRecord) -> Keyset:
    """Where a walk continues behind a record."""
    return Keyset(position=record.store_position, id=record.id)


def everything(owner: Owner, *, ceiling: Sensitivity = Sensitivity.RESTRICTED) -> MemoryFilter:
    """The default filter: the live set of an owner under a ceiling."""
    return MemoryFilter(owner=owner, ceiling=ceiling, now=NOW)


async def collected(items: AsyncIterator[Item]) -> list[Item]:
    """Everything that is handed out, in order."""
    return [item async for item in items]


async def charted(snapshot: Snapshot, filter: MemoryFilter) -> MemoryOverview:
    """The overview of a filter's owner, its bands and months as the filter counts them that bounds narrow to each."""
    overview = await snapshot.memories.overview(filter.owner, ceiling=filter.ceiling, now=filter.now)
    bands = {band: await snapshot.memories.count(of_band(filter, band)) for band in range(CONFIDENCE_BANDS)}
    months = {month: await snapshot.memories.count(of_month(filter, *month)) for month in overview.months}
    return replace(overview, confidence_bands={band: count for band, count in bands.items() if count}, months=months)


def of_band(filter: MemoryFilter, band: int) -> MemoryFilter:
    """The filter narrowed to a band of an overview: confidence has thousandths, and the last band holds 1."""
    width, is_last = Decimal(1) / CONFIDENCE_BANDS, band == CONFIDENCE_BANDS - 1
    upper = Decimal(1) if is_last else width * (band + 1) - Decimal("0.001")
    return replace(filter, confidence_min=width * band, confidence_max=upper)


def of_month(filter: MemoryFilter, year: int, month: int) -> MemoryFilter:
    """The filter narrowed to a month of an overview."""
    start = datetime(year, month, 1, tzinfo=UTC)
    end = datetime(year + month // 12, month % 12 + 1, 1, tzinfo=UTC) if (year, month) != (9999, 12) else None
    return replace(filter, formed_after=start, formed_before=end)
