"""The root fields of the memory surface: typed arguments in, a call of the service, GraphQL types out.

Source: Memory read API, The routes.
"""

# mypy: allow-untyped-decorators
# The library's decorators are declared to return anything.

from typing import Annotated

import strawberry

from gateway.graphql.connection import MemoryConnection, memory_connection
from gateway.graphql.item_types import DerivedMemory
from gateway.graphql.memory_types import Info, Memory, MemoryOverview
from gateway.graphql.page_arguments import Ceiling, paged
from gateway.graphql.selection import selects_opposite
from gateway.service.memory_requests import MemoryDelete, MemoryPaging, MemoryReview, MemorySelection
from gateway.views.derived import DerivedView
from gateway.views.overview import OverviewView
from store.domain.vocabulary import ReviewOutcome, Sensitivity


async def _memories(info: Info, selection: MemorySelection, paging: MemoryPaging) -> MemoryConnection | None:
    """One page of beliefs."""
    reads = info.context.reads
    with_opposite = selects_opposite(info._raw_info, paging)
    page = await reads.ask(
        lambda reading: reading.browse(reads.principal, selection, paging, with_opposite=with_opposite)
    )
    if not info.context.size.admits(len(page.edges), info._raw_info):
        return None
    return memory_connection(reads, selection, page)


@strawberry.type
class MemoryQuery:
    """Reading beliefs."""

    memories = strawberry.field(
        resolver=paged(_memories),
        description=(
            "Your beliefs, newest first, a page at a time: the first 50 unless told otherwise, the last 50 before a "
            "cursor if only that is given."
        ),
    )

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
    derived_memory: DerivedMemory | None = strawberry.field(
        description="The derived record as it stands now, where the review was of one; memory is null then."
    )


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
        if isinstance(view, DerivedView):
            return ReviewMemoryPayload(memory=None, derived_memory=DerivedMemory(view))
        return ReviewMemoryPayload(memory=Memory(view, input.ceiling, exchange.reads.links), derived_memory=None)

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
