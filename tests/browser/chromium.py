"""The system's Chromium, headless: found, not brought along.

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
        _do_without(f"{given or 'Chromium'} is not installed: the memory browser is not tested")
    return found


def _do_without(reason: str) -> NoReturn:
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)
