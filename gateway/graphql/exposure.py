"""GraphQL types derived from views, so that there is one list of what is exposed.

Ids are ID, but for identifiers of nothing that can be asked for; times are DateTime: shown as the wire writes them,
taken as RFC 3339 has them. Source: Memory read API, The MemoryView projection.
"""

import types
from collections.abc import Callable, Mapping
from datetime import datetime
from enum import StrEnum
from functools import cache
from inspect import get_annotations
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin
from uuid import UUID

import strawberry
from pydantic import BaseModel
from strawberry.types import get_object_definition
from strawberry.types.scalar import ScalarDefinition

from gateway.graphql.enumerations import described
from gateway.service.times import parse_time
from store.domain.encodings import wire_time

Class = TypeVar("Class")


def _moment(value: object) -> datetime:
    """The moment that an argument holds. Raises ValueError, which tells nothing of the value."""
    moment = parse_time(value) if isinstance(value, str) else None
    if moment is None:
        raise ValueError("not a time of RFC 3339")
    return moment


SCALARS: Mapping[object, ScalarDefinition] = {
    datetime: strawberry.scalar(
        name="DateTime",
        description=(
            "A moment. Answers write it in UTC with six digits of fractional seconds: `YYYY-MM-DDTHH:MM:SS.ffffffZ`. "
            "Arguments may write any offset, which they must have, as `Z` or `±HH:MM`, and up to six such digits."
        ),
        specified_by_url="https://www.rfc-editor.org/rfc/rfc3339",
        serialize=wire_time,
        parse_value=_moment,
    ),
    UUID: strawberry.scalar(
        name="UUID",
        description="A universally unique identifier in its canonical lower-case form.",
        specified_by_url="https://www.rfc-editor.org/rfc/rfc9562",
        serialize=str,
    ),
}
"""Custom scalars. UUID occurs in answers only."""

PLAIN_UUIDS = frozenset({"formation_run_id"})
"""Identifiers of what no field of this API leads to."""


def exposing(view: type[BaseModel]) -> Callable[[type[Class]], type[Class]]:
    """A decorator: the class becomes a GraphQL type with the view's fields, before those of its own."""

    def decorate(cls: type[Class]) -> type[Class]:
        annotations: dict[str, object] = {}
        places = {name: place for place, name in enumerate(view.model_fields)}
        for name, field in view.model_fields.items():
            annotations[name] = _annotation(field.annotation, id_type=UUID if name in PLAIN_UUIDS else strawberry.ID)
            setattr(cls, name, strawberry.field(description=field.description))
        cls.__annotations__ = annotations | get_annotations(cls)
        exposed = strawberry.type(cls, description=view.__doc__)
        # The library puts the fields of an interface first; the view's order is the one that documents it.
        fields = get_object_definition(exposed, strict=True).fields
        fields.sort(key=lambda field: places.get(field.python_name, len(places)))
        return exposed

    return decorate


def exposed_type(view: type[BaseModel], name: str) -> type:
    """A GraphQL type of this name with the fields of the view and no others; its values are the views themselves."""
    return exposing(view)(type(name, (), {"__annotations__": {}}))


@cache
def _nested_type(view: type[BaseModel]) -> type:
    """The GraphQL type of a view that stands within others, one for all of them."""
    return exposed_type(view, view.__name__.removesuffix("View"))


def _annotation(annotation: Any, *, id_type: Any) -> Any:  # Any: a type as it is written, of which no type exists
    """What Strawberry is told for a view's annotation."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _annotation(arguments[0], id_type=id_type)
    if origin in (Union, types.UnionType):
        [inner] = (argument for argument in arguments if argument is not types.NoneType)
        return _annotation(inner, id_type=id_type) | None
    if origin is tuple:
        inner, _ = arguments
        return list[_annotation(inner, id_type=id_type)]  # type: ignore[misc] # a type made at run time
    if annotation is UUID:
        return id_type
    if issubclass(annotation, BaseModel):
        return _nested_type(annotation)
    if issubclass(annotation, StrEnum):
        return described(annotation)
    return annotation
