"""The contracts of both transports, printed: the GraphQL schema and the OpenAPI document."""

import json
from typing import Annotated, TypedDict

import typer

from gateway.compose import VERSION
from gateway.graphql.schema import build_schema, print_schema
from gateway.rest.openapi import openapi_document
from gateway.settings import load_settings

AsConfigured = Annotated[
    bool, typer.Option("--as-configured", help="Of this deployment's settings. Default: every surface on.")
]


def schema(*, as_configured: AsConfigured = False) -> None:
    """Print the GraphQL schema."""
    print(print_schema(build_schema(**_shown(as_configured=as_configured))))


def openapi(*, as_configured: AsConfigured = False) -> None:
    """Print the OpenAPI document."""
    document = openapi_document(**_shown(as_configured=as_configured), version=VERSION)
    print(json.dumps(document, ensure_ascii=False, indent=2))


class _Shown(TypedDict):
    memory: bool
    derived: bool
    evidence: bool


def _shown(*, as_configured: bool) -> _Shown:
    """The surfaces that are shown, which transports know by these names."""
    if not as_configured:
        return _Shown(memory=True, derived=True, evidence=True)
    settings = load_settings()
    return _Shown(
        memory=settings.api_enabled,
        derived=settings.reconsolidation_enabled,
        evidence=settings.evidence_enabled,
    )
