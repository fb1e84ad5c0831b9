"""Going through all derived records of an owner, whatever their sensitivity, in batches: for operators' work alone."""

from collections.abc import AsyncIterator
from datetime import datetime
from functools import partial
from uuid import UUID

from store.domain.derived import DerivedRecord
from store.domain.owners import Owner
from store.domain.vocabulary import Sensitivity
from store.ports.store import Store, Transaction

DERIVED_BATCH = 200
"""Records that are read at a time."""


async def find_derived_batch(transaction: Transaction, *, owner: Owner, after: UUID | None) -> list[DerivedRecord]:
    """The next records by id, in any status."""
    ids = await transaction.derived.find_ids(owner, after=after, limit=DERIVED_BATCH)
    return await transaction.shown_derived.find_stored(owner, ids, ceiling=Sensitivity.RESTRICTED)


async def all_derived(store: Store, owner: Owner) -> AsyncIterator[DerivedRecord]:
    """Every record by id, each batch in a transaction of its own."""
    after: UUID | None = None
    while batch := await store.transact(partial(find_derived_batch, owner=owner, after=after)):
        for record in batch:
            yield record
        after = batch[-1].id


async def all_withheld(store: Store, owner: Owner, *, now: datetime) -> AsyncIterator[DerivedRecord]:
    """Every active record that does not stand, by id."""
    after: UUID | None = None
    while batch := await store.transact(partial(_find_withheld_batch, owner=owner, now=now, after=after)):
        for record in batch:
            yield record
        after = batch[-1].id


async def _find_withheld_batch(
    transaction: Transaction, *, owner: Owner, now: datetime, after: UUID | None
) -> list[DerivedRecord]:
    ids = await transaction.derived.find_withheld_ids(owner, now=now, after=after, limit=DERIVED_BATCH)
    return await transaction.shown_derived.find_stored(owner, ids, ceiling=Sensitivity.RESTRICTED)
