"""The three routes of evidence: parse, call, render.

Source: Read a memory evidence graph.
"""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gateway.http.admission import Admission
from gateway.http.bodies import read_body, require_json
from gateway.rest.evidence_bodies import parse_scoped_graph, parse_workspace_graph
from gateway.rest.evidence_operations import (
    COMPANY_GRAPH,
    COMPANY_GRAPH_PATH,
    GRAPH,
    GRAPH_BODY_BYTES_MAX,
    GRAPH_PATH,
    WORKSPACES,
    WORKSPACES_PATH,
)
from gateway.rest.evidence_pages import CompanyGraphAnswer, GraphAnswer, WorkspacesAnswer
from gateway.rest.operations import Operation
from gateway.rest.parameters import parse_paging, parse_query
from gateway.rest.rendering import json_response
from gateway.rest.resources import Resource
from gateway.service.company import CompanyService
from gateway.service.costs import WRITE, directory_cost, graph_cost
from gateway.service.evidence import EvidenceService
from gateway.views.workspaces import private_scope


def evidence_routes(*, evidence: EvidenceService, company: CompanyService, admission: Admission) -> list[Route]:
    """Everything under /api/v1, and nothing else."""
    handlers = _EvidenceHandlers(evidence, company, admission)
    resources = {
        GRAPH_PATH: Resource({GRAPH.method: handlers.graph}),
        WORKSPACES_PATH: Resource({WORKSPACES.method: handlers.workspaces}),
        COMPANY_GRAPH_PATH: Resource({COMPANY_GRAPH.method: handlers.company_graph}),
    }
    return [Route(path, resource, name=path) for path, resource in resources.items()]


class _EvidenceHandlers:
    """One method an operation."""

    def __init__(self, evidence: EvidenceService, company: CompanyService, admission: Admission) -> None:
        self._evidence = evidence
        self._company = company
        self._admission = admission

    async def graph(self, request: Request) -> Response:
        admitted = await self._admission.admit(request)
        asked = parse_scoped_graph(await _content(request, GRAPH))
        await admitted.charge(graph_cost(asked.query.node_limit))
        graph = await self._evidence.graph(admitted.principal, asked.query, scope=asked.scope)
        # Not validated again: the views are made by the service and frozen.
        return json_response(
            GraphAnswer.model_construct(contract_version=1, scope=private_scope(asked.scope.agent_id), graph=graph)
        )

    async def workspaces(self, request: Request) -> Response:
        admitted = await self._admission.admit(request)
        paging = parse_paging(parse_query(request.scope["query_string"], WORKSPACES.parameters))
        await admitted.charge(directory_cost())
        page = await self._company.workspaces(admitted.principal, limit=paging.first, cursor=paging.after)
        return json_response(
            WorkspacesAnswer.model_construct(
                contract_version=1, company_id=page.company_id, items=page.workspaces, next_cursor=page.next_cursor
            )
        )

    async def company_graph(self, request: Request) -> Response:
        admitted = await self._admission.admit(request)
        asked = parse_workspace_graph(await _content(request, COMPANY_GRAPH))
        await admitted.charge(WRITE + graph_cost(asked.query.node_limit))
        found = await self._company.graph(admitted.principal, asked.workspace_id, asked.query)
        return json_response(
            CompanyGraphAnswer.model_construct(
                contract_version=1, company_id=found.company_id, workspace=found.workspace, graph=found.graph
            )
        )


async def _content(request: Request, operation: Operation) -> bytes:
    """The body of a graph's request, which takes no parameters beside it."""
    require_json(request)
    content = await read_body(request, bytes_max=GRAPH_BODY_BYTES_MAX)
    parse_query(request.scope["query_string"], operation.parameters)
    return content
