"""The operations on evidence as the OpenAPI document describes them, in a document that has those on memories.

Source: Read a memory evidence graph, Errors and integration checks.
"""

from collections.abc import Iterable, Mapping
from copy import deepcopy

from pydantic import BaseModel

from gateway.rest.evidence_examples import EXAMPLES
from gateway.rest.evidence_operations import (
    COMPANY_GRAPH,
    EVIDENCE_OPERATIONS,
    GRAPH,
    GRAPH_BODY_BYTES_MAX,
    WORKSPACES,
)
from gateway.rest.evidence_pages import (
    CompanyGraphAnswer,
    CompanyGraphBody,
    GraphAnswer,
    GraphBody,
    WorkspacesAnswer,
)
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
from gateway.rest.operations import Operation
from gateway.service.errors import ErrorCode

_BODIES: Mapping[str, type[BaseModel]] = {GRAPH.id: GraphBody, COMPANY_GRAPH.id: CompanyGraphBody}
_ANSWERS: Mapping[str, type[BaseModel]] = {
    GRAPH.id: GraphAnswer,
    WORKSPACES.id: WorkspacesAnswer,
    COMPANY_GRAPH.id: CompanyGraphAnswer,
}
_OWN_FAILURES: Mapping[str, Iterable[ErrorCode]] = {
    GRAPH.id: (*BODY_FAILURES, ErrorCode.RETRIEVAL_BUSY, ErrorCode.STORAGE_INCONSISTENCY),
    WORKSPACES.id: (),
    COMPANY_GRAPH.id: (
        *BODY_FAILURES,
        ErrorCode.RECORD_NOT_FOUND,
        ErrorCode.RETRIEVAL_BUSY,
        ErrorCode.STORAGE_INCONSISTENCY,
    ),
}


def describe_evidence(document: Document, schemas: Mapping[type, Document]) -> None:
    """Add the operations, and the failures that are theirs alone, to a document with the schemas of their bodies."""
    envelope = _with_own_codes(document["components"]["schemas"])
    document["tags"].append({"name": "evidence", "description": "What records rest on."})
    for operation in EVIDENCE_OPERATIONS:
        path = document["paths"].setdefault(operation.path, {})
        path[operation.method.lower()] = _described(operation, schemas, envelope)


def _described(operation: Operation, schemas: Mapping[type, Document], envelope: Document) -> Document:
    answer = json_content(schemas[_ANSWERS[operation.id]], {"answer": EXAMPLES[_ANSWERS[operation.id]]})
    described: Document = {
        "operationId": operation.id,
        "tags": ["evidence"],
        "summary": operation.summary,
        "description": f"{operation.description} Requires the scope {operation.scope.value}.",
        "security": [{"bearer": [operation.scope.value]}],
        "parameters": [query_parameter(parameter) for parameter in operation.parameters],
        "responses": {
            "200": {"description": "The answer.", "headers": success_headers(), "content": answer},
            **head_failures(envelope),
            **failures((*READ_FAILURES, *_OWN_FAILURES[operation.id]), envelope),
        },
    }
    if operation.id in _BODIES:
        body = _BODIES[operation.id]
        described["requestBody"] = {
            "required": True,
            "description": f"At most {GRAPH_BODY_BYTES_MAX} bytes.",
            "content": json_content(schemas[body], {"request": EXAMPLES[body]}),
        }
    return described


def _with_own_codes(schemas: Document) -> Document:
    """Add an envelope whose codes are all there are; the reference to it."""
    for name in ("ErrorCode", "Error", "ErrorEnvelope"):
        schemas[f"Evidence{name}"] = deepcopy(schemas[name])
    schemas["EvidenceErrorCode"]["enum"] = [code.value for code in ErrorCode]
    _refer(schemas["EvidenceError"]["properties"]["code"], "EvidenceErrorCode")
    _refer(schemas["EvidenceErrorEnvelope"]["properties"]["error"], "EvidenceError")
    return {"$ref": "#/components/schemas/EvidenceErrorEnvelope"}


def _refer(schema: Document, name: str) -> None:
    assert "$ref" in schema, "a member that is of a model or an enumeration"
    schema["$ref"] = f"#/components/schemas/{name}"
