"""Narrow and wide, without motion, and by keyboard alone."""

import pytest
from playwright.async_api import expect

from store.domain.vocabulary import Sensitivity
from tests.browser.marks import browser_tests
from tests.browser.site import Person, Site
from tests.browser.visits import DESKTOP, Size, Visit, Visitor
from tests.factories import memory

pytestmark = browser_tests(1)

WIDTHS = {"narrow": Size(width=320, height=640, is_touched=True), "wide": Size(width=2560, height=1440)}
OVERFLOWING = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
LONG = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft" * 2


async def person_of_long_words(site: Site) -> Person:
    return await site.person(
        memory(LONG, subject=LONG[:200], flagged_for_review=True, scope=LONG[:120], origin_scopes=(LONG[:120],)),
        *(memory(f"Counts to {number}, " * 20, flagged_for_review=True) for number in range(30)),
    )


@pytest.mark.parametrize("width", WIDTHS)
async def test_nothing_reaches_beyond_the_edge(site: Site, visitor: Visitor, width: str) -> None:
    person = await person_of_long_words(site)
    visit = await visitor.arrive(size=WIDTHS[width])
    await expect(visit.by("signin.token")).to_be_visible()
    overflowing = {"signin": await visit.page.evaluate(OVERFLOWING)}
    await visit.sign_in(person.token)
    await expect(visit.rows.first).to_be_visible()

    for place in ("memories", f"memory/{person.records[0].id}", "review", "overview"):
        await visit.go(f"#/{place}")
        await visit.settle()
        overflowing[place] = await visit.page.evaluate(OVERFLOWING)
    await visit.by("filter.more").or_(visit.by("overview")).first.is_visible()

    assert {} == {place: pixels for place, pixels in overflowing.items() if pixels}


async def test_the_filters_and_the_selection_fit_a_narrow_page(site: Site, visitor: Visitor) -> None:
    person = await person_of_long_words(site)
    visit = await visitor.enter(person, size=WIDTHS["narrow"])
    await expect(visit.rows.first).to_be_visible()

    await visit.by("filter.more").click()
    await expect(visit.by("filter.subject")).to_be_visible()
    assert 0 == await visit.page.evaluate(OVERFLOWING)
    await visit.by(f"select.{person.records[-1].id}").check()
    await expect(visit.by("selection.bar")).to_be_visible()
    assert 0 == await visit.page.evaluate(OVERFLOWING)


MOVING = """
    () => document.getAnimations({ subtree: true })
        .filter((animation) => animation.effect.getComputedTiming().activeDuration > 1).length
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_the_page_keeps_to_what_the_person_prefers(site: Site, visitor: Visitor, scheme: str) -> None:
    person = await site.person(memory("Keeps a rowing boat", flagged_for_review=True))
    visit = await visitor.enter(person, color_scheme=scheme, reduced_motion="reduce")
    await expect(visit.rows.first).to_be_visible()
    background = await visit.page.evaluate("getComputedStyle(document.body).backgroundColor")
    red, green, blue = (int(part) for part in background.removeprefix("rgb(").removesuffix(")").split(","))

    assert (sum((red, green, blue)) < 3 * 128) == (scheme == "dark")
    for place in ("memories", f"memory/{person.records[0].id}", "overview", "review"):
        await visit.go(f"#/{place}")
        assert 0 == await visit.page.evaluate(MOVING)


async def press_until(visit: Visit, testid: str, key: str = "Tab") -> None:
    """Press a key until what bears the identifier has the focus, and is seen to have it."""
    for _ in range(60):
        await visit.page.keyboard.press(key)
        if await visit.by(testid).first.evaluate("element => element === document.activeElement"):
            outline = await visit.by(testid).first.evaluate(
                "element => [getComputedStyle(element).outlineStyle, getComputedStyle(element).boxShadow]"
            )
            assert outline != ["none", "none"], testid
            return
    raise AssertionError(f"{testid} is not reached with {key}")


async def test_everything_can_be_done_without_a_mouse(site: Site, visitor: Visitor) -> None:
    first, second = memory("Sails", flagged_for_review=True), memory("Drinks tea", sensitivity=Sensitivity.INTERNAL)
    person = await site.person(first, second)
    visit = await visitor.arrive()
    await expect(visit.by("signin.token")).to_be_focused()
    await visit.page.keyboard.type(person.token)
    await press_until(visit, "signin.ceiling.public")
    await visit.page.keyboard.press("ArrowDown")
    await press_until(visit, "signin.submit")
    await visit.page.keyboard.press("Enter")
    await expect(visit.rows).to_have_count(2)
    assert "internal" == await visit.ceiling()

    await visit.press("j", "j", "Enter")
    await expect(visit.detail).to_contain_text("Sails")
    await press_until(visit, "review.dismiss")
    await visit.page.keyboard.press("Enter")
    await visit.answered("ReviewMemory")
    await visit.press("Escape")
    await expect(visit.detail).to_be_hidden()
    await visit.press("g", "o")
    await expect(visit.by("overview").first).to_be_visible()
    await visit.press("g", "r")
    await expect(visit.state("empty")).to_contain_text("All looked through")
    await visit.press("g", "m")
    await expect(visit.rows).to_have_count(2)
    await visit.press("k")
    await visit.press("/")
    await expect(visit.by("filter.text")).to_be_focused()
    await visit.press("Escape", "?")
    await expect(visit.page.get_by_role("dialog")).to_contain_text("Not relevant here")
    await visit.press("Escape")
    await expect(visit.page.get_by_role("dialog")).to_have_count(0)


async def test_a_dialog_keeps_the_focus_and_gives_it_back(site: Site, visitor: Visitor) -> None:
    visit = await visitor.enter(await site.person(memory("Sails"), memory("Drinks tea")), size=DESKTOP)
    await expect(visit.rows).to_have_count(2)
    await visit.press("j", "d")
    await expect(visit.by("confirm.cancel")).to_be_visible()
    inside = "document.querySelector('dialog[open]').contains(document.activeElement)"
    assert await visit.page.evaluate(inside)

    await visit.press("Escape")

    await expect(visit.by("confirm.delete")).to_have_count(0)
    assert await visit.rows.first.evaluate("row => row.contains(document.activeElement)")
