"""Writes over HTTP and what each must leave behind, for tests that kill what serves them.

A subject is a statement of one owner in one or two rows: reviews name the first, a deletion erases both. Its writes
are sent one after the other, so that a crash can leave it only as after one of the first so many of them.
Source: belief store decisions, Review and delete.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from enum import StrEnum
from typing import Any
from uuid import UUID

import httpx

from store.domain.owners import Owner
from store.domain.vocabulary import EventKind, RejectionKind, ReviewOutcome
from tests.e2e.processes import Connection
from tests.parity.clients import MEMORY_FIELDS

ROW = "row(id, status, flagged_for_review, confidence, portability, revision, valid_to is not null)"
RETIRED = 5
PENALTY = Decimal("0.2")
REVIEW = f"""
    mutation ($id: ID!, $outcome: ReviewOutcome!, $key: String!) {{
      reviewMemory(input: {{id: $id, ceiling: RESTRICTED, outcome: $outcome, idempotencyKey: $key}}) {{
        memory {{ {MEMORY_FIELDS} }}
      }}
    }}
"""
DELETE = """
    mutation ($id: ID!, $key: String!) {
      deleteMemory(input: {id: $id, ceiling: RESTRICTED, idempotencyKey: $key}) { deletedId }
    }
"""


class Unanswered(Exception):
    """A write that was not acknowledged: it may have been applied, or not."""


class Transport(StrEnum):
    """How a write is sent."""

    REST = "rest"
    GRAPHQL = "graphql"


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """One write under its idempotency key; no outcome is a deletion."""

    id: UUID
    key: str
    outcome: ReviewOutcome | None
    transport: Transport

    async def send(self, client: httpx.AsyncClient) -> str:
        """The acknowledgement: the body of the answer, or `not_found`. Raises Unanswered."""
        try:
            response = await (self._send_rest(client) if self.transport is Transport.REST else self._send(client))
        except httpx.TransportError as error:
            raise Unanswered from error
        if response.status_code == 503:
            raise Unanswered
        content = response.json() if response.content else {}
        code = content["error"]["code"] if "error" in content else None
        if "errors" in content:
            code = content["errors"][0]["extensions"]["code"]
        if code == "unavailable":
            raise Unanswered
        assert code in (None, "not_found"), response.text
        return code or response.text

    async def _send_rest(self, client: httpx.AsyncClient) -> httpx.Response:
        target, query = f"/v1/memories/{self.id}", {"ceiling": "restricted"}
        headers = {"idempotency-key": self.key}
        if self.outcome is None:
            return await client.delete(target, params=query, headers=headers)
        body = {"outcome": self.outcome.value}
        return await client.post(f"{target}/review", params=query, headers=headers, json=body)

    async def _send(self, client: httpx.AsyncClient) -> httpx.Response:
        variables = {"id": str(self.id), "key": self.key}
        if self.outcome is not None:
            variables["outcome"] = self.outcome.name
        document = DELETE if self.outcome is None else REVIEW
        return await client.post("/graphql", json={"query": document, "variables": variables})


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """The columns of a belief that reviews change."""

    status: int
    flagged: bool
    confidence: Decimal
    portability: str
    revision: int


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """All that the database holds of a subject: `count` rows with the statement, and what writes have left of it."""

    row: Row | None
    count: int
    references: int
    events: Counter[str]
    rejections: frozenset[str]
    entombed: bool

    def after(self, write: Write) -> "State":
        """What one more write makes of it."""
        row = self.row
        if row is None:
            return self
        match write.outcome:
            case None:
                deleted = Counter({EventKind.DELETED.value: self.count})
                return replace(NOTHING, events=self.events + deleted, entombed=True)
            case ReviewOutcome.DISMISS:
                if not row.flagged:
                    return self
                return self._with(replace(row, flagged=False), EventKind.REVIEWED)
            case ReviewOutcome.NOT_HERE:
                if row.portability == "local":
                    return self
                changed = replace(_penalised(row), portability="local")
                return self._with(changed, EventKind.REJECTED, RejectionKind.NOT_HERE)
            case ReviewOutcome.UNTRUE:
                changed = row if row.status == RETIRED else replace(_penalised(row), status=RETIRED)
                return self._with(changed, EventKind.REJECTED, RejectionKind.UNTRUE)

    def _with(self, row: Row, event: EventKind, *rejections: RejectionKind) -> "State":
        return replace(
            self,
            row=row,
            events=self.events + Counter({event.value: 1}),
            rejections=self.rejections | {rejection.value for rejection in rejections},
        )


def _penalised(row: Row) -> Row:
    return replace(row, confidence=max(Decimal(0), row.confidence - PENALTY), revision=row.revision + 1)


NOTHING = State(row=None, count=0, references=0, events=Counter(), rejections=frozenset(), entombed=False)


@dataclass(slots=True, kw_only=True)
class Subject:
    """A statement of one owner with the writes that were sent for it, in order, and those acknowledged."""

    owner: Owner
    ids: tuple[UUID, ...]
    statement_hash: bytes
    at_first: State = NOTHING
    sent: list[Write] = field(default_factory=list)
    acknowledgements: list[str] = field(default_factory=list)

    def expected(self, applied: int) -> State:
        """What the first so many of its writes make of it."""
        state = self.at_first
        for write in self.sent[:applied]:
            state = state.after(write)
        return state

    @property
    def is_deleted(self) -> bool:
        """Whether all of its writes leave nothing of it."""
        return self.expected(len(self.sent)).row is None


async def find_applied(connection: Connection, subjects: Sequence[Subject]) -> list[list[str]]:
    """The keys of each subject that have a receipt, in the order they were sent in."""
    rows = await connection.fetch("select tenant_id, principal_id, key from receipts")
    keys = {tuple(row) for row in rows}
    return [
        [write.key for write in subject.sent if (subject.owner.tenant, subject.owner.principal, write.key) in keys]
        for subject in subjects
    ]


async def find_states(connection: Connection, subjects: Sequence[Subject]) -> list[State]:
    """What the database holds of each subject. Ask it in a transaction that sees one moment.

    A hash is that of an owner and a statement, so that it tells subjects apart by itself.
    """
    hashes = [subject.statement_hash for subject in subjects]
    ids = [id for subject in subjects for id in subject.ids]

    async def ask(statement: str, keys: Sequence[object]) -> dict[Any, list[Any]]:
        found = defaultdict(list)
        for key, value in await connection.fetch(statement, keys):
            found[key].append(value)
        return found

    rows = await ask(f"select statement_hash, {ROW} from beliefs where statement_hash = any($1)", hashes)
    references = await ask("select memory_id, number from belief_evidence where memory_id = any($1)", ids)
    events = await ask("select memory_id, kind from events where memory_id = any($1)", ids)
    rejections = await ask("select statement_hash, kind from rejections where statement_hash = any($1)", hashes)
    tombstones = await ask("select statement_hash, key_id from tombstones where statement_hash = any($1)", hashes)
    return [
        State(
            row=next((_row(*values) for id, *values in rows[subject.statement_hash] if id == subject.ids[0]), None),
            count=len(rows[subject.statement_hash]),
            references=sum(len(references[id]) for id in subject.ids),
            events=Counter(kind for id in subject.ids for kind in events[id]),
            rejections=frozenset(rejections[subject.statement_hash]),
            entombed=bool(tombstones[subject.statement_hash]),
        )
        for subject in subjects
    ]


def _row(status: int, flagged: bool, confidence: Decimal, portability: str, revision: int, has_ended: bool) -> Row:
    assert has_ended == (status == RETIRED)
    return Row(status=status, flagged=flagged, confidence=confidence, portability=portability, revision=revision)
