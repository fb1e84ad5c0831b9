"""Which tests a worker of xdist runs together and in which order, as a plugin of pytest.

The tests of an `xdist_group` are one unit, quick tests are units by module, any other test is one of its own. Groups
come first, then the tests that start programs, then those of PostgreSQL: a long unit that is last is waited for.
xdist's own `loadgroup` hides the group in the name of a test, which pytest keeps from 9.2 on: it would spread a group
over all workers, each of which makes what the group shares (pytest-xdist issue 1386).
"""

import json
from pathlib import Path

import pytest
from xdist.remote import Producer  # type: ignore[import-untyped]  # it brings no types
from xdist.scheduler.loadscope import LoadScopeScheduling  # type: ignore[import-untyped]  # it brings no types

from tests.databases import run_directory

QUICK = ("tests/contract/", "tests/parity/", "tests/unit/")
"""Where tests take so little time that to hand them out one by one would count."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put the tests of a worker in order, and tell the controller, which collects none, their units."""
    if not hasattr(config, "workerinput"):
        return
    items.sort(key=_rank)
    _tell_units({item.nodeid: _unit(item) for item in items}, config.workerinput["workerid"])


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadScopeScheduling | None:
    """Hand out units where groups are asked for."""
    return UnitScheduling(config, log) if config.getoption("dist") == "loadgroup" else None


class UnitScheduling(LoadScopeScheduling):  # type: ignore[misc]  # a class without types
    """Hands out units in the order of their first tests."""

    def __init__(self, config: pytest.Config, log: Producer | None = None) -> None:
        super().__init__(config, log)
        # The largest first is not the longest first.
        config.option.loadscopereorder = False
        self._units: dict[str, str] = {}

    def schedule(self) -> None:
        """Hand out the first units, once every worker has told the same tests, or that it has none."""
        if not self._units and _units_file().exists():
            self._units = json.loads(_units_file().read_bytes())
        super().schedule()

    def _split_scope(self, nodeid: str) -> str:
        return self._units[nodeid]


def _rank(item: pytest.Item) -> int:
    """Groups, programs, PostgreSQL, all else."""
    marks = ("xdist_group", "e2e", "postgres")
    return next((rank for rank, name in enumerate(marks) if item.get_closest_marker(name)), len(marks))


def _unit(item: pytest.Item) -> str:
    """The name of the unit that a test belongs to."""
    group = item.get_closest_marker("xdist_group")
    if group is not None:
        return str(group.args[0])
    if item.get_closest_marker("e2e") is None and item.nodeid.startswith(QUICK):
        return f"{item.nodeid.partition('::')[0]} {_rank(item)}"
    return item.nodeid


def _tell_units(units: dict[str, str], worker: str) -> None:
    """Write the units whole; every worker has the same to tell."""
    file = _units_file()
    file.parent.mkdir(exist_ok=True)
    written = file.with_suffix(f".{worker}")
    written.write_text(json.dumps(units))
    written.replace(file)


def _units_file() -> Path:
    return run_directory("units") / "units.json"
