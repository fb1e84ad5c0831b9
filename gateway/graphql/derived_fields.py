"""The root fields of derived records, which stand only where they are served.

Source: belief store decisions, Derived records.
"""

# mypy: allow-untyped-decorators
# The library's decorators are declared to return anything.

from typing import Annotated

import strawberry

from gateway.graphql.connection import MemoryItemConnection, memory_item_connection
from gateway.graphql.item_types import DerivedMemory
from gateway.graphql.memory_types import Info
from gateway.graphql.page_arguments import Ceiling, paged
from gateway.graphql.selection import selects_opposite
from gateway.service.memory_requests import MemoryPaging, MemorySelection


async def _items(info: Info, selection: MemorySelection, paging: MemoryPaging) -> MemoryItemConnection | None:
    """One page of beliefs and derived records in one order."""
    reads = info.context.reads
    with_opposite = selects_opposite(info._raw_info, paging)
    page = await reads.ask_items(
        lambda items: items.browse(reads.principal, selection, paging, with_opposite=with_opposite)
    )
    if not info.context.size.admits(len(page.edges), info._raw_info):
        return None
    return memory_item_connection(reads, selection, page)


@strawberry.type
class DerivedQuery:
    """Reading derived records, among beliefs and by themselves."""

    memory_items = strawberry.field(
        resolver=paged(_items),
        description=(
            "Your beliefs and what was concluded from them, in one order, paged and filtered as memories is. What was "
            "concluded is active, and of every type and session that its sources are of."
        ),
    )

    @strawberry.field(
        description=(
            "One thing that was concluded; not_found alike if there is none, it is another's, above the ceiling, or "
            "one of its sources is not as it was."
        )
    )
    async def derived_memory(
        self,
        info: Info,
        id: Annotated[strawberry.ID, strawberry.argument(description="The derived record's identifier.")],
        ceiling: Ceiling,
    ) -> DerivedMemory | None:
        """One derived record."""
        reads = info.context.reads
        view = await reads.ask_items(lambda items: items.read_derived(reads.principal, id, ceiling))
        return DerivedMemory(view)
