"""Why something is believed: the picture of what it rests on, its keys and words, and what is said where it fails."""

from dataclasses import replace
from typing import Any

import pytest
from playwright.async_api import FloatRect, Locator, Route, expect

from store.domain.derived import DerivedRecord
from store.domain.memories import MemoryRecord
from store.domain.vocabulary import Sensitivity
from store.ports.store import Transaction
from tests.browser.accessibility import findings
from tests.browser.derivations import BEES, BOATS, SUPPOSED, Concluded, chain, concluded
from tests.browser.marks import browser_tests
from tests.browser.network import Held, between, busy, failed, lost, malformed
from tests.browser.site import Person, Site, served_site
from tests.browser.visits import DESKTOP, SIZES, Size, Visit, Visitor
from tests.databases import DatabaseServer
from tests.factories import memory
from tests.services.derivations import proposal

pytestmark = browser_tests(3)

NARROW = Size(width=320, height=640, is_touched=True)
WIDE = Size(width=1920, height=1080)
LONG = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft" * 2
OVERFLOWING = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
LINES = "lines => lines.map(line => [line.dataset.from, line.dataset.to])"
CARDS = "cards => cards.map(card => card.dataset.id)"


async def enter(visitor: Visitor, all: Concluded, **options: Any) -> Visit:  # those of Visitor.enter
    """Sign in where the supposition is open."""
    return await visitor.enter(all.person, fragment=f"#/memory/{all.supposition.id}", **options)


def card(visit: Visit, record: MemoryRecord | DerivedRecord) -> Locator:
    """The card of a record in the picture."""
    return visit.by(f"evidence.node.{record.id}")


async def place(card: Locator) -> FloatRect:
    """Where a card lies."""
    box = await card.bounding_box()
    assert box is not None
    return box


@pytest.mark.parametrize("size", SIZES)
async def test_the_picture_shows_what_rests_on_what(site: Site, visitor: Visitor, size: str) -> None:
    all = await concluded(site, sensitivity=Sensitivity.INTERNAL)
    visit = await enter(visitor, all, size=SIZES[size])
    picture = visit.by("evidence.picture")
    await expect(visit.by("evidence.message")).to_have_text("4 records shown.")

    assert {"RESTRICTED"} == {question.ceiling for question in visit.asked("EvidenceGraph")}
    cards = await picture.locator("a").evaluate_all(CARDS)
    assert str(all.supposition.id) == cards[0]
    assert {str(all.summary.id), str(all.boats.id)} == set(cards[1:3])
    assert [str(all.bees.id)] == cards[3:]
    edges = {tuple(edge) for edge in await picture.locator(".evidence-line").evaluate_all(LINES)}
    assert edges == {
        (str(source.id), str(target.id))
        for source, target in (
            (all.supposition, all.summary),
            (all.supposition, all.boats),
            (all.summary, all.boats),
            (all.summary, all.bees),
        )
    }
    for record, name in (
        (all.supposition, f"Supposition Internal {SUPPOSED} (what is open)"),
        (all.summary, f"Summary Internal {BEES} {BOATS} (1 step behind it)"),
        (all.boats, f"Belief Internal {BOATS} (1 step behind it)"),
        (all.bees, f"Belief {BEES} (2 steps behind it)"),
    ):
        await expect(card(visit, record)).to_have_accessible_name(name)
    await expect(visit.by("evidence.more")).to_have_count(0)
    await card(visit, all.summary).click()
    await expect(visit.detail).to_contain_text("The system sums up")
    await expect(visit.by("evidence.message")).to_have_text("3 records shown.")


async def test_the_same_is_told_as_a_nested_list(site: Site, visitor: Visitor) -> None:
    all = await concluded(site)
    visit = await enter(visitor, all)
    words = visit.by("evidence.list")
    await words.get_by_text("The same as a list").click()

    root = words.locator(".evidence-tree > li")
    await expect(root.locator("> a")).to_have_text(SUPPOSED)
    summary = root.locator("> ul > li", has=visit.page.get_by_role("link", name=f"{BEES} {BOATS}", exact=True))
    await expect(summary.locator("> ul > li")).to_have_count(2)
    await expect(summary.locator("> ul > li > a", has_text=BEES)).to_be_visible()
    assert [] == await findings(visit)
    await summary.get_by_role("link", name=BEES, exact=True).click()
    await expect(visit.detail.get_by_role("heading", name=BEES)).to_be_visible()


async def test_the_picture_is_walked_by_keys(site: Site, visitor: Visitor) -> None:
    all = await concluded(site)
    visit = await enter(visitor, all)
    await card(visit, all.supposition).focus()
    order = await visit.by("evidence.picture").locator("a").evaluate_all(CARDS)

    for id in order[1:]:
        await visit.page.keyboard.press("Tab")
        await expect(visit.by(f"evidence.node.{id}")).to_be_focused()
    await expect(card(visit, all.bees)).to_be_focused()
    await visit.press("ArrowLeft")
    await expect(card(visit, all.summary)).to_be_focused()
    await visit.press("ArrowLeft")
    await expect(card(visit, all.supposition)).to_be_focused()
    await visit.press("ArrowLeft", "ArrowUp")
    await expect(card(visit, all.supposition)).to_be_focused()
    await visit.press("ArrowRight")
    first = await visit.page.evaluate("document.activeElement.dataset.id")
    assert first in order[1:3]
    await visit.press("ArrowDown" if first == order[1] else "ArrowUp")
    assert {first, await visit.page.evaluate("document.activeElement.dataset.id")} == set(order[1:3])
    await card(visit, all.bees).focus()
    await visit.press("Enter")

    await expect(visit.detail.get_by_role("heading", name=BEES)).to_be_visible()


@pytest.mark.parametrize("direction", ["ltr", "rtl"])
async def test_columns_follow_the_direction_of_writing(site: Site, visitor: Visitor, direction: str) -> None:
    all = await concluded(site)
    visit = await enter(visitor, all, size=WIDE)
    await visit.page.evaluate("direction => { document.documentElement.dir = direction; }", direction)
    await visit.settle()
    root, summary, bees = [await place(card(visit, record)) for record in (all.supposition, all.summary, all.bees)]

    columns = [root["x"], summary["x"], bees["x"]]
    assert columns == sorted(columns, reverse=direction == "rtl")
    deeper = "ArrowRight" if direction == "ltr" else "ArrowLeft"
    await card(visit, all.summary).focus()
    await visit.press(deeper)
    assert await visit.page.evaluate("document.activeElement.dataset.id") in {str(all.bees.id), str(all.boats.id)}
    line = await visit.by(f"evidence.edge.{all.supposition.id}.{all.summary.id}").locator("circle").bounding_box()
    assert line is not None
    edge = summary["x"] if direction == "ltr" else summary["x"] + summary["width"]
    assert abs(line["x"] + line["width"] / 2 - edge) < 6


@pytest.mark.parametrize("direction", ["ltr", "rtl"])
async def test_on_a_narrow_page_the_columns_stand_below_each_other(
    site: Site, visitor: Visitor, direction: str
) -> None:
    all = await concluded(site, sensitivity=Sensitivity.INTERNAL)
    visit = await enter(visitor, all, size=NARROW, color_scheme="dark")
    await expect(card(visit, all.bees)).to_be_visible()
    await visit.page.evaluate("direction => { document.documentElement.dir = direction; }", direction)
    await visit.settle()

    places = [await place(card(visit, record)) for record in (all.supposition, all.summary, all.bees)]
    assert 1 == len({box["x"] for box in places})
    assert [box["y"] for box in places] == sorted(box["y"] for box in places)
    assert all_within(places, NARROW.width)
    lines = [await place(line) for line in await visit.page.locator(".evidence-line").all()]
    assert 4 == len(lines)
    assert all_within(lines, NARROW.width)
    assert 0 == await visit.page.evaluate(OVERFLOWING)
    assert [] == await findings(visit)


def all_within(boxes: list[FloatRect], width: int) -> bool:
    """Whether nothing reaches beyond the page."""
    return all(box["x"] >= 0 and box["x"] + box["width"] <= width for box in boxes)


@pytest.mark.parametrize("size", [NARROW, WIDE], ids=["narrow", "wide"])
async def test_long_words_fit_in_the_picture(site: Site, visitor: Visitor, size: Size) -> None:
    person = await site.person(memory(LONG), memory(f"{LONG}x", sensitivity=Sensitivity.RESTRICTED))
    first, second = person.records
    summary = await site.derive(person, proposal((LONG, [first.id]), (f"{LONG}x", [second.id])))
    visit = await visitor.enter(person, fragment=f"#/memory/{summary.id}", size=size, locale="de-DE")
    await expect(card(visit, second)).to_be_visible()

    frame = await place(visit.by("evidence.picture"))
    for box in [await place(card(visit, record)) for record in (summary, first, second)]:
        assert frame["x"] <= box["x"]
        assert box["x"] + box["width"] <= frame["x"] + frame["width"]
    cut_off = "cards => cards.filter(card => card.scrollWidth > card.clientWidth).length"
    assert 0 == await visit.by("evidence.picture").locator("a").evaluate_all(cut_off)
    assert 0 == await visit.page.evaluate(OVERFLOWING)


@pytest.mark.parametrize("size", SIZES)
async def test_what_lies_deeper_is_shown_when_it_is_asked_for(site: Site, visitor: Visitor, size: str) -> None:
    person, summaries = await chain(site, 6)
    visit = await visitor.enter(person, size=SIZES[size], fragment=f"#/memory/{summaries[-1].id}")
    await expect(visit.by("evidence.more")).to_contain_text("More lies behind this")
    await expect(card(visit, summaries[2])).to_contain_text("+ 2 not shown")
    await expect(visit.by("evidence.column.4")).to_have_count(0)
    assert [] == await findings(visit)

    await visit.by("evidence.again").click()
    await expect(card(visit, summaries[0])).to_be_visible()
    await expect(visit.by("evidence").get_by_role("heading", name="Why this is believed")).to_be_focused()
    await visit.by("evidence.again").click()

    await expect(visit.by("evidence.more")).to_have_count(0)
    await expect(visit.by("evidence.message")).to_have_text("13 records shown.")
    assert [3, 5, 8] == [question.variables["maxDepth"] for question in visit.asked("EvidenceGraph")]
    assert 0 == await visit.page.evaluate(OVERFLOWING)


async def test_of_many_sources_the_first_are_shown_and_the_rest_is_told(site: Site, visitor: Visitor) -> None:
    texts = [f"Counts to {number}" for number in range(45)]
    person = await site.person(*(memory(text) for text in texts))
    ids = [belief.id for belief in person.records]
    parts = [
        await site.derive(person, proposal((texts[start], [ids[start]]), omitted=ids[start + 1 : start + 15]))
        for start in (0, 15, 30)
    ]
    whole = await site.derive(person, proposal(*((texts[15 * number], [part.id]) for number, part in enumerate(parts))))
    visit = await visitor.enter(person, fragment=f"#/memory/{whole.id}")
    await expect(visit.by("evidence.message")).to_have_text("32 records shown.")
    await expect(visit.by("evidence.more")).to_contain_text("More lies behind this")

    await visit.by("evidence.again").click()

    await expect(visit.by("evidence.message")).to_have_text("49 records shown.")
    await expect(visit.by("evidence.more")).to_have_count(0)


async def test_reasons_that_are_no_longer_whole_are_not_shown(site: Site, visitor: Visitor) -> None:
    all = await concluded(site)
    visit = await visitor.enter(all.person)

    async def change(route: Route) -> None:
        async def work(transaction: Transaction) -> None:
            [bees] = [record for record in await site.live(all.person) if record.id == all.bees.id]
            await transaction.memories.put(replace(bees, revision=bees.revision + 1))

        await site.store.transact(work)
        await route.fallback()

    await between(visit.page, "EvidenceGraph", change)
    await visit.row(all.supposition).locator("a").first.click()

    await expect(visit.by("evidence.refused")).to_contain_text("The reasons for this are no longer whole")
    await expect(visit.by("evidence.picture")).to_have_count(0)
    assert [] == await findings(visit)


async def test_a_busy_server_is_waited_for(site: Site, visitor: Visitor) -> None:
    all = await concluded(site)
    visit = await visitor.enter(all.person)
    held = Held()
    await between(visit.page, "EvidenceGraph", busy, lost, busy, held)

    await visit.row(all.supposition).locator("a").first.click()
    await held.come()
    await expect(visit.by("evidence.message")).to_have_text("The server is busy. Going on in a moment…")
    held.let_go()

    await expect(card(visit, all.bees)).to_be_visible()
    assert 4 == len(visit.asked("EvidenceGraph"))


async def test_a_failure_says_so_and_offers_another_try(site: Site, visitor: Visitor) -> None:
    all = await concluded(site)
    visit = await visitor.enter(all.person)
    await between(visit.page, "EvidenceGraph", failed)
    await visit.row(all.supposition).locator("a").first.click()
    await expect(visit.by("evidence.refused")).to_contain_text("Something went wrong on the server")
    await expect(visit.by("derived.clauses").get_by_role("link", name=f"{BEES} {BOATS}")).to_be_visible()

    await visit.by("evidence.again").click()

    await expect(card(visit, all.bees)).to_be_visible()
    await expect(visit.by("evidence.refused")).to_have_count(0)


async def test_too_much_at_once_leads_back_to_less(site: Site, visitor: Visitor) -> None:
    person, summaries = await chain(site, 5)
    visit = await visitor.enter(person, fragment=f"#/memory/{summaries[-1].id}")
    await expect(visit.by("evidence.more")).to_be_visible()
    await between(visit.page, "EvidenceGraph", malformed)

    await visit.by("evidence.again").click()
    await expect(visit.by("evidence.refused")).to_contain_text("Ask for less of it")
    await visit.by("evidence.again").click()

    await expect(visit.by("evidence.more")).to_be_visible()
    assert [3, 5, 3] == [question.variables["maxDepth"] for question in visit.asked("EvidenceGraph")]


async def test_a_lower_ceiling_forgets_the_graph(site: Site, visitor: Visitor) -> None:
    all = await concluded(site, sensitivity=Sensitivity.SENSITIVE)
    visit = await enter(visitor, all, size=DESKTOP)
    await expect(card(visit, all.boats)).to_be_visible()
    held = Held()
    await between(visit.page, "DerivedDetail", held)

    await visit.choose_ceiling(Sensitivity.PUBLIC)
    await expect(visit.rows).to_have_count(1)

    content = await visit.everything()
    assert [] == [words for words in (BOATS, SUPPOSED, str(all.boats.id)) if words in content]
    held.let_go()
    await expect(visit.detail).to_contain_text("There is no such belief")


async def test_an_answer_that_comes_late_is_not_shown_under_another_ceiling(site: Site, visitor: Visitor) -> None:
    all = await concluded(site, sensitivity=Sensitivity.SENSITIVE)
    visit = await visitor.enter(all.person)
    late = Held()
    await between(visit.page, "EvidenceGraph", late)
    await visit.row(all.supposition).locator("a").first.click()
    await late.come()

    await visit.choose_ceiling(Sensitivity.PUBLIC)
    await expect(visit.detail).to_contain_text("There is no such belief")
    late.let_go()

    await visit.settle()
    content = await visit.everything()
    assert [] == [words for words in (BOATS, SUPPOSED) if words in content]


async def test_an_answer_about_what_is_no_longer_open_is_not_drawn(site: Site, visitor: Visitor) -> None:
    all = await concluded(site)
    visit = await visitor.enter(all.person)
    late = Held()
    await between(visit.page, "EvidenceGraph", late)
    await visit.row(all.supposition).locator("a").first.click()
    await late.come()

    await visit.row(all.summary).locator("a").first.click()
    await expect(visit.by("evidence.message")).to_have_text("3 records shown.")
    late.let_go()

    await visit.settle()
    await expect(visit.by("evidence.message")).to_have_text("3 records shown.")
    await expect(card(visit, all.summary)).to_have_attribute("aria-current", "page")
    await expect(card(visit, all.supposition)).to_have_count(0)


async def test_without_evidence_the_sources_are_named_and_nothing_is_drawn(
    postgres_server: DatabaseServer, visitor: Visitor
) -> None:
    async with served_site(postgres_server, evidence_enabled="false") as bare:
        all = await concluded(bare)
        person: Person = all.person
        visit = await visitor.enter(person, url=bare.url, fragment=f"#/memory/{all.supposition.id}")
        clauses = visit.by("derived.clauses")
        await expect(clauses.get_by_role("link", name=f"{BEES} {BOATS}")).to_be_visible()
        await expect(clauses.get_by_role("link", name=BOATS, exact=True)).to_be_visible()

        await expect(visit.by("evidence")).to_have_count(0)
        assert [] == visit.asked("EvidenceGraph")
        assert "MemoryItems" in {question.name for question in visit.questions}
        visit.check()
