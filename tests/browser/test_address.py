"""The address: its fragment holds the view, and nothing of the view goes anywhere."""

import re

from playwright.async_api import expect

from tests.browser.marks import browser_tests
from tests.browser.site import Site
from tests.browser.visits import Visitor
from tests.e2e.disclosure import disclosed
from tests.factories import memory

pytestmark = browser_tests(2)


async def test_back_forward_and_reload_lead_where_they_led(site: Site, visitor: Visitor) -> None:
    boat, tea = memory("Keeps a rowing boat"), memory("Drinks tea")
    visit = await visitor.enter(await site.person(boat, tea), remember=True)
    await expect(visit.rows).to_have_count(2)
    await visit.filter("text", "rowing")
    await expect(visit.row(tea)).to_have_count(0)
    await visit.open(boat)
    await expect(visit.detail).to_contain_text("Keeps a rowing boat")
    await visit.by("nav.overview").click()
    await expect(visit.by("overview").first).to_be_visible()

    await visit.page.go_back()
    await expect(visit.detail).to_contain_text("Keeps a rowing boat")
    await visit.page.reload()
    await expect(visit.detail).to_contain_text("Keeps a rowing boat")
    await visit.page.go_back()
    await expect(visit.by("filter.text")).to_have_value("rowing")
    await expect(visit.rows).to_have_count(1)
    await visit.page.go_forward()
    await expect(visit.detail).to_contain_text("Keeps a rowing boat")
    await visit.page.go_forward()
    await expect(visit.by("overview").first).to_be_visible()


async def test_back_after_a_deletion_leads_to_what_was_before_it(site: Site, visitor: Visitor) -> None:
    belief, other = memory("Keeps a rowing boat"), memory("Drinks tea")
    visit = await visitor.enter(await site.person(belief, other), fragment="#/overview")
    await expect(visit.by("overview").first).to_be_visible()
    await visit.go(f"#/memory/{belief.id}")

    await visit.act("delete")
    await visit.by("confirm.delete").click()
    await expect(visit.row(other)).to_be_visible()
    await expect(visit.detail).to_be_hidden()
    await visit.page.go_back()

    await expect(visit.by("overview").first).to_be_visible()
    await visit.page.go_forward()
    await expect(visit.row(other)).to_be_visible()
    await expect(visit.detail).to_be_hidden()


async def test_a_link_with_a_view_leads_there_after_signing_in(site: Site, visitor: Visitor) -> None:
    boat, tea = memory("Keeps a rowing boat"), memory("Drinks tea")
    person = await site.person(boat, tea)

    visit = await visitor.enter(person, fragment="#/memories?text=rowing")
    await expect(visit.rows).to_have_count(1)
    await expect(visit.by("filter.text")).to_have_value("rowing")

    await visit.go(f"#/memory/{tea.id}")
    await expect(visit.detail).to_contain_text("Drinks tea")


async def test_a_fragment_of_nonsense_is_the_plain_list(site: Site, visitor: Visitor) -> None:
    person = await site.person(memory("Keeps a rowing boat"))

    visit = await visitor.enter(person, fragment="#/nowhere?status=odd&confidenceMin=NaN&formedAfter=yesterday&text=")

    await expect(visit.rows).to_have_count(1)


async def test_words_that_are_searched_for_are_in_no_address_no_header_and_no_log(site: Site, visitor: Visitor) -> None:
    word = "quixzorble"
    belief = memory(f"Keeps a {word}")
    visit = await visitor.enter(await site.person(belief), remember=True)
    await visit.filter("text", word)
    await expect(visit.page).to_have_url(re.compile(word))
    await expect(visit.row(belief)).to_be_visible()
    await visit.open(belief)
    await expect(visit.detail).to_contain_text(word)
    await visit.page.reload()
    await expect(visit.detail).to_contain_text(word)

    headers = [await request.all_headers() for request in visit.requests]
    told = [*(request.url for request in visit.requests), *map(str, headers), site.server.log]
    assert set() == disclosed("\n".join([*told, await visit.page.title()]), [word])
    assert [] == [sent for sent in headers if sent.get("referer")]
    assert word in visit.page.url


async def test_a_belief_of_somebody_else_is_not_found(site: Site, visitor: Visitor) -> None:
    foreign = memory("Keeps a rowing boat")
    await site.person(foreign)

    visit = await visitor.enter(await site.person(memory("Drinks tea")), fragment=f"#/memory/{foreign.id}")

    await expect(visit.page.get_by_text("There is no such belief at this level of privacy")).to_be_visible()
