"""Putting right: each act by button, key and swipe, applied once, and the row as the server answers it."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from playwright.async_api import Locator, expect

from store.domain.memories import MemoryRecord
from store.domain.vocabulary import MemoryStatus, Portability
from tests.browser.gestures import swipe
from tests.browser.marks import browser_tests
from tests.browser.network import Act, answer_lost, between, lost, unavailable
from tests.browser.site import Site
from tests.browser.visits import DESKTOP, PHONE, SIZES, Visit, Visitor
from tests.factories import memory

pytestmark = browser_tests(3)

ACTS = ["dismiss", "untrue", "not_here"]
KEYS = {"dismiss": "r", "untrue": "u", "not_here": "n", "delete": "d"}


def waiting(statement: str = "Keeps a rowing boat") -> MemoryRecord:
    return memory(statement, flagged_for_review=True)


def check_reviewed(act: str, stored: MemoryRecord | None) -> None:
    """What a review makes of a belief that waited for it."""
    assert stored is not None
    assert stored.flagged_for_review == (act != "dismiss")
    assert (MemoryStatus.RETIRED if act == "untrue" else MemoryStatus.ACTIVE) == stored.status
    assert (Portability.LOCAL if act == "not_here" else Portability.CONTEXTUAL) == stored.portability


def keys(visit: Visit, name: str) -> list[str]:
    return [question.variables["input"]["idempotencyKey"] for question in visit.asked(name)]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("act", ACTS)
async def test_a_button_of_the_detail_reviews(site: Site, visitor: Visitor, act: str, size: str) -> None:
    belief = waiting()
    person = await site.person(belief)
    visit = await visitor.enter(person, size=SIZES[size], fragment="#/review")
    await expect(visit.by("review.count")).to_contain_text("1")
    await visit.open(belief)

    await visit.act(act)

    await visit.answered("ReviewMemory")
    await visit.settle()
    check_reviewed(act, await site.stored(person, belief))


@pytest.mark.parametrize("act", ACTS)
async def test_a_key_reviews_the_belief_that_has_the_focus(site: Site, visitor: Visitor, act: str) -> None:
    beliefs = [waiting("Sails"), waiting("Keeps a rowing boat"), waiting("Drinks tea")]
    person = await site.person(*beliefs)
    visit = await visitor.enter(person, fragment="#/review")
    await expect(visit.rows).to_have_count(3)

    await visit.press("j", "j", KEYS[act])

    await visit.answered("ReviewMemory")
    [question] = visit.asked("ReviewMemory")
    assert beliefs[1].id == UUID(question.variables["input"]["id"])
    await visit.settle()
    check_reviewed(act, await site.stored(person, beliefs[1]))


async def test_a_reviewed_belief_leaves_the_queue_and_the_count(site: Site, visitor: Visitor) -> None:
    first, second = waiting("Sails"), waiting("Drinks tea")
    visit = await visitor.enter(await site.person(first, second), fragment="#/review")
    await expect(visit.rows).to_have_count(2)
    await expect(visit.by("review.count")).to_contain_text("2")

    await visit.press("j", "r")

    await expect(visit.rows).to_have_count(1)
    await expect(visit.row(first)).to_be_visible()
    await expect(visit.by("review.count")).to_contain_text("1")


async def test_what_is_kept_here_only_stays_in_the_queue_and_can_be_marked(site: Site, visitor: Visitor) -> None:
    belief = waiting()
    person = await site.person(belief)
    visit = await visitor.enter(person, fragment="#/review")
    await expect(visit.rows).to_have_count(1)

    await visit.press("j", "n")

    await expect(visit.row(belief)).to_contain_text("Kept here only")
    await visit.open(belief)
    await visit.act("dismiss")
    await visit.go("#/review")
    await expect(visit.rows).to_have_count(0)
    stored = await site.stored(person, belief)
    assert stored is not None
    assert (False, Portability.LOCAL) == (stored.flagged_for_review, stored.portability)


@pytest.mark.parametrize("way", ["button", "key"])
async def test_deleting_asks_first_and_can_be_left_alone(site: Site, visitor: Visitor, way: str) -> None:
    belief = waiting()
    person = await site.person(belief)
    visit = await visitor.enter(person)
    await expect(visit.rows).to_have_count(1)
    if way == "button":
        await visit.open(belief)

    for answer in ("confirm.cancel", "confirm.delete"):
        await (visit.act("delete") if way == "button" else visit.press("j", "d"))
        await expect(visit.page.get_by_text("This can’t be undone, and its statement never returns")).to_be_visible()
        assert [] == visit.asked("DeleteMemory")
        await visit.by(answer).click()
        await expect(visit.by("confirm.delete")).to_have_count(0)

    await expect(visit.row(belief)).to_have_count(0)
    await visit.settle()
    assert await site.stored(person, belief) is None
    assert 1 == len(visit.asked("DeleteMemory"))


async def test_a_deleted_statement_is_nowhere_in_the_page(site: Site, visitor: Visitor) -> None:
    first, second = memory("Keeps a quixzorble"), memory("Drinks tea")
    person = await site.person(first, second)
    visit = await visitor.enter(person, remember=True)
    await visit.open(first)
    await expect(visit.detail).to_contain_text("quixzorble")

    await visit.act("delete")
    await visit.by("confirm.delete").click()

    await expect(visit.row(second)).to_be_visible()
    await visit.settle()
    everything = "[...document.querySelectorAll('*')].map(e => e.shadowRoot?.innerHTML ?? '').join() + document.title"
    assert "quixzorble" not in await visit.page.content()
    assert "quixzorble" not in await visit.page.evaluate(everything)
    assert "quixzorble" not in await visit.page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}])")
    await visit.page.go_back()
    await visit.settle()
    assert "quixzorble" not in await visit.page.content()


@pytest.mark.parametrize("direction", [1, -1], ids=["right", "left"])
async def test_a_swipe_marks_or_asks_to_delete(site: Site, visitor: Visitor, direction: int) -> None:
    belief, other = waiting(), waiting("Drinks tea")
    person = await site.person(belief, other)
    visit = await visitor.enter(person, size=PHONE, fragment="#/review")
    await expect(visit.rows).to_have_count(2)

    await swipe(visit, visit.row(belief), direction * 250)

    if direction < 0:
        await visit.by("confirm.delete").click()
    await expect(visit.row(belief)).to_have_count(0)
    await visit.settle()
    stored = await site.stored(person, belief)
    assert (stored is None) == (direction < 0)
    assert stored is None or not stored.flagged_for_review


async def test_a_short_swipe_and_a_scroll_change_nothing(site: Site, visitor: Visitor) -> None:
    belief = waiting()
    visit = await visitor.enter(await site.person(belief), size=PHONE, fragment="#/review")

    await swipe(visit, visit.row(belief), 25)
    await swipe(visit, visit.row(belief), 40, down=200)
    await visit.settle()

    await expect(visit.by("confirm.delete")).to_have_count(0)
    assert [] == visit.asked("ReviewMemory") + visit.asked("DeleteMemory")


@pytest.mark.parametrize("failure", [lost, unavailable, answer_lost], ids=["lost", "unavailable", "answer_lost"])
async def test_a_retry_keeps_the_key_of_its_act(site: Site, visitor: Visitor, failure: Act) -> None:
    first, second = waiting("Sails"), waiting("Drinks tea")
    person = await site.person(first, second)
    visit = await visitor.enter(person, fragment="#/review")
    await expect(visit.rows).to_have_count(2)
    await between(visit.page, "ReviewMemory", failure)

    await visit.press("j", "r")
    await expect(visit.row(second)).to_have_count(0)
    await visit.press("r")
    await expect(visit.row(first)).to_have_count(0)

    sent = keys(visit, "ReviewMemory")
    assert 3 == len(sent)
    assert sent[0] == sent[1] != sent[2]
    check_reviewed("dismiss", await site.stored(person, first))


async def test_a_belief_that_is_gone_meanwhile_is_said_to_be(site: Site, visitor: Visitor) -> None:
    belief = waiting()
    person = await site.person(belief)
    visit = await visitor.enter(person, fragment="#/review")
    await expect(visit.rows).to_have_count(1)
    async with site.server.client(person.token) as client:
        gone = await client.delete(
            f"/v1/memories/{belief.id}", params={"ceiling": "restricted"}, headers={"idempotency-key": "elsewhere"}
        )
    assert gone.is_success

    await visit.press("j", "r")

    await expect(visit.page.get_by_text("This belief is no longer there")).to_be_visible()
    await expect(visit.rows).to_have_count(0)


async def test_typing_is_no_shortcut(site: Site, visitor: Visitor) -> None:
    visit = await visitor.enter(await site.person(waiting()), size=DESKTOP)
    await expect(visit.rows).to_have_count(1)
    await visit.press("j", "/")
    await expect(visit.by("filter.text")).to_be_focused()

    await visit.page.keyboard.type("rudn x")

    await expect(visit.by("filter.text")).to_have_value("rudn x")
    await expect(visit.by("confirm.delete")).to_have_count(0)
    assert [] == visit.asked("ReviewMemory") + visit.asked("DeleteMemory")


async def middle(locator: Locator) -> tuple[float, float]:
    """Where the middle of something lies in the window."""
    box = await locator.bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


async def test_a_press_does_nothing_to_what_has_just_moved_under_the_pointer(site: Site, visitor: Visitor) -> None:
    beliefs = [waiting(f"Counts to {number}") for number in range(5)]
    visit = await visitor.enter(await site.person(*beliefs), fragment="#/review")
    await expect(visit.rows).to_have_count(5)
    buttons = visit.page.get_by_test_id("review.dismiss")
    first, second = await middle(buttons.nth(0)), await middle(buttons.nth(1))
    # The page's time stands still, however slow this machine is.
    await visit.page.clock.install()
    await visit.page.clock.pause_at(datetime.now(UTC) + timedelta(hours=1))

    await visit.page.mouse.click(*first)
    await expect(visit.rows).to_have_count(4)
    await visit.page.mouse.click(*first)
    await visit.page.mouse.click(*second)
    await expect(visit.rows).to_have_count(3)
    await visit.page.mouse.click(*second)
    await visit.page.clock.run_for(1_000)
    await visit.page.mouse.click(*second)
    await expect(visit.rows).to_have_count(2)

    asked = [UUID(question.variables["input"]["id"]) for question in visit.asked("ReviewMemory")]
    assert [beliefs[number].id for number in (4, 2, 1)] == asked


async def test_what_says_the_same_leaves_the_list_with_what_is_deleted(site: Site, visitor: Visitor) -> None:
    belief, twin, other = memory("Keeps a rowing boat"), memory("keeps a  ROWING boat"), memory("Drinks tea")
    person = await site.person(belief, twin, other)
    visit = await visitor.enter(person)
    await expect(visit.rows).to_have_count(3)

    await visit.press("j", "j", "d")
    await visit.by("confirm.delete").click()

    await expect(visit.rows).to_have_count(1)
    await expect(visit.row(other)).to_be_visible()
    assert [other.id] == [record.id for record in await site.live(person)]


async def test_a_second_click_and_a_held_key_correct_nothing_else(site: Site, visitor: Visitor) -> None:
    person = await site.person(*(memory(f"Counts to {number}", flagged_for_review=True) for number in range(4)))
    visit = await visitor.enter(person)
    await visit.by("nav.review").click()
    await expect(visit.by("review.untrue")).to_have_count(4)

    await visit.rows.first.get_by_test_id("review.untrue").dblclick()
    await expect(visit.page.get_by_test_id("notices")).not_to_be_empty()
    await visit.page.wait_for_load_state("networkidle")
    assert 1 == len(visit.asked("ReviewMemory"))

    await expect(visit.rows).to_have_count(3)

    await visit.page.keyboard.press("j")
    await visit.page.keyboard.down("r")
    await expect(visit.rows).to_have_count(2)
    for _ in range(3):
        await visit.page.keyboard.down("r")
        await visit.page.evaluate(
            "() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))"
        )
    await visit.page.keyboard.up("r")
    assert 2 == len(visit.asked("ReviewMemory"))
