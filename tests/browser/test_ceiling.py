"""The ceiling: stated visibly, sent always, and nothing above it in the page."""

import re

import pytest
from playwright.async_api import expect

from store.domain.vocabulary import Sensitivity
from tests.browser.marks import browser_tests
from tests.browser.network import Held, between
from tests.browser.site import Site
from tests.browser.visits import SIZES, Visitor
from tests.factories import memory

pytestmark = browser_tests(1)

LEVELS = list(Sensitivity)
LINK = "sensitivity=restricted"
"""What is in the overview only where there is something as private."""
SAVED = "Saved 2 beliefs to a file."


@pytest.mark.parametrize("size", SIZES)
async def test_lowering_the_ceiling_takes_what_lies_above_out_of_the_page(
    site: Site, visitor: Visitor, size: str
) -> None:
    beliefs = {level: memory(f"Is known at {level.value}level", sensitivity=level) for level in LEVELS}
    person = await site.person(*beliefs.values())
    visit = await visitor.enter(person, ceiling=Sensitivity.RESTRICTED, size=SIZES[size])
    await expect(visit.rows).to_have_count(4)

    for ceiling in (Sensitivity.SENSITIVE, Sensitivity.INTERNAL, Sensitivity.PUBLIC, Sensitivity.RESTRICTED):
        shown = LEVELS[: LEVELS.index(ceiling) + 1]
        await visit.choose_ceiling(ceiling)
        await expect(visit.rows).to_have_count(len(shown))
        assert await visit.ceiling() == ceiling
        content = await visit.page.content()
        assert shown == [level for level in LEVELS if f"{level.value}level" in content]
        assert {ceiling.name} == {question.ceiling for question in visit.asked("MemoryItems")[-1:]}


async def test_the_ceiling_is_kept_in_the_address(site: Site, visitor: Visitor) -> None:
    beliefs = [memory(f"Is known at {level.value}", sensitivity=level) for level in LEVELS]
    person = await site.person(*beliefs)
    visit = await visitor.enter(person, ceiling=Sensitivity.INTERNAL, remember=True)
    await expect(visit.rows).to_have_count(2)

    await visit.page.reload()

    await expect(visit.rows).to_have_count(2)
    assert await visit.ceiling() == Sensitivity.INTERNAL
    assert {None, "INTERNAL"} == {question.ceiling for question in visit.questions}


async def test_a_belief_that_is_open_vanishes_when_it_lies_above(site: Site, visitor: Visitor) -> None:
    belief = memory("Fears deep water", sensitivity=Sensitivity.SENSITIVE)
    person = await site.person(belief)
    visit = await visitor.enter(person)
    await visit.open(belief)
    await expect(visit.detail).to_contain_text("Fears deep water")

    await visit.choose_ceiling(Sensitivity.INTERNAL)

    await expect(visit.page.get_by_text("Fears deep water")).to_have_count(0)
    assert "Fears deep water" not in await visit.page.content()
    assert "Fears deep water" not in await visit.page.title()


async def test_what_stands_hidden_holds_nothing_of_a_higher_ceiling(site: Site, visitor: Visitor) -> None:
    secret = memory("Keeps a quixzorble", sensitivity=Sensitivity.RESTRICTED, flagged_for_review=True)
    visit = await visitor.enter(await site.person(secret, memory("Drinks tea", sensitivity=Sensitivity.PUBLIC)))
    await expect(visit.by("review.count")).to_contain_text("1")
    await visit.by(f"select.{secret.id}").check()
    await visit.open(secret)
    await visit.by("nav.overview").click()
    await expect(visit.by("overview").first).to_contain_text("2")
    assert "quixzorble" in await visit.everything()
    count = Held()
    await between(visit.page, "ReviewItemsCount", count)

    await visit.choose_ceiling(Sensitivity.PUBLIC)

    await count.come()
    await expect(visit.by("review.count")).to_be_hidden()
    await expect(visit.by("review.count")).not_to_contain_text("1")
    await expect(visit.by("selection.bar")).to_be_empty()
    assert "quixzorble" not in await visit.everything()
    assert str(secret.id) not in await visit.everything()
    count.let_go()
    await visit.settle()

    await visit.choose_ceiling(Sensitivity.RESTRICTED)
    await expect(visit.by("overview").first).to_contain_text("2")
    await visit.by("download").click()
    await expect(visit.by("download.message")).to_have_text(SAVED)
    assert LINK in await visit.everything()
    await visit.by("sidebar.memory").click()
    await expect(visit.rows).to_have_count(2)
    await visit.by(f"select.{secret.id}").check()
    await visit.act("delete", within=visit.by("selection.bar"))
    await expect(visit.page.get_by_role("dialog")).to_contain_text("quixzorble")
    await visit.go("#/memories?ceiling=public")
    await expect(visit.rows).to_have_count(1)
    await expect(visit.page.get_by_role("dialog")).to_have_count(0)
    held = await visit.everything()
    assert [] == [words for words in ("quixzorble", LINK, SAVED) if words in held]


async def test_a_link_raises_no_ceiling(site: Site, visitor: Visitor) -> None:
    person = await site.person(
        memory("Keeps a boat", sensitivity=Sensitivity.PUBLIC),
        memory("Keeps a secret", sensitivity=Sensitivity.SENSITIVE),
    )
    visit = await visitor.enter(person, ceiling=Sensitivity.PUBLIC)
    await expect(visit.rows).to_have_count(1)

    await visit.go("#/memories?status=active&ceiling=restricted")
    await expect(visit.page).to_have_url(re.compile("status=active.*ceiling=public"))

    assert await visit.ceiling() == Sensitivity.PUBLIC
    assert {"PUBLIC"} == {question.variables["ceiling"] for question in visit.asked("MemoryItems")}
