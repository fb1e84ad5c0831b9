"""Reading beliefs and derived records together: one order, one walk, and no trace of what is hidden or withheld."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from gateway.service.cursors import decode_cursor
from gateway.service.derived_reading import MemoryItemPage
from gateway.service.errors import AuthorizationError, MalformedRequest, NotFound
from gateway.service.memory_requests import MemoryPaging, MemorySelection
from gateway.service.principal import Principal
from gateway.views.derived import DerivedView
from gateway.views.memories import MemoryView
from store.domain.vocabulary import (
    STORED_STATUSES,
    BeliefType,
    MemoryStatus,
    ReviewOutcome,
    Sensitivity,
)
from tests.factories import NOW, OTHER_SESSION, candidate, identifier, owner
from tests.services.deployment import ADA, Deployment, as_principal
from tests.services.derivations import hypothesis, proposal

READER = as_principal(ADA)


def every(ceiling: Sensitivity = Sensitivity.RESTRICTED, **changes: Any) -> MemorySelection:  # as the selection has it
    return MemorySelection(ceiling=ceiling, **changes)


async def browse(deployment: Deployment, selection: MemorySelection, **paging: Any) -> MemoryItemPage:  # as the paging
    async with deployment.memories.reading_items() as reading:
        return await reading.browse(READER, selection, MemoryPaging(**paging), with_opposite=True)


async def ids(deployment: Deployment, **changes: Any) -> list[UUID]:  # as the selection
    selection = every(**changes)
    page = await browse(deployment, selection)
    async with deployment.memories.reading_items() as reading:
        assert len(page.edges) == await reading.count(READER, selection)
    return [edge.node.id for edge in page.edges]


async def walked(deployment: Deployment, selection: MemorySelection, limit: int, *, backwards: bool) -> list[UUID]:
    """Every id of a walk over pages of one size; each flag is what the walk finds."""
    found: list[UUID] = []
    cursor: str | None = None
    while True:
        paging = {"last": limit, "before": cursor} if backwards else {"first": limit, "after": cursor}
        page = await browse(deployment, selection, **paging)
        page_ids = [edge.node.id for edge in page.edges]
        found = page_ids + found if backwards else found + page_ids
        assert bool(cursor) is (page.has_next_page if backwards else page.has_previous_page)
        assert len(page.edges) <= limit
        if not (page.has_previous_page if backwards else page.has_next_page):
            return found
        cursor = page.edges[0 if backwards else -1].cursor


@pytest.mark.parametrize("limit", [1, 2, 3, 7])
async def test_both_stand_in_one_order_whatever_the_size_of_a_page(deployment: Deployment, limit: int) -> None:
    made: list[UUID] = []
    for number in range(3):
        made += [await deployment.formed(candidate(f"Keeps boat {number}"))]
        made += [await deployment.derived_id(proposal((f"Keeps boat {number}", [made[-1]])))]
    made += [await deployment.formed(candidate("Sails"))]

    for backwards in (False, True):
        assert made[::-1] == await walked(deployment, every(), limit, backwards=backwards)
    page = await browse(deployment, every(), first=2)
    assert [MemoryView, DerivedView] == [type(edge.node) for edge in page.edges]
    assert page.next_cursor == page.edges[-1].cursor
    assert made[-2] == decode_cursor(page.edges[-1].cursor).id
    assert (await browse(deployment, every(), first=200)).next_cursor is None


async def test_the_filters_mean_the_same_for_both(deployment: Deployment) -> None:
    bees = await deployment.formed(candidate("Keeps bees", belief_type=BeliefType.PREFERENCE))
    boats = await deployment.formed(candidate("Keeps boats", source_session_id=OTHER_SESSION, source_event_ids=(2,)))
    both = await deployment.derived_id(proposal(("Keeps bees", [bees]), omitted=[boats]))
    supposed = await deployment.derived_id(hypothesis("Likes honey", bees, boats, subject="Honey"))
    gone = await deployment.derived_id(proposal(("Keeps boats", [boats])))
    await deployment.review_derived(gone, ReviewOutcome.UNTRUE)

    assert [supposed, both, boats, bees] == await ids(deployment)
    assert [supposed, both, bees] == await ids(deployment, belief_types=[BeliefType.PREFERENCE])
    assert [supposed, both, boats] == await ids(deployment, session_id=str(OTHER_SESSION))
    assert [supposed] == await ids(deployment, subject="honey")
    assert [both, bees] == await ids(deployment, text="bees")
    assert [supposed] == await ids(deployment, flagged=True)
    assert [both, boats, bees] == await ids(deployment, confidence_min=0.36)
    assert [supposed, both] == await ids(deployment, formed_after=(await deployment.get(boats)).created_at + MOMENT)
    assert [supposed, both] == await ids(deployment, statuses=[MemoryStatus.ACTIVE])
    assert [boats, bees] == await ids(deployment, statuses=[MemoryStatus.PROVISIONAL])
    assert [] == await ids(deployment, statuses=[MemoryStatus.RETIRED])
    assert [] == await ids(deployment, session_id="no uuid")


MOMENT = timedelta(microseconds=1)


async def test_either_is_read_by_its_id(deployment: Deployment) -> None:
    bees = await deployment.formed(candidate("Keeps bees", sensitivity=Sensitivity.INTERNAL))
    summary = await deployment.derived_id(proposal(("Keeps bees", [bees])))

    async with deployment.memories.reading_items() as reading:
        belief = await reading.read(READER, str(bees), Sensitivity.INTERNAL)
        record = await reading.read(READER, str(summary), Sensitivity.INTERNAL)
        assert record == await reading.read_derived(READER, str(summary), Sensitivity.INTERNAL)
        assert (MemoryView, DerivedView) == (type(belief), type(record))
        for id in (str(summary), "no uuid", str(identifier())):
            for read in (reading.read, reading.read_derived):
                with pytest.raises(NotFound):
                    await read(READER, id, Sensitivity.PUBLIC)
                with pytest.raises(NotFound):
                    await read(as_principal(owner("bo")), id, Sensitivity.RESTRICTED)
                with pytest.raises(AuthorizationError):
                    await read(Principal(owner=ADA, scopes=frozenset()), id, Sensitivity.RESTRICTED)
        with pytest.raises(NotFound):
            await reading.read_derived(READER, str(bees), Sensitivity.INTERNAL)
        with pytest.raises(MalformedRequest):
            await reading.read_derived(READER, "\0", Sensitivity.INTERNAL)


async def test_what_does_not_stand_is_nowhere_and_a_shell_on_no_page(deployment: Deployment) -> None:
    bees = await deployment.formed(candidate("Keeps bees", expires_at=NOW + timedelta(hours=1)))
    summary = await deployment.derived_id(proposal(("Keeps bees", [bees])))
    assert [summary, bees] == await ids(deployment)

    deployment.clock.advance(timedelta(hours=2))

    assert [] == await ids(deployment)
    assert [bees] == await ids(deployment, statuses=STORED_STATUSES)
    async with deployment.memories.reading_items() as reading:
        with pytest.raises(NotFound):
            await reading.read(READER, str(summary), Sensitivity.RESTRICTED)
    await deployment.sum_up()
    assert [bees] == await ids(deployment, statuses=STORED_STATUSES)
    async with deployment.memories.reading_items() as reading:
        shell = await reading.read(READER, str(summary), Sensitivity.RESTRICTED)
    assert isinstance(shell, DerivedView)
    assert shell.content is None
