"""The schema of a deployment, put together from the surfaces that it serves.

Object types never depend on a switch, only the root types do; so the schema of every deployment is a subset of
the one with everything on, and several live in one process.
"""

from collections.abc import Mapping
from typing import Any

import strawberry
from graphql import GraphQLError, OperationType, is_object_type
from strawberry.schema.config import StrawberryConfig
from strawberry.types import ExecutionContext, get_object_definition

from gateway.graphql.derived_fields import DerivedQuery
from gateway.graphql.enumerations import Surface
from gateway.graphql.evidence_fields import EvidenceFields
from gateway.graphql.exposure import SCALARS
from gateway.graphql.fast.executor import ProjectingExecutor
from gateway.graphql.memory_fields import MemoryMutation, MemoryQuery
from gateway.graphql.types import GatewayQuery
from gateway.graphql.unmounted import RootFields
from gateway.http.exchanges import DERIVED_SURFACE, EVIDENCE_SURFACE, MEMORY_SURFACE

SHOWN_SURFACES: Mapping[str, Surface] = {
    MEMORY_SURFACE: Surface.MEMORIES,
    DERIVED_SURFACE: Surface.DERIVED_MEMORIES,
    EVIDENCE_SURFACE: Surface.EVIDENCE,
}
"""What the schema calls each surface that can be off, by its name in reports."""
_CONFIG = StrawberryConfig(scalar_map=SCALARS, disable_field_suggestions=True)
_SURFACES: Mapping[str, Mapping[OperationType, type]] = {
    MEMORY_SURFACE: {OperationType.QUERY: MemoryQuery, OperationType.MUTATION: MemoryMutation},
    DERIVED_SURFACE: {OperationType.QUERY: DerivedQuery},
    EVIDENCE_SURFACE: {OperationType.QUERY: EvidenceFields},
}
"""What each of them adds to the root types."""


class SilentSchema(strawberry.Schema):
    """A schema that logs no error: by default the text of the query and of the failure would be written."""

    def process_errors(self, errors: list[GraphQLError], execution_context: ExecutionContext | None = None) -> None:
        """Do nothing: failures are logged where they are turned into answers, without their text."""

    def _extend_introspection(self) -> None:
        """Do nothing: the `isOneOf` put in here fails on lists, scalars and enumerations; the one beneath is right."""


def build_schema(
    *, memory: bool, derived: bool = False, evidence: bool = False, projected: bool = False
) -> SilentSchema:
    """The schema with the memory surface on or off, and with those of derived records and evidence, which need it.

    `projected`: attributes are shown by projections.
    """
    surfaces = {
        EvidenceFields: memory and evidence,
        DerivedQuery: memory and derived,
        MemoryQuery: memory,
        GatewayQuery: True,
    }
    schema = SilentSchema(
        query=_root("Query", "Everything that can be read.", *(each for each, is_on in surfaces.items() if is_on)),
        mutation=_root("Mutation", "Everything that can be changed.", MemoryMutation) if memory else None,
        execution_context_class=ProjectingExecutor if projected else None,
        config=_CONFIG,
    )
    for type in schema._schema.type_map.values():
        if is_object_type(type):
            # The library would ask each belief whether it is one, since it has an interface: its class tells.
            type.is_type_of = None
    return schema


def root_fields(surface: str) -> RootFields:
    """The names of a surface's root fields."""
    return {
        kind: frozenset(map(_CONFIG.name_converter.from_field, get_object_definition(roots, strict=True).fields))
        for kind, roots in _SURFACES[surface].items()
    }


def print_schema(schema: strawberry.Schema) -> str:
    """The schema definition language text, without a final newline."""
    return schema.as_str()


def _root(name: str, description: str, *surfaces: type) -> Any:  # Any: a class made at run time
    """A root type with the fields of the surfaces, one after the other."""
    # The bases stand in reverse: fields are inherited from the last base on.
    return strawberry.type(type(name, surfaces[::-1], {}), name=name, description=description)
