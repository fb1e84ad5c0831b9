"""A walk over pages while beliefs are written, reviewed, retired and deleted between them.

Source: Memory read API, hard gate 4; belief store decisions, Reading: a belief that is rewritten moves to the head, so
that a forward walk sees it at most once, and one that is left alone is seen exactly once.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from uuid import UUID

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from store.domain.memories import MemoryRecord
from store.domain.owners import Owner
from store.domain.vocabulary import MemoryStatus
from store.ports.memories import Direction, Keyset, MemoryBrowseQuery
from store.ports.store import Store, Transaction
from tests.factories import memory, owner
from tests.worlds import KEYRING, browse, everything, keyset_of

_walk_numbers = itertools.count(1)


class Step(StrEnum):
    """What happens next to a walk."""

    NEXT_PAGE = "next page"
    WRITE = "write"
    REVIEW = "review"
    RETIRE = "retire"
    DELETE = "delete"


STEPS = st.tuples(st.sampled_from(Step), st.integers(0, 20))


@dataclass(slots=True)
class Walk:
    """A walk of one owner's live set, and what must come true of it."""

    store: Store
    owner: Owner
    limit: int
    direction: Direction
    live: list[MemoryRecord] = field(default_factory=list)
    untouched: set[UUID] = field(default_factory=set)
    seen: list[MemoryRecord] = field(default_factory=list)
    keyset: Keyset | None = None
    is_over: bool = False

    async def take(self, step: Step, number: int) -> None:
        """Take one step; `number` chooses the belief that it is about."""
        if step is Step.NEXT_PAGE:
            await self.read_page()
        elif step is Step.WRITE:
            await self.write()
        elif self.live:
            await self.rewrite(step, self.live.pop(number % len(self.live)))

    async def write(self) -> None:
        """Write a new belief at the head."""

        async def work(transaction: Transaction) -> MemoryRecord:
            [position] = await transaction.memories.next_positions(1)
            record = memory(owner=self.owner, store_position=position)
            statement_hash = KEYRING.statement_hash(self.owner, record.statement)
            await transaction.memories.add(record, statement_hash=statement_hash)
            return record

        self.live.append(await self.store.transact(work))

    async def rewrite(self, step: Step, record: MemoryRecord) -> None:
        """Move a belief to the head, take it from the live set, or erase it."""
        self.untouched.discard(record.id)

        async def work(transaction: Transaction) -> None:
            [position] = await transaction.memories.next_positions(1)
            moved = replace(record, store_position=position)
            if step is Step.DELETE:
                await transaction.memories.erase(self.owner, [record.id])
            elif step is Step.RETIRE:
                await transaction.memories.put(replace(moved, status=MemoryStatus.RETIRED))
            else:
                await transaction.memories.put(moved)
                self.live.append(moved)

        await self.store.transact(work)

    async def read_page(self) -> None:
        """Read the next page, twice: against an unchanged store a keyset gives the same page."""
        query = MemoryBrowseQuery(
            filter=everything(self.owner), limit=self.limit, keyset=self.keyset, direction=self.direction
        )
        found = (await browse(self.store, query)).records
        assert found == (await browse(self.store, query)).records
        page, self.is_over = found[: self.limit], len(found) <= self.limit
        assert set(page) <= set(self.live)
        self.seen += page
        self.keyset = keyset_of(page[-1]) if page else self.keyset


# One database serves every example: each walk has an owner of its own.
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    stored=st.integers(0, 9),
    limit=st.integers(1, 3),
    direction=st.sampled_from(Direction),
    steps=st.lists(STEPS, max_size=12),
)
async def test_a_walk_sees_what_is_left_alone_once_and_nothing_that_is_gone(
    store: Store, stored: int, limit: int, direction: Direction, steps: Sequence[tuple[Step, int]]
) -> None:
    walk = Walk(store, owner(tenant=f"walk {next(_walk_numbers)}"), limit, direction)
    for _ in range(stored):
        await walk.write()
    walk.untouched = {record.id for record in walk.live}

    for step, number in steps:
        await walk.take(step, number)
    while not walk.is_over:
        await walk.read_page()

    seen = [record.id for record in walk.seen]
    assert walk.untouched <= set(seen)
    if direction is Direction.FORWARD:
        assert len(set(seen)) == len(seen)
    else:
        # Walked back, a belief that moves to the head is met again there, as the new state that it is.
        assert len(set(walk.seen)) == len(walk.seen)
