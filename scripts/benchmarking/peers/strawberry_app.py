"""The plain app: Strawberry's own view, types with default resolvers, SQLAlchemy Core over asyncpg, and nothing else.

What one writes by following the manuals of both: one query for a page, one object for each row, Strawberry the rest.
"""

import base64
import os
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Generic, TypeVar
from uuid import UUID

import strawberry
from sqlalchemy import Row, and_, func, or_, select
from sqlalchemy.ext.asyncio import create_async_engine
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Route
from strawberry.asgi import GraphQL
from strawberry.types import Info

from store.domain.vocabulary import (
    Authority,
    BeliefType,
    ClaimKind,
    Derivation,
    Longevity,
    MemoryStatus,
    Polarity,
    Portability,
    Sensitivity,
)
from store.postgres.codes import BELIEF_TYPES, SENSITIVITIES, SENSITIVITY_CODES, STATUSES
from store.postgres.tables import beliefs

for _words in (
    Authority,
    BeliefType,
    ClaimKind,
    Derivation,
    Longevity,
    MemoryStatus,
    Polarity,
    Portability,
    Sensitivity,
):
    strawberry.enum(_words)

Node = TypeVar("Node")


@strawberry.type
class Memory:
    """One belief."""

    id: strawberry.ID
    subject: str
    statement: str
    belief_type: BeliefType
    status: MemoryStatus
    polarity: Polarity
    scope: str
    claim_kind: ClaimKind
    derivation: Derivation
    longevity: Longevity
    portability: Portability
    authority: Authority
    sensitivity: Sensitivity
    confidence: float
    corroboration_count: int
    flagged_for_review: bool
    conflicts_with: list[strawberry.ID]
    superseded_by: strawberry.ID | None
    source_session_id: strawberry.ID
    source_event_ids: list[int]
    formation_run_id: UUID | None
    consolidation_policy_version: str | None
    origin_scopes: list[str]
    valid_from: datetime
    valid_to: datetime | None
    expires_at: datetime | None
    last_evidence_at: datetime | None
    last_used_at: datetime | None
    last_reinforced_at: datetime | None
    created_at: datetime
    updated_at: datetime


@strawberry.type
class Edge(Generic[Node]):
    """One item with its cursor."""

    cursor: str
    node: Node


@strawberry.type
class PageInfo:
    """Where a page lies."""

    has_next_page: bool
    end_cursor: str | None


@strawberry.type
class Connection(Generic[Node]):
    """A page."""

    edges: list[Edge[Node]]
    page_info: PageInfo


_engine = create_async_engine(os.environ["DATABASE_URL"], pool_size=int(os.environ["CONNECTIONS"]), max_overflow=0)
_tenant = os.environ["TENANT"]


@strawberry.type
class Query:
    """Everything that can be read."""

    @strawberry.field
    async def memories(
        self,
        info: Info[Mapping[str, Any], None],  # Any: Strawberry's own context
        ceiling: Sensitivity,
        first: int = 50,
        after: str | None = None,
    ) -> Connection[Memory]:
        """A page of the principal's live beliefs, newest first."""
        request: Request = info.context["request"]
        limit = min(first, 200)
        query = (
            select(beliefs)
            .where(
                beliefs.c.tenant_id == _tenant,
                beliefs.c.principal_id == request.headers["x-principal"],
                beliefs.c.store_position > 0,
                beliefs.c.sensitivity <= SENSITIVITY_CODES[ceiling],
                beliefs.c.status.in_((1, 2)),
                beliefs.c.ends_at > func.now(),
            )
            .order_by(beliefs.c.store_position.desc(), beliefs.c.id)
            .limit(limit + 1)
        )
        if after is not None:
            text, _, id = base64.urlsafe_b64decode(after).decode().partition(",")
            position = int(text)
            further = or_(beliefs.c.store_position < position, beliefs.c.id > UUID(id))
            query = query.where(and_(beliefs.c.store_position <= position, further))
        async with _engine.connect() as connection:
            rows = (await connection.execute(query)).all()
        edges = [Edge(cursor=_cursor(row), node=_memory(row)) for row in rows[:limit]]
        return Connection(
            edges=edges,
            page_info=PageInfo(has_next_page=len(rows) > limit, end_cursor=edges[-1].cursor if edges else None),
        )


def _cursor(row: Row[Any]) -> str:  # Any: the columns of a belief
    return base64.urlsafe_b64encode(f"{row.store_position},{row.id}".encode()).decode()


def _memory(row: Row[Any]) -> Memory:  # Any: the columns of a belief
    return Memory(
        id=strawberry.ID(str(row.id)),
        subject=row.display_subject,
        statement=row.statement,
        belief_type=BELIEF_TYPES[row.belief_type],
        status=STATUSES[row.status],
        polarity=Polarity(row.polarity),
        scope=row.scope,
        claim_kind=ClaimKind(row.claim_kind),
        derivation=Derivation(row.derivation),
        longevity=Longevity(row.longevity),
        portability=Portability(row.portability),
        authority=Authority(row.authority),
        sensitivity=SENSITIVITIES[row.sensitivity],
        confidence=float(row.confidence),
        corroboration_count=row.corroboration_count,
        flagged_for_review=row.flagged_for_review,
        conflicts_with=[strawberry.ID(str(id)) for id in row.conflicts_with],
        superseded_by=None if row.superseded_by is None else strawberry.ID(str(row.superseded_by)),
        source_session_id=strawberry.ID(str(row.source_session_id)),
        source_event_ids=row.source_event_ids,
        formation_run_id=row.formation_run_id,
        consolidation_policy_version=row.consolidation_policy_version,
        origin_scopes=row.origin_scopes,
        valid_from=row.valid_from,
        valid_to=row.valid_to,
        expires_at=row.expires_at,
        last_evidence_at=row.last_evidence_at,
        last_used_at=row.last_used_at,
        last_reinforced_at=row.last_reinforced_at,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )


_endpoint = GraphQL[Mapping[str, Any], None](
    strawberry.Schema(Query), graphql_ide=None
)  # Any: Strawberry's own context
app = Starlette(routes=[Route("/graphql", _endpoint)])
