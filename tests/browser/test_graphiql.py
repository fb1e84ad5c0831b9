"""GraphiQL as a developer opens it: under its policy, with a token that is written into its headers."""

import json

from playwright.async_api import Browser, ConsoleMessage, expect

from gateway.web.graphiql import PACKAGES
from tests.browser.chromium import do_without
from tests.browser.graphiql_files import PROJECT, installed_graphiql
from tests.browser.marks import browser_tests
from tests.browser.site import Site
from tests.factories import memory

pytestmark = browser_tests(1)

QUERY = "{ memories(ceiling: RESTRICTED) { nodes { statement } } }"
SELECT_ALL = "ControlOrMeta+A"


async def test_a_query_with_a_token_is_run_under_the_policy(chromium: Browser, site: Site) -> None:
    if installed_graphiql() is None:
        do_without("GraphiQL can't be had from npm: it is not tested")
    person = await site.person(memory("Keeps a rowing boat"))
    complaints: list[str] = []
    strangers: list[str] = []

    def note(message: ConsoleMessage) -> None:
        # The browser reports that it may not read the schema yet: there is no token before one is written.
        if message.type in {"error", "warning"} and not message.text.startswith("Failed to load resource"):
            complaints.append(message.text)

    async with await chromium.new_context() as context:
        page = await context.new_page()
        page.on("console", note)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: strangers.append(request.url))
        await page.goto(f"{site.url}/graphql")
        query = page.get_by_role("region", name="Query Editor").locator(".CodeMirror")
        headers = page.locator(".graphiql-editor-tool .graphiql-editor:not(.hidden) .CodeMirror")

        await page.get_by_role("button", name="Headers").click()
        for editor, text in ((query, QUERY), (headers, json.dumps({"Authorization": f"Bearer {person.token}"}))):
            await editor.click()
            await page.keyboard.press(SELECT_ALL)
            await page.keyboard.insert_text(text)
        await page.get_by_role("button", name="Execute query").click()

        await expect(page.get_by_role("region", name="Result Window")).to_contain_text("Keeps a rowing boat")
        kept = await page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie])")

    assert [] == complaints
    assert [] == [url for url in strangers if not url.startswith((f"{site.url}/", "data:", "blob:"))]
    assert person.token not in kept


async def test_what_is_tested_is_what_is_served() -> None:
    versions = json.loads((PROJECT / "package.json").read_text())["dependencies"]

    assert set(PACKAGES) == {f"{name}@{version}" for name, version in versions.items()}
