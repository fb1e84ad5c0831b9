"""The contracts of both transports, printed: the GraphQL schema and the OpenAPI document."""

import json
from typing import Annotated

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
    print(print_schema(build_schema(memory=_memory_is_shown(as_configured=as_configured))))


def openapi(*, as_configured: AsConfigured = False) -> None:
    """Print the OpenAPI document."""
    document = openapi_document(memory=_memory_is_shown(as_configured=as_configured), version=VERSION)
    print(json.dumps(document, ensure_ascii=False, indent=2))


def _memory_is_shown(*, as_configured: bool) -> bool:
    return not as_configured or load_settings().api_enabled
