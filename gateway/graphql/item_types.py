"""What stands on a page of everything that is believed about a person: an interface, and the derived records among it.

Source: belief store decisions, Derived records.
"""

from datetime import datetime

import strawberry

from gateway.graphql.exposure import exposing
from gateway.views.derived import DerivedView


@strawberry.interface(description="Something that is believed about you: a belief, or what was concluded from several.")
class MemoryItem:
    """What beliefs and derived records have in common."""

    id: strawberry.ID = strawberry.field(description="Its own identifier.")
    flagged_for_review: bool = strawberry.field(description="Whether it waits for you to look at it.")
    created_at: datetime = strawberry.field(description="When it was formed or derived.")
    updated_at: datetime = strawberry.field(description="When it last changed.")


@exposing(DerivedView)
class DerivedMemory(MemoryItem):
    """The type of DerivedView."""

    def __init__(self, view: DerivedView) -> None:
        """Show a view; it leads to nothing but itself."""
        self.__dict__.update(vars(view))
