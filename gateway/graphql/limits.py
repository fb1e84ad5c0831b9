"""Static bounds on a document, checked before anything walks it twice; what its variables decide is `cost`.

Each fragment is measured once, so the check is linear in the document even where spreads double: twenty fragments
that each spread the next one twice stand for a million fields, and are measured as twenty. What expands beyond a
bound is refused at once. Cycles and unknown fragments are left to validation, which names them.

Introspection has a depth of its own: the query that tools send is deeper than any sensible question about beliefs.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from graphql import (
    DirectiveNode,
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLError,
    InlineFragmentNode,
    OperationDefinitionNode,
    SelectionNode,
    SelectionSetNode,
    parse,
)

from gateway.graphql.errors import DocumentError, Label, syntax_error

TOKENS_MAX = 5_000
"""Lexical tokens of a document, which the parser counts."""
DEPTH_MAX = 12
"""Fields within fields, so that a belief can be followed through eight links."""
INTROSPECTION_DEPTH_MAX = 20
"""Fields within `__schema` or `__type`; the query of common tools has 15."""
NESTING_MAX = 60
"""Selection sets within selection sets, fragments counted: what the checks may recurse through."""
FIELDS_MAX = 1_000
"""Fields of an operation once its fragments are expanded; a belief has 34, the introspection query about 200."""
ROOT_FIELDS_MAX = 20
"""Root fields of an operation: as many pages, or transactions."""
ALIASES_MAX = 100
"""Fields under an alias."""
DIRECTIVES_MAX = 50
"""Directives of an operation once its fragments are expanded."""

INTROSPECTION_FIELDS = frozenset({"__schema", "__type"})

_BOUNDS: Mapping[str, int] = {
    "tokens": TOKENS_MAX,
    "depth": DEPTH_MAX,
    "introspection_depth": INTROSPECTION_DEPTH_MAX,
    "nesting": NESTING_MAX,
    "fields": FIELDS_MAX,
    "root_fields": ROOT_FIELDS_MAX,
    "aliases": ALIASES_MAX,
    "directives": DIRECTIVES_MAX,
}
_WHILE_IT_GROWS = ("nesting", "introspection_depth", "fields", "aliases", "directives")
_WHEN_IT_IS_WHOLE = ("depth", "root_fields")
"""Not while it grows: the same fragment may stand beneath introspection, which has its own depth, or deeper."""

_OF_THE_PARSER = {"tokens": "Document contains more than", "nesting": "Document is nested too deeply"}
_PARSER_MAXIMA = {"tokens": TOKENS_MAX, "nesting": 200}
"""What the parser stops at, and how it says so; of nesting it bears more than our walks do."""


class LimitExceeded(DocumentError):
    """A document beyond a limit: the name of the limit, the value and the maximum stand in the message."""

    def __init__(self, limit: str, *, value: int, maximum: int, counted_to_the_end: bool) -> None:
        """`counted_to_the_end` False: counting stopped at the value."""
        found = f"{value}" if counted_to_the_end else f"at least {value}"
        super().__init__(
            f"query exceeds the limit on {limit.replace('_', ' ')}: it has {found}, the maximum is {maximum}",
            Label.VALIDATION_FAILED,
        )
        self.limit = limit


@dataclass(frozen=True, slots=True, kw_only=True)
class _Extent:
    """How much a selection stands for once its fragments are expanded."""

    depth: int = 0
    introspection_depth: int = 0
    nesting: int = 0
    fields: int = 0
    root_fields: int = 0
    aliases: int = 0
    directives: int = 0

    def beside(self, other: "_Extent") -> "_Extent":
        """Both of them, side by side in one selection set."""
        return _Extent(
            depth=max(self.depth, other.depth),
            introspection_depth=max(self.introspection_depth, other.introspection_depth),
            nesting=max(self.nesting, other.nesting),
            fields=self.fields + other.fields,
            root_fields=self.root_fields + other.root_fields,
            aliases=self.aliases + other.aliases,
            directives=self.directives + other.directives,
        )


def parse_within_limits(text: str) -> DocumentNode:
    """The document of a text. Raises DocumentError for one that is none, LimitExceeded for one beyond a bound."""
    try:
        document = parse(text, max_tokens=TOKENS_MAX)
    except GraphQLError as error:
        for limit, words in _OF_THE_PARSER.items():
            if words in error.message:
                value = _PARSER_MAXIMA[limit] + 1
                raise LimitExceeded(limit, value=value, maximum=_BOUNDS[limit], counted_to_the_end=False) from None
        raise syntax_error(error) from None
    check_limits(document)
    return document


def check_limits(document: DocumentNode) -> None:
    """Raise LimitExceeded for the first bound that the document exceeds."""
    fragments = {
        definition.name.value: definition
        for definition in document.definitions
        if isinstance(definition, FragmentDefinitionNode)
    }
    measure = _Measure(fragments)
    for name in fragments:
        measure.fragment(name, 0)
    for definition in document.definitions:
        if isinstance(definition, OperationDefinitionNode):
            extent = measure.selections(definition.selection_set, 0)
            own = _directives(definition.directives)
            own += sum(_directives(variable.directives) for variable in definition.variable_definitions or ())
            whole = extent.beside(_Extent(directives=own))
            _check(whole, _WHILE_IT_GROWS + _WHEN_IT_IS_WHOLE, counted_to_the_end=True)


class _Measure:
    """Measures selections; what it knows of a fragment it keeps."""

    def __init__(self, fragments: Mapping[str, FragmentDefinitionNode]) -> None:
        self._fragments = fragments
        self._known: dict[str, _Extent] = {}
        self._active: set[str] = set()

    def selections(self, selection_set: SelectionSetNode, nesting: int) -> _Extent:
        """The extent of a selection set that lies this many selection sets deep."""
        if nesting > NESTING_MAX:
            raise LimitExceeded("nesting", value=nesting, maximum=NESTING_MAX, counted_to_the_end=False)
        extent = _Extent()
        for selection in selection_set.selections:
            extent = extent.beside(self._selection(selection, nesting + 1))
            # While it grows, not afterwards: the numbers of an expanding document have no end.
            _check(extent, _WHILE_IT_GROWS, counted_to_the_end=False)
        return extent

    def fragment(self, name: str, nesting: int) -> _Extent:
        """The extent of a fragment, measured once; nothing for an unknown one and for the closing of a cycle."""
        known = self._known.get(name)
        if known is not None:
            return known
        definition = self._fragments.get(name)
        if definition is None or name in self._active:
            return _Extent()
        self._active.add(name)
        extent = self.selections(definition.selection_set, nesting)
        extent = extent.beside(_Extent(directives=_directives(definition.directives)))
        self._active.remove(name)
        self._known[name] = extent
        return extent

    def _selection(self, selection: SelectionNode, nesting: int) -> _Extent:
        own = _Extent(nesting=1, directives=_directives(selection.directives))
        if isinstance(selection, FieldNode):
            return own.beside(self._field(selection, nesting))
        if isinstance(selection, FragmentSpreadNode):
            inner = self.fragment(selection.name.value, nesting)
        else:
            assert isinstance(selection, InlineFragmentNode), "the third and last kind"
            inner = self.selections(selection.selection_set, nesting)
        return own.beside(inner).beside(_Extent(nesting=inner.nesting + 1))

    def _field(self, field: FieldNode, nesting: int) -> _Extent:
        inner = _Extent() if field.selection_set is None else self.selections(field.selection_set, nesting)
        introspects = field.name.value in INTROSPECTION_FIELDS
        return _Extent(
            depth=1 if introspects else inner.depth + 1,
            introspection_depth=inner.depth + 1 if introspects else inner.introspection_depth,
            nesting=inner.nesting + 1,
            fields=inner.fields + 1,
            root_fields=1,
            aliases=inner.aliases + (field.alias is not None),
            directives=inner.directives,
        )


def _directives(nodes: Iterable[DirectiveNode] | None) -> int:
    return sum(1 for _ in nodes or ())


def _check(extent: _Extent, limits: Iterable[str], *, counted_to_the_end: bool) -> None:
    for limit in limits:
        value: int = getattr(extent, limit)
        if value > _BOUNDS[limit]:
            raise LimitExceeded(limit, value=value, maximum=_BOUNDS[limit], counted_to_the_end=counted_to_the_end)
