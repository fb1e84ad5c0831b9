"""The page in three languages, and beliefs in any script."""

import re
from decimal import Decimal
from typing import Any

import pytest
from playwright.async_api import expect

from tests.browser.languages import catalogue
from tests.browser.marks import browser_tests
from tests.browser.site import Site
from tests.browser.visits import SIZES, Visitor
from tests.factories import memory

pytestmark = browser_tests(2)

OTHERS = {"de": "de-AT", "es": "es-MX"}
PERCENTAGES = {"de": "82,5\u00a0%", "es": "82.5%"}
WHOLE_WORDS = {"en": "whole words", "de": "ganze Wörter", "es": "palabras enteras"}
PLURALS = {"one", "other"}


def names_in(entry: Any) -> set[str]:  # Any: a text, or one for each plural form
    """The values that a text is filled with."""
    return set(re.findall(r"\{(\w+)\}", str(entry)))


@pytest.mark.parametrize("code", OTHERS)
async def test_a_catalogue_has_the_keys_and_values_of_the_english_one(visitor: Visitor, code: str) -> None:
    visit = await visitor.arrive()
    english, other = await catalogue(visit, "en"), await catalogue(visit, code)

    assert english.keys() == other.keys()
    assert {} == {key: other[key] for key in english if names_in(english[key]) != names_in(other[key])}
    assert [] == [key for key, entry in other.items() if isinstance(entry, dict) and entry.keys() < PLURALS]
    assert len(english) * 0.9 < len([key for key in english if english[key] != other[key]])


@pytest.mark.parametrize("code", OTHERS)
async def test_the_page_speaks_the_language_of_the_browser(site: Site, visitor: Visitor, code: str) -> None:
    belief = memory("Keeps a rowing boat", flagged_for_review=True, confidence=Decimal("0.825"))
    visit = await visitor.enter(await site.person(belief), locale=OTHERS[code])
    texts = await catalogue(visit, code)
    english = await catalogue(visit, "en")

    assert code == await visit.page.locator("html").get_attribute("lang")
    await expect(visit.by("nav.overview")).to_have_text(texts["nav.overview"])
    await expect(visit.row(belief)).to_contain_text(texts["row.flagged"])
    await visit.open(belief)
    said = await visit.page.locator("body").inner_text()
    assert texts["detail.timeline"] in said
    assert f"({PERCENTAGES[code]})" in said
    told_in_english = [
        key
        for key in (
            "nav.memories",
            "list.lead",
            "detail.source",
            "act.dismiss_help",
            "timeline.created",
            "authority.INFERRED",
        )
        if english[key] in said
    ]
    assert [] == told_in_english


async def test_the_search_says_in_every_language_that_whole_words_are_found(site: Site, visitor: Visitor) -> None:
    person = await site.person(memory("Keeps a rowing boat"))
    visit = await visitor.enter(person, remember=True, fragment="#/memories?text=row")
    for code, words in WHOLE_WORDS.items():
        await visit.page.evaluate("code => localStorage.setItem('belief-browser.language', code)", code)
        await visit.page.reload()

        await expect(visit.by("filter.text")).to_have_accessible_description(re.compile(words, re.IGNORECASE))
        await expect(visit.state("empty")).to_contain_text(re.compile(words, re.IGNORECASE))


async def test_a_language_that_is_chosen_is_kept(site: Site, visitor: Visitor) -> None:
    person = await site.person(memory("Keeps a rowing boat"))
    visit = await visitor.enter(person, remember=True)
    await visit.open_settings()

    await visit.by("language").first.select_option("de")
    texts = await catalogue(visit, "de")
    await expect(visit.by("nav.overview")).to_have_text(texts["nav.overview"])
    await visit.page.reload()

    await expect(visit.by("nav.overview")).to_have_text(texts["nav.overview"])
    assert "de" == await visit.page.locator("html").get_attribute("lang")


ARABIC = "تفضّل الشاي بالنعناع على القهوة (Earl Grey!)."


@pytest.mark.parametrize("size", SIZES)
async def test_a_belief_written_from_right_to_left_is_read_so(site: Site, visitor: Visitor, size: str) -> None:
    belief = memory(ARABIC, subject="سميرة منصور")
    visit = await visitor.enter(await site.person(belief), size=SIZES[size])
    statement = visit.row(belief).get_by_text(ARABIC)
    assert "rtl" == await statement.evaluate("element => getComputedStyle(element).direction")
    assert "ltr" == await visit.row(belief).evaluate("element => getComputedStyle(element).direction")

    await visit.open(belief)

    shown = visit.detail.get_by_text(ARABIC).first
    assert "rtl" == await shown.evaluate("element => getComputedStyle(element).direction")
