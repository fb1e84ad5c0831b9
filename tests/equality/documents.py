"""Generated documents: pages in every form that a document can give them, alone and beside other fields.

The same selection is written with aliases, fragments, directives over literals and variables, and fields that stand in
several places, so that what is merged and in which order is the library's to say.
"""

import json
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from gateway.service.cursors import encode_cursor
from gateway.views.memories import MemoryView
from store.domain.vocabulary import BeliefType, MemoryStatus, Sensitivity
from tests.strategies import IDS, POSITIONS, QUERY_TEXTS, SESSIONS, SUBJECTS


def _camel_case(word: str) -> str:
    first, *rest = word.split("_")
    return first + "".join(part.capitalize() for part in rest)


PLAIN = (*(_camel_case(name) for name in MemoryView.model_fields), "__typename")
LINKS = (
    "conflictsWithMemories { id status }",
    "supersededByMemory { id }",
    "supersedes { statement }",
)
OTHER_ROOTS = (
    "__typename",
    "viewer { scopes }",
    "gateway { version }",
    "memoryOverview(ceiling: INTERNAL) { __typename }",
    'memory(id: "00000000-0000-4000-8000-000000000001", ceiling: PUBLIC) { id }',
)
BOOLEANS = ("yes", "no", "unset")
"""Variables that directives name; the last one has a default."""

_ALIASES = ("a", "b", "id", "node", "edges", "it")


@dataclass(slots=True)
class Writing:
    """What a document gathers beside its operation: fragments, variables, and the values that are given for them."""

    fragments: list[str] = field(default_factory=list)
    definitions: list[str] = field(default_factory=list)
    values: dict[str, Any] = field(default_factory=dict)  # Any: JSON

    def variable(self, type: str, value: Any) -> str:  # Any: JSON
        """A new variable that holds a value."""
        name = f"v{len(self.values)}"
        self.definitions.append(f"${name}: {type}")
        self.values[name] = value
        return f"${name}"

    def fragment(self, type: str, selections: str) -> str:
        """A spread of a new fragment."""
        name = f"F{len(self.fragments)}"
        self.fragments.append(f"fragment {name} on {type} {{ {selections} }}")
        return f"...{name}"


@dataclass(frozen=True, slots=True)
class Document:
    """A document and the values of its variables."""

    query: str
    variables: dict[str, Any]  # Any: JSON


def _directives(draw: st.DrawFn) -> str:
    if draw(st.integers(0, 5)) != 0:
        return ""
    condition = draw(st.sampled_from(("true", "false", *(f"${name}" for name in BOOLEANS))))
    return f" @{draw(st.sampled_from(('include', 'skip')))}(if: {condition})"


def _selections(draw: st.DrawFn, writing: Writing, type: str, fields: list[str]) -> str:
    """The fields, some of them grouped into fragments, which may stand twice."""
    written: list[str] = []
    while fields:
        size = draw(st.integers(1, len(fields)))
        part, fields = fields[:size], fields[size:]
        selected = " ".join(part)
        match draw(st.integers(0, 5)):
            case 0:
                spread = writing.fragment(type, selected)
                written += [f"{spread}{_directives(draw)}"] * draw(st.integers(1, 2))
            case 1:
                condition = draw(st.sampled_from(("", f" on {type}")))
                written.append(f"...{condition}{_directives(draw)} {{ {selected} }}")
            case _:
                written.append(selected)
    return " ".join(written)


def _plain_fields(draw: st.DrawFn) -> list[str]:
    names = draw(st.lists(st.sampled_from(PLAIN), min_size=1, max_size=8))
    fields = [name + _directives(draw) for name in names]
    # Under a key of its own for each name, lest one key stand for two.
    return fields + [f"of_{name}: {name}" for name in draw(st.lists(st.sampled_from(PLAIN), max_size=2))]


def _node(draw: st.DrawFn, writing: Writing) -> str:
    fields = _plain_fields(draw)
    if draw(st.integers(0, 7)) == 0:
        fields.append(draw(st.sampled_from(LINKS)))
    return f"{{ {_selections(draw, writing, 'Memory', fields)} }}"


def _page_info(draw: st.DrawFn) -> str:
    members = ("hasNextPage", "hasPreviousPage", "startCursor", "endCursor", "__typename", "more: hasNextPage")
    return "pageInfo { " + " ".join(draw(st.lists(st.sampled_from(members), min_size=1, max_size=5))) + " }"


def _edges(draw: st.DrawFn, writing: Writing) -> str:
    kinds = draw(
        st.lists(st.sampled_from(("cursor", "place: cursor", "__typename", "node", "node")), min_size=1, max_size=4)
    )
    chosen = [f"node {_node(draw, writing)}" if kind == "node" else kind for kind in kinds]
    return f"edges {{ {_selections(draw, writing, 'MemoryEdge', chosen)} }}"


def _connection(draw: st.DrawFn, writing: Writing) -> str:
    members: list[str] = []
    for _ in range(draw(st.integers(1, 3))):
        match draw(st.integers(0, 9)):
            case 0 | 1 | 2:
                members.append(_edges(draw, writing))
            case 3 | 4 | 5:
                members.append(f"nodes{_directives(draw)} {_node(draw, writing)}")
            case 6 | 7:
                members.append(_page_info(draw))
            case 8:
                members.append("totalCount")
            case _:
                members.append("__typename")
    return f"{{ {_selections(draw, writing, 'MemoryConnection', members)} }}"


def _cursors() -> st.SearchStrategy[str]:
    places = st.builds(encode_cursor, st.sampled_from((0, *POSITIONS, 2**63 - 1)), st.sampled_from(IDS))
    return st.one_of(places, places, places, st.sampled_from(("", "none", encode_cursor(2**63, IDS[0]))))


def _names(enumeration: type[MemoryStatus | BeliefType | Sensitivity]) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from([member.name for member in enumeration]), max_size=4)


ARGUMENTS: dict[str, tuple[str, st.SearchStrategy[Any]]] = {  # Any: JSON
    "first": ("Int", st.sampled_from((1, 2, 3, 50, 200, 1_000, 0, -1))),
    "after": ("String", _cursors()),
    "last": ("Int", st.sampled_from((1, 2, 3, 50, 0))),
    "before": ("String", _cursors()),
    "statuses": ("[MemoryStatus!]", _names(MemoryStatus)),
    "beliefTypes": ("[BeliefType!]", _names(BeliefType)),
    "sensitivities": ("[Sensitivity!]", _names(Sensitivity)),
    "subject": ("String", st.sampled_from((*SUBJECTS, ""))),
    "sessionId": ("ID", st.sampled_from((*map(str, SESSIONS), "none", ""))),
    "text": ("String", st.sampled_from((*QUERY_TEXTS, "", "w " * 600))),
    "flagged": ("Boolean", st.booleans()),
}
ENUMERATED = frozenset({"statuses", "beliefTypes", "sensitivities"})


def _arguments(draw: st.DrawFn, writing: Writing) -> str:
    ceiling = draw(st.sampled_from((*Sensitivity, *[Sensitivity.RESTRICTED] * 4))).name
    written = [f"ceiling: {ceiling if draw(st.booleans()) else writing.variable('Sensitivity!', ceiling)}"]
    for name in draw(st.lists(st.sampled_from(sorted(ARGUMENTS)), max_size=3, unique=True)):
        type, values = ARGUMENTS[name]
        value = draw(st.none() | values | values | values)
        if draw(st.booleans()):
            written.append(f"{name}: {writing.variable(type, value)}")
        else:
            written.append(f"{name}: {_literal(value, is_enumerated=name in ENUMERATED)}")
    return f"({', '.join(written)})"


def _literal(value: Any, *, is_enumerated: bool) -> str:  # Any: JSON
    if is_enumerated and value is not None:
        return f"[{', '.join(value)}]"
    # Of a text without surrogates beyond the first plane, JSON and GraphQL have one spelling.
    return json.dumps(value, ensure_ascii=False)


@st.composite
def documents(draw: st.DrawFn) -> Document:
    """A query of a page, which may stand in two places, beside another one, or beside other fields."""
    writing = Writing()
    arguments = _arguments(draw, writing)
    alias = draw(st.sampled_from(("", "", f"{draw(st.sampled_from(_ALIASES))}: ")))
    roots = [f"{alias}memories{arguments} {_connection(draw, writing)}"]
    if draw(st.integers(0, 3)) == 0:
        # Merged with the first.
        roots.append(f"{alias}memories{arguments} {_connection(draw, writing)}")
    if draw(st.integers(0, 7)) == 0:
        roots.append(f"second: memories{_arguments(draw, writing)} {_connection(draw, writing)}")
    if draw(st.integers(0, 7)) == 0:
        roots.insert(draw(st.integers(0, len(roots))), draw(st.sampled_from(OTHER_ROOTS)))
    selected = _selections(draw, writing, "Query", roots)
    text = " ".join((selected, *writing.fragments))
    for name, value in zip(BOOLEANS[:2], (True, False), strict=True):
        if f"${name}" in text:
            writing.definitions.append(f"${name}: Boolean!")
            writing.values[name] = value
    if "$unset" in text:
        writing.definitions.append("$unset: Boolean = true")
        if draw(st.booleans()):
            writing.values["unset"] = draw(st.sampled_from((True, False, None)))
    head = f"query Asked({', '.join(writing.definitions)}) " if writing.definitions else ""
    return Document(" ".join((f"{head}{{ {selected} }}", *writing.fragments)), writing.values)
