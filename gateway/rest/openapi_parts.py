"""What the descriptions of operations in the OpenAPI document have in common: failures, headers, parameters, bodies."""

from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any

from gateway.http.admission import RATE_LIMIT_HEADERS
from gateway.http.errors import RETRY_AFTER_SECONDS, STATUSES
from gateway.rest.examples import FAILURES, HEAD_LATE, HEAD_TOO_LARGE
from gateway.rest.operations import Parameter
from gateway.rest.rendering import NOT_KEPT
from gateway.service.errors import ErrorCode

Document = dict[str, Any]  # Any: JSON

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


def failures(codes: Iterable[ErrorCode], envelope: Document) -> Document:
    """The responses of an operation that may fail with these codes, of which several may share a status."""
    by_status: dict[int, list[ErrorCode]] = {}
    for code in sorted(codes, key=lambda code: STATUSES[code]):
        by_status.setdefault(STATUSES[code], []).append(code)
    return {
        str(status): {
            "description": " or ".join(f"`{code.value}`" for code in alike),
            "headers": {**_request_id_header(), **_cache_header(), **_failure_headers(alike[0])},
            "content": json_content(envelope, {code.value: FAILURES[code] for code in alike}),
        }
        for status, alike in by_status.items()
    }


def head_failures(envelope: Document) -> Document:
    """What the server refuses before an operation is asked: a head that is too slow, or too large."""
    headers = {**_request_id_header(), **_cache_header()}
    return {
        str(status.value): {
            "description": f"`{code.value}`",
            "headers": headers,
            "content": json_content(envelope, example),
        }
        for status, code, example in (
            (HTTPStatus.REQUEST_TIMEOUT, ErrorCode.REQUEST_TIMEOUT, HEAD_LATE),
            (HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, ErrorCode.MALFORMED_REQUEST, HEAD_TOO_LARGE),
        )
    }


def _failure_headers(code: ErrorCode) -> Document:
    if code is ErrorCode.AUTHENTICATION_ERROR:
        return {"WWW-Authenticate": _header("The scheme that is asked for.", {"type": "string", "const": "Bearer"})}
    if code in {ErrorCode.UNAVAILABLE, ErrorCode.RETRIEVAL_BUSY, ErrorCode.RATE_LIMITED}:
        seconds = {"type": "integer", "minimum": RETRY_AFTER_SECONDS}
        waiting = {"Retry-After": _header("After how many seconds it is worth another try.", seconds)}
        return waiting | (_rate_limit_headers() if code is ErrorCode.RATE_LIMITED else {})
    return {}


def success_headers() -> Document:
    """The headers of every answer that is no failure."""
    return {**_request_id_header(), **_cache_header(), **_rate_limit_headers()}


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


def query_parameter(parameter: Parameter) -> Document:
    """A parameter of the query string."""
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


def json_content(schema: Document, examples: Mapping[str, object]) -> Document:
    """A body of JSON, with examples by their names."""
    named = {name: {"value": value} for name, value in examples.items()}
    return {"application/json": {"schema": schema, "examples": named}}
