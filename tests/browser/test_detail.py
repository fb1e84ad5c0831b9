"""One belief: everything that is exposed of it, in words, and where it leads."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from uuid import UUID

import pytest
from playwright.async_api import expect

from store.domain.vocabulary import (
    Authority,
    BeliefType,
    ClaimKind,
    Derivation,
    Longevity,
    MemoryStatus,
    Polarity,
    Portability,
    Sensitivity,
)
from tests.browser.gestures import scroll_to_end
from tests.browser.marks import browser_tests
from tests.browser.network import Held, between
from tests.browser.site import Site
from tests.browser.visits import SIZES, Visitor
from tests.factories import NOW, OTHER_SESSION, memory

pytestmark = browser_tests(2)

RUN = UUID("f0000000-0000-4000-8000-00000000000f")


@pytest.mark.parametrize("size", SIZES)
async def test_every_field_is_told_in_words(site: Site, visitor: Visitor, size: str) -> None:
    belief = memory(
        "Is allergic to mussels",
        subject="person:lena",
        display_subject="Lena Okafor",
        belief_type=BeliefType.PREFERENCE,
        status=MemoryStatus.PROVISIONAL,
        polarity=Polarity.RETRACT,
        scope="kitchen",
        claim_kind=ClaimKind.CONSTRAINT,
        derivation=Derivation.HYPOTHESIS,
        longevity=Longevity.TENTATIVE,
        portability=Portability.LOCAL,
        authority=Authority.AFFIRMED,
        sensitivity=Sensitivity.SENSITIVE,
        confidence=Decimal("0.825"),
        corroboration_count=7,
        source_session_id=OTHER_SESSION,
        source_event_ids=(31, 47),
        formation_run_id=RUN,
        consolidation_policy_version="policy-2b",
        origin_scopes=("kitchen", "harvest-fair"),
        expires_at=NOW + timedelta(days=4000),
        last_used_at=NOW - timedelta(days=11),
        last_reinforced_at=NOW - timedelta(days=9),
    )
    visit = await visitor.enter(await site.person(belief), size=SIZES[size], fragment=f"#/memory/{belief.id}")
    detail = visit.detail
    await expect(detail).to_contain_text("Is allergic to mussels")
    await visit.page.get_by_text("Technical details").click()

    for words in (
        *(
            "Lena Okafor",
            "Preference",
            "Not settled yet",
            "believes that this is not so",
            "kitchen",
            "A limit to be kept",
        ),
        *("Supposed, from several observations", "Perhaps not for long", "Only in the area it was learned in"),
        *("You agreed to it", "Sensitive", "fairly sure", "82.5%", "7 times", "31", "47", "policy-2b", "harvest-fair"),
        *("4 June 2026", "6 June 2026", "2037", str(RUN), str(belief.id)),
    ):
        await expect(detail).to_contain_text(words)
    said = await detail.inner_text()
    for raw in ("person:lena", "RETRACT", "TENTATIVE", "PROVISIONAL", "null", "undefined", "NaN", "T12:00:00"):
        assert raw not in said
    timeline = detail.locator("validity-timeline svg")
    await expect(timeline.first).to_be_visible()


async def test_contradictions_lead_to_each_other(site: Site, visitor: Visitor) -> None:
    first, second = memory("Owns a boat"), memory("Owns no boat")
    first, second = replace(first, conflicts_with=(second.id,)), replace(second, conflicts_with=(first.id,))
    visit = await visitor.enter(await site.person(first, second))
    await visit.open(first)
    detail = visit.detail

    await detail.get_by_role("link", name="Owns no boat").click()

    await expect(detail.get_by_role("heading", name="Owns no boat")).to_be_visible()
    await detail.get_by_role("link", name="Owns a boat").click()
    await expect(detail.get_by_role("heading", name="Owns a boat")).to_be_visible()
    await visit.page.go_back()
    await expect(detail.get_by_role("heading", name="Owns no boat")).to_be_visible()


async def test_what_is_open_is_asked_for_anew_when_what_it_names_is_deleted(site: Site, visitor: Visitor) -> None:
    first, second = memory("Owns a boat"), memory("Owns no boat")
    first, second = replace(first, conflicts_with=(second.id,)), replace(second, conflicts_with=(first.id,))
    visit = await visitor.enter(await site.person(first, second))
    await visit.open(first)
    await expect(visit.detail).to_contain_text("Owns no boat")

    await visit.by(f"select.{second.id}").check()
    await visit.act("delete", within=visit.by("selection.bar"))
    await visit.by("confirm.delete").click()

    await expect(visit.detail).not_to_contain_text("Owns no boat")
    await expect(visit.detail).to_contain_text("Owns a boat")


async def test_an_answer_about_what_is_no_longer_open_is_not_shown(site: Site, visitor: Visitor) -> None:
    boat, tea = memory("Keeps a rowing boat"), memory("Drinks tea")
    visit = await visitor.enter(await site.person(boat, tea))
    late = Held()
    await between(visit.page, "MemoryDetail", late)

    await visit.row(boat).locator("a").first.click()
    await late.come()
    await visit.open(tea)
    late.let_go()

    await visit.settle()
    await expect(visit.detail.get_by_role("heading", name="Drinks tea")).to_be_visible()
    await expect(visit.detail).not_to_contain_text("Keeps a rowing boat")


async def test_what_was_replaced_and_what_took_its_place_lead_to_each_other(site: Site, visitor: Visitor) -> None:
    later = memory("Moors at the east pier")
    former = memory("Moors at the west pier", status=MemoryStatus.SUPERSEDED, superseded_by=later.id)
    visit = await visitor.enter(await site.person(former, later))
    await visit.open(later)
    detail = visit.detail

    await detail.get_by_role("link", name="Moors at the west pier").click()

    await expect(detail).to_contain_text("The system no longer believes")
    await expect(detail).to_contain_text("Replaced")
    await detail.get_by_role("link", name="Moors at the east pier").click()
    await expect(detail).to_contain_text("The system believes")


async def test_what_lies_above_the_ceiling_is_no_link(site: Site, visitor: Visitor) -> None:
    secret = memory("Owns a submarine", sensitivity=Sensitivity.RESTRICTED)
    shown = memory("Owns no submarine", conflicts_with=(secret.id,))
    secret = replace(secret, conflicts_with=(shown.id,))
    visit = await visitor.enter(await site.person(secret, shown), ceiling=Sensitivity.INTERNAL)
    await expect(visit.rows).to_have_count(1)

    assert "Contradicts" not in await visit.row(shown).inner_text()
    await visit.open(shown)

    await expect(visit.detail).to_contain_text("Owns no submarine")
    content = await visit.page.content()
    assert "Owns a submarine" not in content
    assert str(secret.id) not in content


async def test_a_session_leads_to_everything_from_it(site: Site, visitor: Visitor) -> None:
    here, elsewhere = memory("Sails"), memory("Paints", source_session_id=OTHER_SESSION)
    visit = await visitor.enter(await site.person(here, elsewhere))
    await visit.open(elsewhere)

    await visit.page.get_by_role("link", name="Show everything from this session").click()

    await expect(visit.rows).to_have_count(1)
    await expect(visit.row(elsewhere)).to_be_visible()


@pytest.mark.parametrize("size", SIZES)
async def test_the_way_back_leads_to_the_row(site: Site, visitor: Visitor, size: str) -> None:
    beliefs = [memory(f"Counts to {number}") for number in range(30)]
    visit = await visitor.enter(await site.person(*beliefs), size=SIZES[size])
    await expect(visit.rows.first).to_be_visible()
    await scroll_to_end(visit)
    await visit.open(beliefs[0])
    await expect(visit.detail).to_contain_text("Counts to 0")

    await visit.by("detail.back").click()

    await expect(visit.row(beliefs[0])).to_be_in_viewport()
    await expect(visit.detail).to_be_hidden()
