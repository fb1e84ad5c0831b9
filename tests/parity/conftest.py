"""What a scenario is given: a gateway over each adapter, and a client of each transport."""

from collections.abc import AsyncIterator

import pytest

from store.ports.store import Store
from tests.gateways import Gateway, serving
from tests.parity.clients import GraphQLTransport, RestTransport, Transport


@pytest.fixture
async def gateway(store: Store) -> AsyncIterator[Gateway]:
    """A gateway with the memory surface on."""
    async with serving(store) as gateway:
        yield gateway


@pytest.fixture(params=[RestTransport, GraphQLTransport], ids=["rest", "graphql"])
def transport(request: pytest.FixtureRequest, gateway: Gateway) -> Transport:
    """A client of each transport."""
    driver: Transport = request.param(gateway)
    return driver
