"""The root fields of the memory surface: typed arguments in, a call of the service, GraphQL types out.

No argument has a default in the schema; one that is left out or null is not given.
Source: Memory read API, The routes.
"""

# mypy: allow-untyped-decorators
# The library's decorators are declared to return anything.

from datetime import datetime
from typing import Annotated, TypeVar

import strawberry

from gateway.graphql.connection import MemoryConnection, memory_connection
from gateway.graphql.memory_types import Info, Memory, MemoryOverview
from gateway.graphql.selection import selects
from gateway.service.memory_requests import MemoryDelete, MemoryPaging, MemoryReview, MemorySelection
from gateway.views.overview import OverviewView
from store.domain.vocabulary import BeliefType, MemoryStatus, ReviewOutcome, Sensitivity

Value = TypeVar("Value")

Ceiling = Annotated[
    Sensitivity,
    strawberry.argument(
        description="The most private level to be shown. What lies above does not exist for this field."
    ),
]

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


def _given(value: Value | None) -> Value | None:
    """The value of an optional argument; None where it is left out."""
    return None if value is strawberry.UNSET else value


@strawberry.type
class MemoryQuery:
    """Reading beliefs."""

    @strawberry.field(
        description=(
            "Your beliefs, newest first, a page at a time: the first 50 unless told otherwise, the last 50 before a "
            "cursor if only that is given."
        )
    )
    async def memories(  # noqa: PLR0913, PLR0917 # every filter is an argument; the library calls by name
        self,
        info: Info,
        ceiling: Ceiling,
        first: Annotated[
            int | None, strawberry.argument(description="How many from the start, 1 to 200; more is taken as 200.")
        ] = strawberry.UNSET,
        after: Annotated[
            str | None, strawberry.argument(description="Continue behind this cursor, towards older beliefs.")
        ] = strawberry.UNSET,
        last: Annotated[
            int | None, strawberry.argument(description="How many from the end, 1 to 200; more is taken as 200.")
        ] = strawberry.UNSET,
        before: Annotated[
            str | None, strawberry.argument(description="Go back from this cursor, towards newer beliefs.")
        ] = strawberry.UNSET,
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
    ) -> MemoryConnection | None:
        """One page. The flag of the side that is not walked is asked for only where it is selected."""
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
        paging = MemoryPaging(first=_given(first), after=_given(after), last=_given(last), before=_given(before))
        opposite = "hasNextPage" if paging.walks_back else "hasPreviousPage"
        with_opposite = selects(info._raw_info, "pageInfo", opposite)
        reads = info.context.reads
        page = await reads.ask(
            lambda reading: reading.browse(reads.principal, selection, paging, with_opposite=with_opposite)
        )
        if not info.context.size.admits(len(page.edges), info._raw_info):
            return None
        return memory_connection(reads, selection, page)

    @strawberry.field(description="One belief; not_found alike if there is none, it is another's or above the ceiling.")
    async def memory(
        self,
        info: Info,
        id: Annotated[strawberry.ID, strawberry.argument(description="The belief's identifier.")],
        ceiling: Ceiling,
    ) -> Memory | None:
        """One belief."""
        reads = info.context.reads
        view = await reads.ask(lambda reading: reading.read(reads.principal, id, ceiling))
        return Memory(view, ceiling, reads.links)

    @strawberry.field(
        graphql_type=MemoryOverview | None, description="Everything believed about you under a ceiling, counted."
    )
    async def memory_overview(self, info: Info, ceiling: Ceiling) -> OverviewView:
        """The counts, in one statement."""
        reads = info.context.reads
        return await reads.ask(lambda reading: reading.overview(reads.principal, ceiling))


@strawberry.input(description="What you say of one belief.")
class ReviewMemoryInput:
    """One review."""

    id: strawberry.ID = strawberry.field(description="The belief's identifier.")
    ceiling: Sensitivity = strawberry.field(description="The most private level that exists for this mutation.")
    outcome: ReviewOutcome = strawberry.field(description="What you say of it.")
    idempotency_key: str = strawberry.field(
        description="Your name for this one write, 1 to 200 visible ASCII characters: repeated, it applies once."
    )


@strawberry.input(description="Which belief to delete.")
class DeleteMemoryInput:
    """One deletion."""

    id: strawberry.ID = strawberry.field(description="The belief's identifier.")
    ceiling: Sensitivity = strawberry.field(description="The most private level that exists for this mutation.")
    idempotency_key: str = strawberry.field(
        description="Your name for this one write, 1 to 200 visible ASCII characters: repeated, it applies once."
    )


@strawberry.type(description="What a review led to.")
class ReviewMemoryPayload:
    """The answer to a review."""

    memory: Memory | None = strawberry.field(description="The belief as it stands now.")


@strawberry.type(description="What a deletion led to.")
class DeleteMemoryPayload:
    """The answer to a deletion."""

    deleted_id: strawberry.ID = strawberry.field(description="The identifier that the belief had.")


@strawberry.type
class MemoryMutation:
    """Writing beliefs. Each root field is a transaction of its own; they follow one another."""

    @strawberry.mutation(
        description="Say of a belief that it may stay, is untrue, or does not belong here; applied once."
    )
    async def review_memory(
        self,
        info: Info,
        input: Annotated[ReviewMemoryInput, strawberry.argument(description="The belief, and what you say of it.")],
    ) -> ReviewMemoryPayload | None:
        """Apply a review; what the belief leads to is read after the write."""
        exchange = info.context
        request = MemoryReview(
            id=input.id, ceiling=input.ceiling, outcome=input.outcome, idempotency_key=input.idempotency_key
        )
        view = await exchange.write(lambda memories: memories.review(exchange.principal, request))
        return ReviewMemoryPayload(memory=Memory(view, input.ceiling, exchange.reads.links))

    @strawberry.mutation(
        description="Erase a belief, and with it every belief of yours that says the same; its statement never returns."
    )
    async def delete_memory(
        self,
        info: Info,
        input: Annotated[DeleteMemoryInput, strawberry.argument(description="The belief to delete.")],
    ) -> DeleteMemoryPayload | None:
        """Erase a statement."""
        exchange = info.context
        request = MemoryDelete(id=input.id, ceiling=input.ceiling, idempotency_key=input.idempotency_key)
        deleted = await exchange.write(lambda memories: memories.delete(exchange.principal, request))
        return DeleteMemoryPayload(deleted_id=strawberry.ID(str(deleted)))
