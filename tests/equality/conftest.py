"""A pair of gateways for each adapter."""

from collections.abc import AsyncIterator

import pytest

from store.ports.store import Store
from tests.equality.pairs import Pair, paired


@pytest.fixture
async def pair(store: Store) -> AsyncIterator[Pair]:
    """Two gateways over an empty store."""
    async with paired(store) as pair:
        yield pair
