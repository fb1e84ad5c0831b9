"""kill -9 of the gateway and of PostgreSQL: the graph is the one of the acknowledged writes, before and after.

The product's own settings, fsync included. Source: Read a memory evidence graph, Errors and integration checks.
"""

import json
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from gateway.service.demonstration import DEMO_OWNERS
from tests.e2e.processes import Place, Server
from tests.e2e.trials import one_moment

pytestmark = [pytest.mark.e2e, pytest.mark.postgres]

OWNER = DEMO_OWNERS[0]
STATEMENTS = ("Keeps a rowing boat", "Rows before breakfast", "Rents a mooring")


@dataclass
class Evidence:
    """What was written, each write acknowledged: the ids of beliefs by statement, and of what rests on them."""

    beliefs: dict[str, UUID] = field(default_factory=dict)
    derived: list[UUID] = field(default_factory=list)

    @property
    def roots(self) -> list[str]:
        """Everything that was derived, the last first, and the belief on which nothing rests."""
        return [*map(str, reversed(self.derived)), str(self.beliefs[STATEMENTS[2]])]


async def write(place: Place) -> Evidence:
    """Beliefs, a summary of two of them, and another one over that, each by a command that must succeed."""
    evidence, subject = Evidence(), f"trial {uuid4()}"
    lines = [
        {
            "version": 1,
            "kind": "belief",
            "tenant": OWNER.tenant,
            "principal": OWNER.principal,
            "subject": subject,
            "statement": statement,
            "belief_type": "fact",
            "scope": "boating",
            "sensitivity": "public",
            "source_session_id": str(uuid4()),
            "source_event_ids": [1],
        }
        for statement in STATEMENTS
    ]
    file = place.directory / "beliefs.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)))
    await place.run("import", file)
    async with one_moment(place) as connection:
        rows = await connection.fetch("select statement, id from beliefs where subject = $1", subject)
    evidence.beliefs = {row["statement"]: row["id"] for row in rows}
    first, second, _ = (evidence.beliefs[statement] for statement in STATEMENTS)
    await derive(place, evidence, subject, {STATEMENTS[0]: first, STATEMENTS[1]: second})
    await derive(place, evidence, subject, {STATEMENTS[0]: evidence.derived[0]})
    return evidence


async def derive(place: Place, evidence: Evidence, subject: str, said: dict[str, UUID]) -> None:
    """Derive one summary from a file of proposals."""
    reference = f"run {uuid4()}"
    proposal = {
        "version": 1,
        "record_kind": "summary",
        "subject": subject,
        "clauses": [{"text": text, "source_ids": [str(id)]} for text, id in said.items()],
        "source_ids": list(map(str, said.values())),
        "method": "trial",
        "method_revision": "1",
        "evidence_ref": reference,
    }
    file = place.directory / "proposals.jsonl"
    file.write_text(json.dumps(proposal))
    names = ("--tenant", OWNER.tenant, "--principal", OWNER.principal)
    await place.run("derive", *names, "--file", file)
    async with one_moment(place) as connection:
        id = await connection.fetchval("select id from derived_records where evidence_ref = $1", reference)
    assert id is not None
    evidence.derived.append(id)


async def read(client: httpx.AsyncClient, evidence: Evidence) -> dict[str, Any]:  # Any: JSON
    """The graph of everything, without its moment."""
    body = {
        "contract_version": 1,
        "scope": {"project_id": None, "mission_id": None, "agent_id": None, "visibility": "private"},
        "query": {"root_record_ids": evidence.roots, "ceiling": "restricted"},
    }
    answer = await client.post("/api/v1/memory/graph", json=body)
    assert 200 == answer.status_code, answer.text
    graph: dict[str, Any] = answer.json()["graph"]
    assert graph.pop("evaluated_at")
    return graph


def kill(place: Place, server: Server) -> None:
    server.strike()
    place.kill_postgres()


async def test_a_graph_is_built_again_from_acknowledged_writes_and_judged_anew(place: Place) -> None:
    async with place.started() as server, server.client(place.token(OWNER)) as client:
        evidence = await write(place)
        first = await read(client, evidence)
        kill(place, server)
    assert ["included"] * 3 == [root["status"] for root in first["roots"]]
    assert (True, 5, 3) == (first["coverage"]["complete"], len(first["nodes"]), len(first["edges"]))

    async with place.started() as server, server.client(place.token(OWNER)) as client:
        assert first == await read(client, evidence)
        reviewed = await client.post(
            f"/v1/memories/{evidence.beliefs[STATEMENTS[1]]}/review",
            params={"ceiling": "restricted"},
            json={"outcome": "not_here"},
            headers={"idempotency-key": str(uuid4())},
        )
        kill(place, server)
    assert 200 == reviewed.status_code

    async with place.serving() as server, server.client(place.token(OWNER)) as client:
        after = await read(client, evidence)
    assert ["unavailable", "unavailable", "included"] == [root["status"] for root in after["roots"]]
    assert [str(evidence.beliefs[STATEMENTS[2]])] == [node["record"]["id"] for node in after["nodes"]]
    assert after["coverage"]["complete"]
