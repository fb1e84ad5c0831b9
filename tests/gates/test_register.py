"""Every hard gate of the read API has exactly one test."""

import ast
from collections import Counter
from pathlib import Path

from tests.architecture.tracked import python_files, syntax_of

GATES = {
    "gate.memory.read_api_ceiling_required",
    "gate.memory.read_api_ceiling_filter",
    "gate.memory.read_api_principal_isolation",
    "gate.memory.read_api_pagination",
    "gate.memory.read_api_filters",
    "gate.memory.read_api_read_only",
    "gate.memory.read_api_flag_absent",
    "gate.memory.browse_contract_parity",
    "gate.memory.read_api_view_projection",
    "gate.memory.read_api_error_vocabulary",
}


def registered(path: Path) -> list[str]:
    """The ids in the gate marks of a module's tests."""
    return [
        str(ast.literal_eval(mark.args[0]))
        for test in ast.walk(syntax_of(path))
        if isinstance(test, ast.FunctionDef | ast.AsyncFunctionDef) and test.name.startswith("test_")
        for mark in test.decorator_list
        if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.gate"
    ]


def test_every_gate_is_registered_exactly_once() -> None:
    marks = [(path, id) for path in python_files("tests") for id in registered(path)]

    assert dict.fromkeys(GATES, 1) == Counter(id for _, id in marks if id in GATES)
    assert [] == [str(path) for path, _ in marks if path.parts[:2] != ("tests", "gates")]
