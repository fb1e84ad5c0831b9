"""A schema of every form that a projection knows, things that may hold anything, and documents that show them."""

# mypy: allow-untyped-decorators
# The library's decorators are declared to return anything.

import json
import re
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from enum import Enum
from types import MappingProxyType, SimpleNamespace
from typing import Any, TypeAlias
from uuid import UUID

import strawberry
from graphql import DocumentNode, ExecutionResult, Undefined, execute
from hypothesis import strategies as st
from strawberry.schema.config import StrawberryConfig

from gateway.graphql.exposure import SCALARS
from gateway.graphql.fast.executor import ProjectingExecutor
from gateway.graphql.schema import SilentSchema


@strawberry.enum
class Colour(Enum):
    RED = "red"
    BLUE = "blue"


async def told(value: object) -> Any:  # Any: whatever the field is declared to be
    """The value a moment later, or the exception that it is."""
    if isinstance(value, Exception):
        raise value
    return value


@strawberry.type
class Thing:
    text: str
    word: str | None
    number: int
    count: int | None
    ratio: float
    flag: bool
    id: strawberry.ID
    run: UUID | None
    colour: Colour
    shade: Colour | None
    moment: datetime
    texts: list[str]
    numbers: list[int | None] | None
    grid: list[list[int]]
    child: "Thing | None"
    owner: "Thing"
    children: list["Thing"]
    others: list["Thing | None"] | None

    @strawberry.field
    def answered(self) -> str | None:
        """What is known at once."""
        if isinstance(self.text, Exception):
            raise self.text
        return self.word

    @strawberry.field
    def demanded(self) -> str:
        """What must be there."""
        return self.word  # type: ignore[return-value] # what is wrong is what is tested

    @strawberry.field
    async def later(self) -> str | None:
        """What has to be awaited."""
        value: str | None = await told(self.word)
        return value

    @strawberry.field
    async def demanded_later(self) -> str:
        """What has to be awaited and must be there."""
        value: str = await told(self.word)
        return value

    @strawberry.field
    async def linked(self) -> list["Thing"] | None:
        """Things that are fetched."""
        value: list[Thing] | None = await told(self.children)
        return value


@strawberry.type
class Query:
    one: Thing | None
    few: list[Thing]
    many: list[Thing | None] | None


PLAIN, PROJECTED = (
    SilentSchema(Query, config=StrawberryConfig(scalar_map=SCALARS), execution_context_class=executor)
    for executor in (None, ProjectingExecutor)
)

Made: TypeAlias = list[Coroutine[object, object, object]]
Recipe: TypeAlias = Callable[[Made], Any]  # Any: a good value or a bad one


def _awaited(recipe: Recipe) -> Recipe:
    def make(made: Made) -> object:
        made.append(told(recipe(made)))
        return made[-1]

    return make


def _is(value: object) -> Recipe:
    return lambda _: value


GOOD: Mapping[str, tuple[object, ...]] = {
    "text": ("one", ""),
    "word": (None, "two"),
    "number": (0, -(2**31), 2**31 - 1),
    "count": (None, 3),
    "ratio": (0.0, -1.5, 1e300),
    "flag": (True, False),
    "id": ("a", UUID(int=1)),
    "run": (None, UUID(int=2)),
    "colour": tuple(Colour),
    "shade": (None, Colour.BLUE),
    "moment": (datetime(2026, 6, 15, tzinfo=UTC),),
    "texts": ((), ["a", "b"], ("c",)),
    "numbers": (None, (1, None)),
    "grid": ([], [[1], [], (2, 3)]),
}
BAD: tuple[Recipe, ...] = (
    *map(_is, (None, Undefined, "RED", 2**31, -(2**31) - 1, 7, True, 1.5, float("nan"), float("inf"), b"x", {})),
    *map(_is, (Colour.RED, UUID(int=3), [None], (1, "a"), [float("nan")], [["a"]], date(2026, 1, 1), object)),
    *(lambda _, failure=failure: failure for failure in (ValueError("wrong"), KeyError("k"))),
    lambda _: [ValueError("an item")],
    lambda _: (word for word in ("a", "b")),
    lambda _: iter([1, 2]),
    _awaited(_is("told")),
    _awaited(_is(None)),
    _awaited(_is(ValueError("later"))),
    lambda made: [_awaited(_is("an item"))(made)],
)
_ONE_IN = 60
"""How rare a bad value is: most lists shall be shown by a projection to their end."""


def thing(**changed: Recipe) -> Recipe:
    """A thing that holds nothing but good values, except for those named."""
    good: dict[str, Recipe] = {name: _is(values[-1]) for name, values in GOOD.items()}
    good |= {"child": _is(None), "owner": _is(None), "children": _is(()), "others": _is(None)} | changed
    return lambda made: SimpleNamespace(**{name: recipe(made) for name, recipe in good.items()})


@st.composite
def things(draw: st.DrawFn, depth: int = 2) -> Recipe:
    """A thing, of which an attribute may be missing or hold anything."""
    recipes: dict[str, Recipe] = {name: _is(draw(st.sampled_from(values))) for name, values in GOOD.items()}
    recipes["child"] = _is(None) if not depth else draw(st.one_of(st.just(_is(None)), things(depth - 1)))
    recipes["owner"] = _is(SimpleNamespace()) if not depth else draw(things(depth - 1))
    recipes["children"] = draw(_lists(depth - 1, nullable=False))
    recipes["others"] = draw(_lists(depth - 1, nullable=True))
    for name in list(recipes):
        if draw(st.integers(1, _ONE_IN)) == 1:
            recipes[name] = draw(st.sampled_from(BAD))
    if draw(st.integers(1, _ONE_IN)) == 1:
        del recipes[draw(st.sampled_from(sorted(recipes)))]

    def make(made: Made) -> object:
        return SimpleNamespace(**{name: recipe(made) for name, recipe in recipes.items()})

    return draw(st.sampled_from([make] * 40 + [_awaited(make)]))


def _lists(depth: int, *, nullable: bool) -> st.SearchStrategy[Recipe]:
    if depth < 0:
        return st.just(lambda _: ())
    items = st.one_of(st.just(_is(None)), things(depth)) if nullable else things(depth)
    kinds: list[Callable[[list[Any]], object]] = [list, tuple, list, tuple, iter]  # Any: things and what is none

    def made_of(kind: Callable[[list[Any]], object], recipes: list[Recipe]) -> Recipe:  # Any: as above
        return lambda made: kind([recipe(made) for recipe in recipes])

    return st.builds(made_of, st.sampled_from(kinds), st.lists(items, max_size=2))


@st.composite
def worlds(draw: st.DrawFn) -> Recipe:
    """The root of an answer."""
    one, few, many = draw(things()), draw(_lists(2, nullable=False)), draw(_lists(2, nullable=True))
    return lambda made: SimpleNamespace(one=one(made), few=few(made), many=many(made))


_OBJECTS = ("child", "owner", "children", "others", "linked")
_RESOLVED = ("answered", "demanded", "later", "demandedLater")
_DIRECTIVES = ("", "", "", "", " @skip(if: $yes)", " @include(if: $no)", " @include(if: $yes)")


@st.composite
def selections(draw: st.DrawFn, depth: int = 2) -> str:
    """What is selected of a thing."""
    names = (*GOOD, *GOOD, "__typename", *_RESOLVED, *(_OBJECTS * 2 if depth else ()))
    parts = []
    for name in draw(st.lists(st.sampled_from(names), min_size=1, max_size=8)):
        beneath = draw(selections(depth - 1)) if name in _OBJECTS else ""
        shown = name + draw(st.sampled_from(_DIRECTIVES)) + beneath
        # One alias for each field: no two fields may share a key.
        parts.append(draw(st.sampled_from((shown, shown, f"other{name}: {shown}", f"... on Thing {{ {shown} }}"))))
    return f" {{ {' '.join(parts)} {draw(st.sampled_from(('', '...F')))} }}"


@st.composite
def queries(draw: st.DrawFn) -> str:
    """A document that shows things."""
    roots = draw(st.lists(st.sampled_from(("one", "few", "many")), min_size=1, max_size=3, unique=True))
    shown = " ".join(root + draw(selections()) for root in roots)
    fragment = draw(st.sampled_from(("id text", "number shade later", "__typename", "grid ratio child { flag }")))
    return f"query($yes: Boolean!, $no: Boolean!) {{ {shown} }} fragment F on Thing {{ {fragment} }}"


_ADDRESS = re.compile("0x[0-9a-f]+")
"""Where an object lies, which its text may tell."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer, in which order matters."""

    data: str
    errors: tuple[tuple[object, ...], ...]


async def answered(
    schema: strawberry.Schema,
    document: DocumentNode,
    world: Recipe,
    variables: Mapping[str, bool | None] = MappingProxyType({}),
) -> Answer:
    """What a schema answers."""
    made: Made = []
    try:
        result = execute(
            schema._schema,
            document,
            root_value=world(made),
            variable_values=dict(variables),
            executor_class=schema.execution_context_class,
            operation_extensions={},
        )
        result = result if isinstance(result, ExecutionResult) else await result
    finally:
        for coroutine in made:
            coroutine.close()
    errors = tuple((error.message, error.path, error.locations) for error in result.errors or ())
    return Answer(_ADDRESS.sub("somewhere", json.dumps(result.data)), errors)
