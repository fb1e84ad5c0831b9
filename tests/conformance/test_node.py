"""Without Node its tests are skipped with a visible line; where tests are a gate, they fail."""

import json
import re
from pathlib import Path

import pytest

from tests.conformance.node import PROJECT, installed_project


def test_without_node_the_tests_say_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="node is not installed"):
        installed_project()
    monkeypatch.setenv("CI", "1")
    with pytest.raises(pytest.fail.Exception, match="node is not installed"):
        installed_project()


def test_versions_are_exact_and_the_lock_file_names_no_place() -> None:
    wanted = json.loads((PROJECT / "package.json").read_text())["devDependencies"]
    assert [] == [name for name, version in wanted.items() if not re.fullmatch(r"\d+\.\d+\.\d+", version)]
    lock = json.loads((PROJECT / "package-lock.json").read_text())
    assert wanted == lock["packages"][""]["devDependencies"]
    packages = {name: package for name, package in lock["packages"].items() if name}
    assert [] == [name for name, package in packages.items() if "resolved" in package]
    assert [] == [name for name, package in packages.items() if "integrity" not in package]
