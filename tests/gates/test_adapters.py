"""Gate 8: both stores browse identically, and the two suites that show it are in place."""

import ast
import re
from dataclasses import replace
from pathlib import Path

import grimp
import pytest

from store.domain.lexical import TextQuery
from store.domain.memories import MemoryRecord
from store.domain.vocabulary import BeliefType, MemoryStatus, Sensitivity
from store.inmemory.store import InMemoryStore
from store.ports.memories import Keyset, MemoryBrowseQuery, MemoryFilter
from store.ports.store import Store
from tests.architecture.tracked import python_files, syntax_of, text_of
from tests.factories import SESSION, identifier, memory, owner
from tests.worlds import browse, everything, keep

CONTRACT = (Path("tests/contract/test_browse.py"), Path("tests/contract/test_filters.py"))
AGREEMENT = Path("tests/integration/test_agreement.py")
OTHER_RULES = re.compile(
    r"(?<!\.)\b(lower|casefold|lexical_query_terms|(plain|phrase|websearch_)to_tsquery|to_tsvector)\("
)
"""How an adapter could come to derive terms or to compare subjects by a rule of its own."""


def names(path: Path) -> set[str]:
    """Every name that a module mentions."""
    return {
        node.id if isinstance(node, ast.Name) else node.arg
        for node in ast.walk(syntax_of(path))
        if isinstance(node, ast.Name | ast.arg)
    }


def corpus() -> list[MemoryRecord]:
    """Beliefs that every filter divides, two of them at one position."""
    return [
        memory("Keeps a rowing boat", id=identifier(2), store_position=7),
        memory("Wohnt in der Straße", id=identifier(1), store_position=7, subject="STRAßE"),
        memory("東京に住んでいます", store_position=9, subject="İstanbul", belief_type=BeliefType.PREFERENCE),
        memory("Rows at dawn", store_position=3, status=MemoryStatus.RETIRED, flagged_for_review=True),
        memory("Hidden", store_position=8, sensitivity=Sensitivity.RESTRICTED),
        memory("Foreign", store_position=5, owner=owner("bo")),
    ]


def filters() -> list[MemoryFilter]:
    """One filter of each kind."""
    every = everything(owner(), ceiling=Sensitivity.INTERNAL)
    return [
        every,
        replace(every, statuses=frozenset(MemoryStatus)),
        replace(every, belief_types=frozenset({BeliefType.PREFERENCE})),
        replace(every, session_id=SESSION),
        replace(every, flagged=True, statuses=frozenset(MemoryStatus)),
        *(replace(every, subject=subject.lower()) for subject in ("STRASSE", "STRAßE", "İstanbul", "istanbul")),
        *(replace(every, text=TextQuery.parse(text)) for text in ("rowing 東京", "straße", "strasse", "...", "row")),
    ]


@pytest.mark.gate("gate.memory.browse_contract_parity")
async def test_both_stores_browse_identically(store: Store) -> None:
    model = InMemoryStore()
    records = corpus()
    await keep(model, *records)
    await keep(store, *records)
    for filter in filters():
        for keyset in (None, Keyset(position=7, id=identifier(1)), Keyset(position=8, id=identifier(1))):
            query = MemoryBrowseQuery(filter=filter, limit=2, keyset=keyset)
            assert await browse(model, query) == await browse(store, query)

    # The contract suite knows no adapter by name: it runs on each that the fixture has.
    for path in CONTRACT:
        assert "store" in names(path)
        assert not {"InMemoryStore", "PostgresStore", "postgres_store"} & names(path)
    [fixture] = [
        node
        for node in ast.walk(syntax_of(Path("tests/conftest.py")))
        if isinstance(node, ast.FunctionDef) and node.name == "store"
    ]
    assert all(adapter in ast.unparse(fixture.decorator_list[0]) for adapter in ("'inmemory'", "'postgres'"))
    # The agreement suite asks both the same generated questions.
    assert {"InMemoryStore", "postgres_store", "memory_browse_queries", "worlds"} <= names(AGREEMENT)
    # Both adapters take terms and lexemes from the one domain module, and compare subjects lower-cased by Python.
    graph = grimp.build_graph("store", "gateway", cache_dir=None)
    for adapter in ("store.inmemory", "store.postgres"):
        assert any(
            module.startswith(adapter) for module in graph.find_modules_that_directly_import("store.domain.lexical")
        )
    adapters = [path for path in python_files("store") if path.parts[1] in ("inmemory", "postgres")]
    assert [] == [path for path in adapters if OTHER_RULES.search(_without_docstrings(text_of(path)))]


def _without_docstrings(code: str) -> str:
    """The code alone, comments and docstrings left out."""
    tree = ast.parse(code)
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            node.value = ast.Constant(None)
    return ast.unparse(tree)
