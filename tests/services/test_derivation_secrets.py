"""What is hidden beside what is shown: two owners alike in all that a ceiling shows are answered alike, whatever one of
them holds above it that says the same.

Source: belief store decisions, Derived records.
"""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from gateway.service.memory_requests import MemoryPaging, MemorySelection
from gateway.views.derived import DerivedView
from store.domain.derived import DerivedStatus
from store.domain.owners import Owner
from store.domain.vocabulary import STORED_STATUSES, BeliefType, Portability, ReviewOutcome, Sensitivity
from tests.factories import NOW, candidate, identifier, owner
from tests.services.deployment import ADA, Deployment, as_principal
from tests.services.derivations import proposal

BO = owner("bo")
CEILING, HIDDEN = Sensitivity.INTERNAL, Sensitivity.RESTRICTED
COOKS, SINGS, SAILS = "Cooks", "Sings", "Sails"


async def form(
    deployment: Deployment,
    *texts: str,
    of: Owner,
    session: int = 1,
    **changes: Any,  # fields of the candidates
) -> list[UUID]:
    """Beliefs of one session at the ceiling, unless told otherwise, each from an event of its own."""
    usual = {"sensitivity": CEILING, "source_session_id": identifier(session)} | changes
    wishes = [candidate(text, source_event_ids=(number,), **usual) for number, text in enumerate(texts, 1)]
    return [await deployment.formed(wish, of=of) for wish in wishes]


async def derive(deployment: Deployment, *sources: tuple[str, UUID], of: Owner) -> UUID:
    return await deployment.derived_id(proposal(*((text, [id]) for text, id in sources)), of=of)


async def portability(deployment: Deployment, id: UUID, *, of: Owner) -> Portability:
    """That of a record that stands."""
    record = await deployment.find_derived(id, of=of, ceiling=CEILING)
    assert record is not None
    assert record.status is DerivedStatus.ACTIVE
    return record.portability


def set_clock(deployment: Deployment, hours: int) -> None:
    """Let it be as late for one owner as for the other, whatever was done before."""
    deployment.clock.now = NOW + timedelta(hours=hours)


async def shown(deployment: Deployment, of: Owner) -> dict[str, Any]:
    """All that is read under the ceiling: pages and counts, and the detail of what no page holds; no identifiers."""
    found: dict[str, Any] = {}
    async with deployment.memories.reading_items() as reading:
        for name, more in ({"live": {}, "all": {"statuses": STORED_STATUSES}, "text": {"text": COOKS}}).items():
            selection = MemorySelection(ceiling=CEILING, **more)  # type: ignore[arg-type]  # by name
            page = await reading.browse(as_principal(of), selection, MemoryPaging())
            found[name] = [
                (edge.node.model_dump(exclude={"id", "sources", "content"}), _said(edge.node)) for edge in page.edges
            ]
            found[f"{name} counted"] = await reading.count(as_principal(of), selection)
    details = [await deployment.find_derived(id, of=of, ceiling=CEILING) for id in await _derived_ids(deployment, of)]
    found["details"] = sorted(
        (record.created_at, record.updated_at, record.status, record.revision, record.content is None)
        for record in details
        if record is not None
    )
    return found


def _said(view: object) -> Any:  # of whatever kind it is: what it says, without identifiers
    if not isinstance(view, DerivedView):
        return None
    assert view.content is not None, "no page holds a shell"
    return (
        view.content.model_dump(exclude={"clauses", "session_ids"}),
        [clause.text for clause in view.content.clauses],
        len(view.sources),
    )


async def _derived_ids(deployment: Deployment, of: Owner) -> list[UUID]:
    return [record.id for record in await deployment.stored_derived(of=of)]


async def statements(deployment: Deployment, of: Owner, *, sensitivity: Sensitivity = CEILING) -> list[str]:
    """What the records of one sensitivity say that stand."""
    stored = [record for record in await deployment.stored_derived(of=of) if record.sensitivity is sensitivity]
    standing = [record for record in stored if await deployment.find_derived(record.id, of=of) is not None]
    return sorted(record.content.statement for record in standing if record.content is not None)


async def test_a_hidden_session_that_says_the_same_keeps_no_summary_alive(deployment: Deployment) -> None:
    for of in (ADA, BO):
        set_clock(deployment, 1)
        await form(deployment, COOKS, SINGS, of=of)
        await deployment.sum_up(of=of)
    set_clock(deployment, 2)
    await form(deployment, COOKS, SINGS, of=ADA, session=2, sensitivity=HIDDEN)
    for of in (ADA, BO):
        set_clock(deployment, 3)
        await form(deployment, SAILS, of=of)
        await deployment.sum_up(of=of)

    assert ["Cooks Sings Sails"] == await statements(deployment, ADA)
    assert await shown(deployment, BO) == await shown(deployment, ADA)
    assert ["Cooks Sings"] == await statements(deployment, ADA, sensitivity=HIDDEN)
    before = await deployment.stored_derived()
    report = await deployment.sum_up()
    assert (0, 0) == (report.derived, report.refused)
    assert before == await deployment.stored_derived()


async def test_a_hidden_derivation_leaves_a_withheld_record_as_it_is(deployment: Deployment) -> None:
    """Withheld, not retired to a shell that a detail shows; and what was kept to its scope is so when made anew."""
    anew = {}
    for of in (ADA, BO):
        set_clock(deployment, 1)
        cooks, sings = await form(deployment, COOKS, SINGS, of=of)
        [also_cooks] = await form(deployment, COOKS, of=of, session=3, belief_type=BeliefType.PREFERENCE)
        record = await derive(deployment, (COOKS, cooks), (SINGS, sings), of=of)
        await deployment.review_derived(record, ReviewOutcome.NOT_HERE, of=of, ceiling=CEILING)
        await deployment.review(cooks, ReviewOutcome.NOT_HERE, of=of, ceiling=CEILING)
        if of is ADA:
            hidden = await form(deployment, COOKS, SINGS, of=of, session=2, sensitivity=HIDDEN)
            await derive(deployment, (COOKS, hidden[0]), (SINGS, hidden[1]), of=of)
        assert await deployment.find_derived(record, of=of, ceiling=CEILING) is None
        set_clock(deployment, 2)
        anew[of] = (SINGS, sings), (COOKS, also_cooks)
    assert await shown(deployment, BO) == await shown(deployment, ADA)

    for of, sources in anew.items():
        set_clock(deployment, 3)
        assert Portability.LOCAL is await portability(deployment, await derive(deployment, *sources, of=of), of=of), (
            "neither source is kept to its scope: the record was"
        )
    assert await shown(deployment, BO) == await shown(deployment, ADA)


async def test_a_hidden_record_that_is_made_anew_leaves_a_withheld_one_as_it_is(deployment: Deployment) -> None:
    """The hidden one stood first, so that it is the one beside which the other was made."""
    set_clock(deployment, 1)
    hidden = await form(deployment, COOKS, SINGS, of=ADA, session=2, sensitivity=HIDDEN)
    secret = (COOKS, hidden[0]), (SINGS, hidden[1])
    await derive(deployment, *secret, of=ADA)
    for of in (ADA, BO):
        set_clock(deployment, 2)
        cooks, sings = await form(deployment, COOKS, SINGS, of=of)
        await derive(deployment, (COOKS, cooks), (SINGS, sings), of=of)
        await deployment.review(cooks, ReviewOutcome.NOT_HERE, of=of, ceiling=CEILING)
    await deployment.review(hidden[0], ReviewOutcome.NOT_HERE)
    await derive(deployment, *secret, of=ADA)

    assert await shown(deployment, BO) == await shown(deployment, ADA)


async def test_what_was_kept_to_its_scope_is_so_after_it_was_retired(deployment: Deployment) -> None:
    await form(deployment, COOKS, SINGS, of=ADA)
    await deployment.sum_up()
    [first] = await _derived_ids(deployment, ADA)
    await deployment.review_derived(first, ReviewOutcome.NOT_HERE)
    [sails] = await form(deployment, SAILS, of=ADA)
    await deployment.sum_up()
    shell = await deployment.find_derived(first)
    assert shell is not None
    assert DerivedStatus.RETIRED is shell.status
    await deployment.delete(sails)

    await deployment.sum_up()

    assert ["Cooks Sings"] == await statements(deployment, ADA)
    [again] = [record for record in await deployment.stored_derived() if record.content is not None]
    assert Portability.LOCAL is again.portability


@pytest.mark.parametrize("end", ["withheld", "retired"])
async def test_a_hidden_record_that_was_kept_to_its_scope_gives_nothing_away(deployment: Deployment, end: str) -> None:
    hidden = await form(deployment, COOKS, SINGS, of=ADA, session=2, sensitivity=HIDDEN)
    strict = await derive(deployment, (COOKS, hidden[0]), (SINGS, hidden[1]), of=ADA)
    await deployment.review_derived(strict, ReviewOutcome.NOT_HERE)
    if end == "withheld":
        await deployment.review(hidden[0], ReviewOutcome.NOT_HERE)
    else:
        assert await deployment.derivation.retire(ADA, strict)

    for of in (ADA, BO):
        set_clock(deployment, 1)
        cooks, sings = await form(deployment, COOKS, SINGS, of=of)
        set_clock(deployment, 2)
        id = await derive(deployment, (COOKS, cooks), (SINGS, sings), of=of)
        assert Portability.CONTEXTUAL is await portability(deployment, id, of=of)

    assert await shown(deployment, BO) == await shown(deployment, ADA)
