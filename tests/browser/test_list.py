"""The list: what a row says, and how the list is narrowed down."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest
from playwright.async_api import expect

from store.domain.memories import MemoryRecord
from store.domain.vocabulary import BeliefType, MemoryStatus, Portability, Sensitivity
from tests.browser.gestures import scroll_to_end
from tests.browser.marks import browser_tests
from tests.browser.site import Site
from tests.browser.visits import SIZES, Visitor
from tests.factories import NOW, OTHER_SESSION, memory

pytestmark = browser_tests(1)


@pytest.mark.parametrize("size", SIZES)
async def test_a_row_says_what_is_believed_of_whom_and_how_private_it_is(
    site: Site, visitor: Visitor, size: str
) -> None:
    belief = memory(
        "Is allergic to mussels",
        subject="person:lena",
        display_subject="Lena Okafor",
        belief_type=BeliefType.PREFERENCE,
        sensitivity=Sensitivity.SENSITIVE,
    )
    visit = await visitor.enter(await site.person(belief), size=SIZES[size])

    row = visit.row(belief)
    for words in ("Is allergic to mussels", "Lena Okafor", "Preference", "Sensitive"):
        await expect(row).to_contain_text(words)
    said = await row.inner_text()
    assert said.index("Is allergic") < said.index("Lena Okafor") < said.index("Preference")
    for nothing in ("Settled", "Needs your review", "Contradicts"):
        assert nothing not in said
    assert "person:lena" not in await visit.page.content()


async def test_a_row_says_what_is_unusual_about_a_belief(site: Site, visitor: Visitor) -> None:
    first, second = memory("Owns a boat", flagged_for_review=True), memory("Owns no boat", flagged_for_review=True)
    first, second = replace(first, conflicts_with=(second.id,)), replace(second, conflicts_with=(first.id,))
    former = memory("Owned a canoe", status=MemoryStatus.SUPERSEDED)
    unsettled = memory("May own a raft", status=MemoryStatus.PROVISIONAL)
    kept = memory("Rows at night", flagged_for_review=True, portability=Portability.LOCAL)
    visit = await visitor.enter(
        await site.person(first, second, former, unsettled, kept), fragment="#/memories?status=all"
    )
    await expect(visit.rows).to_have_count(5)

    for belief in (first, second):
        await expect(visit.row(belief)).to_contain_text("Needs your review")
        await expect(visit.row(belief)).to_contain_text("Contradicts 1 other belief")
    await expect(visit.row(former)).to_contain_text("Replaced")
    await expect(visit.row(unsettled)).to_contain_text("Not settled yet")
    await expect(visit.row(kept)).to_contain_text("Kept here only")
    await expect(visit.row(kept)).to_contain_text("Needs your review")


def corpus() -> dict[str, MemoryRecord]:
    return {
        "boat": memory("Keeps a rowing boat", subject="Ada"),
        "tea": memory("Drinks tea", belief_type=BeliefType.PREFERENCE),
        "lena": memory("Sings", subject="person:lena", display_subject="Lena Okafor"),
        "elsewhere": memory("Paints", source_session_id=OTHER_SESSION),
        "flagged": memory("Sleeps badly", flagged_for_review=True),
        "former": memory("Kept a canoe", status=MemoryStatus.SUPERSEDED),
        "sure": memory("Knows knots", confidence=Decimal("0.95")),
        "old": memory("Was born at sea", created_at=NOW - timedelta(days=400)),
        "sensitive": memory("Fears deep water", sensitivity=Sensitivity.SENSITIVE),
    }


LIVE = set(corpus()) - {"former"}
CHOICES: list[tuple[str, str, set[str]]] = [
    ("text", "rowing", {"boat"}),
    ("status", "superseded", {"former"}),
    ("status", "all", LIVE | {"former"}),
    ("type", "preference", {"tea"}),
    ("subject", "lena okafor", {"lena"}),
    ("session", str(OTHER_SESSION), {"elsewhere"}),
    ("review", "flagged", {"flagged"}),
    ("review", "unflagged", LIVE - {"flagged"}),
]


@pytest.mark.parametrize(("name", "value", "expected"), CHOICES, ids=[f"{name}-{value}" for name, value, _ in CHOICES])
async def test_a_filter_leaves_what_it_says(
    site: Site, visitor: Visitor, name: str, value: str, expected: set[str]
) -> None:
    beliefs = corpus()
    visit = await visitor.enter(await site.person(*beliefs.values()))
    await expect(visit.rows).to_have_count(len(LIVE))

    await visit.filter(name, value)

    await expect(visit.rows).to_have_count(len(expected))
    for belief in expected:
        await expect(visit.row(beliefs[belief])).to_be_visible()


LINKED: dict[str, set[str]] = {
    "sensitivity=sensitive": {"sensitive"},
    "confidenceMin=0.9&confidenceMax=1": {"sure"},
    "formedBefore=2025-12-01": {"old"},
    "formedAfter=2025-12-01": LIVE - {"old"},
}
SAID = {
    "sensitivity=sensitive": "Privacy: Sensitive",
    "confidenceMin=0.9&confidenceMax=1": "How sure: 90% – 100%",
    "formedBefore=2025-12-01": "Formed before 1 December 2025",
    "formedAfter=2025-12-01": "Formed since 1 December 2025",
}


@pytest.mark.parametrize("query", LINKED)
async def test_what_only_links_filter_by_is_said_and_can_be_taken_away(
    site: Site, visitor: Visitor, query: str
) -> None:
    beliefs = corpus()
    visit = await visitor.enter(await site.person(*beliefs.values()), fragment=f"#/memories?{query}")
    await expect(visit.rows).to_have_count(len(LINKED[query]))
    for belief in LINKED[query]:
        await expect(visit.row(beliefs[belief])).to_be_visible()

    await visit.page.get_by_role("button", name=f"Remove filter: {SAID[query]}").click()

    await expect(visit.rows).to_have_count(len(LIVE))


async def test_a_search_is_asked_when_the_keys_rest(site: Site, visitor: Visitor) -> None:
    boat, tea = memory("Keeps a rowing boat"), memory("Drinks tea")
    visit = await visitor.enter(await site.person(boat, tea))
    await expect(visit.rows).to_have_count(2)

    await visit.by("filter.text").press_sequentially("rowing", delay=20)

    await expect(visit.row(boat)).to_be_visible()
    await expect(visit.row(tea)).to_have_count(0)
    assert [None, "rowing"] == [question.variables.get("text") for question in visit.asked("MemoryItems")]


async def test_another_filter_discards_the_cursor(site: Site, visitor: Visitor) -> None:
    visit = await visitor.enter(await site.person(*(memory(f"Counts to {number}") for number in range(120))))
    await expect(visit.rows.first).to_be_visible()
    await scroll_to_end(visit)
    assert visit.asked("MemoryItems")[-1].variables["after"]

    async with visit.page.expect_request(lambda request: "counts" in (request.post_data or "")):
        await visit.filter("text", "counts")
    await visit.settle()

    await expect(visit.rows.first).to_contain_text("Counts to 119")
    await expect(visit.rows.first).to_be_in_viewport()
    searches = [question.variables for question in visit.asked("MemoryItems") if "text" in question.variables]
    assert "after" not in searches[0]
