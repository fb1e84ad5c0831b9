"""The schema of a deployment, put together from the surfaces that it serves.

Object types never depend on a switch, only the root types do; so the schema of every deployment is a subset of
the one with everything on, and several live in one process.
"""

from typing import Any

import strawberry
from graphql import GraphQLError
from strawberry.schema.config import StrawberryConfig
from strawberry.types import ExecutionContext

from gateway.graphql.exposure import SCALARS
from gateway.graphql.fast.executor import ProjectingExecutor
from gateway.graphql.memory_fields import MemoryMutation, MemoryQuery
from gateway.graphql.types import GatewayQuery


class SilentSchema(strawberry.Schema):
    """A schema that logs no error: by default the text of the query and of the failure would be written."""

    def process_errors(self, errors: list[GraphQLError], execution_context: ExecutionContext | None = None) -> None:
        """Do nothing: failures are logged where they are turned into answers, without their text."""

    def _extend_introspection(self) -> None:
        """Do nothing: the `isOneOf` put in here fails on lists, scalars and enumerations; the one beneath is right."""


def build_schema(*, memory: bool, projected: bool = False) -> SilentSchema:
    """The schema with the memory surface on or off; `projected`: attributes are shown by projections."""
    queries = (MemoryQuery, GatewayQuery) if memory else (GatewayQuery,)
    return SilentSchema(
        query=_root("Query", "Everything that can be read.", *queries),
        mutation=_root("Mutation", "Everything that can be changed.", MemoryMutation) if memory else None,
        execution_context_class=ProjectingExecutor if projected else None,
        config=StrawberryConfig(scalar_map=SCALARS, disable_field_suggestions=True),
    )


def print_schema(schema: strawberry.Schema) -> str:
    """The schema definition language text, without a final newline."""
    return schema.as_str()


def _root(name: str, description: str, *surfaces: type) -> Any:  # Any: a class made at run time
    """A root type with the fields of the surfaces, one after the other."""
    # The bases stand in reverse: fields are inherited from the last base on.
    return strawberry.type(type(name, surfaces[::-1], {}), name=name, description=description)
