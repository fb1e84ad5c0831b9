"""A visit: one page in a context of its own, what it asked, and what no page may ever do.

Whatever a test is about, at its end the page must have spoken to its own server alone, without anything in an address
that is not a path, each question with a ceiling and with a document of the page, and with an empty console.
"""

import asyncio
import json
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.async_api import Browser, ConsoleMessage, Error, Locator, Page, Request, ViewportSize, expect

from store.domain.derived import DerivedRecord
from store.domain.memories import MemoryRecord
from store.domain.vocabulary import Sensitivity
from tests.browser.site import Person, Site
from tests.e2e.processes import CHECKOUT

WAIT_MILLISECONDS = 10_000
GRAPHQL = "**/graphql"
DOCUMENTS: Mapping[str, str] = json.loads(
    (CHECKOUT / "gateway" / "web" / "page" / "documents.json").read_text(encoding="utf-8")
)
WITHOUT_CEILING = {"Server"}
"""The documents that ask for nothing that a ceiling hides."""
ROW = "memory.row."
VALUES = "[...document.querySelectorAll('input, select, textarea')].map((field) => field.value).join('\\n')"
TWO_FRAMES = "() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))"

expect.set_options(timeout=WAIT_MILLISECONDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """What a page is looked at with."""

    width: int
    height: int
    is_touched: bool = False

    @property
    def viewport(self) -> ViewportSize:
        """The same, as the browser is told."""
        return {"width": self.width, "height": self.height}


PHONE = Size(width=390, height=844, is_touched=True)
DESKTOP = Size(width=1280, height=800)
SIZES = {"phone": PHONE, "desktop": DESKTOP}


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question of the page to the API."""

    name: str
    variables: Mapping[str, Any]  # Any: JSON
    document: str
    request: Request

    @property
    def ceiling(self) -> str | None:
        """The ceiling that was sent, in a write's input too."""
        ceiling = self.variables.get("ceiling") or self.variables.get("input", {}).get("ceiling")
        return None if ceiling is None else str(ceiling)


@dataclass
class Visit:
    """One page, and what was seen of it."""

    page: Page
    site_url: str
    requests: list[Request] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    _answered: set[Request] = field(default_factory=set)
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.page.on("request", self._note_request)
        self.page.on("requestfinished", self._note_answer)
        self.page.on("requestfailed", self._note_answer)
        self.page.on("console", self._note_message)
        self.page.on("pageerror", self._note_error)

    def by(self, testid: str) -> Locator:
        """What bears this identifier."""
        return self.page.get_by_test_id(testid)

    def row(self, record: MemoryRecord | DerivedRecord) -> Locator:
        """The row of a belief, or of what was concluded."""
        return self.by(f"{ROW}{record.id}")

    @property
    def rows(self) -> Locator:
        """All rows that there are in the page, in view or near it."""
        return self.page.locator(f'[data-testid^="{ROW}"]')

    @property
    def detail(self) -> Locator:
        """The belief that is open."""
        return self.by("memory.detail")

    def state(self, name: str) -> Locator:
        """The panel that says what is going on."""
        return self.page.locator(f'[data-testid="state"][data-state="{name}"]:visible')

    def asked(self, name: str) -> list[Question]:
        """The questions of one name, in their order."""
        return [question for question in self.questions if question.name == name]

    async def answered(self, name: str) -> None:
        """Wait for the answer to a question of this name."""
        await self._until(lambda: any(question.request in self._answered for question in self.asked(name)))

    async def settle(self) -> None:
        """Wait until every question is answered and drawn, and no further one has come of it."""
        while True:
            await self._until(lambda: all(question.request in self._answered for question in self.questions))
            count = len(self.questions)
            await self.page.evaluate(TWO_FRAMES)
            if count == len(self.questions):
                return

    async def go(self, fragment: str) -> None:
        """Go where the fragment of the address says, as a link does."""
        await self.page.evaluate("fragment => { location.hash = fragment; }", fragment)

    async def sign_in(
        self, token: str, *, ceiling: Sensitivity = Sensitivity.RESTRICTED, remember: bool = False
    ) -> None:
        """Fill the form that stands there, and send it."""
        await self.by("signin.token").fill(token)
        await self.by(f"signin.ceiling.{ceiling.value}").check()
        if remember:
            await self.by("signin.remember").check()
        await self.by("signin.submit").click()

    async def sign_out(self) -> None:
        """Sign out by the menu."""
        await self.open_settings()
        await self.by("signout").click()

    async def open_settings(self) -> None:
        """Open the menu."""
        await self.by("nav.settings").click()

    async def ceiling(self) -> str:
        """The ceiling that is stated."""
        return await self.by("ceiling").input_value()

    async def choose_ceiling(self, ceiling: Sensitivity) -> None:
        """State another ceiling."""
        await self.by("ceiling").select_option(ceiling.value)

    async def filter(self, name: str, value: str) -> None:
        """Fill one field of the filter."""
        field = self.by(f"filter.{name}")
        if not await field.is_visible():
            await self.by("filter.more").click()
        if await field.evaluate("field => field.tagName") == "SELECT":
            await field.select_option(value)
        else:
            await field.fill(value)

    async def open(self, record: MemoryRecord) -> None:
        """Open a belief from its row."""
        await self.row(record).locator("a").first.click()
        await expect(self.detail).to_contain_text(record.statement)

    async def everything(self) -> str:
        """All that the document holds, seen or not: its text, the attributes, and what stands in fields."""
        return await self.page.content() + str(await self.page.evaluate(VALUES))

    async def act(self, kind: str, *, within: Locator | None = None) -> None:
        """Press the button of an act, of the belief that is open unless told otherwise."""
        await (within or self.detail).get_by_test_id(f"review.{kind}").click()

    async def press(self, *keys: str) -> None:
        """Press keys one after the other, each when what came of the one before is over."""
        for key in keys:
            await self.page.keyboard.press(key)
            await self.settle()

    async def download(self, path: Path) -> None:
        """Have everything written to a file."""
        await self.open_settings()
        async with self.page.expect_download() as download:
            await self.by("download").click()
        await (await download.value).save_as(path)

    def check(self) -> None:
        """What no page may ever do."""
        assert [] == self.complaints
        strange = [
            request.url
            for request in self.requests
            if not request.url.startswith((f"{self.site_url}/", "data:", f"blob:{self.site_url}/"))
            or urlsplit(request.url).query
        ]
        assert [] == strange
        for question in self.questions:
            assert DOCUMENTS[question.name] == question.document
            assert (question.ceiling is None) == (question.name in WITHOUT_CEILING)

    async def _until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(WAIT_MILLISECONDS / 1000):
            while not holds():
                self._news.clear()
                await self._news.wait()

    def _note_request(self, request: Request) -> None:
        self.requests.append(request)
        if request.method == "POST" and urlsplit(request.url).path == "/graphql":
            sent: Any = request.post_data_json  # Any: JSON
            question = Question(
                name=sent["operationName"], variables=sent["variables"], document=sent["query"], request=request
            )
            self.questions.append(question)
        self._news.set()

    def _note_answer(self, request: Request) -> None:
        self._answered.add(request)
        self._news.set()

    def _note_message(self, message: ConsoleMessage) -> None:
        # The browser itself reports an answer that is none; the test that provokes it looks at what the page says.
        if message.type in {"error", "warning"} and not message.text.startswith("Failed to load resource"):
            self.complaints.append(f"{message.type}: {message.text}")

    def _note_error(self, error: Error) -> None:
        self.complaints.append(f"uncaught: {error}")


class Visitor:
    """Somebody at a browser, who may open several pages."""

    def __init__(self, chromium: Browser, site: Site, stack: AsyncExitStack) -> None:
        self._chromium = chromium
        self._site = site
        self._stack = stack
        self._visits: list[Visit] = []

    async def arrive(
        self,
        *,
        size: Size = DESKTOP,
        fragment: str = "",
        url: str | None = None,
        **options: Any,  # what Playwright's new_context takes
    ) -> Visit:
        """Open the page, without credentials."""
        site_url = url or self._site.url
        visit = await self.prepare(size=size, url=site_url, **options)
        await visit.page.goto(f"{site_url}/{fragment}")
        return visit

    async def prepare(
        self,
        *,
        size: Size = DESKTOP,
        url: str | None = None,
        **options: Any,  # what Playwright's new_context takes
    ) -> Visit:
        """A tab of its own in which nothing has been opened yet."""
        context = await self._chromium.new_context(
            viewport=size.viewport,
            has_touch=size.is_touched,
            is_mobile=size.is_touched,
            locale=options.pop("locale", "en-GB"),
            timezone_id="Europe/Berlin",
            **options,
        )
        context.set_default_timeout(WAIT_MILLISECONDS)
        self._stack.push_async_callback(context.close)
        visit = Visit(await context.new_page(), url or self._site.url)
        self._visits.append(visit)
        return visit

    async def enter(
        self,
        person: Person,
        *,
        ceiling: Sensitivity = Sensitivity.RESTRICTED,
        remember: bool = False,
        **options: Any,  # those of arrive
    ) -> Visit:
        """Open the page and sign in; the page is in use then."""
        visit = await self.arrive(**options)
        await visit.sign_in(person.token, ceiling=ceiling, remember=remember)
        await expect(visit.by("sidebar.memory")).to_be_visible()
        return visit

    def check(self) -> None:
        """What no page may ever do, of every page that was opened."""
        for visit in self._visits:
            visit.check()
