"""One served gateway for a worker's tests, and the Node project."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.conformance.node import installed_project
from tests.conformance.serving import Served, served
from tests.factories import derived, memory


@pytest.fixture(scope="session")
def gateway() -> Iterator[Served]:
    """A gateway with some beliefs, two of them in conflict, and what one led to; no test changes them."""
    first, second, third = memory("Has a boat"), memory("Has no boat"), memory("Likes the sea")
    with served(
        replace(first, conflicts_with=(second.id,)),
        replace(second, conflicts_with=(first.id,)),
        third,
        derived=[derived(third, statement="Likes the sea")],
    ) as gateway:
        yield gateway


@pytest.fixture(scope="session")
def node_project() -> Path:
    """The Node project, installed."""
    return installed_project()
