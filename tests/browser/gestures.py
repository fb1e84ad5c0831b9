"""Scrolling and swiping as a person does, and what the page holds meanwhile."""

import asyncio
from dataclasses import dataclass

from playwright.async_api import Locator

from tests.browser.visits import ROW, Visit

END_SECONDS = 60
SWIPE_STEPS = 8

_TO_THE_END = """
    async ({ prefix, step }) => {
        const seen = new Set();
        let most = 0;
        for (;;) {
            await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
            const rows = document.querySelectorAll(`[data-testid^="${prefix}"]`);
            most = Math.max(most, rows.length);
            for (const row of rows) seen.add(row.dataset.testid.slice(prefix.length));
            const left = document.documentElement.scrollHeight - innerHeight - scrollY;
            const foot = document.querySelector('[data-testid="list.foot"]');
            if (left < 2 && /^(end|loop|failed)/.test(foot?.dataset.kind ?? "")) return [[...seen], most];
            scrollBy({ top: step ? innerHeight * step : left, behavior: 'instant' });
        }
    }
"""


@dataclass(frozen=True, slots=True)
class Scrolled:
    """The ids of the rows that were there on the way, in their order, and how many there were at once at most."""

    ids: list[str]
    rows_max: int


async def scroll_to_end(visit: Visit, *, by_leaps: bool = False) -> Scrolled:
    """Scroll on until there is no more; by leaps, from end to end of what has been loaded, rows are passed over."""
    async with asyncio.timeout(END_SECONDS):
        ids, rows_max = await visit.page.evaluate(_TO_THE_END, {"prefix": ROW, "step": 0 if by_leaps else 0.8})
    return Scrolled(ids, rows_max)


async def swipe(visit: Visit, row: Locator, across: int, *, down: int = 0) -> None:
    """Put a finger on the row, move it so many pixels to the right and down, and lift it."""
    box = await row.bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    chromium = await visit.page.context.new_cdp_session(visit.page)
    for number in range(SWIPE_STEPS + 1):
        share = number / SWIPE_STEPS
        place = {"x": x + across * share, "y": y + down * share}
        kind = "touchMove" if number else "touchStart"
        await chromium.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [place]})
    await chromium.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    await chromium.detach()


async def node_count(visit: Visit) -> int:
    """How many nodes of documents the browser keeps for the page, those that nobody can reach any more left out."""
    chromium = await visit.page.context.new_cdp_session(visit.page)
    await chromium.send("HeapProfiler.collectGarbage")
    await chromium.send("Performance.enable")
    metrics = (await chromium.send("Performance.getMetrics"))["metrics"]
    await chromium.detach()
    return int(next(metric["value"] for metric in metrics if metric["name"] == "Nodes"))
