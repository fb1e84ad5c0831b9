"""At a glance: what is counted leads into the list of as many; and everything as one file."""

import asyncio
import itertools
import json
import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import expect

from store.domain.vocabulary import BeliefType, MemoryStatus, Sensitivity
from tests.browser.marks import browser_tests
from tests.browser.network import between, lost, through, unavailable
from tests.browser.site import Person, Site
from tests.browser.visits import SIZES, Visitor
from tests.factories import NOW, memory

pytestmark = browser_tests(3)

END_SECONDS = 60

SPOKEN = """
    links => links.filter((link) => !link.closest("[aria-hidden=true]")).map((link) =>
        [link.getAttribute("href"), (link.querySelector(".visually-hidden") ?? link).textContent])
"""
QUERY = "query($id: ID!, $ceiling: Sensitivity!) { memory(id: $id, ceiling: $ceiling) { %s } }"


def beliefs_of(path: Path) -> list[Any]:  # Any: JSON
    """The beliefs of a file."""
    return list(json.loads(path.read_text(encoding="utf-8"))["memories"])


async def person_of_all_sorts(site: Site) -> Person:
    return await site.person(
        memory("Owned a canoe", status=MemoryStatus.SUPERSEDED),
        memory("Keeps a rowing boat", confidence=Decimal("0.2")),
        memory("Drinks tea", belief_type=BeliefType.PREFERENCE, confidence=Decimal(1)),
        memory("Fears deep water", sensitivity=Sensitivity.SENSITIVE, confidence=Decimal("0.199")),
        memory("Sleeps badly", flagged_for_review=True, sensitivity=Sensitivity.INTERNAL),
        memory("Was born at sea", created_at=NOW - timedelta(days=400), status=MemoryStatus.PROVISIONAL),
    )


@pytest.mark.parametrize("size", SIZES)
async def test_each_part_of_a_picture_leads_to_the_beliefs_behind_it(site: Site, visitor: Visitor, size: str) -> None:
    person = await person_of_all_sorts(site)
    visit = await visitor.enter(person, size=SIZES[size], fragment="#/overview")
    overview = visit.by("overview").first
    await expect(overview).to_be_visible()
    links = await overview.locator("a[href]").evaluate_all(SPOKEN)
    kinds = {"type=", "sensitivity=", "confidence", "formed", "status=", "review"}
    assert kinds == {kind for kind in kinds if any(kind in href for href, _ in links)}

    for href, name in links:
        await visit.go(href)
        await visit.settle()
        await expect(visit.rows.first).to_be_visible()
        count = await visit.rows.count()
        assert str(count) in re.findall(r"\d+", name), (href, name, count)
        await visit.page.go_back()
        await expect(overview).to_be_visible()


async def test_the_overview_counts_under_the_ceiling(site: Site, visitor: Visitor) -> None:
    visit = await visitor.enter(await person_of_all_sorts(site), ceiling=Sensitivity.PUBLIC, fragment="#/overview")
    await expect(visit.by("overview").first).to_contain_text("No belief waits for your review")
    await expect(visit.by("overview").first).to_contain_text("20% – 40%")

    await visit.choose_ceiling(Sensitivity.INTERNAL)

    await expect(visit.by("overview").first).not_to_contain_text("No belief waits for your review")
    assert "SENSITIVE" not in {question.ceiling for question in visit.questions}


@pytest.mark.parametrize("ceiling", [Sensitivity.RESTRICTED, Sensitivity.PUBLIC])
async def test_the_file_holds_everything_up_to_the_ceiling(
    site: Site, visitor: Visitor, tmp_path: Path, ceiling: Sensitivity
) -> None:
    levels = list(Sensitivity)
    beliefs = [memory(f"Counts to {number}", sensitivity=levels[number % 4]) for number in range(440)]
    former = memory("Owned a canoe", status=MemoryStatus.SUPERSEDED)
    person = await site.person(former, *beliefs)
    visit = await visitor.enter(person, ceiling=ceiling)

    await visit.download(tmp_path / "beliefs.json")

    shown = levels[: levels.index(ceiling) + 1]
    expected = {str(record.id): record.statement for record in person.records if record.sensitivity in shown}
    items = {item["id"]: item for item in beliefs_of(tmp_path / "beliefs.json")}
    assert expected == {id: item["statement"] for id, item in items.items()}
    async with site.server.client(person.token) as client:
        item = items[str(beliefs[0].id)]
        variables = {"id": item["id"], "ceiling": ceiling.name}
        query = {"query": QUERY % " ".join(item), "variables": variables}
        [one] = (await client.post("/graphql", json=query)).json()["data"].values()
    assert one == item


async def test_a_download_goes_on_after_failures_that_pass(site: Site, visitor: Visitor, tmp_path: Path) -> None:
    person = await site.person(*(memory(f"Counts to {number}") for number in range(250)))
    visit = await visitor.enter(person)
    await between(visit.page, "MemoryDownload", through, unavailable, lost)

    await visit.download(tmp_path / "beliefs.json")

    assert 250 == len(beliefs_of(tmp_path / "beliefs.json"))


async def test_a_download_waits_a_bounded_number_of_times_and_can_be_stopped(site: Site, visitor: Visitor) -> None:
    visit = await visitor.enter(await site.person(memory("Drinks tea")))
    await visit.page.clock.install()
    await visit.page.clock.pause_at(datetime.now(UTC) + timedelta(hours=1))
    await between(visit.page, "MemoryDownload", *itertools.repeat(lost, 100))
    await visit.open_settings()
    message = visit.by("download.message")

    await visit.by("download").click()
    await expect(message).to_have_text("The server can’t be reached. Going on in a moment…")
    await visit.by("download").click()
    await expect(message).to_have_text("The download was stopped.")
    tries = len(visit.asked("MemoryDownload"))

    await visit.by("download").click()
    async with asyncio.timeout(END_SECONDS):
        while "did not finish" not in await message.inner_text():
            await visit.page.clock.run_for(10_000)
    await expect(message).to_contain_text("The server can’t be reached.")
    assert tries + 21 == len(visit.asked("MemoryDownload"))
