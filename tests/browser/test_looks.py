"""Each view of the demo at each size, light and dark: axe-core finds nothing, nothing reaches beyond the edge.

Pictures of them go to `.screenshots`, which git ignores.
"""

from collections.abc import Awaitable, Callable

import pytest
from playwright.async_api import expect

from gateway.service.demonstration import DEMO_OWNERS
from tests.browser.accessibility import findings
from tests.browser.marks import browser_tests
from tests.browser.site import Site
from tests.browser.visits import SIZES, Visit, Visitor
from tests.e2e.processes import CHECKOUT

pytestmark = browser_tests(3)

MARA = DEMO_OWNERS[0]
PICTURES = CHECKOUT / ".screenshots"
OVERFLOWING = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


async def show_list(visit: Visit) -> None:
    await visit.go("#/memories")
    await expect(visit.rows.first).to_be_visible()


async def show_detail(visit: Visit) -> None:
    await visit.go("#/memories?text=Castellan")
    await visit.rows.first.locator("a").first.click()
    await expect(visit.detail).to_be_visible()


async def show_derived(visit: Visit) -> None:
    await visit.go("#/memories")
    await visit.rows.filter(has=visit.by("derived.chip")).first.locator("a").first.click()
    await expect(visit.by("evidence.picture")).to_be_visible()


async def show_evidence(visit: Visit) -> None:
    await show_derived(visit)
    await visit.settle()
    await visit.by("evidence").evaluate("element => element.scrollIntoView()")
    await visit.detail.evaluate("detail => detail.scrollBy(0, -64)")


async def show_overview(visit: Visit) -> None:
    await visit.go("#/overview")
    await expect(visit.by("overview").first).to_be_visible()


async def show_review(visit: Visit) -> None:
    await visit.go("#/review")
    await expect(visit.rows.first).to_be_visible()


VIEWS: dict[str, Callable[[Visit], Awaitable[None]]] = {
    "list": show_list,
    "detail": show_detail,
    "derived": show_derived,
    "evidence": show_evidence,
    "overview": show_overview,
    "review": show_review,
}


async def look(visit: Visit, name: str) -> None:
    """Judge the page as it stands, and keep a picture of it."""
    await visit.settle()
    await visit.page.mouse.move(0, 0)
    PICTURES.mkdir(exist_ok=True)
    await visit.page.screenshot(path=PICTURES / f"{name}.png")
    assert [] == await findings(visit), name
    assert 0 == await visit.page.evaluate(OVERFLOWING), name


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
async def test_every_view_is_sound(site: Site, visitor: Visitor, size: str, scheme: str) -> None:
    visit = await visitor.arrive(size=SIZES[size], color_scheme=scheme, reduced_motion="reduce")
    await expect(visit.by("signin.token")).to_be_visible()
    await look(visit, f"signin-{size}-{scheme}")
    await visit.sign_in(site.place.token(MARA))
    await expect(visit.by("sidebar.memory")).to_be_visible()

    for name, show in VIEWS.items():
        await show(visit)
        await look(visit, f"{name}-{size}-{scheme}")
