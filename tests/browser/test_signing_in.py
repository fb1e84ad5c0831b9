"""Signing in and out: what opens the page, and where the token is kept."""

import pytest
from playwright.async_api import expect

from store.domain.vocabulary import Sensitivity
from tests.browser.marks import browser_tests
from tests.browser.network import Held, between, through, unauthenticated
from tests.browser.site import Site
from tests.browser.visits import SIZES, Visit, Visitor
from tests.factories import memory
from tests.gateways import READ, WRITE

pytestmark = browser_tests(1)

KEPT = "JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie])"


async def kept_for_good(visit: Visit) -> str:
    return str(await visit.page.evaluate("JSON.stringify([{...localStorage}, document.cookie])"))


@pytest.mark.parametrize("size", SIZES)
async def test_a_token_opens_the_list_and_is_kept_nowhere(site: Site, visitor: Visitor, size: str) -> None:
    belief = memory("Keeps a rowing boat")
    person = await site.person(belief)
    visit = await visitor.arrive(size=SIZES[size])
    await expect(visit.by("signin.token")).to_be_visible()
    assert [] == visit.questions

    await visit.sign_in(person.token, ceiling=Sensitivity.PUBLIC)

    await expect(visit.row(belief)).to_contain_text("Keeps a rowing boat")
    assert person.token not in await visit.page.evaluate(KEPT)
    await visit.page.reload()
    await expect(visit.by("signin.token")).to_be_visible()
    await expect(visit.rows).to_have_count(0)


async def test_a_token_is_kept_for_the_session_of_a_tab_if_the_person_says_so(site: Site, visitor: Visitor) -> None:
    belief = memory("Keeps a rowing boat")
    person = await site.person(belief)
    visit = await visitor.enter(person, remember=True)
    await expect(visit.row(belief)).to_be_visible()

    await visit.page.reload()

    await expect(visit.row(belief)).to_be_visible()
    assert person.token not in await kept_for_good(visit)
    other = await visit.page.context.new_page()
    await other.goto(site.url)
    await expect(other.get_by_test_id("signin.token")).to_be_visible()


async def test_signing_out_leaves_nothing(site: Site, visitor: Visitor) -> None:
    person = await site.person(memory("Keeps a rowing boat"))
    visit = await visitor.enter(person, remember=True)
    await expect(visit.rows).to_have_count(1)
    await visit.by("nav.review").click()
    await expect(visit.state("empty")).to_be_visible()

    await visit.sign_out()

    await expect(visit.by("signin.token")).to_be_visible()
    await expect(visit.by("signin.token")).to_have_value("")
    assert person.token not in await visit.page.evaluate(KEPT)
    assert "rowing" not in await visit.page.content()
    await visit.page.go_back()
    await visit.page.reload()
    await expect(visit.by("signin.token")).to_be_visible()
    assert "rowing" not in await visit.page.content()


async def test_what_is_under_way_at_the_end_leaves_nothing_for_the_next_person(site: Site, visitor: Visitor) -> None:
    beliefs = [memory(f"Keeps {count} quixzorbles", flagged_for_review=True) for count in range(3)]
    person, other = await site.person(*beliefs), await site.person(memory("Drinks tea"))
    visit = await visitor.enter(person, fragment="#/review")
    await expect(visit.rows).to_have_count(3)
    await expect(visit.by("review.count")).to_contain_text("3")
    count, act = Held(), Held()
    await between(visit.page, "ReviewItemsCount", count)
    await between(visit.page, "ReviewMemory", through, act)
    for held in (count, act):
        await visit.page.keyboard.press("j")
        await visit.page.keyboard.press("r")
        await held.come()

    await visit.sign_out()
    await visit.sign_in(other.token)
    await expect(visit.rows).to_have_count(1)
    count.let_go()
    act.let_go()

    await visit.settle()
    await expect(visit.by("notices")).to_be_empty()
    await expect(visit.by("review.count")).to_be_hidden()
    assert "quixzorble" not in await visit.everything()


@pytest.mark.parametrize("locale", ["en-GB", "de-DE", "es-ES"])
async def test_the_form_is_in_sight_as_a_whole(visitor: Visitor, locale: str) -> None:
    visit = await visitor.arrive(locale=locale)

    for part in ("signin.token", "signin.submit", "language"):
        await expect(visit.by(part)).to_be_in_viewport(ratio=1)


async def test_a_token_that_is_none_is_refused_with_words(visitor: Visitor) -> None:
    visit = await visitor.arrive()

    await visit.sign_in("bgw_" + "0" * 43, ceiling=Sensitivity.PUBLIC)

    await expect(visit.page.get_by_text("This token is not valid")).to_be_visible()
    await expect(visit.by("signin.token")).to_be_editable()


async def test_a_token_that_ends_during_a_visit_leads_back_to_the_form(site: Site, visitor: Visitor) -> None:
    person = await site.person(memory("Keeps a rowing boat"))
    visit = await visitor.enter(person, remember=True)
    await expect(visit.rows).to_have_count(1)

    # A gateway goes by what it has read of a token for a while, so it is not waited for.
    await between(visit.page, "MemoryOverview", unauthenticated)
    await visit.by("nav.overview").click()

    await expect(visit.page.get_by_text("You were signed out")).to_be_visible()
    assert person.token not in await visit.page.evaluate(KEPT)
    assert "rowing" not in await visit.page.content()


async def test_a_token_that_was_kept_and_has_ended_leads_to_the_form(site: Site, visitor: Visitor) -> None:
    person = await site.person(memory("Keeps a rowing boat"))
    visit = await visitor.enter(person, remember=True)
    await expect(visit.rows).to_have_count(1)
    await between(visit.page, "Server", unauthenticated)

    await visit.page.reload()

    await expect(visit.by("signin.token")).to_be_editable()
    assert person.token not in await visit.page.evaluate(KEPT)


async def test_a_token_that_may_read_nothing_is_told_so(site: Site, visitor: Visitor) -> None:
    person = await site.person(memory("Keeps a rowing boat"), scopes=WRITE)

    visit = await visitor.enter(person)

    await expect(visit.state("forbidden")).to_contain_text("does not allow reading")


async def test_a_token_without_writes_shows_no_dead_buttons(site: Site, visitor: Visitor) -> None:
    belief = memory("Keeps a rowing boat", flagged_for_review=True)
    person = await site.person(belief, scopes=READ)

    visit = await visitor.enter(person)

    await visit.open(belief)
    await expect(visit.detail).to_contain_text("your token does not allow changes")
    for act in ("dismiss", "untrue", "not_here", "delete"):
        await expect(visit.by(f"review.{act}")).to_have_count(0)
    await expect(visit.page.locator('[data-testid^="select."]')).to_have_count(0)
    await visit.page.keyboard.press("r")
    await visit.page.keyboard.press("d")
    await expect(visit.by("confirm.delete")).to_have_count(0)
    assert [] == visit.asked("ReviewMemory") + visit.asked("DeleteMemory")
