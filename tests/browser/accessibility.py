"""Audits of a page: axe-core from npm, in a world of its own beside the page, whose policy stays in force."""

import json
from functools import cache
from typing import Any

from tests.browser.visits import Visit
from tests.conformance.node import installed_project

TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


@cache
def _axe() -> str:
    return (installed_project() / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")


async def findings(visit: Visit) -> list[str]:
    """What axe-core finds wrong with the page as it stands, with the place of each."""
    chromium = await visit.page.context.new_cdp_session(visit.page)
    frame = (await chromium.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]
    world = await chromium.send("Page.createIsolatedWorld", {"frameId": frame, "worldName": "audit"})
    context = world["executionContextId"]
    await chromium.send("Runtime.evaluate", {"expression": _axe(), "contextId": context, "silent": True})
    options = json.dumps({"runOnly": TAGS, "resultTypes": ["violations"]})
    run = f"axe.run(document, {options}).then(({{ violations }}) => violations)"
    answer = await chromium.send(
        "Runtime.evaluate",
        {"expression": run, "contextId": context, "awaitPromise": True, "returnByValue": True},
    )
    await chromium.detach()
    assert "exceptionDetails" not in answer, answer
    return [line for violation in answer["result"]["value"] for line in _lines(violation)]


def _lines(violation: Any) -> list[str]:  # Any: JSON
    return [f"{violation['id']}: {node['target']} {node.get('failureSummary', '')}" for node in violation["nodes"]]
