"""Objects shown column by column: one field of all of them at a time, by functions that run over a whole list.

A projection covers the fields that are attributes of their objects, with values that are leaves, lists, or objects of
which the same holds. It knows what these values are: whatever it does not expect is an exception, and the library,
which completes the objects from the start, has the last word on what is shown and what is wrong. Nothing is lost by
that, since attributes can be read twice. Source: Performance, Recommended design.
"""

from collections.abc import Callable, Mapping, Set
from datetime import datetime
from enum import Enum
from itertools import chain, islice
from math import isfinite
from operator import attrgetter
from types import GeneratorType, NoneType
from typing import Any, TypeAlias
from uuid import UUID

from graphql import (
    GRAPHQL_MAX_INT,
    GRAPHQL_MIN_INT,
    GraphQLBoolean,
    GraphQLFloat,
    GraphQLID,
    GraphQLInt,
    GraphQLLeafType,
    GraphQLString,
)
from graphql.pyutils import UndefinedType
from strawberry.schema.schema_converter import CustomGraphQLEnumType

from store.domain.encodings import wire_time

Object: TypeAlias = Any  # Any: what a resolver returned
Column: TypeAlias = list[Any]  # Any: the values of a field are what they are, until they were looked at
Codec: TypeAlias = Callable[[Column], Column]
Member: TypeAlias = tuple[Callable[[Object], Any], Codec]  # Any: as Column
"""What is read of an object, and how it is shown."""
Shown: TypeAlias = dict[str, Any]  # Any: JSON

SEQUENCES: frozenset[type] = frozenset({list, tuple})
"""What can be read twice and is the same the second time."""
_NO_OBJECTS = frozenset({NoneType, UndefinedType, GeneratorType})
"""What is no object to the library: absent, or perhaps to be awaited."""


class Unexpected(Exception):
    """A value that no projection shows."""


class Projection:
    """How objects of one type are shown: the keys in their order, and for each what is read and how it is written."""

    __slots__ = ("_columns", "_keys")

    def __init__(self, members: Mapping[str, Member]) -> None:
        """Show these members; there is at least one."""
        self._keys = tuple(members)
        self._columns = tuple(members.values())

    def show(self, objects: Column) -> list[Shown]:
        """The objects, each by itself. Raises whatever there is to raise, and Unexpected."""
        keys = self._keys
        columns = [codec(list(map(read, objects))) for read, codec in self._columns]
        return [dict(zip(keys, row, strict=True)) for row in zip(*columns, strict=True)]


def attribute(name: str, codec: Codec) -> Member:
    """The member that an attribute is."""
    return attrgetter(name), codec


def constant(value: str | None) -> Member:
    """The member that is the same for all objects."""
    return type, lambda column: [value] * len(column)


def leaf_codec(leaf: GraphQLLeafType) -> Codec | None:
    """How the values of a type without fields are shown; None for one that is not known here."""
    if isinstance(leaf, CustomGraphQLEnumType):
        return _names(leaf)
    # By what it does to a value, since a name says nothing about that.
    return _SCALARS.get(leaf.coerce_output_value)


def nullable(codec: Codec) -> Codec:
    """The same, where a value may be absent."""

    def show(column: Column) -> Column:
        if None not in column:
            return codec(column)
        shown = iter(codec([value for value in column if value is not None]))
        return [None if value is None else next(shown) for value in column]

    return show


def listed(codec: Codec) -> Codec:
    """Lists of the same."""

    def show(column: Column) -> Column:
        _check(column, SEQUENCES)
        shown = iter(codec(list(chain.from_iterable(column))))
        return [list(islice(shown, len(values))) for values in column]

    return show


def objects(projection: Projection) -> Codec:
    """Objects, which are told by their class from what the library would raise or await."""

    def show(column: Column) -> Column:
        classes = set(map(type, column))
        if not classes.isdisjoint(_NO_OBJECTS) or any(map(_is_raised_or_awaited, classes)):
            raise Unexpected
        return projection.show(column)

    return show


def _is_raised_or_awaited(cls: type) -> bool:
    return issubclass(cls, Exception) or hasattr(cls, "__await__")


def _check(column: Column, types: Set[type]) -> None:
    if not set(map(type, column)) <= types:
        raise Unexpected


def _as_they_are(cls: type) -> Codec:
    types = frozenset({cls})

    def show(column: Column) -> Column:
        _check(column, types)
        return column

    return show


def _integers(column: Column) -> Column:
    _check(column, frozenset({int}))
    if column and not (min(column) >= GRAPHQL_MIN_INT and max(column) <= GRAPHQL_MAX_INT):
        raise Unexpected
    return column


def _numbers(column: Column) -> Column:
    _check(column, frozenset({float}))
    if not all(map(isfinite, column)):
        raise Unexpected
    return column


def _identifiers(column: Column) -> Column:
    # The driver's identifiers are of a class of its own.
    if not all(cls is str or issubclass(cls, UUID) for cls in set(map(type, column))):
        raise Unexpected
    return list(map(str, column))


def _uuids(column: Column) -> Column:
    if not all(issubclass(cls, UUID) for cls in set(map(type, column))):
        raise Unexpected
    return list(map(str, column))


def _times(column: Column) -> Column:
    _check(column, frozenset({datetime}))
    return list(map(wire_time, column))


def _names(enumeration: CustomGraphQLEnumType) -> Codec:
    members: type[Enum] = enumeration.wrapped_cls  # type: ignore[assignment] # an enumeration's metaclass to Strawberry
    types = frozenset({members})
    names = {member: enumeration.coerce_output_value(member) for member in members}

    def show(column: Column) -> Column:
        _check(column, types)
        return list(map(names.__getitem__, column))

    return show


_SCALARS: Mapping[Callable[[Any], Any], Codec] = {  # Any: as Column
    GraphQLString.coerce_output_value: _as_they_are(str),
    GraphQLID.coerce_output_value: _identifiers,
    GraphQLInt.coerce_output_value: _integers,
    GraphQLFloat.coerce_output_value: _numbers,
    GraphQLBoolean.coerce_output_value: _as_they_are(bool),
    wire_time: _times,
    str: _uuids,
}
