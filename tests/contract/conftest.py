"""The adapters that the contract suite runs on."""

import pytest

from store.inmemory.store import InMemoryStore
from store.ports.store import Store


@pytest.fixture(params=["inmemory", pytest.param("postgres", marks=pytest.mark.postgres)])
def store(request: pytest.FixtureRequest) -> Store:
    """An empty store of each adapter. Not a coroutine, so that only the postgres run asks for a database."""
    if request.param == "inmemory":
        return InMemoryStore()
    opened: Store = request.getfixturevalue("postgres_store")
    return opened
