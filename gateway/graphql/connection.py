"""A page as a connection: edges, nodes, flags and cursors, and the count of all; of beliefs, or of all items.

Source: Memory read API, Pagination; the connection's form is the one of the Cursor Connections specification.
"""

# mypy: allow-untyped-decorators
# The library's decorators are declared to return anything.

import strawberry

from gateway.graphql.context import MemoryReads
from gateway.graphql.item_types import DerivedMemory, MemoryItem
from gateway.graphql.memory_types import Memory
from gateway.service.derived_reading import MemoryItemPage, MemoryItemView
from gateway.service.memory_reading import MemoryPage
from gateway.service.memory_requests import MemorySelection
from gateway.views.derived import DerivedView
from store.domain.vocabulary import Sensitivity


@strawberry.type(description="Where a page lies in the whole, under the same filter and ceiling.")
class PageInfo:
    """The flags and cursors of a page."""

    has_next_page: bool = strawberry.field(description="Whether older beliefs follow.")
    has_previous_page: bool = strawberry.field(description="Whether newer beliefs precede.")
    start_cursor: str | None = strawberry.field(description="The cursor of the first edge; null on an empty page.")
    end_cursor: str | None = strawberry.field(description="The cursor of the last edge; null on an empty page.")


@strawberry.type(description="A belief in its place on a page.")
class MemoryEdge:
    """One belief and its cursor."""

    cursor: str = strawberry.field(description="Stands for this place: hand it back as after or before.")
    node: Memory = strawberry.field(description="The belief.")


@strawberry.type(description="A page of beliefs, newest first.")
class MemoryConnection:
    """One page, and what can be asked about the whole that it belongs to."""

    reads: strawberry.Private[MemoryReads]
    selection: strawberry.Private[MemorySelection]
    page: strawberry.Private[MemoryPage]

    edges: list[MemoryEdge] = strawberry.field(description="The beliefs with their cursors.")
    nodes: list[Memory] = strawberry.field(description="The beliefs alone, in the same order.")

    @strawberry.field(description="Where this page lies in the whole.")
    def page_info(self) -> PageInfo:
        """The flags, of which the one of the side not walked is known only if it was selected."""
        return _page_info(self.page)

    @strawberry.field(description="How many beliefs the filter selects under the ceiling, on all pages together.")
    async def total_count(self) -> int:
        """The exact count, which is a statement of its own."""
        return await self.reads.ask(lambda reading: reading.count(self.reads.principal, self.selection))


def memory_connection(reads: MemoryReads, selection: MemorySelection, page: MemoryPage) -> MemoryConnection:
    """The connection of a page that was read under the selection's ceiling."""
    nodes = [Memory(edge.node, selection.ceiling, reads.links) for edge in page.edges]
    return MemoryConnection(
        reads=reads,
        selection=selection,
        page=page,
        nodes=nodes,
        edges=[MemoryEdge(cursor=edge.cursor, node=node) for edge, node in zip(page.edges, nodes, strict=True)],
    )


@strawberry.type(description="A belief or a derived record in its place on a page.")
class MemoryItemEdge:
    """One item and its cursor."""

    cursor: str = strawberry.field(description="Stands for this place: hand it back as after or before.")
    node: MemoryItem = strawberry.field(description="The belief or the derived record.")


@strawberry.type(description="A page of beliefs and derived records in one order, newest first.")
class MemoryItemConnection:
    """One page, and what can be asked about the whole that it belongs to."""

    reads: strawberry.Private[MemoryReads]
    selection: strawberry.Private[MemorySelection]
    page: strawberry.Private[MemoryItemPage]

    edges: list[MemoryItemEdge] = strawberry.field(description="The items with their cursors.")
    nodes: list[MemoryItem] = strawberry.field(description="The items alone, in the same order.")

    @strawberry.field(description="Where this page lies in the whole.")
    def page_info(self) -> PageInfo:
        """The flags, as a page of beliefs has them."""
        return _page_info(self.page)

    @strawberry.field(description="How many items the filter selects under the ceiling, on all pages together.")
    async def total_count(self) -> int:
        """The exact count, which is a statement of its own for each kind of record."""
        return await self.reads.ask_items(lambda items: items.count(self.reads.principal, self.selection))


def memory_item_connection(
    reads: MemoryReads, selection: MemorySelection, page: MemoryItemPage
) -> MemoryItemConnection:
    """The connection of a page that was read under the selection's ceiling."""
    nodes = [memory_item(edge.node, selection.ceiling, reads) for edge in page.edges]
    return MemoryItemConnection(
        reads=reads,
        selection=selection,
        page=page,
        nodes=nodes,
        edges=[MemoryItemEdge(cursor=edge.cursor, node=node) for edge, node in zip(page.edges, nodes, strict=True)],
    )


def memory_item(view: MemoryItemView, ceiling: Sensitivity, reads: MemoryReads) -> MemoryItem:
    """The belief or derived record of a view that was read under a ceiling."""
    return DerivedMemory(view) if isinstance(view, DerivedView) else Memory(view, ceiling, reads.links)


def _page_info(page: MemoryPage | MemoryItemPage) -> PageInfo:
    return PageInfo(
        # A flag that is None was not selected, so its value is never shown.
        has_next_page=bool(page.has_next_page),
        has_previous_page=bool(page.has_previous_page),
        start_cursor=page.edges[0].cursor if page.edges else None,
        end_cursor=page.edges[-1].cursor if page.edges else None,
    )
