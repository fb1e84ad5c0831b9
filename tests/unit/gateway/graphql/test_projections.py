"""Projections: whatever objects hold and whatever is selected of them, the answer is the library's own."""

import asyncio
from inspect import isawaitable
from operator import getitem
from types import SimpleNamespace
from typing import Any

import pytest
import strawberry
from graphql import DocumentNode, parse
from graphql.execution import ExperimentalIncrementalExecutionResults, experimental_execute_incrementally
from hypothesis import HealthCheck, given, settings
from strawberry.schema.config import StrawberryConfig

from gateway.graphql.exposure import SCALARS
from gateway.graphql.fast.executor import ProjectingExecutor
from gateway.graphql.fast.projection_plans import PLANS_MAX
from gateway.graphql.schema import SilentSchema
from tests.unit.gateway.graphql.things import (
    BAD,
    GOOD,
    PLAIN,
    PROJECTED,
    Answer,
    Query,
    Recipe,
    answered,
    queries,
    thing,
    worlds,
)

pytestmark = pytest.mark.filterwarnings(
    # The library's own, where a field fails beside others that are cancelled before they began.
    "ignore:coroutine .* was never awaited:RuntimeWarning"
)
OBJECTS = {"child": False, "owner": False, "children": True, "others": True}
"""The attributes that are objects, and whether they are lists of them."""
EVERYTHING = " ".join(name for name in GOOD)


async def both(document: DocumentNode, world: Recipe) -> list[tuple[Answer, Answer]]:
    """What the plain schema answers and what the other one does, for both values of the variables and once more."""
    choices = [{"yes": yes, "no": not yes} for yes in (True, False, True)]
    return [
        (await answered(PLAIN, document, world, choice), await answered(PROJECTED, document, world, choice))
        for choice in choices
    ]


def world(**roots: Recipe) -> Recipe:
    return lambda made: SimpleNamespace(**{name: recipe(made) for name, recipe in roots.items()})


def listed(*items: Recipe) -> Recipe:
    return lambda made: [item(made) for item in items]


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(query=queries(), world=worlds())
def test_any_world_is_shown_alike(query: str, world: Recipe) -> None:
    document = parse(query)

    for expected, actual in asyncio.run(both(document, world)):
        assert expected == actual


@pytest.mark.parametrize("bad", BAD, ids=range(len(BAD)))
@pytest.mark.parametrize("name", [*GOOD, *OBJECTS])
def test_a_bad_value_is_answered_alike_wherever_it_is(name: str, bad: Recipe) -> None:
    beneath = "{ __typename text }" if name in OBJECTS else ""
    document = parse(
        f"{{ few {{ id {name}{beneath} later }} many {{ __typename {name}{beneath} }} one {{ {name}{beneath} }} }}"
    )
    wrong = thing(**{name: bad})
    beside = listed(thing(), wrong, thing())

    for expected, actual in asyncio.run(both(document, world(few=beside, many=beside, one=wrong))):
        assert expected == actual


@pytest.mark.parametrize("bad", BAD, ids=range(len(BAD)))
@pytest.mark.parametrize("selected", ["__typename", "text", "text later", "text demanded"])
def test_what_is_no_object_is_answered_alike(bad: Recipe, selected: str) -> None:
    document = parse(f"{{ few {{ {selected} }} many {{ {selected} children {{ {selected} }} }} one {{ {selected} }} }}")
    beside = listed(thing(), bad, thing(children=listed(bad)))

    for expected, actual in asyncio.run(both(document, world(few=beside, many=beside, one=bad))):
        assert expected == actual


@pytest.mark.parametrize(
    "selected", ["demanded", "demandedLater", "child { text demanded }", "child { demandedLater }"]
)
async def test_a_failure_reaches_as_far_as_it_must(selected: str) -> None:
    document = parse(f"{{ many {{ text {selected} }} one {{ text {selected} later }} few {{ text {selected} }} }}")
    empty = thing(word=lambda _: None)
    beside = listed(thing(child=thing()), thing(word=lambda _: None, child=empty), empty)

    for expected, actual in await both(document, world(few=beside, many=beside, one=empty)):
        assert expected.errors
        assert expected == actual


async def test_nothing_selected_is_an_object_without_members() -> None:
    nothing = "{ text @skip(if: $yes) }"
    document = parse(f"query($yes: Boolean!) {{ few {nothing} one {{ child {nothing} children {nothing} }} }}")
    family = thing(child=thing(), children=listed(thing(), thing()))

    for expected, actual in await both(document, world(few=listed(thing(), thing()), one=family)):
        assert expected == actual


class OnlyRoots(ProjectingExecutor):
    """Refuses to execute a field of a thing."""

    def execute_field(self, parent_type: Any, *arguments: Any, **named: Any) -> Any:  # Any: the library's own
        assert "Query" == parent_type.name
        return super().execute_field(parent_type, *arguments, **named)


async def test_attributes_are_shown_without_the_library() -> None:
    schema = SilentSchema(Query, config=StrawberryConfig(scalar_map=SCALARS), execution_context_class=OnlyRoots)
    shown = f"{EVERYTHING} __typename child {{ id }}"
    document = parse(f"{{ many {{ {shown} children {{ {shown} }} }} one {{ {shown} others {{ {shown} }} }} }}")
    family = thing(child=thing(), children=listed(thing(), thing()), others=listed(thing(), lambda _: None))

    actual = await answered(schema, document, world(many=listed(family, family), one=family))

    assert not actual.errors
    assert await answered(PLAIN, document, world(many=listed(family, family), one=family)) == actual


async def test_more_selections_than_are_remembered_are_shown_alike() -> None:
    document = parse(f"{{ few {{ id {' '.join(f'c{n}: child {{ c{n}: id }}' for n in range(2 * PLANS_MAX))} }} }}")

    for expected, actual in await both(document, world(few=listed(thing(child=thing())))):
        assert expected == actual


async def test_a_directive_with_a_wrong_variable_is_told_alike() -> None:
    document = parse(
        "query($x: Boolean = true) { few { id child { text @include(if: $x) } } many { id @skip(if: $x) } }"
    )
    few = listed(thing(child=thing()))

    expected, actual = [
        await answered(schema, document, world(few=few, many=few), {"x": None}) for schema in (PLAIN, PROJECTED)
    ]

    assert expected.errors
    assert expected == actual


class Never(strawberry.BasePermission):
    message = "not for you"

    def has_permission(self, *_: object, **__: object) -> bool:
        return False


@strawberry.type
class Judged:
    id: strawberry.ID
    secret: str | None = strawberry.field(permission_classes=[Never])

    @classmethod
    def is_type_of(cls, source: Any, _info: object) -> bool:  # Any: whatever is shown
        return bool(source.right)


@strawberry.type
class Guarded:
    id: strawberry.ID
    secret: str | None = strawberry.field(permission_classes=[Never])


@strawberry.type
class Chambers:
    judged: list[Judged | None]
    guarded: list[Guarded]


async def executed(query: str, root: object, types: type, config: StrawberryConfig, **more: Any) -> list[Any]:
    """What both executors make of a query, without rules."""
    results = []
    for executor in (None, ProjectingExecutor):
        schema = SilentSchema(types, config=config, execution_context_class=executor)
        result: Any = experimental_execute_incrementally(
            schema._schema,
            parse(query),
            root_value=root,
            executor_class=schema.execution_context_class,
            operation_extensions={},
            **more,
        )
        results.append(await result if isawaitable(result) else result)
    return results


@pytest.mark.parametrize("selected", ["judged { id }", "guarded { id secret }", "judged { secret }"])
async def test_types_and_fields_that_judge_are_asked(selected: str) -> None:
    judged = [SimpleNamespace(id="a", secret="s", right=right) for right in (True, False)]

    expected, actual = await executed(
        f"{{ {selected} }}", SimpleNamespace(judged=judged, guarded=judged), Chambers, StrawberryConfig()
    )

    assert expected.errors
    assert expected == actual


async def test_middleware_sees_every_field() -> None:
    def shout(resolve: Any, source: Any, info: Any, **arguments: Any) -> Any:  # Any: the library's own
        value = resolve(source, info, **arguments)
        return value.upper() if isinstance(value, str) else value

    expected, actual = await executed(
        "{ few { text } one { text } }",
        world(few=listed(thing()), one=thing(text=lambda _: "quiet"))([]),
        Query,
        StrawberryConfig(scalar_map=SCALARS),
        middleware=[shout],
    )

    assert "QUIET" == expected.data["one"]["text"]
    assert expected == actual


class Row(dict[str, str]):
    id = "an attribute"


async def test_attributes_that_are_read_in_another_way_are_read_so() -> None:
    expected, actual = await executed(
        "{ guarded { id } }", {"guarded": [Row(id="a")]}, Chambers, StrawberryConfig(default_resolver=getitem)
    )

    assert {"guarded": [{"id": "a"}]} == expected.data
    assert expected == actual


@pytest.mark.parametrize(
    "selected",
    [
        "few @stream(initialCount: 1) { id }",
        "few { id ... @defer { text } }",
        "few { id ... @defer { word } }",
        "one { id ... @defer { child { id ... @defer { text } } } }",
    ],
)
async def test_what_is_delivered_later_is_so(selected: str) -> None:
    root = world(few=listed(thing(), thing()), one=thing(child=thing()))([])

    expected, actual = await executed(f"{{ {selected} }}", root, Query, StrawberryConfig(scalar_map=SCALARS))

    assert isinstance(expected, ExperimentalIncrementalExecutionResults)
    assert expected.initial_result.formatted == actual.initial_result.formatted
    assert [part.formatted async for part in expected.subsequent_results] == [
        part.formatted async for part in actual.subsequent_results
    ]
