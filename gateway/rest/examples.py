"""The invented records, pages and failures that the OpenAPI document shows."""

from collections.abc import Mapping

from gateway.service.errors import ErrorCode

MEMORY: Mapping[str, object] = {
    "id": "6f1d3c52-8a0e-4d57-9b7e-2f6a1c9d4e10",
    "subject": "Ada",
    "statement": "Prefers the early ferry on weekdays",
    "belief_type": "preference",
    "status": "active",
    "polarity": "assert",
    "scope": "commuting",
    "claim_kind": "preference",
    "derivation": "direct",
    "longevity": "durable",
    "portability": "contextual",
    "authority": "user",
    "sensitivity": "internal",
    "confidence": 0.9,
    "corroboration_count": 2,
    "flagged_for_review": False,
    "conflicts_with": [],
    "superseded_by": None,
    "source_session_id": "5e551000-0000-4000-8000-00000000000a",
    "source_event_ids": [3, 8],
    "formation_run_id": None,
    "consolidation_policy_version": "2026-05",
    "origin_scopes": ["commuting"],
    "valid_from": "2026-05-04T07:10:00.000000Z",
    "valid_to": None,
    "expires_at": None,
    "last_evidence_at": "2026-05-11T07:12:30.250000Z",
    "last_used_at": None,
    "last_reinforced_at": "2026-05-11T07:12:30.250000Z",
    "created_at": "2026-05-04T07:10:02.500000Z",
    "updated_at": "2026-05-11T07:12:31.000000Z",
}

PAGE: Mapping[str, object] = {"items": [MEMORY], "next_cursor": None}

DERIVED: Mapping[str, object] = {
    "id": "9c2f7a10-5b6d-4e83-8f21-0d4b7e6a3c55",
    "record_kind": "summary",
    "revision": 1,
    "status": "active",
    "flagged_for_review": False,
    "created_at": "2026-05-12T02:00:00.000000Z",
    "updated_at": "2026-05-12T02:00:00.000000Z",
    "content": {
        "subject": "Ada",
        "statement": "Prefers the early ferry on weekdays",
        "clauses": [{"text": "Prefers the early ferry on weekdays", "source_ids": [MEMORY["id"]]}],
        "belief_types": ["preference"],
        "scope": "commuting",
        "portability": "contextual",
        "sensitivity": "internal",
        "authority": "user",
        "confidence": 0.9,
        "last_evidence_at": "2026-05-11T07:12:30.250000Z",
        "valid_from": "2026-05-04T07:10:00.000000Z",
        "expires_at": None,
    },
    "sources": [{"id": MEMORY["id"], "revision": 2, "omitted": False}],
}
ITEM_PAGE: Mapping[str, object] = {"items": [DERIVED, MEMORY], "next_cursor": None}

_MESSAGES: Mapping[ErrorCode, str] = {
    ErrorCode.MALFORMED_REQUEST: "ceiling is required",
    ErrorCode.AUTHENTICATION_ERROR: "a valid bearer token is required",
    ErrorCode.AUTHORIZATION_ERROR: "the scope memory.read is required",
    ErrorCode.NOT_FOUND: "no such memory",
    ErrorCode.CONFLICT: "the idempotency key was used for another request",
    ErrorCode.REQUEST_TIMEOUT: "the body took too long to arrive",
    ErrorCode.PAYLOAD_TOO_LARGE: "the body must not exceed 1048576 bytes",
    ErrorCode.UNSUPPORTED_MEDIA_TYPE: "the content type must be application/json, in UTF-8",
    ErrorCode.RATE_LIMITED: "more than 5000000 points of cost within a minute; there is room again in 42 seconds",
    ErrorCode.INTERNAL_ERROR: "an internal error occurred",
    ErrorCode.UNAVAILABLE: "the store is not available at the moment",
    ErrorCode.RECORD_NOT_FOUND: "no such workspace",
    ErrorCode.RETRIEVAL_BUSY: "too much evidence is being read at the moment",
    ErrorCode.STORAGE_INCONSISTENCY: "what is stored contradicts itself",
}


def _failure(code: ErrorCode, message: str) -> Mapping[str, object]:
    return {"error": {"code": code.value, "message": message, "details": {}, "request_id": "ferry-0001"}}


FAILURES: Mapping[ErrorCode, Mapping[str, object]] = {
    code: _failure(code, message) for code, message in _MESSAGES.items()
}

HEAD_LATE: Mapping[str, object] = {
    "head_late": _failure(ErrorCode.REQUEST_TIMEOUT, "the request line and the headers must arrive within 10 seconds")
}
HEAD_TOO_LARGE: Mapping[str, object] = {
    "head_too_large": _failure(
        ErrorCode.MALFORMED_REQUEST, "the request line and the headers must not exceed 32768 bytes"
    )
}
