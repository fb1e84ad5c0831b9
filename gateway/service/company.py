"""What an administrator of a company reads: which workspaces there are, and the evidence within one of them.

A company is a tenant, a workspace is one of its principals of whom anything is stored. Both are named by keyed hashes,
so that no name leads to another company, or tells of one. Each use is written into a journal before anything is read:
into the principal's own whose workspace it is, else into the administrator's.
Source: evidence graph decisions; Read a memory evidence graph, Read as a company administrator.
"""

import base64
import binascii
import json
from dataclasses import dataclass

from gateway.service.environment import Environment
from gateway.service.errors import MalformedRequest, RecordNotFound
from gateway.service.evidence import EvidenceQuery, EvidenceService
from gateway.service.journaling import journal_act
from gateway.service.principal import Principal
from gateway.service.strict_json import parse_object
from gateway.views.evidence import EvidenceGraphView
from gateway.views.workspaces import WorkspaceView, workspace_view
from store.domain.normalization import well_formed
from store.domain.owners import OWNER_NAME_LENGTH_MAX, Owner
from store.domain.vocabulary import AccessScope
from store.domain.workspaces import company_id, workspace_id
from store.ports.store import Store

WORKSPACES_DEFAULT = 50
WORKSPACES_MAX = 100
WORKSPACES_BATCH = 1_000
"""Principals that are read at once in search of the one with an id."""
DIRECTORY_CURSOR_LENGTH_MAX = 17 * OWNER_NAME_LENGTH_MAX
"""No cursor of ours is longer: a character takes at most twelve bytes as JSON, and a third more as base64."""
_READING = frozenset({AccessScope.MEMORY_READ})


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspacePage:
    """Workspaces of one company by principal, and the cursor of the next page, None on the last one."""

    company_id: str
    workspaces: tuple[WorkspaceView, ...]
    next_cursor: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CompanyGraph:
    """The evidence within one workspace."""

    company_id: str
    workspace: WorkspaceView
    graph: EvidenceGraphView


class CompanyService:
    """Reads for whoever has memory.admin in a company, within that company alone."""

    def __init__(self, store: Store, environment: Environment, evidence: EvidenceService) -> None:
        """Read graphs as the principals themselves would."""
        self._store = store
        self._environment = environment
        self._evidence = evidence

    async def workspaces(self, principal: Principal, *, limit: int | None, cursor: str | None) -> WorkspacePage:
        """One page: the first 50 unless told otherwise, at most 100.

        Raises AuthorizationError without memory.admin, MalformedRequest for a limit below 1 and for a cursor that does
        not decode.
        """
        principal.require(AccessScope.MEMORY_ADMIN)
        if limit is not None and limit < 1:
            raise MalformedRequest("first", "must be a positive integer")
        size = WORKSPACES_DEFAULT if limit is None else min(limit, WORKSPACES_MAX)
        after = None if cursor is None else _decode_cursor(cursor)
        await self._journal(principal, principal.owner, "company_workspaces")
        tenant = principal.owner.tenant
        async with self._store.single_read() as snapshot:
            names = await snapshot.journal.principals(tenant, after=after, limit=size + 1)
        shown = names[:size]
        return WorkspacePage(
            company_id=self._company_id(tenant),
            workspaces=tuple(self._workspace(Owner(tenant=tenant, principal=name)) for name in shown),
            next_cursor=_encode_cursor(shown[-1]) if len(names) > size else None,
        )

    async def graph(self, principal: Principal, id: str, query: EvidenceQuery) -> CompanyGraph:
        """The graph within the workspace of this id, as its principal would read it.

        Raises as EvidenceService.graph does, with memory.admin for memory.read, and RecordNotFound alike for an id that
        is none and for one of another company.
        """
        query.check_types()
        principal.require(AccessScope.MEMORY_ADMIN)
        query.check_rules()
        owner = await self._find(principal.owner.tenant, id)
        await self._journal(principal, owner or principal.owner, "company_graph", found=owner is not None)
        if owner is None:
            raise RecordNotFound
        graph = await self._evidence.graph(Principal(owner=owner, scopes=_READING), query)
        return CompanyGraph(company_id=self._company_id(owner.tenant), workspace=self._workspace(owner), graph=graph)

    async def _find(self, tenant: str, id: str) -> Owner | None:
        """The principal of a tenant whose workspace has this id, under any key that it may have been told under."""
        after: str | None = None
        while True:
            async with self._store.single_read() as snapshot:
                names = await snapshot.journal.principals(tenant, after=after, limit=WORKSPACES_BATCH)
            for name in names:
                owner = Owner(tenant=tenant, principal=name)
                if any(workspace_id(key, owner) == id for key in self._environment.keyring.keys):
                    return owner
            if len(names) < WORKSPACES_BATCH:
                return None
            after = names[-1]

    async def _journal(self, principal: Principal, owner: Owner, action: str, **details: bool) -> None:
        now = self._environment.clock()
        await self._store.transact(
            lambda transaction: journal_act(
                transaction,
                now=now,
                action=action,
                owner=owner,
                by=workspace_id(self._environment.keyring.current, principal.owner),
                **details,
            )
        )

    def _company_id(self, tenant: str) -> str:
        return company_id(self._environment.keyring.current, tenant)

    def _workspace(self, owner: Owner) -> WorkspaceView:
        return workspace_view(workspace_id(self._environment.keyring.current, owner), owner.principal)


def _encode_cursor(principal: str) -> str:
    content = json.dumps({"a": principal}, separators=(",", ":"))
    return base64.urlsafe_b64encode(content.encode("ascii")).decode("ascii").rstrip("=")


def _decode_cursor(cursor: str) -> str:
    """The principal of a cursor. Raises MalformedRequest for any text that _encode_cursor can't have made."""
    refusal = MalformedRequest("after", "is not a cursor of this server")
    if len(cursor) > DIRECTORY_CURSOR_LENGTH_MAX or not cursor.isascii():
        raise refusal
    try:
        content = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        principal = parse_object("after", content).get("a")
    except (binascii.Error, MalformedRequest):
        raise refusal from None
    if not isinstance(principal, str) or not well_formed(principal) or _encode_cursor(principal) != cursor:
        raise refusal
    return principal
