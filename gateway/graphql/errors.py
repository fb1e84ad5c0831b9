"""Failures as GraphQL writes them: our code, the label that GraphQL tools know, and a message without values.

A message may hold names from the schema and names that stand in the caller's own document, never a value of a literal
or variable. Whatever is not known to be a caller's mistake is an internal error whose text stays in the program.
Source: belief store decisions, Errors.
"""

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from graphql import (
    ArgumentNode,
    GraphQLError,
    GraphQLInputType,
    GraphQLSyntaxError,
    VariableNode,
    get_named_type,
    get_nullable_type,
    is_enum_type,
    is_input_object_type,
    is_list_type,
)

from gateway.http.errors import Failure, failure_of
from gateway.service.errors import ErrorCode, GatewayError

NAMES: Mapping[str, str] = {
    "belief_types": "beliefTypes",
    "session_id": "sessionId",
    "confidence_min": "confidenceMin",
    "confidence_max": "confidenceMax",
    "formed_before": "formedBefore",
    "idempotency_key": "idempotencyKey",
    "root_record_ids": "rootIds",
    "max_depth": "maxDepth",
    "node_limit": "nodeLimit",
    "record_bytes": "coverage.recordBytes",
    "dependency_work.records_examined": "coverage.dependencyWork.recordsExamined",
    "dependency_work.bytes_examined": "coverage.dependencyWork.bytesExamined",
}
"""The schema's names of parameters that the services name otherwise."""

MESSAGE_LENGTH_MAX = 300
"""Characters of a message that quotes names from the document, which have no bound of their own."""


class Label(StrEnum):
    """`extensions.classification`: words of common GraphQL servers, by which tools judge whose fault it was."""

    BAD_REQUEST = "BAD_REQUEST"
    PARSE_FAILED = "GRAPHQL_PARSE_FAILED"
    VALIDATION_FAILED = "GRAPHQL_VALIDATION_FAILED"
    OPERATION_UNCLEAR = "OPERATION_RESOLUTION_FAILURE"
    PERSISTED_QUERY_NOT_FOUND = "PERSISTED_QUERY_NOT_FOUND"
    BAD_USER_INPUT = "BAD_USER_INPUT"
    UNAUTHENTICATED = "UNAUTHENTICATED"
    FORBIDDEN = "FORBIDDEN"
    INTERNAL_SERVER_ERROR = "INTERNAL_SERVER_ERROR"


_FIELD_LABELS: Mapping[ErrorCode, Label] = {
    ErrorCode.MALFORMED_REQUEST: Label.BAD_USER_INPUT,
    # Not NOT_FOUND or CONFLICT: fuzzers take a failed field for the server's fault unless the label is one they know.
    ErrorCode.NOT_FOUND: Label.BAD_USER_INPUT,
    ErrorCode.CONFLICT: Label.BAD_USER_INPUT,
    ErrorCode.AUTHENTICATION_ERROR: Label.UNAUTHENTICATED,
    ErrorCode.AUTHORIZATION_ERROR: Label.FORBIDDEN,
    ErrorCode.UNAVAILABLE: Label.INTERNAL_SERVER_ERROR,
    ErrorCode.INTERNAL_ERROR: Label.INTERNAL_SERVER_ERROR,
    ErrorCode.RETRIEVAL_BUSY: Label.INTERNAL_SERVER_ERROR,
    ErrorCode.STORAGE_INCONSISTENCY: Label.INTERNAL_SERVER_ERROR,
}


_OWN_LABELS = frozenset(
    {
        ErrorCode.AUTHENTICATION_ERROR,
        ErrorCode.UNAVAILABLE,
        ErrorCode.INTERNAL_ERROR,
        ErrorCode.RETRIEVAL_BUSY,
        ErrorCode.STORAGE_INCONSISTENCY,
    }
)
"""Codes whose label is the same whether a field or the whole request failed; that of others is the request's."""


class DocumentError(GatewayError):
    """A request that was understood as HTTP and can't be executed: its document, its variables, its operation."""

    code = ErrorCode.MALFORMED_REQUEST

    def __init__(self, message: str, label: Label, cause: GraphQLError | None = None) -> None:
        """Give the public message and the label; `cause` tells the place in the document."""
        super().__init__(message if len(message) <= MESSAGE_LENGTH_MAX else f"{message[:MESSAGE_LENGTH_MAX]}…")
        self.label = label
        self.locations = [] if cause is None else [location.formatted for location in cause.locations or ()]


class SurfaceOff(DocumentError):
    """A document that asks for a surface which is known and not served: told as a document of unknown fields is."""

    def __init__(self, error: DocumentError, surface: str) -> None:
        """Stand for the refusal of the document; `surface` is the name of it in reports."""
        super().__init__(error.message, error.label)
        self.locations = error.locations
        self.surface = surface


_TOKEN_WITH_VALUE = re.compile(r"\b(String|BlockString|Int|Float) '.*", re.DOTALL)
_ESCAPE = re.compile(r"(escape sequence): .*", re.DOTALL)


def syntax_error(error: GraphQLError) -> DocumentError:
    """A document that does not parse; the message keeps kinds of tokens and leaves their values out."""
    # Other errors of the parser are its own bounds.
    description = error.description if isinstance(error, GraphQLSyntaxError) else error.message
    description = _ESCAPE.sub(r"\1.", _TOKEN_WITH_VALUE.sub(r"\1.", description))
    return DocumentError(f"query is no GraphQL document: {description}", Label.PARSE_FAILED, error)


_MISSING_FIELD = re.compile(r"to include required field '(\w{1,64})'", re.ASCII)
_UNKNOWN_FIELD = re.compile(r"not to include unknown field '(\w{1,64})'", re.ASCII)


def input_message(place: str, path: Sequence[str | int], type: GraphQLInputType, message: str) -> str:
    """What to say of a value that its type refuses: where it stands and what is expected, but not the value.

    `place` is the argument or the variable, `path` leads on within it, `message` is the library's own.
    """
    name = ".".join([place, *(step for step in path if isinstance(step, str))])
    missing = _MISSING_FIELD.search(message)
    if missing:
        return f"{name}.{missing[1]} is required"
    unknown = _UNKNOWN_FIELD.search(message)
    if unknown:
        return f"{name}.{unknown[1]} is not known"
    if path == [] and "to be provided" in message:
        return f"{name} is required"
    expected = _type_at(path, type)
    named = get_named_type(expected)
    if is_enum_type(named):
        return f"{name} must be of type {expected}, with values from {', '.join(named.values)}"
    return f"{name} must be of type {expected}"


def _type_at(path: Sequence[str | int], type: GraphQLInputType) -> GraphQLInputType:
    for step in path:
        inner = get_nullable_type(type)
        if isinstance(step, int) and is_list_type(inner):
            type = inner.of_type
        elif isinstance(step, str) and is_input_object_type(inner):
            type = inner.fields[step].type
    return type


def field_failure(error: GraphQLError) -> Failure:
    """The failure of a field. Library errors count as the caller's only where an argument of the field is at fault."""
    cause: BaseException | None = error
    while isinstance(cause, GraphQLError) and cause.original_error is not None:
        cause = cause.original_error
    if not isinstance(cause, GraphQLError):
        assert cause is not None, "an error is its own cause at least"
        return failure_of(cause, NAMES)
    name = _argument_name(error)
    if name is None:
        # A null where none may stand, a value that can't be written: mistakes of ours.
        return failure_of(cause, NAMES)
    return Failure(code=ErrorCode.MALFORMED_REQUEST, message=f"{name} has no value that its type takes")


def _argument_name(error: GraphQLError) -> str | None:
    """The argument that an error points at, by its node or by the place of its value."""
    for node in error.nodes or ():
        if isinstance(node, ArgumentNode):
            return node.name.value
        if isinstance(node, VariableNode):
            return f"${node.name.value}"
    return None


def error_body(
    failure: Failure, label: Label, *, locations: Sequence[Any] = (), path: Sequence[str | int] | None = None
) -> dict[str, Any]:  # Any: JSON
    """One entry of `errors`."""
    body: dict[str, Any] = {"message": failure.message}
    if locations:
        body["locations"] = list(locations)
    if path is not None:
        body["path"] = list(path)
    body["extensions"] = {"code": failure.code.value, "classification": label.value}
    return body


def field_error_body(error: GraphQLError, failure: Failure) -> dict[str, Any]:  # Any: JSON
    """The entry of `errors` for a failed field."""
    locations = [location.formatted for location in error.locations or ()]
    return error_body(failure, _FIELD_LABELS[failure.code], locations=locations, path=error.path)


def request_error_body(error: BaseException, failure: Failure) -> dict[str, Any]:  # Any: JSON
    """The entry of `errors` for a request of which no field was executed."""
    if isinstance(error, DocumentError):
        return error_body(failure, error.label, locations=error.locations)
    if failure.code in _OWN_LABELS:
        return error_body(failure, _FIELD_LABELS[failure.code])
    return error_body(failure, Label.BAD_REQUEST)
