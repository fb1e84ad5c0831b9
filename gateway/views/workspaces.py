"""What a company's administrator sees of its workspaces. A tenant is told by an opaque id alone.

Source: evidence graph decisions (the scope object).
"""

from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field


class Visibility(StrEnum):
    """Who sees what a workspace holds."""

    PRIVATE = "private"


class ScopeView(BaseModel):
    """Whose memory is meant. This server knows neither projects nor missions: memory is one agent's own."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    project_id: None = Field(description="Always null.")
    mission_id: None = Field(description="Always null.")
    agent_id: str | None = Field(description="The principal; null stands for whoever asks.")
    visibility: Visibility = Field(description="Always private: nobody else's agent sees it.")


class WorkspaceView(BaseModel):
    """The memory of one principal of the company."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    workspace_id: str = Field(pattern=r"^[0-9a-f]{64}$", description="Its name here, which tells nothing of itself.")
    scope: ScopeView = Field(description="Whose memory it is.")


def workspace_view(id: str, principal: str) -> WorkspaceView:
    """The view of a principal's workspace."""
    return WorkspaceView(workspace_id=id, scope=private_scope(principal))


def private_scope(agent_id: str | None) -> ScopeView:
    """The only scope there is: what is an agent's own."""
    return ScopeView(project_id=None, mission_id=None, agent_id=agent_id, visibility=Visibility.PRIVATE)
