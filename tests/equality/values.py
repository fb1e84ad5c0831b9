"""Values of every input type of a schema, written as literals and as variables, rightly and sometimes wrongly.

What a value is like depends on its type, so that an argument which is new is given values as well. Names that stand
for more than their type does (a place in the order, words to look for) have values that meet something.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from graphql import (
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLInputType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLScalarType,
    get_nullable_type,
)

from gateway.service.cursors import encode_cursor
from store.domain.encodings import wire_time
from tests.equality.choices import Choices
from tests.strategies import CREATIONS, DERIVED_IDS, IDS, POSITIONS, QUERY_TEXTS, SESSIONS, SUBJECTS

_CURSORS = (
    *(encode_cursor(position, IDS[0]) for position in POSITIONS),
    encode_cursor(0, IDS[1]),
    encode_cursor(2**63 - 1, IDS[2]),
    encode_cursor(2**63, IDS[0]),
    "",
    "none",
)
_PAGE_SIZES = (2, 1, 3, 5, 2, 3, 50, 200, 1_000, 2**31 - 1, 0, -1)
_MOMENTS = (*map(wire_time, CREATIONS), "2026-01-01T01:00:00+01:00", "0001-01-01T00:00:00Z")
VALUES: Mapping[str, Sequence[Any]] = {  # Any: JSON
    "id": (*map(str, IDS), *map(str, DERIVED_IDS), str(UUID(int=1)), "none", ""),
    "rootIds": (*map(str, (*DERIVED_IDS[::-1], *IDS[:3])), "none"),
    "maxDepth": (4, 1, 0, 8, 9),
    "nodeLimit": (128, 3, 1, 256, 0),
    "ceiling": (*["RESTRICTED"] * 4, "SENSITIVE", "INTERNAL", "PUBLIC"),
    "first": _PAGE_SIZES,
    "last": _PAGE_SIZES,
    "after": _CURSORS,
    "before": _CURSORS,
    "subject": (*SUBJECTS, ""),
    "sessionId": (*map(str, SESSIONS), "none", ""),
    "text": (*QUERY_TEXTS, "", "w " * 600),
    "confidenceMin": (0, 0.2, 0.001, 0.4, 0.1 + 0.2, 0, 0.6, 2),
    "confidenceMax": (1, 0.999, 0.8, 1, 0.6, 0.399, 1, -0.1),
    "formedAfter": (*_MOMENTS, "2026-01-01"),
    "formedBefore": (*_MOMENTS, "9999-12-31T23:59:59.999999Z", "9998-12-31T00:00:00-08:00", "none"),
    "idempotencyKey": ("key-1", "key-2", "key-3", "key-4", "key-5", "", "é", "k" * 201),
    "name": (
        "Memory",
        "MemoryItem",
        "DerivedMemory",
        "Query",
        "Sensitivity",
        "DeleteMemoryInput",
        "DateTime",
        "__Type",
        "Absent",
        "",
    ),
}
"""By the name of an argument or of a field of an input."""
SCALARS: Mapping[str, Sequence[Any]] = {  # Any: JSON
    "Boolean": (True, False),
    "Float": (0.5, 1, 0, -1e300),
    "ID": (str(IDS[0]), "none", 7),
    "Int": (1, 0, 2, -1, 2**31 - 1),
    "String": ("tea", "", '"quoted" \\ → 👍🏽'),
}
OTHER_SCALARS: Sequence[Any] = (str(IDS[0]), "2026-06-15T12:00:00.000000Z", "none")  # Any: JSON
_WRONG: Sequence[Any] = ("WRONG", 7, 1.5, True, [], [None], {}, {"wrong": 1}, 2**31)  # Any: JSON
BOOLEANS = ("yes", "no", "unset")
"""Variables that directives name; the last one has a default."""


@dataclass(slots=True)
class Writing:
    """What a document gathers beside its operation, and the values that are given for its variables."""

    choices: Choices
    definitions: list[str] = field(default_factory=list)
    values: dict[str, Any] = field(default_factory=dict)  # Any: JSON
    coordinates: set[str] = field(default_factory=set)
    """What of the schema is used: `Type.field`, `Type.field(argument)`, `Input.field`."""
    _booleans: set[str] = field(default_factory=set)
    _count: int = 0

    def condition(self) -> str:
        """The condition of a directive."""
        name = self.choices.pick(("true", "false", *BOOLEANS))
        if name not in BOOLEANS:
            return name
        if name not in self._booleans:
            self._booleans.add(name)
            self.definitions.append(f"${name}: Boolean" + (" = true" if name == "unset" else "!"))
            if name != "unset":
                self.values[name] = name == "yes"
            elif self.choices.below(2):
                self.values[name] = self.choices.pick((True, False, None, False))
        return f"${name}"

    def value(self, name: str, type: GraphQLInputType) -> str:
        """A value for an argument or a field of an input: a literal, or a variable that holds it."""
        if self.choices.below(3) == 2:
            return self._variable(name, type)
        return self._literal(name, type)

    def _variable(self, name: str, type: GraphQLInputType) -> str:
        self._count += 1
        variable = f"v{self._count}"
        declared = "[Boolean]" if self.choices.happens(80) else str(type)
        is_nullable = not isinstance(type, GraphQLNonNull)
        if self.choices.happens(5):
            # Allowed where a value is required as well, unless null is given.
            declared = f"{get_nullable_type(type)} = {_written(type, self._json(name, type, can_be_null=False))}"
            is_nullable = True
        elif is_nullable and self.choices.happens(6):
            declared, is_nullable = f"{type}!", False
        self.definitions.append(f"${variable}: {declared}")
        if not (is_nullable and self.choices.happens(5)) and not self.choices.happens(80):
            self.values[variable] = self._json(name, type, can_be_null=is_nullable)
        return f"${variable}"

    def _literal(self, name: str, type: GraphQLInputType) -> str:
        inner = get_nullable_type(type)
        if isinstance(inner, GraphQLInputObjectType):
            given = [key for key, field in inner.fields.items() if self._is_given(field.type)]
            self.coordinates.update(f"{inner.name}.{key}" for key in given)
            return f"{{{', '.join(f'{key}: {self.value(key, inner.fields[key].type)}' for key in given)}}}"
        return _written(type, self._json(name, type, can_be_null=inner is type))

    def _is_given(self, type: GraphQLInputType) -> bool:
        return not self.choices.happens(60) if isinstance(type, GraphQLNonNull) else self.choices.below(4) == 3

    def _json(self, name: str, type: GraphQLInputType, *, can_be_null: bool) -> Any:  # Any: JSON
        if self.choices.happens(10 if can_be_null else 80):
            return None
        if self.choices.happens(40):
            return self.choices.pick(_WRONG)
        match get_nullable_type(type):
            case GraphQLList(of_type=inner):
                if self.choices.happens(6):
                    return self._json(name, inner, can_be_null=False)
                return [self._json(name, inner, can_be_null=False) for _ in range(self.choices.pick((1, 2, 3, 0)))]
            case GraphQLInputObjectType(fields=fields) as named:
                given = [key for key, field in fields.items() if self._is_given(field.type)]
                self.coordinates.update(f"{named.name}.{key}" for key in given)
                return {key: self._json(key, fields[key].type, can_be_null=False) for key in given}
            case GraphQLEnumType(values=members):
                return self.choices.pick(VALUES.get(name) or tuple(members))
            case scalar:
                assert isinstance(scalar, GraphQLScalarType), "the last kind of input"
                return self.choices.pick(VALUES.get(name) or SCALARS.get(scalar.name, OTHER_SCALARS))


def _written(type: GraphQLInputType, value: Any) -> str:  # Any: JSON
    """A value as a literal."""
    inner = get_nullable_type(type)
    if isinstance(inner, GraphQLList) and isinstance(value, list):
        return f"[{', '.join(_written(inner.of_type, item) for item in value)}]"
    if isinstance(value, dict):
        fields = inner.fields if isinstance(inner, GraphQLInputObjectType) else {}
        members = (f"{key}: {_written(fields[key].type if key in fields else type, value[key])}" for key in value)
        return f"{{{', '.join(members)}}}"
    named = inner.of_type if isinstance(inner, GraphQLList) else inner
    if isinstance(get_nullable_type(named), GraphQLEnumType) and isinstance(value, str):
        return value
    # Of a text without surrogates beyond the first plane, JSON and GraphQL have one spelling.
    return json.dumps(value, ensure_ascii=False)
