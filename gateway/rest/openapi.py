"""The OpenAPI 3.1 document, made from the models and from the declarations that the routes are made of."""

from collections.abc import Iterable, Mapping

from pydantic.json_schema import models_json_schema
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from gateway.http.bodies import BODY_BYTES_MAX
from gateway.rest.evidence_openapi import describe_evidence
from gateway.rest.evidence_pages import EVIDENCE_ANSWERS, EVIDENCE_BODIES
from gateway.rest.examples import DERIVED, ITEM_PAGE, MEMORY, PAGE
from gateway.rest.openapi_parts import (
    BODY_FAILURES,
    READ_FAILURES,
    Document,
    failures,
    head_failures,
    json_content,
    query_parameter,
    success_headers,
)
from gateway.rest.operations import (
    BROWSE,
    BROWSE_WITH_DERIVED,
    DELETE,
    IDEMPOTENCY_KEY_HEADER,
    MEMORY_OPERATIONS,
    MEMORY_OPERATIONS_WITH_DERIVED,
    REVIEW,
    Operation,
)
from gateway.rest.pages import ErrorEnvelope, Health, ItemPage, MemoryItem, Page, ReviewBody
from gateway.rest.rendering import NOT_KEPT
from gateway.rest.resources import Resource
from gateway.service.errors import EVIDENCE_CODES, ErrorCode
from gateway.service.idempotency import KEY_LENGTH_MAX
from gateway.views.memories import MemoryView
from store.domain.vocabulary import ReviewOutcome

TITLE = "belief-gateway"
DESCRIPTION = (
    "Shows you everything that is believed about you, and lets you correct it. "
    "Every request on memories states the sensitivity ceiling of the surface it serves; there is no default."
)
_LISTS = (BROWSE, BROWSE_WITH_DERIVED)
SCHEMES: Document = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "An access token, which carries its scopes."}
}


def openapi_document(*, memory: bool, version: str, derived: bool = False, evidence: bool = False) -> Document:
    """The document of a server of this version; nothing appears of a surface that is off.

    With `derived` records, which belong to the memory surface, whatever shows a belief may show one of them. `evidence`
    belongs to it as well.
    """
    shown = (MemoryItem, ItemPage) if derived else (MemoryView, Page[MemoryView])
    models = [
        *(Health, ErrorEnvelope),
        *((*shown, ReviewBody) if memory else ()),
        *(EVIDENCE_ANSWERS if memory and evidence else ()),
    ]
    bodies = EVIDENCE_BODIES if memory and evidence else ()
    references, definitions = models_json_schema(
        [*((model, "serialization") for model in models), *((body, "validation") for body in bodies)],
        ref_template="#/components/schemas/{model}",
    )
    schemas = {model: reference for (model, _), reference in references.items()}
    components: Document = {"schemas": definitions["$defs"]}
    # The others join the vocabulary for the operations of evidence alone.
    components["schemas"]["ErrorCode"]["enum"] = [code.value for code in ErrorCode if code not in EVIDENCE_CODES]
    document: Document = {
        "openapi": "3.1.0",
        "info": {
            "title": TITLE,
            "version": version,
            "description": DESCRIPTION,
            "license": {"name": "Apache 2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "tags": [{"name": "server", "description": "The server itself; no credentials are asked for."}],
        "paths": _server_paths(schemas),
        "components": components,
    }
    if memory:
        document["tags"].append({"name": "memories", "description": "What is believed about you."})
        components["securitySchemes"] = SCHEMES
        for operation in MEMORY_OPERATIONS_WITH_DERIVED if derived else MEMORY_OPERATIONS:
            path = document["paths"].setdefault(operation.path, {})
            path[operation.method.lower()] = _memory_operation(operation, schemas)
    if memory and evidence:
        describe_evidence(document, schemas)
    return document


def openapi_route(*, memory: bool, version: str, derived: bool = False, evidence: bool = False) -> Route:
    """/openapi.json, without credentials."""
    document = openapi_document(memory=memory, version=version, derived=derived, evidence=evidence)

    async def show(_: Request) -> Response:
        return JSONResponse(document, headers=NOT_KEPT)

    return Route("/openapi.json", Resource({"GET": show}), name="openapi")


def _server_paths(schemas: Mapping[type, Document]) -> Document:
    health = {"description": "It does.", "content": json_content(schemas[Health], {"ok": {"status": "ok"}})}
    return {
        "/livez": {
            "get": {
                "operationId": "livez",
                "tags": ["server"],
                "summary": "Whether the server lives",
                "security": [],
                "responses": {"200": health, **head_failures(schemas[ErrorEnvelope])},
            }
        },
        "/readyz": {
            "get": {
                "operationId": "readyz",
                "tags": ["server"],
                "summary": "Whether the server and its store can serve",
                "security": [],
                "responses": {
                    "200": health,
                    **failures((ErrorCode.UNAVAILABLE,), schemas[ErrorEnvelope]),
                    **head_failures(schemas[ErrorEnvelope]),
                },
            }
        },
        "/openapi.json": {
            "get": {
                "operationId": "openapi",
                "tags": ["server"],
                "summary": "This document",
                "security": [],
                "responses": {
                    "200": {"description": "The document.", "content": {"application/json": {"schema": True}}},
                    **head_failures(schemas[ErrorEnvelope]),
                },
            }
        },
    }


def _memory_operation(operation: Operation, schemas: Mapping[type, Document]) -> Document:
    described: Document = {
        "operationId": operation.id,
        "tags": ["memories"],
        "summary": operation.summary,
        "description": f"{operation.description} Requires the scope {operation.scope.value}.",
        "security": [{"bearer": [operation.scope.value]}],
        "parameters": [
            *([_path_parameter()] if "{memory_id}" in operation.path else ()),
            *(query_parameter(parameter) for parameter in operation.parameters),
            *([_idempotency_key()] if operation.is_write else ()),
        ],
        "responses": {
            **_success(operation, schemas),
            **head_failures(schemas[ErrorEnvelope]),
            **failures(_failure_codes(operation), schemas[ErrorEnvelope]),
        },
    }
    if operation is REVIEW:
        described["requestBody"] = {
            "required": True,
            "description": f"The outcome and nothing else, at most {BODY_BYTES_MAX} bytes.",
            "content": json_content(
                schemas[ReviewBody], {each.value: {"outcome": each.value} for each in ReviewOutcome}
            ),
        }
    return described


def _failure_codes(operation: Operation) -> Iterable[ErrorCode]:
    yield from READ_FAILURES
    if operation not in _LISTS:
        yield ErrorCode.NOT_FOUND
    if operation.is_write:
        yield ErrorCode.CONFLICT
    if operation is REVIEW:
        yield from BODY_FAILURES


def _success(operation: Operation, schemas: Mapping[type, Document]) -> Document:
    headers = success_headers()
    if operation is DELETE:
        return {"204": {"description": "It is erased.", "headers": headers}}
    if operation is BROWSE_WITH_DERIVED:
        examples = {"last_page": PAGE, "last_page_with_derived": ITEM_PAGE}
        description, content = "The page.", json_content(schemas[ItemPage], examples)
    elif operation is BROWSE:
        description, content = "The page.", json_content(schemas[Page[MemoryView]], {"last_page": PAGE})
    elif MemoryItem in schemas:
        examples = {"belief": MEMORY, "derived_record": DERIVED}
        description, content = "The belief or derived record as it stands.", json_content(schemas[MemoryItem], examples)
    else:
        description, content = "The belief as it stands.", json_content(schemas[MemoryView], {"belief": MEMORY})
    return {"200": {"description": description, "headers": headers, "content": content}}


def _path_parameter() -> Document:
    return {
        "name": "memory_id",
        "in": "path",
        "required": True,
        "description": "The belief's identifier; a text that is no UUID names no belief.",
        "schema": {"type": "string"},
        "example": MEMORY["id"],
    }


def _idempotency_key() -> Document:
    return {
        "name": IDEMPOTENCY_KEY_HEADER,
        "in": "header",
        "required": True,
        "description": (
            "Your name for this one write: repeated with the same request it applies nothing and answers again, "
            "with another request it is a conflict."
        ),
        "schema": {"type": "string", "pattern": rf"^[\x21-\x7e]{{1,{KEY_LENGTH_MAX}}}$"},
        "example": "8c7f4c0e-review-1",
    }
