"""What was concluded from beliefs: in the list, open, reviewed, deleted, and absent where it is not served."""

import re

import pytest
from playwright.async_api import expect

from store.domain.derived import DerivedStatus
from store.domain.vocabulary import Portability, Sensitivity
from tests.browser.accessibility import findings
from tests.browser.derivations import BEES, BOATS, SUPPOSED, Concluded, concluded
from tests.browser.gestures import swipe
from tests.browser.marks import browser_tests
from tests.browser.network import answer_lost, between
from tests.browser.site import Site, served_site
from tests.browser.visits import DESKTOP, PHONE, SIZES, Visit, Visitor
from tests.databases import DatabaseServer
from tests.factories import memory
from tests.services.derivations import proposal

pytestmark = browser_tests(2)

RAW = ("SUMMARY", "HYPOTHESIS", "ACTIVE", "INFERRED", "null", "undefined", "NaN", "[object")


async def ids_of_rows(visit: Visit) -> list[str]:
    """What the rows are of, from the top."""
    rows = await visit.rows.evaluate_all("rows => rows.map(row => row.dataset.testid)")
    return [str(row).rsplit(".", maxsplit=1)[-1] for row in rows]


@pytest.mark.parametrize("size", SIZES)
async def test_the_list_shows_what_was_concluded_as_such(site: Site, visitor: Visitor, size: str) -> None:
    all = await concluded(site, sensitivity=Sensitivity.INTERNAL)
    visit = await visitor.enter(all.person, size=SIZES[size])
    await expect(visit.rows).to_have_count(4)

    assert [str(each.id) for each in (all.supposition, all.summary, all.boats, all.bees)] == await ids_of_rows(visit)
    said = await visit.row(all.summary).inner_text()
    lines = [line for line in said.splitlines() if line.strip()]
    assert f"{BEES} {BOATS}" == lines[0]
    for words in ("Ada", "Fact and Preference", "Summary · 2 sources", "Internal"):
        assert words in said
    assert "Needs your review" not in said
    await expect(visit.row(all.supposition)).to_contain_text(SUPPOSED)
    await expect(visit.row(all.supposition).get_by_test_id("derived.chip")).to_have_text("Supposition · 2 sources")
    await expect(visit.row(all.supposition)).to_contain_text("Needs your review")
    await expect(visit.row(all.bees).get_by_test_id("derived.chip")).to_have_count(0)
    await expect(visit.by("list.count")).to_have_text("4 beliefs and conclusions")
    assert [] == visit.asked("MemoryList")
    assert [] == await findings(visit)


@pytest.mark.parametrize("size", SIZES)
async def test_a_conclusion_is_told_part_by_part(site: Site, visitor: Visitor, size: str) -> None:
    left_out = memory("Sails")
    bees, boats = memory(BEES), memory(BOATS)
    person = await site.person(bees, boats, left_out)
    summary = await site.derive(person, proposal((BEES, [bees.id]), (BOATS, [boats.id]), omitted=[left_out.id]))
    visit = await visitor.enter(person, size=SIZES[size], fragment=f"#/memory/{summary.id}")
    detail = visit.detail
    await expect(detail).to_contain_text("The system sums up")
    await expect(visit.by("derived.omitted").get_by_role("link", name="Sails")).to_be_visible()
    await detail.get_by_text("Technical details").click()

    said = await detail.inner_text()
    for words in ("Ada", "unsure (50%)", "No end is set", "Public", "Concluded", str(summary.id)):
        assert words in said
    assert [] == [raw for raw in RAW if raw in said]
    assert [] == await findings(visit)
    await visit.by("derived.clauses").get_by_role("link", name=BEES).click()
    await expect(detail).to_contain_text("The system believes")
    await visit.page.go_back()
    await expect(detail).to_contain_text("The system sums up")


async def test_a_supposition_says_that_nobody_said_it_and_when_it_runs_out(site: Site, visitor: Visitor) -> None:
    all = await concluded(site)
    visit = await visitor.enter(all.person)
    await visit.row(all.supposition).locator("a").first.click()
    detail = visit.detail

    await expect(detail).to_contain_text("The system supposes")
    await expect(detail).to_contain_text("nobody said it")
    runs_out = detail.locator(".key-facts > div", has_text="Runs out by itself")
    await expect(runs_out.locator("time")).to_be_visible()
    clauses = visit.by("derived.clauses")
    await expect(clauses).to_contain_text("Rests on these 2")
    await clauses.get_by_role("link", name=f"{BEES} {BOATS}").click()
    await expect(detail).to_contain_text("The system sums up")


async def test_a_conclusion_is_marked_reviewed_in_the_queue(site: Site, visitor: Visitor) -> None:
    all = await concluded(site)
    visit = await visitor.enter(all.person, fragment="#/review")
    await expect(visit.rows).to_have_count(1)
    await expect(visit.by("review.count")).to_contain_text("1 waits for you")

    await visit.act("dismiss", within=visit.row(all.supposition))

    await expect(visit.rows).to_have_count(0)
    await expect(visit.by("review.count")).to_be_hidden()
    await expect(visit.state("empty")).to_contain_text("All looked through")
    [question] = visit.asked("ReviewDerived")
    assert str(all.supposition.id) == question.variables["input"]["id"]
    kept = await site.stored_derived(all.person, all.supposition.id)
    assert kept is not None
    assert (False, DerivedStatus.ACTIVE) == (kept.flagged_for_review, kept.status)


async def test_what_is_not_true_leaves_the_list_and_nothing_of_it_is_left(site: Site, visitor: Visitor) -> None:
    all = await concluded(site)
    visit = await visitor.enter(all.person, fragment="#/memories?status=all")
    await visit.row(all.supposition).locator("a").first.click()
    await expect(visit.detail).to_contain_text("The system supposes")

    await visit.press("u")

    await expect(visit.row(all.supposition)).to_have_count(0)
    await expect(visit.by("derived.gone")).to_be_visible()
    await expect(visit.detail.get_by_role("heading", name="Nothing of it is left")).to_be_visible()
    assert SUPPOSED not in await visit.everything()
    assert [] == await findings(visit)
    assert 3 == await visit.rows.count()
    kept = await site.stored_derived(all.person, all.supposition.id)
    assert kept is not None
    assert (None, True) == (kept.content, kept.flagged_for_review)
    await visit.act("dismiss")
    await expect(visit.by("review.dismiss")).to_have_count(0)


async def test_what_is_not_relevant_here_is_kept_here_only(site: Site, visitor: Visitor) -> None:
    all = await concluded(site)
    visit = await visitor.enter(all.person, fragment="#/review")

    await visit.act("not_here", within=visit.row(all.supposition))

    await expect(visit.row(all.supposition)).to_contain_text("Kept here only")
    await expect(visit.row(all.supposition).get_by_test_id("review.not_here")).to_have_count(0)
    kept = await site.stored_derived(all.person, all.supposition.id)
    assert kept is not None
    assert Portability.LOCAL is kept.portability


async def test_a_review_whose_answer_is_lost_is_sent_again_under_its_key(site: Site, visitor: Visitor) -> None:
    all = await concluded(site)
    visit = await visitor.enter(all.person, fragment="#/review")
    await between(visit.page, "ReviewDerived", answer_lost)

    await visit.act("dismiss", within=visit.row(all.supposition))

    await expect(visit.rows).to_have_count(0)
    keys = [question.variables["input"]["idempotencyKey"] for question in visit.asked("ReviewDerived")]
    assert (2, 1) == (len(keys), len(set(keys)))


async def test_a_conclusion_is_deleted_with_what_rests_on_it_and_the_beliefs_stay(site: Site, visitor: Visitor) -> None:
    all = await concluded(site)
    visit = await visitor.enter(all.person)
    await visit.row(all.summary).locator("a").first.focus()

    await visit.press("d")
    dialog = visit.page.get_by_role("dialog")
    await expect(dialog).to_contain_text("Delete this conclusion?")
    await expect(dialog).to_contain_text("The beliefs behind it stay")
    await visit.by("confirm.delete").click()

    await expect(visit.rows).to_have_count(2)
    assert [str(all.boats.id), str(all.bees.id)] == await ids_of_rows(visit)
    assert SUPPOSED not in await visit.everything()
    assert await site.stored_derived(all.person, all.summary.id) is None
    assert await site.stored(all.person, all.bees) is not None


@pytest.mark.parametrize("kind", ["untrue", "not_here", "delete"])
async def test_what_rests_on_a_belief_leaves_the_list_with_it(site: Site, visitor: Visitor, kind: str) -> None:
    all = await concluded(site)
    visit = await visitor.enter(all.person)
    await expect(visit.rows).to_have_count(4)
    await visit.open(all.bees)

    await visit.act(kind)
    if kind == "delete":
        await visit.by("confirm.delete").click()

    await expect(visit.row(all.summary)).to_have_count(0)
    await expect(visit.row(all.supposition)).to_have_count(0)
    await expect(visit.row(all.boats)).to_be_visible()
    assert SUPPOSED not in await visit.everything()


async def test_an_open_conclusion_is_asked_for_anew_when_what_it_rests_on_changes(site: Site, visitor: Visitor) -> None:
    all = await concluded(site)
    visit = await visitor.enter(all.person)
    await visit.row(all.supposition).locator("a").first.click()
    await expect(visit.by("derived.clauses")).to_contain_text(SUPPOSED)

    await visit.by(f"select.{all.bees.id}").check()
    await visit.act("untrue", within=visit.by("selection.bar"))

    await expect(visit.detail).to_contain_text("There is no such belief")
    await visit.settle()
    assert SUPPOSED not in await visit.everything()


async def test_beliefs_and_conclusions_are_selected_together(site: Site, visitor: Visitor) -> None:
    all = await concluded(site, flagged_for_review=True)
    visit = await visitor.enter(all.person, fragment="#/review")
    await expect(visit.rows).to_have_count(2)
    await expect(visit.by("review.count")).to_contain_text("2 wait for you")

    for each in (all.supposition, all.boats):
        await visit.by(f"select.{each.id}").check()
    await visit.act("dismiss", within=visit.by("selection.bar"))

    await expect(visit.by("selection.report")).to_contain_text("2 are done")
    await expect(visit.rows).to_have_count(0)
    assert 1 == len(visit.asked("ReviewDerived")) == len(visit.asked("ReviewMemory"))


async def test_a_conclusion_is_reviewed_and_deleted_by_swiping(site: Site, visitor: Visitor) -> None:
    all = await concluded(site)
    visit = await visitor.enter(all.person, size=PHONE)
    await swipe(visit, visit.row(all.supposition), 220)
    await expect(visit.row(all.supposition)).not_to_contain_text("Needs your review")

    await swipe(visit, visit.row(all.supposition), -220)
    await visit.by("confirm.delete").click()

    await expect(visit.row(all.supposition)).to_have_count(0)
    assert await site.stored_derived(all.person, all.supposition.id) is None


async def test_beliefs_are_listed_alone_where_they_are_wished_for(site: Site, visitor: Visitor) -> None:
    all = await concluded(site)
    visit = await visitor.enter(all.person)
    await expect(visit.rows).to_have_count(4)

    await visit.by("filter.more").click()
    await visit.by("filter.kind").select_option("beliefs")

    await expect(visit.by("list.count")).to_have_text("2 beliefs")
    assert [str(each.id) for each in (all.boats, all.bees)] == await ids_of_rows(visit)
    assert 1 == len(visit.asked("MemoryList"))
    assert "kind=beliefs" in visit.page.url


async def test_a_number_of_the_overview_leads_to_as_many_beliefs(site: Site, visitor: Visitor) -> None:
    all = await concluded(site)
    visit = await visitor.enter(all.person, fragment="#/overview")
    type = visit.page.get_by_role("link", name="Fact").first
    counted = re.search(r"\d+", await type.inner_text())
    assert counted is not None

    await type.click()

    await expect(visit.by("list.count")).to_have_text(re.compile(rf"^{counted[0]} beliefs?$"))
    await expect(visit.rows).to_have_count(int(counted[0]))


async def test_what_lies_above_the_ceiling_is_not_found(site: Site, visitor: Visitor) -> None:
    all = await concluded(site, sensitivity=Sensitivity.SENSITIVE)
    visit = await visitor.enter(
        all.person, ceiling=Sensitivity.INTERNAL, fragment=f"#/memory/{all.summary.id}", size=DESKTOP
    )

    await expect(visit.detail).to_contain_text("There is no such belief at this level")
    await expect(visit.rows).to_have_count(1)
    content = await visit.everything()
    assert [] == [words for words in (BOATS, SUPPOSED) if words in content]


async def test_a_server_without_conclusions_is_not_asked_for_them(
    postgres_server: DatabaseServer, visitor: Visitor
) -> None:
    async with served_site(postgres_server, reconsolidation_enabled="false", evidence_enabled="false") as bare:
        all: Concluded = await concluded(bare, flagged_for_review=True)
        visit = await visitor.enter(all.person, url=bare.url)
        await expect(visit.rows).to_have_count(2)
        await expect(visit.by("list.count")).to_have_text("2 beliefs")
        await visit.open(all.boats)
        await visit.by("review.dismiss").click()
        await expect(visit.row(all.boats)).not_to_contain_text("Needs your review")
        await visit.go(f"#/memory/{all.summary.id}")
        await expect(visit.detail).to_contain_text("There is no such belief")

        asked = {"Server", "MemoryList", "ReviewCount", "MemoryDetail", "ReviewMemory"}
        assert asked == {question.name for question in visit.questions}
        visit.check()
