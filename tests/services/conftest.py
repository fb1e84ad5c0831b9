"""A deployment over each adapter."""

import pytest

from store.ports.store import Store
from tests.services.deployment import Deployment


@pytest.fixture
async def deployment(store: Store) -> Deployment:
    """A deployment over an empty store."""
    return await Deployment(store).prepare()
