"""Scrolling on: page after page until the last, never twice, never an answer to another question."""

import itertools
from typing import Any

import pytest
from playwright.async_api import expect

from tests.browser.gestures import node_count, scroll_to_end
from tests.browser.marks import browser_tests
from tests.browser.network import Act, Held, between, changed, lost, through, unavailable
from tests.browser.site import Person, Site
from tests.browser.visits import SIZES, Visitor
from tests.factories import memory
from tests.faults.obstacles import connected

pytestmark = browser_tests(2)

PAGE = 50
MANY = 10_000
ROWS_MAX = 150
"""How many rows the page may hold at once; a page of the API is a third of it."""


@pytest.mark.parametrize("size", SIZES)
async def test_scrolling_shows_every_belief_once_and_stops_at_the_last(site: Site, visitor: Visitor, size: str) -> None:
    person = await site.person(*(memory(f"Counts to {number:03}") for number in range(120)))
    visit = await visitor.enter(person, size=SIZES[size])

    seen = (await scroll_to_end(visit)).ids

    assert [str(record.id) for record in reversed(person.records)] == list(seen)
    await expect(visit.page.get_by_text("That is all")).to_be_visible()
    cursors = [question.variables.get("after") for question in visit.asked("MemoryItems")]
    assert 3 == len(set(cursors)) == len(cursors)


async def test_a_server_that_repeats_a_cursor_is_asked_no_further(site: Site, visitor: Visitor) -> None:
    person = await site.person(*(memory(f"Counts to {number:03}") for number in range(120)))
    visit = await visitor.arrive()
    repeated: list[str] = []

    def repeat(answer: Any) -> None:  # Any: JSON
        page = answer["data"]["memoryItems"]["pageInfo"]
        repeated.append(page["endCursor"])
        page.update(endCursor=repeated[0], hasNextPage=True)

    await between(visit.page, "MemoryItems", *itertools.repeat(changed(repeat), 100))
    await visit.sign_in(person.token)

    seen = (await scroll_to_end(visit)).ids

    await expect(visit.page.get_by_text("sent the same page twice")).to_be_visible()
    assert 2 == len(visit.asked("MemoryItems"))
    assert 2 * PAGE == len(seen)


async def test_an_answer_that_comes_too_late_is_not_shown(site: Site, visitor: Visitor) -> None:
    boat, tea = memory("Keeps a rowing boat"), memory("Drinks tea")
    visit = await visitor.enter(await site.person(boat, tea))
    await expect(visit.rows).to_have_count(2)
    late = Held()
    await between(visit.page, "MemoryItems", late)

    await visit.filter("text", "tea")
    await late.come()
    await visit.filter("text", "rowing")
    await expect(visit.row(boat)).to_be_visible()
    await expect(visit.row(tea)).to_have_count(0)
    late.let_go()

    await visit.settle()
    await expect(visit.row(boat)).to_be_visible()
    await expect(visit.row(tea)).to_have_count(0)


@pytest.mark.parametrize("failure", [lost, unavailable], ids=["lost", "unavailable"])
async def test_a_page_that_fails_leaves_the_others_and_can_be_asked_again(
    site: Site, visitor: Visitor, failure: Act
) -> None:
    person = await site.person(*(memory(f"Counts to {number:03}") for number in range(60)))
    visit = await visitor.arrive()
    await between(visit.page, "MemoryItems", through, failure)
    await visit.sign_in(person.token)
    await expect(visit.rows.first).to_be_visible()

    await scroll_to_end(visit)
    await expect(visit.page.get_by_text("The rest could not be loaded")).to_be_visible()
    await visit.page.get_by_role("button", name="Try again").click()

    await visit.settle()
    await scroll_to_end(visit)

    await expect(visit.row(person.records[0])).to_be_in_viewport()
    assert [None, "after", "after"] == [
        "after" if "after" in question.variables else None for question in visit.asked("MemoryItems")
    ]


async def add_many(site: Site, person: Person, count: int) -> None:
    """Let somebody be believed as much, by copies of one belief under ids and positions of their own."""
    own = {"id": "gen_random_uuid()", "store_position": "nextval('belief_positions')"}
    own["statement"] = "'Counts to ' || number"
    async with connected(site.database_url) as connection:
        columns = await connection.fetch(
            "select column_name from information_schema.columns"
            " where table_name = 'beliefs' and is_generated = 'NEVER' order by ordinal_position"
        )
        names = [column["column_name"] for column in columns]
        values = ", ".join(own.get(name, name) for name in names)
        await connection.execute(
            f"insert into beliefs ({', '.join(names)}) select {values} from beliefs"
            f" cross join generate_series(1, {count}) number where id = $1 order by number",
            person.records[0].id,
        )


@pytest.mark.parametrize("count", [2_500, pytest.param(MANY, marks=pytest.mark.long)])
async def test_the_page_stays_small_over_many_beliefs(site: Site, visitor: Visitor, count: int) -> None:
    person = await site.person(memory("Counts"))
    await add_many(site, person, count)
    visit = await visitor.enter(person)
    await expect(visit.rows.first).to_be_visible()
    nodes = await node_count(visit)

    scrolled = await scroll_to_end(visit, by_leaps=True)

    await expect(visit.row(person.records[0])).to_be_in_viewport()
    assert scrolled.rows_max <= ROWS_MAX
    assert await node_count(visit) < nodes + 2_000
    assert (count // PAGE) + 1 == len(visit.asked("MemoryItems"))
    await expect(visit.page.get_by_text("That is all")).to_be_visible()
