"""Several beliefs at once: progress, and a report of what failed."""

from playwright.async_api import expect

from store.domain.vocabulary import MemoryStatus, Sensitivity
from tests.browser.marks import browser_tests
from tests.browser.network import Held, between, conflict, failed, through
from tests.browser.site import Site
from tests.browser.visits import PHONE, Visitor
from tests.factories import memory

pytestmark = browser_tests(3)


async def test_several_are_reviewed_with_progress_and_keys_of_their_own(site: Site, visitor: Visitor) -> None:
    beliefs = [memory(f"Counts to {number}", flagged_for_review=True) for number in range(4)]
    person = await site.person(*beliefs)
    visit = await visitor.enter(person, fragment="#/review")
    held = Held()
    await between(visit.page, "ReviewMemory", through, held)
    for belief in beliefs[1:]:
        await visit.by(f"select.{belief.id}").check()
    await expect(visit.by("selection.bar")).to_contain_text("3 selected")

    await visit.by("selection.bar").get_by_test_id("review.dismiss").click()

    await held.come()
    await expect(visit.by("selection.bar")).to_contain_text("1 of 3")
    held.let_go()
    await expect(visit.rows).to_have_count(1)
    await expect(visit.row(beliefs[0])).to_be_visible()
    sent = [question.variables["input"] for question in visit.asked("ReviewMemory")]
    assert {str(belief.id) for belief in beliefs[1:]} == {each["id"] for each in sent}
    assert 3 == len({each["idempotencyKey"] for each in sent}) == len(sent)


async def test_what_failed_is_reported_and_can_be_tried_again_under_its_key(site: Site, visitor: Visitor) -> None:
    beliefs = [memory(f"Counts to {number}", flagged_for_review=True) for number in range(3)]
    person = await site.person(*beliefs)
    visit = await visitor.enter(person, fragment="#/review")
    # The first is done; all tries of the second fail.
    await between(visit.page, "ReviewMemory", through, failed, failed, failed)
    await expect(visit.rows).to_have_count(3)
    await visit.press("j", "x", "j", "x", "j", "x")
    await expect(visit.by("selection.bar")).to_contain_text("3 selected")

    await visit.by("selection.bar").get_by_test_id("review.dismiss").click()

    report = visit.page.get_by_text("1 was not saved")
    await expect(report).to_be_visible()
    await visit.page.get_by_role("button", name="Try these again").click()
    await expect(visit.rows).to_have_count(0)
    sent = [question.variables["input"] for question in visit.asked("ReviewMemory")]
    tries = {each["id"]: [other["idempotencyKey"] for other in sent if other["id"] == each["id"]] for each in sent}
    assert [1, 1, 4] == sorted(len(keys) for keys in tries.values())
    assert all(1 == len(set(keys)) for keys in tries.values())


async def test_several_are_deleted_after_one_question(site: Site, visitor: Visitor) -> None:
    beliefs = [memory(f"Counts to {number}") for number in range(3)]
    person = await site.person(*beliefs)
    visit = await visitor.enter(person, size=PHONE)
    for belief in beliefs[:2]:
        await visit.by(f"select.{belief.id}").check()

    await visit.act("delete", within=visit.by("selection.bar"))
    await expect(visit.page.get_by_text("Delete 2 beliefs?")).to_be_visible()
    await visit.by("confirm.delete").click()

    await expect(visit.rows).to_have_count(1)
    assert [beliefs[2].id] == [record.id for record in await site.live(person)]


async def test_several_are_withdrawn(site: Site, visitor: Visitor) -> None:
    beliefs = [memory(f"Counts to {number}") for number in range(2)]
    person = await site.person(*beliefs)
    visit = await visitor.enter(person)
    for belief in beliefs:
        await visit.by(f"select.{belief.id}").check()

    await visit.act("untrue", within=visit.by("selection.bar"))

    await expect(visit.page.get_by_text("2 are done")).to_be_visible()
    await expect(visit.rows).to_have_count(0)
    stored = [await site.stored(person, belief) for belief in beliefs]
    assert [MemoryStatus.RETIRED] * 2 == [each.status for each in stored if each is not None]


async def test_another_filter_ends_a_selection(site: Site, visitor: Visitor) -> None:
    boat, tea = memory("Keeps a rowing boat"), memory("Drinks tea")
    visit = await visitor.enter(await site.person(boat, tea))
    await visit.by(f"select.{tea.id}").check()
    await expect(visit.by("selection.bar")).to_be_visible()

    await visit.filter("text", "rowing")

    await expect(visit.rows).to_have_count(1)
    await expect(visit.by("selection.bar")).to_be_hidden()


async def test_what_fails_under_a_ceiling_that_was_lowered_names_no_belief(site: Site, visitor: Visitor) -> None:
    secrets = [
        memory(f"Keeps {count} quixzorbles", flagged_for_review=True, sensitivity=Sensitivity.RESTRICTED)
        for count in range(2)
    ]
    visit = await visitor.enter(await site.person(memory("Drinks tea", sensitivity=Sensitivity.PUBLIC), *secrets))
    for belief in secrets:
        await visit.by(f"select.{belief.id}").check()
    held = Held()
    await between(visit.page, "ReviewMemory", held, conflict)
    await visit.act("dismiss", within=visit.by("selection.bar"))
    await held.come()

    await visit.choose_ceiling(Sensitivity.PUBLIC)
    held.let_go()

    await expect(visit.page.get_by_text("It changed in the meantime")).to_be_visible()
    await expect(visit.by("selection.bar")).to_be_hidden()
    assert "quixzorble" not in await visit.everything()
