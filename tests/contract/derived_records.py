"""A few derived records over two beliefs, and what every suite of theirs asks."""

from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

from store.domain.derived import DerivedRecord, retired
from store.domain.owners import Owner
from store.domain.vocabulary import Sensitivity
from store.ports.memories import MemoryBrowseQuery
from store.ports.store import Store, Transaction
from tests.factories import NOW, derived, identifier, memory, owner
from tests.worlds import ask, everything, keep, keep_derived

ADA, BO = owner(), owner("bo")

BEES = memory("Keeps bees", id=identifier(1))
TEA = memory("Drinks tea", id=identifier(2))
SUMMARY = derived(BEES, TEA, statement="Keeps bees", id=identifier(11))
ABOVE_SUMMARY = derived(SUMMARY, statement="Has a garden", id=identifier(12))

# After all of them were written.
AT = NOW + timedelta(hours=1)
TOP = derived(ABOVE_SUMMARY, TEA, statement="Is at home", id=identifier(13), sensitivity=Sensitivity.RESTRICTED)
BESIDE = derived(TEA, statement="Drinks tea", id=identifier(14))
# The same ids, owned by another.
THEIR_BEES = replace(BEES, owner=BO)
THEIRS = replace(derived(THEIR_BEES, statement="Keeps bees"), id=SUMMARY.id)


async def fill(store: Store) -> None:
    """Three records above each other over the bees, one beside them over the tea, and one of another owner."""
    await keep(store, BEES, TEA, THEIR_BEES)
    await keep_derived(store, SUMMARY, ABOVE_SUMMARY, TOP, BESIDE, THEIRS)


async def filling(store: Store) -> list[DerivedRecord]:
    """Those of Ada that `fill` stored, by id, as they are now; that of the other owner must be as it was."""
    assert [THEIRS] == await stored(store, THEIRS.id, of=BO)
    return await stored(store, SUMMARY.id, ABOVE_SUMMARY.id, TOP.id, BESIDE.id)


async def shown(
    store: Store, id: UUID, *, of: Owner = ADA, ceiling: Sensitivity = Sensitivity.RESTRICTED, now: datetime = NOW
) -> DerivedRecord | None:
    """The record as it is shown, which every read by its id must answer alike."""

    async def work(transaction: Transaction) -> list[DerivedRecord | None]:
        return [
            await transaction.derived.find_for_update(of, id, ceiling=ceiling, now=now),
            await transaction.shown_derived.find(of, id, ceiling=ceiling, now=now),
        ]

    found = await ask(store, lambda snapshot: snapshot.derived.find(of, id, ceiling=ceiling, now=now))
    assert [found, found] == await store.transact(work)
    return found


async def stored(store: Store, *ids: UUID, of: Owner = ADA) -> list[DerivedRecord]:
    """What is there to be written, whether or not it is shown."""
    return await store.transact(lambda transaction: transaction.derived.find_many_for_update(of, ids))


async def stored_within(
    store: Store, *ids: UUID, of: Owner = ADA, ceiling: Sensitivity = Sensitivity.RESTRICTED
) -> list[DerivedRecord]:
    """What is there at or below a ceiling."""
    return await ask(store, lambda snapshot: snapshot.derived.find_stored(of, ids, ceiling=ceiling))


async def withheld(store: Store, *, of: Owner = ADA, now: datetime = NOW) -> list[UUID]:
    """The ids of all that is active and does not stand."""
    return await store.transact(
        lambda transaction: transaction.derived.find_withheld_ids(of, now=now, after=None, limit=100)
    )


async def on_pages(store: Store, *, of: Owner = ADA) -> list[UUID]:
    """The ids of all that stands, newest first, as many as are counted."""
    filter = everything(of)
    page = await ask(store, lambda snapshot: snapshot.derived.browse(MemoryBrowseQuery(filter=filter, limit=100)))
    assert len(page.records) == await ask(store, lambda snapshot: snapshot.derived.count(filter))
    return [record.id for record in page.records]


async def put(store: Store, *records: DerivedRecord) -> None:
    """Write the records in one transaction."""

    async def work(transaction: Transaction) -> None:
        for record in records:
            await transaction.derived.put(record)

    await store.transact(work)


def shell(record: DerivedRecord, *, at: datetime = NOW) -> DerivedRecord:
    """What a cascade leaves of a record."""
    return retired(record, position=record.store_position, now=at)
