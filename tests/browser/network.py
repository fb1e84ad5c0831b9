"""What stands between the page and the API for a while: answers are lost, held back, or changed."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from playwright.async_api import Page, Request, Route

from tests.browser.visits import GRAPHQL, WAIT_MILLISECONDS

Act: TypeAlias = Callable[[Route], Awaitable[None]]


async def between(page: Page, name: str, *acts: Act) -> None:
    """Do one act with each question of this name, in their order; those after the last act go through."""
    left = list(acts)

    async def handle(route: Route) -> None:
        if left and _name(route.request) == name:
            await left.pop(0)(route)
        else:
            await route.fallback()

    await page.route(GRAPHQL, handle)


async def through(route: Route) -> None:
    """Let a question and its answer pass."""
    await route.fallback()


async def lost(route: Route) -> None:
    """Let a question never arrive."""
    await route.abort("connectionfailed")


async def answer_lost(route: Route) -> None:
    """Let a question arrive, and lose the answer."""
    await route.fetch()
    await route.abort("connectionreset")


async def unavailable(route: Route) -> None:
    """Answer what a gateway answers that can't just now."""
    await _refuse(route, 503, "unavailable", {"retry-after": "0"})


async def failed(route: Route) -> None:
    """Answer what a gateway answers to a fault of its own."""
    await _refuse(route, 500, "internal_error", {})


async def busy(route: Route) -> None:
    """Answer that too much evidence is being read."""
    await _refuse(route, 503, "retrieval_busy", {"retry-after": "0"})


async def malformed(route: Route) -> None:
    """Answer that the question can't be taken."""
    await _refuse(route, 400, "malformed_request", {})


async def conflict(route: Route) -> None:
    """Answer that the belief is not as it was."""
    await _refuse(route, 409, "conflict", {})


async def unauthenticated(route: Route) -> None:
    """Answer that the token is no longer valid."""
    await _refuse(route, 401, "authentication_error", {})


async def _refuse(route: Route, status: int, code: str, headers: dict[str, str]) -> None:
    errors = [{"message": "refused by a test", "extensions": {"code": code}}]
    content = {"content-type": "application/json"}
    await route.fulfill(status=status, headers=content | headers, body=json.dumps({"errors": errors}))


def changed(change: Callable[[Any], None]) -> Act:  # Any: the answer's JSON, changed where it stands
    """Pass the answer on as changed."""

    async def act(route: Route) -> None:
        response = await route.fetch()
        answer = await response.json()
        change(answer)
        await route.fulfill(response=response, json=answer)

    return act


class Held:
    """An answer that waits until it is let go."""

    def __init__(self) -> None:
        self._has_come = asyncio.Event()
        self._may_go = asyncio.Event()

    async def __call__(self, route: Route) -> None:
        """Have the question answered, and keep the answer."""
        response = await route.fetch()
        self._has_come.set()
        await self._may_go.wait()
        await route.fulfill(response=response)

    async def come(self) -> None:
        """Wait until there is an answer to let go."""
        async with asyncio.timeout(WAIT_MILLISECONDS / 1000):
            await self._has_come.wait()

    def let_go(self) -> None:
        """Let the answer arrive."""
        self._may_go.set()


def _name(request: Request) -> str:
    sent: Any = request.post_data_json  # Any: JSON
    return str(sent["operationName"]) if sent else ""
