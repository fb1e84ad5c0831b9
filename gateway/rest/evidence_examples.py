"""The invented evidence that the OpenAPI document shows, about the records that it shows elsewhere."""

from collections.abc import Mapping

from pydantic import BaseModel

from gateway.rest.evidence_pages import (
    CompanyGraphAnswer,
    CompanyGraphBody,
    GraphAnswer,
    GraphBody,
    WorkspacesAnswer,
)
from gateway.rest.examples import DERIVED, MEMORY
from store.domain.ancestry import TRAVERSAL_VERSION

_COMPANY_ID = "3f" * 32
_WORKSPACE_ID = "a7" * 32
_SCOPE: Mapping[str, object] = {"project_id": None, "mission_id": None, "agent_id": "ada", "visibility": "private"}
_WORKSPACE: Mapping[str, object] = {"workspace_id": _WORKSPACE_ID, "scope": _SCOPE}
_QUERY: Mapping[str, object] = {
    "root_record_ids": [DERIVED["id"]],
    "ceiling": "internal",
    "max_depth": 4,
    "node_limit": 128,
}
_BELIEF: Mapping[str, object] = {"record_id": MEMORY["id"], "revision": 2}
_SUMMARY: Mapping[str, object] = {"record_id": DERIVED["id"], "revision": 1}
_GRAPH: Mapping[str, object] = {
    "traversal_version": TRAVERSAL_VERSION,
    "evaluated_at": "2026-05-12T09:00:00.000000Z",
    "max_depth": 4,
    "node_limit": 128,
    "roots": [{"record_id": DERIVED["id"], "status": "included"}],
    "coverage": {
        "complete": True,
        "stop_reasons": [],
        "records_examined": 2,
        "record_bytes": 1_801,
        "dependency_work": {"records_examined": 1, "bytes_examined": 996},
    },
    "nodes": [
        {
            "depth": 0,
            "revision": 1,
            "record_kind": "summary",
            "derivation": {
                "method": "nightly-summary",
                "method_revision": "3",
                "evidence_ref": "run 2026-05-12",
                "sources": [_BELIEF],
            },
            "record": DERIVED,
        },
        {"depth": 1, "revision": 2, "record_kind": "belief", "derivation": None, "record": MEMORY},
    ],
    "edges": [{"source": _SUMMARY, "target": _BELIEF, "relation": "derived_from"}],
}

EXAMPLES: Mapping[type[BaseModel], Mapping[str, object]] = {
    GraphBody: {"contract_version": 1, "scope": _SCOPE, "query": _QUERY},
    CompanyGraphBody: {"contract_version": 1, "workspace_id": _WORKSPACE_ID, "query": _QUERY},
    GraphAnswer: {"contract_version": 1, "scope": _SCOPE, "graph": _GRAPH},
    CompanyGraphAnswer: {
        "contract_version": 1,
        "company_id": _COMPANY_ID,
        "workspace": _WORKSPACE,
        "graph": _GRAPH,
    },
    WorkspacesAnswer: {
        "contract_version": 1,
        "company_id": _COMPANY_ID,
        "items": [_WORKSPACE],
        "next_cursor": None,
    },
}
