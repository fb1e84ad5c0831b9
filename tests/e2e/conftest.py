"""A data directory for each test: nothing in it yet, or the demo that was served before."""

from collections.abc import AsyncIterator

import pytest

from tests.e2e.processes import Place, demo_place, new_place


@pytest.fixture
async def fresh() -> AsyncIterator[Place]:
    """A place where nothing is yet."""
    async with new_place() as place:
        yield place


@pytest.fixture
async def place() -> AsyncIterator[Place]:
    """A place where the demo was served once."""
    async with demo_place() as place:
        yield place
