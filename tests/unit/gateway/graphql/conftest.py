"""A deployment for each test."""

from collections.abc import AsyncIterator

import pytest

from tests.factories import memory
from tests.unit.gateway.graphql.clients import Client, deployment


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    """A gateway with one belief."""
    async with deployment(memory()) as client:
        yield client
