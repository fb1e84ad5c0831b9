"""What holds for every test: the Hypothesis profiles, the --long switch, and a store of each adapter."""

import os
import sys
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, settings

from store.inmemory.store import InMemoryStore
from store.ports.store import Store

# A shared machine pauses, and a pause is no failure: no deadlines, but for a generous one in `dev`,
# so that a test that has become slow is noticed by who writes it.
settings.register_profile("dev", max_examples=25, stateful_step_count=25, deadline=timedelta(seconds=5))
# Fixed: the same commit always runs the same examples, so that a red run is about the change.
settings.register_profile(
    "ci",
    max_examples=100,
    deadline=None,
    derandomize=True,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "long",
    max_examples=5_000,
    stateful_step_count=100,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add --long, which xdist hands on to its workers."""
    parser.addoption("--long", action="store_true", help="also run the tests marked long, with many more examples")


def pytest_configure(config: pytest.Config) -> None:
    """Choose the Hypothesis profile: HYPOTHESIS_PROFILE, else `long` with --long, `ci` under CI, or `dev`."""
    # Workers and programs under test would each compile every module anew.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    usual = "long" if config.getoption("--long") else "ci" if os.environ.get("CI") else "dev"
    settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or usual)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests marked long unless --long asks for them."""
    if config.getoption("--long"):
        return
    long_running = [item for item in items if item.get_closest_marker("long")]
    if long_running:
        config.hook.pytest_deselected(items=long_running)
        items[:] = [item for item in items if item not in long_running]


@pytest.fixture(params=["inmemory", pytest.param("postgres", marks=pytest.mark.postgres)])
def store(request: pytest.FixtureRequest) -> Store:
    """An empty store of each adapter. Not a coroutine, so that only the postgres run asks for a database."""
    if request.param == "inmemory":
        return InMemoryStore()
    opened: Store = request.getfixturevalue("postgres_store")
    return opened


pytest_plugins = ["tests.databases", "tests.scheduling"]
