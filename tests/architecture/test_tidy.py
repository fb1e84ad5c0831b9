"""Modules are small, documented, well named and used."""

import ast
import re
import tomllib
from pathlib import Path

import grimp

from gateway.cli.application import COMMANDS
from tests.architecture.tracked import python_files, syntax_of, text_of

MODULE_LINES_MAX = 400
FUNCTION_LINES_MAX = 70
NAMELESS = {"base", "common", "core", "helper", "helpers", "manager", "misc", "util", "utils"}

PACKAGES = ("gateway", "store")
MODULES = python_files(*PACKAGES, "tests")


def test_a_module_is_short_enough_to_be_read_at_once() -> None:
    lengths = {str(path): len(text_of(path).splitlines()) for path in MODULES}
    assert {} == {path: lines for path, lines in lengths.items() if lines > MODULE_LINES_MAX}


def test_a_function_is_short_enough_to_be_seen_at_once() -> None:
    lengths = {
        f"{path}:{node.lineno} {node.name}": (node.end_lineno or node.lineno) - node.lineno + 1
        for path in MODULES
        for node in ast.walk(syntax_of(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert {} == {function: lines for function, lines in lengths.items() if lines > FUNCTION_LINES_MAX}


def test_a_module_says_what_lives_in_it() -> None:
    assert [] == [str(path) for path in MODULES if not ast.get_docstring(syntax_of(path))]


def test_a_package_holds_a_docstring_only() -> None:
    packages = [path for path in MODULES if path.name == "__init__.py"]
    assert [] == [str(path) for path in packages if len(syntax_of(path).body) != 1]


def test_a_module_has_a_name() -> None:
    assert [] == [str(path) for path in MODULES if NAMELESS & {part.strip("_") for part in path.with_suffix("").parts}]


def test_every_module_is_reached_from_an_entry_point() -> None:
    graph = grimp.build_graph(*PACKAGES, cache_dir=None)
    scripts = tomllib.loads(text_of(Path("pyproject.toml")))["project"]["scripts"]
    entries = {target.partition(":")[0] for target in scripts.values()} | {"gateway.__main__"}
    # The second adapter, by whose answers the suites judge the first; no deployment chooses it.
    entries.add("store.inmemory.store")
    # A command is loaded by its module's name when it is used.
    entries |= {outline.module for outline in COMMANDS}
    # Alembic loads these by their path.
    entries |= {module for module in graph.modules if module.startswith("store.postgres.migrations.")}

    reached = entries.union(*(graph.find_upstream_modules(entry) for entry in entries))
    # To import a module is to import the packages around it.
    reached |= {module.rsplit(".", depth)[0] for module in reached for depth in range(1, module.count(".") + 1)}

    assert set() == graph.modules - reached


def test_no_group_of_a_pattern_is_possessive() -> None:
    """Python before 3.11.5 matches such groups wrongly, and some of them without end."""
    possessive = re.compile(r"(?<!\\)\)[*+?]\+")
    assert [] == [str(path) for path in python_files(*PACKAGES) if possessive.search(text_of(path))]
