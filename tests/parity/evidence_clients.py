"""One driver for each transport that reads evidence; both answers are spelled as REST spells them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import httpx

from gateway.views.evidence import (
    EvidenceCoverageView,
    EvidenceDerivationView,
    EvidenceEdgeView,
    EvidenceOutlineView,
    EvidenceRootView,
)
from tests.gateways import Gateway
from tests.parity.clients import ENUMERATED, ITEM_FIELDS, selected

Graph = dict[str, Any]  # Any: JSON
SCOPE: Mapping[str, object] = {"project_id": None, "mission_id": None, "agent_id": None, "visibility": "private"}
WORDS = ENUMERATED | {"relation", "stop_reasons"}
GRAPH = "/api/v1/memory/graph"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A graph, or the code and the message of its failure."""

    graph: Graph | None
    code: str | None = None
    message: str = field(default="", compare=False)
    response: httpx.Response = field(compare=False)

    @property
    def shown(self) -> Graph:
        """The graph of a success."""
        assert self.graph is not None, self.response.text
        return self.graph

    @property
    def ids(self) -> list[str]:
        """The records that are shown, in their order."""
        return [node["record"]["id"] for node in self.shown["nodes"]]

    @property
    def statuses(self) -> list[str]:
        """What became of the roots."""
        return [root["status"] for root in self.shown["roots"]]


class EvidenceClient(Protocol):
    """Reads evidence over one transport."""

    async def read(self, secret: str | None, roots: Sequence[object], **arguments: object) -> Evidence:
        """The graph of some roots; `ceiling`, `max_depth` and `node_limit` as REST spells them."""
        ...


class RestEvidence:
    """POST /api/v1/memory/graph."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    async def read(self, secret: str | None, roots: Sequence[object], **arguments: object) -> Evidence:
        """Ask for one's own."""
        query = {"root_record_ids": list(map(str, roots)), **arguments}
        async with self._gateway.client() as client:
            response = await client.post(
                GRAPH,
                json={"contract_version": 1, "scope": SCOPE, "query": query},
                headers={} if secret is None else {"authorization": f"Bearer {secret}"},
            )
        content = response.json()
        if "error" in content:
            error = content["error"]
            return Evidence(graph=None, code=error["code"], message=error["message"], response=response)
        assert {"contract_version": 1, "scope": SCOPE} == {name: content[name] for name in content if name != "graph"}
        return Evidence(graph=content["graph"], response=response)


NODE = f"depth revision recordKind derivation {{ {selected(EvidenceDerivationView)} }} record {{ {ITEM_FIELDS} }}"
GRAPH_FIELDS = (
    "traversalVersion evaluatedAt maxDepth nodeLimit"
    f" roots {{ {selected(EvidenceRootView)} }}"
    f" edges {{ {selected(EvidenceEdgeView)} }}"
    f" coverage {{ {selected(EvidenceCoverageView)} }}"
    f" nodes {{ {NODE} }}"
)
QUERY = f"""
    query ($roots: [ID!]!, $ceiling: Sensitivity!, $depth: Int, $limit: Int) {{
      evidenceGraph(rootIds: $roots, ceiling: $ceiling, maxDepth: $depth, nodeLimit: $limit) {{ {GRAPH_FIELDS} }}
    }}
"""
assert len(EvidenceOutlineView.model_fields) == 6, "a field more to be selected"


class GraphQLEvidence:
    """The field evidenceGraph."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    async def read(self, secret: str | None, roots: Sequence[object], **arguments: object) -> Evidence:
        """Query it."""
        variables = {
            "roots": list(map(str, roots)),
            "ceiling": str(arguments["ceiling"]).upper(),
            "depth": arguments.get("max_depth"),
            "limit": arguments.get("node_limit"),
        }
        async with self._gateway.client() as client:
            response = await client.post(
                "/graphql",
                json={"query": QUERY, "variables": variables},
                headers={} if secret is None else {"authorization": f"Bearer {secret}"},
            )
        content = response.json()
        if "errors" in content:
            [error] = content["errors"]
            return Evidence(graph=None, code=error["extensions"]["code"], message=error["message"], response=response)
        graph = _rest(content["data"]["evidenceGraph"])
        assert isinstance(graph, dict)
        return Evidence(graph=graph, response=response)


def _rest(value: Any, *, is_word: bool = False) -> Any:  # Any: JSON
    """A value of GraphQL as REST spells it."""
    if isinstance(value, dict):
        named = {_snake(name): each for name, each in value.items() if name != "__typename"}
        return {name: _rest(each, is_word=name in WORDS) for name, each in named.items()}
    if isinstance(value, list):
        return [_rest(each, is_word=is_word) for each in value]
    return value.lower() if is_word and isinstance(value, str) else value


def _snake(name: str) -> str:
    if name == "derivedStatus":
        return "status"
    return re.sub(r"[A-Z]", lambda match: f"_{match[0].lower()}", name)
