"""The OpenAPI 3.1 document, made from the models and from the declarations that the routes are made of."""

from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any

from pydantic.json_schema import models_json_schema
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from gateway.http.admission import RATE_LIMIT_HEADERS
from gateway.http.bodies import BODY_BYTES_MAX
from gateway.http.errors import RETRY_AFTER_SECONDS, STATUSES
from gateway.rest.examples import FAILURES, HEAD_LATE, HEAD_TOO_LARGE, MEMORY, PAGE
from gateway.rest.operations import (
    BROWSE,
    DELETE,
    IDEMPOTENCY_KEY_HEADER,
    MEMORY_OPERATIONS,
    REVIEW,
    Operation,
    Parameter,
)
from gateway.rest.pages import ErrorEnvelope, Health, Page, ReviewBody
from gateway.rest.rendering import NOT_KEPT
from gateway.rest.resources import Resource
from gateway.service.errors import ErrorCode
from gateway.service.idempotency import KEY_LENGTH_MAX
from gateway.views.memories import MemoryView
from store.domain.vocabulary import ReviewOutcome

Document = dict[str, Any]  # Any: JSON

TITLE = "belief-gateway"
DESCRIPTION = (
    "Shows you everything that is believed about you, and lets you correct it. "
    "Every request on memories states the sensitivity ceiling of the surface it serves; there is no default."
)
SCHEMES: Document = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "An access token, which carries its scopes."}
}

READ_FAILURES = (
    ErrorCode.MALFORMED_REQUEST,
    ErrorCode.AUTHENTICATION_ERROR,
    ErrorCode.AUTHORIZATION_ERROR,
    ErrorCode.RATE_LIMITED,
    ErrorCode.INTERNAL_ERROR,
    ErrorCode.UNAVAILABLE,
)
BODY_FAILURES = (
    ErrorCode.REQUEST_TIMEOUT,
    ErrorCode.PAYLOAD_TOO_LARGE,
    ErrorCode.UNSUPPORTED_MEDIA_TYPE,
)


def openapi_document(*, memory: bool, version: str) -> Document:
    """The document of a server of this version; without the memory surface nothing of it appears."""
    models = [Health, ErrorEnvelope, *((MemoryView, Page[MemoryView], ReviewBody) if memory else ())]
    references, definitions = models_json_schema(
        [(model, "serialization") for model in models], ref_template="#/components/schemas/{model}"
    )
    schemas = {model: reference for (model, _), reference in references.items()}
    components: Document = {"schemas": definitions["$defs"]}
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
        for operation in MEMORY_OPERATIONS:
            path = document["paths"].setdefault(operation.path, {})
            path[operation.method.lower()] = _memory_operation(operation, schemas)
    return document


def openapi_route(*, memory: bool, version: str) -> Route:
    """/openapi.json, without credentials."""
    document = openapi_document(memory=memory, version=version)

    async def show(_: Request) -> Response:
        return JSONResponse(document, headers=NOT_KEPT)

    return Route("/openapi.json", Resource({"GET": show}), name="openapi")


def _server_paths(schemas: Mapping[type, Document]) -> Document:
    health = {"description": "It does.", "content": _json(schemas[Health], {"ok": {"status": "ok"}})}
    return {
        "/livez": {
            "get": {
                "operationId": "livez",
                "tags": ["server"],
                "summary": "Whether the server lives",
                "security": [],
                "responses": {"200": health, **_head_failures(schemas)},
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
                    **_failures((ErrorCode.UNAVAILABLE,), schemas),
                    **_head_failures(schemas),
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
                    **_head_failures(schemas),
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
            *(_query_parameter(parameter) for parameter in operation.parameters),
            *([_idempotency_key()] if operation.is_write else ()),
        ],
        "responses": {
            **_success(operation, schemas),
            **_head_failures(schemas),
            **_failures(_failure_codes(operation), schemas),
        },
    }
    if operation is REVIEW:
        described["requestBody"] = {
            "required": True,
            "description": f"The outcome and nothing else, at most {BODY_BYTES_MAX} bytes.",
            "content": _json(schemas[ReviewBody], {each.value: {"outcome": each.value} for each in ReviewOutcome}),
        }
    return described


def _failure_codes(operation: Operation) -> Iterable[ErrorCode]:
    yield from READ_FAILURES
    if operation is not BROWSE:
        yield ErrorCode.NOT_FOUND
    if operation.is_write:
        yield ErrorCode.CONFLICT
    if operation is REVIEW:
        yield from BODY_FAILURES


def _success(operation: Operation, schemas: Mapping[type, Document]) -> Document:
    headers = {**_request_id_header(), **_cache_header(), **_rate_limit_headers()}
    if operation is DELETE:
        return {"204": {"description": "It is erased.", "headers": headers}}
    if operation is BROWSE:
        description, content = "The page.", _json(schemas[Page[MemoryView]], {"last_page": PAGE})
    else:
        description, content = "The belief as it stands.", _json(schemas[MemoryView], {"belief": MEMORY})
    return {"200": {"description": description, "headers": headers, "content": content}}


def _failures(codes: Iterable[ErrorCode], schemas: Mapping[type, Document]) -> Document:
    return {
        str(STATUSES[code]): {
            "description": f"`{code.value}`",
            "headers": {**_request_id_header(), **_cache_header(), **_failure_headers(code)},
            "content": _json(schemas[ErrorEnvelope], {code.value: FAILURES[code]}),
        }
        for code in sorted(codes, key=lambda code: STATUSES[code])
    }


def _head_failures(schemas: Mapping[type, Document]) -> Document:
    """What the server refuses before an operation is asked: a head that is too slow, or too large."""
    headers = {**_request_id_header(), **_cache_header()}
    return {
        str(status.value): {
            "description": f"`{code.value}`",
            "headers": headers,
            "content": _json(schemas[ErrorEnvelope], example),
        }
        for status, code, example in (
            (HTTPStatus.REQUEST_TIMEOUT, ErrorCode.REQUEST_TIMEOUT, HEAD_LATE),
            (HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, ErrorCode.MALFORMED_REQUEST, HEAD_TOO_LARGE),
        )
    }


def _failure_headers(code: ErrorCode) -> Document:
    if code is ErrorCode.AUTHENTICATION_ERROR:
        return {"WWW-Authenticate": _header("The scheme that is asked for.", {"type": "string", "const": "Bearer"})}
    if code in {ErrorCode.UNAVAILABLE, ErrorCode.RATE_LIMITED}:
        seconds = {"type": "integer", "minimum": RETRY_AFTER_SECONDS}
        waiting = {"Retry-After": _header("After how many seconds it is worth another try.", seconds)}
        return waiting | (_rate_limit_headers() if code is ErrorCode.RATE_LIMITED else {})
    return {}


def _rate_limit_headers() -> Document:
    descriptions = (
        "Points of cost that a minute holds for you, or attempts for your address.",
        "How many of them are left.",
        "Seconds until the minute ends.",
    )
    number = {"type": "integer", "minimum": 0}
    return {
        name: _header(description, number) | {"required": False}
        for name, description in zip(RATE_LIMIT_HEADERS, descriptions, strict=True)
    }


def _request_id_header() -> Document:
    return {"X-Request-Id": _header("The id of this exchange: yours where you sent one.", {"type": "string"})}


def _cache_header() -> Document:
    schema = {"type": "string", "const": NOT_KEPT["cache-control"]}
    return {"Cache-Control": _header("No cache may keep the answer.", schema)}


def _header(description: str, schema: Document) -> Document:
    return {"description": description, "required": True, "schema": schema}


def _path_parameter() -> Document:
    return {
        "name": "memory_id",
        "in": "path",
        "required": True,
        "description": "The belief's identifier; a text that is no UUID names no belief.",
        "schema": {"type": "string"},
        "example": MEMORY["id"],
    }


def _query_parameter(parameter: Parameter) -> Document:
    schema: Document = dict(parameter.schema)
    if parameter.repeatable:
        schema = {"type": "array", "items": schema, "minItems": 1}
    elif schema.get("type") == "string" and "enum" not in schema and not parameter.blank_allowed:
        schema["minLength"] = 1
    return {
        "name": parameter.name,
        "in": "query",
        "required": parameter.required,
        "description": parameter.description,
        "schema": schema,
        **({"style": "form", "explode": True} if parameter.repeatable else {}),
        **({"allowEmptyValue": True} if parameter.blank_allowed else {}),
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


def _json(schema: Document, examples: Mapping[str, object]) -> Document:
    named = {name: {"value": value} for name, value in examples.items()}
    return {"application/json": {"schema": schema, "examples": named}}
