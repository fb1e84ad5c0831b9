"""The shapes of REST bodies about evidence. The OpenAPI schemas come from them; what is sent is parsed by hand.

Source: Read a memory evidence graph, Read scoped ancestry and Read as a company administrator.
"""

from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from gateway.views.evidence import EvidenceGraphView
from gateway.views.workspaces import ScopeView, WorkspaceView
from store.domain.ancestry import (
    DISPLAY_DEPTH_DEFAULT,
    DISPLAY_DEPTH_MAX,
    NODE_LIMIT_DEFAULT,
    NODE_LIMIT_MAX,
    ROOTS_MAX,
)
from store.domain.vocabulary import Sensitivity


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class GraphQuery(_Frozen):
    """Which evidence is asked for."""

    root_record_ids: tuple[UUID, ...] = Field(
        min_length=1,
        max_length=ROOTS_MAX,
        json_schema_extra={"uniqueItems": True},
        description="The records that are asked about, each once; their order decides what a limit leaves out.",
    )
    ceiling: Sensitivity = Field(
        description="The highest sensitivity that the surface you show the answer on may hold. It has no default."
    )
    max_depth: int = Field(
        default=DISPLAY_DEPTH_DEFAULT,
        ge=0,
        le=DISPLAY_DEPTH_MAX,
        description="How many steps from a root are shown at most.",
    )
    node_limit: int = Field(
        default=NODE_LIMIT_DEFAULT, ge=1, le=NODE_LIMIT_MAX, description="After how many look-ups the walk ends."
    )


class GraphBody(_Frozen):
    """What is asked of your own memory."""

    contract_version: Literal[1] = Field(description="Always 1.")
    scope: ScopeView = Field(description="Whose memory is meant: nothing but your own may be named.")
    query: GraphQuery = Field(description="Which evidence is asked for.")


class CompanyGraphBody(_Frozen):
    """What is asked of one workspace."""

    contract_version: Literal[1] = Field(description="Always 1.")
    workspace_id: str = Field(description="The workspace, as the directory names it.")
    query: GraphQuery = Field(description="Which evidence is asked for.")


class GraphAnswer(_Frozen):
    """The evidence within your own memory."""

    contract_version: Literal[1] = Field(description="Always 1.")
    scope: ScopeView = Field(description="The scope that was asked for.")
    graph: EvidenceGraphView = Field(description="The evidence.")


class CompanyGraphAnswer(_Frozen):
    """The evidence within one workspace."""

    contract_version: Literal[1] = Field(description="Always 1.")
    company_id: str = Field(pattern=r"^[0-9a-f]{64}$", description="Your company, by a name that tells nothing of it.")
    workspace: WorkspaceView = Field(description="The workspace.")
    graph: EvidenceGraphView = Field(description="The evidence.")


class WorkspacesAnswer(_Frozen):
    """One page of workspaces and where the next one begins."""

    contract_version: Literal[1] = Field(description="Always 1.")
    company_id: str = Field(pattern=r"^[0-9a-f]{64}$", description="Your company, by a name that tells nothing of it.")
    items: tuple[WorkspaceView, ...] = Field(description="The workspaces, by agent.")
    next_cursor: str | None = Field(description="The cursor of the next page; null on the last page and only there.")


EVIDENCE_BODIES: tuple[type[BaseModel], ...] = (GraphBody, CompanyGraphBody)
"""What is sent: a member with a default may be left out."""
EVIDENCE_ANSWERS: tuple[type[BaseModel], ...] = (GraphAnswer, CompanyGraphAnswer, WorkspacesAnswer)
