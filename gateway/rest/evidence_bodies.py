"""From JSON to what is asked of evidence, taken strictly: every member known, of its type, and there if it must be.

Source: Read a memory evidence graph, Read scoped ancestry; belief store decisions, Errors (types).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gateway.rest.evidence_operations import CONTRACT_VERSION
from gateway.rest.parameters import member_of, presentable
from gateway.service.errors import MalformedRequest
from gateway.service.evidence import EvidenceQuery, EvidenceScope, parse_root_ids
from gateway.service.memory_requests import check_text
from gateway.service.strict_json import parse_object
from store.domain.ancestry import DISPLAY_DEPTH_DEFAULT, NODE_LIMIT_DEFAULT
from store.domain.vocabulary import Sensitivity

_BODY = "the body"
Members = Mapping[str, Any]  # Any: JSON


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopedGraph:
    """What is asked of the caller's own memory."""

    scope: EvidenceScope
    query: EvidenceQuery


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceGraph:
    """What is asked of one workspace."""

    workspace_id: str
    query: EvidenceQuery


def parse_scoped_graph(content: bytes) -> ScopedGraph:
    """The request of a body. Raises MalformedRequest that names the member."""
    body = _body(content, "scope")
    scope = _members("scope", body["scope"], ("project_id", "mission_id", "agent_id", "visibility"))
    return ScopedGraph(
        scope=EvidenceScope(
            project_id=_optional_text("project_id", scope),
            mission_id=_optional_text("mission_id", scope),
            agent_id=_optional_text("agent_id", scope),
            visibility=_text("visibility", scope),
        ),
        query=_query(body),
    )


def parse_workspace_graph(content: bytes) -> WorkspaceGraph:
    """The request of a body. Raises MalformedRequest that names the member."""
    body = _body(content, "workspace_id")
    return WorkspaceGraph(workspace_id=_text("workspace_id", body), query=_query(body))


def _body(content: bytes, place: str) -> Members:
    """The members of a body that asks for a graph somewhere, which it says by the member of that name."""
    body = _members(_BODY, parse_object(_BODY, content), ("contract_version", place, "query"))
    version = body["contract_version"]
    if not _is_integer(version) or version != CONTRACT_VERSION:
        raise MalformedRequest("contract_version", f"must be {CONTRACT_VERSION}")
    return body


def _query(body: Members) -> EvidenceQuery:
    query = _members("query", body["query"], ("root_record_ids", "ceiling"), ("max_depth", "node_limit"))
    ids = query["root_record_ids"]
    if not isinstance(ids, list) or not all(isinstance(id, str) for id in ids):
        raise MalformedRequest("root_record_ids", "must be a list of UUIDs")
    return EvidenceQuery(
        ceiling=member_of("ceiling", query["ceiling"], Sensitivity),
        root_ids=parse_root_ids(ids),
        max_depth=_integer("max_depth", query, DISPLAY_DEPTH_DEFAULT),
        node_limit=_integer("node_limit", query, NODE_LIMIT_DEFAULT),
    )


def _members(name: str, value: object, required: tuple[str, ...], optional: tuple[str, ...] = ()) -> Members:
    """The members of an object that has all that are required, and no others than are known."""
    if not isinstance(value, dict):
        raise MalformedRequest(name, "must be a JSON object")
    for member in required:
        if member not in value:
            raise MalformedRequest(member, f"is required in {name}")
    for member in value:
        if member not in (*required, *optional):
            raise MalformedRequest(presentable(member), f"is not a member of {name}")
    return value


def _optional_text(name: str, members: Members) -> str | None:
    return None if members[name] is None else _text(name, members)


def _text(name: str, members: Members) -> str:
    value = members[name]
    if not isinstance(value, str):
        raise MalformedRequest(name, "must be a string")
    check_text(name=name, value=value)
    return value


def _integer(name: str, members: Members, default: int) -> int:
    value = members.get(name, default)
    if not _is_integer(value):
        raise MalformedRequest(name, "must be an integer")
    number: int = value
    return number


def _is_integer(value: object) -> bool:
    # A Boolean is an integer to Python, and none in JSON.
    return isinstance(value, int) and not isinstance(value, bool)
