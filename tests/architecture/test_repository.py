"""The repository as a whole: its top level, its lock files, its scripts, and that it speaks of itself alone."""

import os
import re
from pathlib import Path

import pytest

from tests.architecture.tracked import ROOT, text_of, tracked_files

TOP_LEVEL = {
    "CHANGELOG.md",
    "LICENSE",
    "README.md",
    "gateway",
    "pyproject.toml",
    "requirements.lock",
    "schema.graphql",
    "scripts",
    "store",
    "tests",
}
LOCKS = [Path("requirements.lock"), Path("tests/requirements.lock"), Path("scripts/benchmarking/requirements.lock")]
SCRIPTS = [path for path in tracked_files() if path.parts[0] == "scripts" and path.suffix == ""]

# Written so that they do not match themselves.
ELSEWHERE = {
    "a folder of one machine": re.compile(r"(?<![\w.])/work[/]"),
    "a folder beside the checkout": re.compile(r"\.\./share[d]\b(?!/data/locomo10\.json)"),
    "a hidden library": re.compile(r"(?<!\w)\.librar[y]\b"),
    "a package registry": re.compile(r"pypi\.or[g]|pythonhoste[d]|npmjs\.or[g]"),
}
PIN = re.compile(r"(?P<name>[a-z0-9][a-z0-9.-]*)==(?P<version>[\w.+!-]+) \\")
HASH = re.compile(r"    --hash=sha256:[0-9a-f]{64}(?: \\)?")
REMARK = re.compile(r" *#[\w ().:-]*(?:scripts/lock)?")


def pins(lock: Path) -> dict[str, str]:
    """The version of each distribution in a lock file."""
    return {pin["name"]: pin["version"] for line in text_of(lock).splitlines() if (pin := PIN.fullmatch(line))}


def test_the_top_level_is_fixed() -> None:
    assert TOP_LEVEL == {path.parts[0] for path in tracked_files() if not path.parts[0].startswith(".")}


@pytest.mark.parametrize("lock", LOCKS, ids=str)
def test_a_lock_file_holds_pins_and_hashes_and_names_no_place(lock: Path) -> None:
    strange = [
        line
        for line in text_of(lock).splitlines()
        if not (PIN.fullmatch(line) or HASH.fullmatch(line) or REMARK.fullmatch(line))
    ]
    assert [] == strange


def test_tests_and_the_benchmark_run_with_the_releases_that_the_gateway_runs_with() -> None:
    runtime, *others = map(pins, LOCKS)
    assert runtime
    for other in others:
        assert runtime == {name: other.get(name) for name in runtime}


@pytest.mark.parametrize("script", SCRIPTS, ids=str)
def test_a_script_is_strict_executable_and_listed(script: Path) -> None:
    assert text_of(script).startswith("#!/bin/sh\n")
    assert "\nset -eu\n" in text_of(script)
    assert os.access(ROOT / script, os.X_OK)
    assert f"`{script}" in text_of(Path("scripts/README.md"))


@pytest.mark.parametrize("place", ELSEWHERE)
def test_the_project_speaks_of_itself_alone(place: str) -> None:
    assert [] == [str(path) for path in tracked_files() if ELSEWHERE[place].search(text_of(path))]
