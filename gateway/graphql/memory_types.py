"""A belief as GraphQL shows it, the beliefs it leads to, and the counts over all of them.

A belief carries the ceiling of the field that it was reached by, and hands it on to what it leads to: a document
may hold several ceilings, and none of them may lend another its sight.

Links are nullable: one that could not be followed is null with an error at its path, and the belief that it belongs
to, which a mutation may just have changed, is shown all the same. A belief without links has empty lists.
"""

# mypy: allow-untyped-decorators
# The library's decorators are declared to return anything.

from typing import TypeAlias, Union
from uuid import UUID

import strawberry
from graphql.pyutils import AwaitableOrValue

from gateway.graphql.context import Exchange
from gateway.graphql.exposure import exposed_type, exposing
from gateway.graphql.item_types import MemoryItem
from gateway.graphql.loaders import MemoryLinks
from gateway.views.memories import MemoryView
from gateway.views.overview import OverviewView
from store.domain.vocabulary import Sensitivity

Info: TypeAlias = strawberry.Info[Exchange, None]

MemoryOverview = exposed_type(OverviewView, "MemoryOverview")


@exposing(MemoryView)
class Memory(MemoryItem):
    """The type of MemoryView, with the beliefs that it names."""

    view: strawberry.Private[MemoryView]
    ceiling: strawberry.Private[Sensitivity]
    links: strawberry.Private[MemoryLinks]

    def __init__(self, view: MemoryView, ceiling: Sensitivity, links: MemoryLinks) -> None:
        """Show a view that was read under a ceiling; `links` reads on from the same snapshot."""
        # Plain attributes are what a page of thousands of fields is read from fastest.
        self.__dict__.update(vars(view))
        self.view = view
        self.ceiling = ceiling
        self.links = links

    # A plain function: most beliefs name no others, and to await nothing would take longer than all else of them.
    @strawberry.field(
        graphql_type=list["Memory"] | None, description="The beliefs of conflictsWith themselves, in the same order."
    )
    def conflicts_with_memories(self, info: Info) -> AwaitableOrValue[list["Memory"] | None]:
        """The visible beliefs that contradict it."""
        # Before they are fetched: what follows from them grows many times faster.
        if not info.context.size.admits(len(self.view.conflicts_with), info._raw_info):
            return None
        return self._conflicting() if self.view.conflicts_with else []

    async def _conflicting(self) -> list["Memory"]:
        found = await self.links.find_many(self.view.conflicts_with, self.ceiling)
        return [Memory(view, self.ceiling, self.links) for view in found]

    @strawberry.field(graphql_type=Union["Memory", None], description="The belief of supersededBy itself.")
    def superseded_by_memory(self, info: Info) -> AwaitableOrValue["Memory | None"]:
        """The belief that replaced it, if it is visible."""
        if self.view.superseded_by is None or not info.context.size.admits(1, info._raw_info):
            return None
        return self._successor(self.view.superseded_by)

    async def _successor(self, id: UUID) -> "Memory | None":
        found = await self.links.find(id, self.ceiling)
        return None if found is None else Memory(found, self.ceiling, self.links)

    @strawberry.field(
        description="The beliefs that it replaced, nearest first: at most 16, and none beyond one you may not see."
    )
    async def supersedes(self, info: Info) -> list["Memory"] | None:
        """The visible line of beliefs behind it."""
        found = await self.links.find_superseded(self.view.id, self.ceiling)
        if not info.context.size.admits(len(found), info._raw_info):
            return None
        return [Memory(view, self.ceiling, self.links) for view in found]
