"""What each REST operation on evidence takes: the declaration that routing and the OpenAPI document share.

Source: Read a memory evidence graph, Choose the authorized route.
"""

from gateway.rest.operations import Operation, Parameter
from gateway.service.company import WORKSPACES_DEFAULT, WORKSPACES_MAX
from store.domain.vocabulary import AccessScope

GRAPH_PATH = "/api/v1/memory/graph"
WORKSPACES_PATH = "/api/v1/company/memory/workspaces"
COMPANY_GRAPH_PATH = "/api/v1/company/memory/graph"
GRAPH_BODY_BYTES_MAX = 65_536
CONTRACT_VERSION = 1

GRAPH = Operation(
    id="readEvidenceGraph",
    method="POST",
    path=GRAPH_PATH,
    scope=AccessScope.MEMORY_READ,
    is_write=False,
    summary="Read what records of yours rest on",
    description=(
        "The current evidence behind one or more records, directly or through others, breadth first. A record is shown "
        "only while all that it rests on is as it was when it was derived; of a root that is not, no more is told than "
        "that it is unavailable."
    ),
    parameters=(),
)

WORKSPACES = Operation(
    id="listWorkspaces",
    method="GET",
    path=WORKSPACES_PATH,
    scope=AccessScope.MEMORY_ADMIN,
    is_write=False,
    summary="List the workspaces of your company",
    description="One page of the principals of whom anything is stored, by agent. Each use is journaled.",
    parameters=(
        Parameter(
            name="limit",
            description=f"How many workspaces a page holds at most; above {WORKSPACES_MAX} it is {WORKSPACES_MAX}.",
            schema={"type": "integer", "minimum": 1, "default": WORKSPACES_DEFAULT},
        ),
        Parameter(
            name="cursor",
            description="Where to continue: the next_cursor of the page before.",
            schema={"type": "string"},
        ),
    ),
)

COMPANY_GRAPH = Operation(
    id="readCompanyEvidenceGraph",
    method="POST",
    path=COMPANY_GRAPH_PATH,
    scope=AccessScope.MEMORY_ADMIN,
    is_write=False,
    summary="Read what records of one workspace rest on",
    description=(
        "The graph that the principal of the workspace would read. A workspace that is missing and one of another "
        "company are not told apart. Each use is journaled."
    ),
    parameters=(),
)

EVIDENCE_OPERATIONS = (GRAPH, WORKSPACES, COMPANY_GRAPH)
