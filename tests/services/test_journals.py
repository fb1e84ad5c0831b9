"""The journal of all owners: filtered, bounded, and followed without losing what comes late."""

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest

from gateway.service.errors import MalformedRequest
from gateway.service.journals import ENTRIES_MAX, LATE_SECONDS, JournalService
from store.domain.journal import Event, EventFilter
from store.domain.owners import WHOLE_STORE
from store.domain.vocabulary import EventKind
from store.ports.store import Transaction
from tests.factories import NOW, candidate, event, owner
from tests.services.deployment import ADA, Deployment

BO = owner("bo")


class Journal:
    """A journal whose pauses a test uses to write."""

    def __init__(self, deployment: Deployment) -> None:
        self.deployment = deployment
        self.seconds = 0.0
        self.service = JournalService(deployment.store, monotonic=lambda: self.seconds)

    async def restore(self, *events: Event) -> None:
        async def work(transaction: Transaction) -> None:
            for each in events:
                await transaction.journal.restore_event(each)

        await self.deployment.store.transact(work)

    async def followed(self, filter: EventFilter, *steps: tuple[float, list[Event]]) -> list[int]:
        """The numbers that are seen while in each pause time passes and events are written."""
        coming = iter(steps)

        async def pause(_: float) -> None:
            seconds, events = next(coming, (0.0, None))
            if events is None:
                raise StopFollowing
            self.seconds += seconds
            await self.restore(*events)

        return [each.number async for each in until_stopped(self.service.follow(filter, pause=pause))]


class StopFollowing(Exception):
    """There is nothing more to come."""


async def until_stopped(events: AsyncIterator[Event]) -> AsyncIterator[Event]:
    try:
        async for each in events:
            yield each
    except StopFollowing:
        return


@pytest.fixture
def journal(deployment: Deployment) -> Journal:
    return Journal(deployment)


def at(number: int, **changes: Any) -> Event:
    return event(number, owner=changes.pop("of", ADA), **changes)


async def test_the_last_events_of_all_owners_stand_in_their_order(journal: Journal) -> None:
    await journal.restore(at(3), at(1, of=BO), at(2), at(9, of=WHOLE_STORE))

    assert [1, 2, 3, 9] == [each.number for each in await journal.service.last(EventFilter(), limit=10)]
    assert [3, 9] == [each.number for each in await journal.service.last(EventFilter(), limit=2)]
    for limit in (0, ENTRIES_MAX + 1):
        with pytest.raises(MalformedRequest):
            await journal.service.last(EventFilter(), limit=limit)


async def test_a_journal_is_filtered(journal: Journal) -> None:
    deployment = journal.deployment
    first = await deployment.formed(candidate("Keeps bees"))
    await deployment.formed(candidate("Keeps bees"), of=BO)
    between = deployment.clock.now
    await deployment.delete(first)
    await deployment.operators.note("export_begin")

    async def kinds(**fields: Any) -> list[str]:
        return [each.kind.value for each in await journal.service.last(EventFilter(**fields), limit=10)]

    assert ["memory.formed", "memory.deleted"] == await kinds(tenant=ADA.tenant, principal=ADA.principal)
    assert ["memory.formed"] == await kinds(principal="bo")
    assert ["operator.access"] == await kinds(tenant="")
    assert ["memory.deleted"] == await kinds(kinds=frozenset({EventKind.DELETED}))
    assert ["memory.formed", "memory.formed"] == await kinds(until=between + timedelta(seconds=1))
    assert ["memory.deleted", "operator.access"] == await kinds(since=between + timedelta(seconds=1))
    assert [] == await kinds(since=NOW + timedelta(days=9))


async def test_what_comes_is_seen_once_and_what_comes_late_too(journal: Journal) -> None:
    await journal.restore(at(1), at(5))

    seen = await journal.followed(
        EventFilter(tenant=ADA.tenant),
        (1, [at(9), at(8, of=WHOLE_STORE)]),
        (1, []),
        (1, [at(7), at(10)]),
        (LATE_SECONDS + 1, [at(11)]),
        (1, [at(12)]),
    )

    assert [9, 7, 10, 11, 12] == seen
