"""The system's Chromium, headless: found, not brought along.

The headless shell first, the same engine without the windows and menus of the browser, which take as long as the page.
Where there is none, tests that need it are skipped with a line that says so; under CI they fail.
TEST_CHROMIUM names one by its path, or by a name on the PATH.
"""

import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NoReturn

import pytest
from playwright.async_api import Browser, async_playwright

NAMES = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)


@asynccontextmanager
async def started_chromium() -> AsyncIterator[Browser]:
    """A browser, until the block is left."""
    path = _find()
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path)
        try:
            yield browser
        finally:
            await browser.close()


def _find() -> str:
    given = os.environ.get("TEST_CHROMIUM")
    names = [given] if given else NAMES
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        do_without(f"{given or 'Chromium'} is not installed: the memory browser is not tested")
    return found


def do_without(reason: str) -> NoReturn:
    """Skip the test that needs what is not there; fail it under CI."""
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)
