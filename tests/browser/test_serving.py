"""The page as it is served: to anybody, from the gateway alone, under a policy that the browser enforces."""

import asyncio

import pytest
from playwright.async_api import expect

from tests.browser.marks import browser_tests
from tests.browser.site import Site
from tests.browser.visits import Visitor
from tests.factories import memory

pytestmark = browser_tests(1)

VIOLATION_SECONDS = 10
TRIES = {
    "script-src-elem": """
        const script = document.createElement("script");
        script.textContent = "window.wasRun = true";
        document.body.append(script);
    """,
    "script-src-attr": """document.body.insertAdjacentHTML("beforeend", "<p onclick='window.wasRun = true'>a</p>");""",
    "style-src-elem": """
        const style = document.createElement("style");
        style.textContent = "body { display: none }";
        document.head.append(style);
    """,
    "connect-src": """fetch("http://127.0.0.1:9/").catch(() => {});""",
    "img-src": """new Image().src = "http://127.0.0.1:9/";""",
    "frame-src": """
        const frame = document.createElement("iframe");
        frame.src = "/";
        document.body.append(frame);
    """,
    "form-action": """
        const form = document.createElement("form");
        form.action = "http://127.0.0.1:9/";
        document.body.append(form);
        form.submit();
    """,
}
VIOLATED = """
    (source) => new Promise((resolve) => {
        addEventListener("securitypolicyviolation", (event) => resolve(event.effectiveDirective), { once: true });
        %s
    })
"""


@pytest.mark.parametrize("directive", TRIES)
async def test_the_browser_refuses_what_the_policy_does_not_allow(visitor: Visitor, directive: str) -> None:
    visit = await visitor.arrive()
    await expect(visit.by("signin.token")).to_be_visible()

    async with asyncio.timeout(VIOLATION_SECONDS):
        assert directive == await visit.page.evaluate(VIOLATED % TRIES[directive])

    assert await visit.page.evaluate("window.wasRun === undefined")
    # The try is what the console complains of.
    visit.complaints.clear()
    visit.requests = [request for request in visit.requests if request.url.startswith(visit.site_url)]


async def test_files_are_kept_for_ever_and_data_nowhere(site: Site, visitor: Visitor) -> None:
    visit = await visitor.enter(await site.person(memory("Keeps a rowing boat")))
    await expect(visit.rows).to_have_count(1)

    kept: dict[str, set[str]] = {}
    for request in visit.requests:
        response = await request.response()
        assert response is not None
        path = request.url.removeprefix(site.url)
        kept.setdefault(path.split("/")[1], set()).add((await response.all_headers())["cache-control"])

    assert {"public, max-age=31536000, immutable"} == kept.pop("browser")
    assert {"private, no-store"} == kept.pop("graphql")
    assert {"": {"no-cache"}} == {path: policies for path, policies in kept.items() if path != "favicon.ico"}
