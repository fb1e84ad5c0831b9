"""What every deployment shows, whatever it serves: who asks, and what this gateway is."""

# mypy: allow-untyped-decorators
# The library's decorators are declared to return anything.

from typing import TypeAlias

import strawberry

from gateway.graphql.context import Exchange
from gateway.graphql.enumerations import Surface
from store.domain.vocabulary import AccessScope

Info: TypeAlias = strawberry.Info[Exchange, None]


@strawberry.type(description="The credential you call with. It tells what you may do, never who you are.")
class Viewer:
    """The caller."""

    scopes: list[AccessScope] = strawberry.field(description="The scopes that were granted, in the order of the list.")


@strawberry.type(description="This server.")
class Gateway:
    """The deployment."""

    version: str = strawberry.field(description="The version of the program.")
    surfaces: list[Surface] = strawberry.field(description="The kinds of memory that are served here.")


@strawberry.type
class GatewayQuery:
    """What stays when every surface is off."""

    @strawberry.field(description="The credential you call with.")
    def viewer(self, info: Info) -> Viewer | None:
        """The granted scopes."""
        granted = info.context.principal.scopes
        return Viewer(scopes=[scope for scope in AccessScope if scope in granted])

    @strawberry.field(description="This server.")
    def gateway(self, info: Info) -> Gateway | None:
        """Version and mounted surfaces."""
        return Gateway(version=info.context.version, surfaces=list(info.context.surfaces))
