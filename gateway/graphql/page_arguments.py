"""The arguments of a page, declared once for every field that shows one.

No argument has a default in the schema; one that is left out or null is not given.
Source: Memory read API, Pagination.
"""

from collections.abc import Awaitable, Callable
from datetime import datetime
from inspect import Parameter, signature
from typing import Annotated, Any, TypeAlias, TypeVar

import strawberry

from gateway.graphql.memory_types import Info
from gateway.service.memory_requests import MemoryPaging, MemorySelection
from store.domain.vocabulary import BeliefType, MemoryStatus, Sensitivity

Page = TypeVar("Page")
Value = TypeVar("Value")
Asked: TypeAlias = tuple[MemorySelection, MemoryPaging]

Ceiling = Annotated[
    Sensitivity,
    strawberry.argument(
        description="The most private level to be shown. What lies above does not exist for this field."
    ),
]
First = Annotated[
    int | None, strawberry.argument(description="How many from the start, 1 to 200; more is taken as 200.")
]
After = Annotated[str | None, strawberry.argument(description="Continue behind this cursor, towards older beliefs.")]
Last = Annotated[int | None, strawberry.argument(description="How many from the end, 1 to 200; more is taken as 200.")]
Before = Annotated[str | None, strawberry.argument(description="Go back from this cursor, towards newer beliefs.")]
Statuses = Annotated[
    list[MemoryStatus] | None,
    strawberry.argument(description="Only beliefs of these statuses; without it the live ones."),
]
BeliefTypes = Annotated[list[BeliefType] | None, strawberry.argument(description="Only beliefs of these types.")]
Sensitivities = Annotated[
    list[Sensitivity] | None,
    strawberry.argument(description="Only beliefs of these sensitivities, as far as the ceiling shows them."),
]
Subject = Annotated[
    str | None, strawberry.argument(description="Only beliefs about this subject, in any case of its letters.")
]
SessionId = Annotated[
    strawberry.ID | None, strawberry.argument(description="Only beliefs first formed in this session.")
]
Text = Annotated[
    str | None, strawberry.argument(description="Only beliefs that hold the words of at least one of these terms.")
]
Flagged = Annotated[
    bool | None, strawberry.argument(description="Only beliefs that do, or do not, wait for your review.")
]
ConfidenceMin = Annotated[
    float | None, strawberry.argument(description="Only beliefs of this confidence or more, from 0 to 1.")
]
ConfidenceMax = Annotated[
    float | None, strawberry.argument(description="Only beliefs of this confidence or less, from 0 to 1.")
]
FormedAfter = Annotated[
    datetime | None, strawberry.argument(description="Only beliefs formed at this moment or later.")
]
FormedBefore = Annotated[datetime | None, strawberry.argument(description="Only beliefs formed before this moment.")]


def _asked(  # noqa: PLR0913 # every filter is an argument
    *,
    ceiling: Ceiling,
    first: First = strawberry.UNSET,
    after: After = strawberry.UNSET,
    last: Last = strawberry.UNSET,
    before: Before = strawberry.UNSET,
    statuses: Statuses = strawberry.UNSET,
    belief_types: BeliefTypes = strawberry.UNSET,
    sensitivities: Sensitivities = strawberry.UNSET,
    subject: Subject = strawberry.UNSET,
    session_id: SessionId = strawberry.UNSET,
    text: Text = strawberry.UNSET,
    flagged: Flagged = strawberry.UNSET,
    confidence_min: ConfidenceMin = strawberry.UNSET,
    confidence_max: ConfidenceMax = strawberry.UNSET,
    formed_after: FormedAfter = strawberry.UNSET,
    formed_before: FormedBefore = strawberry.UNSET,
) -> Asked:
    """What the arguments of a page ask of the service."""
    selection = MemorySelection(
        ceiling=ceiling,
        statuses=_given(statuses),
        belief_types=_given(belief_types),
        sensitivities=_given(sensitivities),
        subject=_given(subject),
        session_id=_given(session_id),
        text=_given(text),
        flagged=_given(flagged),
        confidence_min=_given(confidence_min),
        confidence_max=_given(confidence_max),
        formed_after=_given(formed_after),
        formed_before=_given(formed_before),
    )
    return selection, MemoryPaging(first=_given(first), after=_given(after), last=_given(last), before=_given(before))


def _given(value: Value | None) -> Value | None:
    """The value of an optional argument; None where it is left out."""
    return None if value is strawberry.UNSET else value


def paged(resolve: Callable[[Info, MemorySelection, MemoryPaging], Awaitable[Page]]) -> Callable[..., Awaitable[Page]]:
    """A resolver that takes the arguments of a page and hands on what they ask; it shows what `resolve` shows."""

    async def resolver(self: object, info: Info, **arguments: Any) -> Page:  # Any: as `_asked` declares them
        return await resolve(info, *_asked(**arguments))

    own = [each for each in signature(resolver).parameters.values() if each.kind is not Parameter.VAR_KEYWORD]
    declared = signature(_asked).parameters.values()
    returned = signature(resolve).return_annotation
    # The library reads what a field takes and returns from here.
    resolver.__signature__ = signature(_asked).replace(  # type: ignore[attr-defined] # functions have it where it is set
        parameters=[*own, *declared], return_annotation=returned
    )
    return resolver
