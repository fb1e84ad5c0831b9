"""What the page says while there is nothing to show: it is empty, under way, failed, offline, or not to be had."""

import json
from hashlib import sha256
from pathlib import Path

import pytest
from playwright.async_api import Route, expect

from tests.browser.gestures import scroll_to_end
from tests.browser.marks import browser_tests
from tests.browser.network import Act, Held, between, failed, lost, unavailable
from tests.browser.site import Site, served_site
from tests.browser.visits import SIZES, Visitor
from tests.databases import DatabaseServer
from tests.factories import memory

OTHER = "query Other { viewer { scopes } }"

pytestmark = browser_tests(2)


@pytest.mark.parametrize("size", SIZES)
async def test_of_whom_nothing_is_believed_is_told_so(site: Site, visitor: Visitor, size: str) -> None:
    visit = await visitor.enter(await site.person(), size=SIZES[size])

    await expect(visit.state("empty")).to_contain_text("Nothing is believed about you yet")
    await visit.by("nav.review").click()
    await expect(visit.state("empty")).to_contain_text("All looked through")
    await visit.by("nav.overview").click()
    await expect(visit.by("overview").first).to_contain_text("Nothing is believed about you at this level")


async def test_a_search_that_finds_nothing_offers_to_end_it(site: Site, visitor: Visitor) -> None:
    visit = await visitor.enter(await site.person(memory("Drinks tea")))
    await visit.filter("text", "rowing")
    await expect(visit.state("empty")).to_contain_text("Nothing matches")
    await expect(visit.state("empty")).to_contain_text("Only whole words are found")

    await visit.page.get_by_role("button", name="Clear search and filters").click()

    await expect(visit.rows).to_have_count(1)
    await expect(visit.by("filter.text")).to_have_value("")


async def test_what_is_under_way_is_said(site: Site, visitor: Visitor) -> None:
    person = await site.person(memory("Drinks tea"))
    visit = await visitor.arrive()
    held = Held()
    await between(visit.page, "MemoryItems", held)
    await visit.sign_in(person.token)

    await expect(visit.state("loading")).to_contain_text("Loading")
    held.let_go()

    await expect(visit.rows).to_have_count(1)
    await expect(visit.state("loading")).to_have_count(0)


@pytest.mark.parametrize(
    ("failure", "state", "words"),
    [
        (failed, "error", "Something went wrong on the server"),
        (unavailable, "error", "The server is busy"),
        (lost, "offline", "The server can’t be reached"),
    ],
    ids=["failed", "unavailable", "lost"],
)
async def test_a_failure_says_what_is_going_on_and_offers_another_try(
    site: Site, visitor: Visitor, failure: Act, state: str, words: str
) -> None:
    person = await site.person(memory("Drinks tea"))
    visit = await visitor.arrive()
    await between(visit.page, "MemoryItems", failure)
    await visit.sign_in(person.token)
    await expect(visit.state(state)).to_contain_text(words)

    await visit.state(state).get_by_role("button", name="Try again").click()

    await expect(visit.rows).to_have_count(1)
    await expect(visit.state(state)).to_have_count(0)


async def test_a_page_that_is_offline_goes_on_when_the_network_is_back(site: Site, visitor: Visitor) -> None:
    belief = memory("Keeps a rowing boat")
    visit = await visitor.enter(await site.person(belief, memory("Drinks tea")))
    await expect(visit.rows).to_have_count(2)

    await visit.page.context.set_offline(True)
    await visit.filter("text", "rowing")
    await expect(visit.state("offline")).to_contain_text("No connection")
    await visit.page.context.set_offline(False)

    await expect(visit.rows).to_have_count(1)
    await expect(visit.row(belief)).to_be_visible()


async def test_a_slow_network_takes_longer_and_changes_nothing(site: Site, visitor: Visitor) -> None:
    person = await site.person(*(memory(f"Counts to {number}") for number in range(60)))
    visit = await visitor.prepare()
    chromium = await visit.page.context.new_cdp_session(visit.page)
    slow = {"offline": False, "latency": 150, "downloadThroughput": 400_000, "uploadThroughput": 100_000}
    await chromium.send("Network.emulateNetworkConditions", slow)

    await visit.page.goto(site.url)
    await visit.sign_in(person.token)

    await expect(visit.rows.first).to_be_visible()
    assert 60 == len((await scroll_to_end(visit)).ids)


async def test_a_server_without_the_surface_says_so(postgres_server: DatabaseServer, visitor: Visitor) -> None:
    async with served_site(postgres_server, api_enabled="false", browser_enabled="true") as bare:
        visit = await visitor.enter(await bare.person(), url=bare.url)

        await expect(visit.state("unsupported")).to_contain_text("This server does not support memory browsing yet")
        assert {"Server"} == {question.name for question in visit.questions}


async def test_the_page_works_where_only_trusted_documents_are_executed(
    postgres_server: DatabaseServer, visitor: Visitor, tmp_path: Path
) -> None:
    belief = memory("Keeps a rowing boat", flagged_for_review=True)
    manifest = tmp_path / "manifest.json"
    manifest.write_text(json.dumps({sha256(OTHER.encode()).hexdigest(): OTHER}))
    async with served_site(postgres_server, documents_mode="only", documents=str(manifest)) as closed:
        person = await closed.person(belief)
        visit = await visitor.enter(person, url=closed.url)
        await visit.open(belief)
        await visit.by("review.dismiss").click()
        await expect(visit.by("review.count")).to_be_hidden()
        await visit.by("nav.overview").click()
        await expect(visit.by("overview").first).to_contain_text("1")
        kept = await closed.stored(person, belief)

    assert kept is not None
    assert not kept.flagged_for_review


async def test_a_server_that_takes_no_changes_says_so(site: Site, visitor: Visitor) -> None:
    belief = memory("Keeps a rowing boat", flagged_for_review=True)
    visit = await visitor.enter(await site.person(belief))
    await between(visit.page, "ReviewMemory", unknown_document)
    await visit.open(belief)

    await visit.by("review.dismiss").click()

    await expect(visit.page.get_by_text("This server does not support memory changes yet").first).to_be_visible()
    await expect(visit.by("review.dismiss")).to_have_count(0)


async def unknown_document(route: Route) -> None:
    error = {
        "message": "Cannot query field 'reviewMemory' on type 'Mutation'.",
        "extensions": {"code": "malformed_request", "classification": "GRAPHQL_VALIDATION_FAILED"},
    }
    await route.fulfill(status=400, content_type="application/json", body=json.dumps({"errors": [error]}))
