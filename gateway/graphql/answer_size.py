"""How large one answer may grow: a bound on the values of beliefs that it shows, on pages and through links alike.

What an answer costs is known only as it is made: a belief has between none and 64 links, and each of them as many
again. Every value takes the server about as long as another, and nobody else is served meanwhile.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from graphql import FieldNode, GraphQLResolveInfo

from gateway.graphql.selection import fields_beneath
from gateway.service.errors import MalformedRequest
from store.domain.derived import CLAUSES_MAX, SOURCES_MAX

VALUES_MAX = 70_000
"""Ten pages of 200 beliefs with all the fields of each; a belief counts as a value of its own."""
LINKS = frozenset({"conflictsWithMemories", "supersededByMemory", "supersedes"})
"""The fields that lead from a belief to others, which are counted where they are reached."""
LINK_VALUES = 8
"""How many values a link counts as, whatever it leads to: it is looked up where others are there already."""
_LENGTHS: Mapping[str, int] = {"clauses": CLAUSES_MAX, "sources": SOURCES_MAX}
"""How many objects the lists within a derived record hold at most."""


class AnswerSize:
    """Counts what an answer is about to show, and says when it is enough."""

    def __init__(self) -> None:
        """Count from nothing."""
        self.refusal: MalformedRequest | None = None
        self._count = 0
        self._values: dict[tuple[int, ...], int] = {}

    def admits(self, beliefs: int, info: GraphQLResolveInfo[Any]) -> bool:
        """Count so many beliefs with what the field being resolved selects of each; whether they may be shown.

        Raises MalformedRequest when the bound is first exceeded. After that everything is refused without an error:
        to write one for each of thousands of fields would take longer than to show them.
        """
        return self.admits_values(beliefs * self._values_of(info))

    def admits_values(self, values: int) -> bool:
        """Count values that lead to no others. Answers and raises as `admits` does."""
        if self.refusal is not None:
            return False
        self._count += values
        if self._count > VALUES_MAX:
            self.refusal = MalformedRequest("query", f"must not show more than {VALUES_MAX} values of memories at once")
            raise self.refusal
        return True

    def _values_of(self, info: GraphQLResolveInfo[Any]) -> int:
        # The same nodes are asked about for every belief of a page; the document, which they belong to, outlives us.
        key = tuple(id(node) for node in info.field_nodes)
        values = self._values.get(key)
        if values is None:
            values = self._values[key] = self._counted(info.field_nodes, info)
        return values

    def _counted(self, nodes: Sequence[FieldNode], info: GraphQLResolveInfo[Any]) -> int:
        return 1 + sum(self._shown(group, info) for group in fields_beneath(nodes, info))

    def _shown(self, nodes: Sequence[FieldNode], info: GraphQLResolveInfo[Any]) -> int:
        name = nodes[0].name.value
        return LINK_VALUES if name in LINKS else _LENGTHS.get(name, 1) * self._counted(nodes, info)
