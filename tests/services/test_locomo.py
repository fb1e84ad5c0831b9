"""The LoCoMo conversations: every observation becomes one belief, found again by every walk.

The file is not ours to ship: it is found by TEST_LOCOMO_FILE, else as shared/data/locomo10.json beside a
parent folder of the checkout; where it is absent the suite is skipped.
"""

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from gateway.service.errors import MalformedRequest
from gateway.service.importing import ImportReport, LocomoImportService
from gateway.service.locomo import SCOPE, TENANT
from gateway.service.memory_requests import MemoryPaging, MemorySelection
from store.domain.derived import rendered
from store.domain.owners import Owner
from store.domain.people import Person
from store.domain.vocabulary import LIVE_STATUSES, MemoryStatus, Sensitivity
from tests.services.deployment import Deployment, as_principal


def locomo_file() -> Path | None:
    """Where the file lies on this machine."""
    named = os.environ.get("TEST_LOCOMO_FILE")
    if named:
        return Path(named)
    places = [folder / "shared" / "data" / "locomo10.json" for folder in Path(__file__).resolve().parents]
    return next((place for place in places if place.is_file()), None)


@pytest.fixture(scope="module")
def content() -> bytes:
    """The file's bytes."""
    file = locomo_file()
    if file is None:
        if os.environ.get("CI"):
            pytest.fail("the LoCoMo file is required here: name it by TEST_LOCOMO_FILE")
        pytest.skip("the LoCoMo file is not on this machine")
    return file.read_bytes()


async def take(deployment: Deployment, content: bytes, *, derive: bool = False) -> ImportReport:
    imports = LocomoImportService(deployment.store, deployment.formation, deployment.summaries)
    return await imports.run(content, derive=derive)


async def beliefs(deployment: Deployment) -> list[dict[str, Any]]:
    return [each async for each in deployment.exports.lines() if each["kind"] == "belief"]


async def test_every_observation_becomes_one_belief_that_a_walk_finds_once_and_a_second_import_skips(
    deployment: Deployment, content: bytes
) -> None:
    report = await take(deployment, content)

    assert (report.counts, report.refused) == ({"restored": 2_541}, 0)
    found = await beliefs(deployment)
    assert len({each["id"] for each in found}) == 2_541
    assert len({each["principal"] for each in found}) == 20
    assert len({each["source_session_id"] for each in found}) == 272
    assert len({(each["source_session_id"], each["principal"]) for each in found}) <= 544
    assert sum(each["evidence_count"] for each in found) == 2_561
    assert {each["sensitivity"] for each in found} == set(Sensitivity)
    assert {each["status"] for each in found} == set(LIVE_STATUSES)
    authorities = Counter(each["authority"] for each in found)
    assert 0.07 < authorities["user"] / 2_541 < 0.13
    assert all((each["authority"] == "user") == (each["status"] == MemoryStatus.ACTIVE) for each in found)
    assert sum(not each["subject"].startswith("person:") for each in found) == 65

    assert (await take(deployment, content)).counts == {"skipped": 2_541}
    assert await beliefs(deployment) == found
    await check_walks(deployment, found)
    await check_renames(deployment, content)


async def check_walks(deployment: Deployment, found: list[dict[str, Any]]) -> None:
    """A walk over all pages returns each belief of each principal exactly once, in both directions."""
    for principal in sorted({each["principal"] for each in found}):
        wanted = [each["id"] for each in found if each["principal"] == principal]

        owner = Owner(tenant="locomo", principal=principal)

        assert await walk(deployment, owner, backwards=True) == wanted
        assert await walk(deployment, owner, backwards=False) == wanted[::-1]


async def check_renames(deployment: Deployment, content: bytes) -> None:
    """An import after a rename leaves one name everywhere."""
    people = [each async for each in deployment.exports.lines() if each["kind"] == "person"]
    person = people[0]
    of = Owner(tenant=person["tenant"], principal=person["principal"])
    await deployment.people.name(Person(owner=of, key=person["key"], name="Somebody else"))

    # The conversation of the person suffices: nothing of the others can bring the name back.
    theirs = [each for each in json.loads(content) if each["sample_id"] == of.principal.partition("/")[0]]
    await take(deployment, json.dumps(theirs).encode())

    async with deployment.store.snapshot() as snapshot:
        shown = {
            record.display_subject
            async for record, _ in snapshot.memories.export(of)
            if record.subject == f"person:{person['key']}"
        }
    assert shown == {person["name"]}


async def walk(deployment: Deployment, owner: Owner, *, backwards: bool) -> list[str]:
    walked: list[str] = []
    cursor: str | None = None
    while True:
        paging = MemoryPaging(last=17, before=cursor) if backwards else MemoryPaging(first=17, after=cursor)
        async with deployment.memories.reading() as reading:
            page = await reading.browse(as_principal(owner), MemorySelection(ceiling=Sensitivity.RESTRICTED), paging)
        edges = page.edges[::-1] if backwards else page.edges
        walked += [str(edge.node.id) for edge in edges]
        more = page.has_previous_page if backwards else page.has_next_page
        if not more:
            return walked
        cursor = edges[-1].cursor


async def test_a_conversation_is_summed_up_by_session_month_and_whole_and_a_second_time_changes_nothing(
    deployment: Deployment, content: bytes
) -> None:
    sample = json.dumps(json.loads(content)[:1]).encode()

    report = await take(deployment, sample, derive=True)

    owners = await deployment.summaries.owners(TENANT)
    found = [record for of in owners for record in await deployment.stored_derived(of=of)]
    assert 2 == len(owners)
    assert len(found) == report.counts["summaries_derived"]
    assert 0 == sum(report.counts[f"summaries_{outcome}"] for outcome in ("unchanged", "blocked", "refused"))
    contents = {record.id: record.content for record in found if record.content is not None}
    levels = Counter((of.evidence_ref.partition(":")[0], len(of.session_ids) > 1) for of in contents.values())
    assert {("session", False), ("month", True), ("all", True)} == set(levels)
    stated = {each["id"]: each["statement"] for each in await beliefs(deployment)}
    for record in found:
        for source in record.sources:
            below = contents.get(source.id)
            said = {rendered(stated[str(source.id)])} if below is None else {clause.text for clause in below.clauses}
            own = contents[record.id]
            assert source.omitted or said & {clause.text for clause in own.clauses if source.id in clause.source_ids}
            assert own.scope == SCOPE

    events = [await deployment.events(of=of) for of in owners]
    again = await take(deployment, sample, derive=True)
    assert {"skipped": report.counts["restored"], "summaries_unchanged": len(found)} == {
        outcome: count for outcome, count in again.counts.items() if count
    }
    assert found == [record for of in owners for record in await deployment.stored_derived(of=of)]
    assert events == [await deployment.events(of=of) for of in owners]


@pytest.mark.parametrize("content", [b"", b"{}", b"[1]", json.dumps([{"observation": {}}]).encode()])
async def test_another_file_is_refused(deployment: Deployment, content: bytes) -> None:
    with pytest.raises(MalformedRequest):
        await take(deployment, content)
