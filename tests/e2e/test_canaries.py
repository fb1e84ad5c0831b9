"""Words that nothing but the belief itself may hold, and nothing at all once it is deleted.

Invented words stand in statements, a subject and a person's name. They are served, searched, reviewed, found untrue,
reinforced, deleted, each write twice, and sent in every request that fails and every import that is refused. No log and
no metric ever holds one, at any level and in either format. After the deletion no column, statistic or dump does, and
no path forms the statement again.
Source: belief store decisions, Review and delete; Metrics; the store on PostgreSQL, Erasure on disk.
"""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from gateway.service.demonstration import DEMO_OWNERS
from tests.e2e.disclosure import disclosed, dump, find_in_columns
from tests.e2e.processes import Finished, Place, Server
from tests.e2e.provocations import provoke

pytestmark = [pytest.mark.e2e, pytest.mark.postgres]

OWNER = DEMO_OWNERS[0]
WHOSE = ("--tenant", OWNER.tenant, "--principal", OWNER.principal)
NAME = "ploindra"
SUBJECT = "vramblefex"
STATEMENTS = ("quixzorble", "maßgrüntz", "snorfblatt")
WORDS = (NAME, SUBJECT, *STATEMENTS)
# Deleted over REST: it is about a person. Deleted over GraphQL: it stands in two scopes, once hidden by the ceiling.
OF_A_PERSON = "Quixzorble keeps Maßgrüntz in the cellar"
IN_TWO_SCOPES = "Snorfblatt hides under the stairs"
RESPELLED = "QUIXZORBLE  keeps MASSGRÜN\u200bTZ\tin the Cellar "
BY_COLUMN = {
    "beliefs.subject": {SUBJECT},
    "beliefs.display_subject": {NAME, SUBJECT},
    "beliefs.statement": set(STATEMENTS),
    "beliefs.search": set(WORDS),
    "people.name": {NAME},
    "people_facts.statement": {"quixzorble", "maßgrüntz"},
}
"""The columns that hold them while they are believed."""

FIELDS = "id subject statement"


@dataclass
class Told:
    """Everything that the program told its operator."""

    place: Place
    texts: list[str] = field(default_factory=list)

    @asynccontextmanager
    async def serving(self, log_format: str) -> AsyncIterator[Server]:
        """Serve at the most talkative level; what it tells is kept, and must be clean while it serves too."""
        async with self.place.serving(log_level="debug", log_format=log_format) as server:
            yield server
            self.texts += [await server.metrics(), self.place.postgres_log()]
        self.texts += [server.output, server.log, self.place.postgres_log()]
        assert "exchange" in server.log

    async def imported(self, *lines: dict[str, Any], expect: int = 0) -> Any:  # Any: JSON
        """Import lines; the report."""
        content = "\n".join(json.dumps(each, ensure_ascii=False) for each in lines)
        return (await self.imported_text(content, expect=expect)).answer

    async def imported_text(self, content: str, *, expect: int = 0) -> Finished:
        """Import a file of this content; all that the command says is kept."""
        file = self.place.directory / f"{uuid4()}.jsonl"
        file.write_text(content)
        finished = await self.place.run("import", file, "--json", expect=expect, log_level="debug")
        self.texts += [finished.output, finished.log]
        return finished

    def check(self) -> None:
        """Nothing that was told holds a word."""
        assert set() == disclosed("\n".join(self.texts), WORDS)


def line(statement: str, **fields: Any) -> dict[str, Any]:
    """A candidate, or what other kind of line the fields make of it."""
    return {
        "version": 1,
        "kind": "belief",
        "tenant": OWNER.tenant,
        "principal": OWNER.principal,
        "subject": "person:whisk",
        "statement": statement,
        "belief_type": "fact",
        "scope": "conversation",
        "sensitivity": "internal",
        "source_session_id": str(UUID(int=1)),
        "source_event_ids": [1],
    } | fields


def person() -> dict[str, Any]:
    fields = {"version": 1, "kind": "person", "tenant": OWNER.tenant, "principal": OWNER.principal}
    return fields | {"key": "whisk", "name": "Ploindra Adeyemi"}


async def form(told: Told) -> None:
    """Form the beliefs, and reinforce them; what is refused beside them is not told either."""
    subject = "Vramblefex"
    hidden = line(IN_TWO_SCOPES, subject=subject, scope="elsewhere", sensitivity="restricted")
    report = await told.imported(person(), line(OF_A_PERSON), line(IN_TWO_SCOPES, subject=subject), hidden)
    assert {"person_restored": 1, "formed": 3} == report["counts"]
    again = [each | {"source_event_ids": [2]} for each in (line(OF_A_PERSON), line(IN_TWO_SCOPES, subject=subject))]
    assert {"reinforced": 2} == (await told.imported(*again))["counts"]
    refused = await told.imported(
        line(OF_A_PERSON, confidence=7),
        line(OF_A_PERSON, scope=""),
        line(OF_A_PERSON, sensitivity="Quixzorble"),
        line(f"{OF_A_PERSON}\0"),
        line(OF_A_PERSON * 300),
        person() | {"name": "person:Ploindra"},
        expect=1,
    )
    assert 6 == refused["refused"]
    broken = await told.imported_text(f'{{"statement": "{OF_A_PERSON}\nSnorfblatt\n', expect=1)
    assert 2 == broken.answer["refused"]


async def search(client: httpx.AsyncClient, text: str) -> list[dict[str, Any]]:
    """What both transports find for a text, the same on both."""
    listed = await client.get("/v1/memories", params={"ceiling": "restricted", "text": text})
    query = f"query ($text: String) {{ memories(ceiling: RESTRICTED, text: $text) {{ nodes {{ {FIELDS} }} }} }}"
    queried = await client.post("/graphql", json={"query": query, "variables": {"text": text}})
    nodes: list[dict[str, Any]] = queried.json()["data"]["memories"]["nodes"]
    assert nodes == [{name: item[name] for name in FIELDS.split()} for item in listed.json()["items"]]
    return nodes


async def serve_and_review(client: httpx.AsyncClient) -> tuple[str, str]:
    """See the beliefs in every way and review them; the ids of the person's and of the other that is not hidden."""
    [of_a_person] = await search(client, "maßgrüntz")
    assert of_a_person == (await search(client, "Ploindra quixzorble"))[0]
    assert 2 == len(await search(client, "SNORFBLATT"))
    for subject in ("Vramblefex", "Ploindra Adeyemi"):
        page = await client.get("/v1/memories", params={"ceiling": "internal", "subject": subject})
        assert [subject] == [item["subject"] for item in page.json()["items"]]
    page = await client.get("/v1/memories", params={"ceiling": "internal", "text": "snorfblatt"})
    [other] = [item["id"] for item in page.json()["items"]]
    reviewed = await client.post(
        f"/v1/memories/{of_a_person['id']}/review",
        params={"ceiling": "internal"},
        headers={"idempotency-key": "not-here"},
        json={"outcome": "not_here"},
    )
    assert OF_A_PERSON == reviewed.json()["statement"]
    mutation = f'mutation {{ reviewMemory(input: {{id: "{other}", ceiling: INTERNAL, outcome: DISMISS,'
    mutation += ' idempotencyKey: "dismiss"}) { memory { statement } } }'
    answered = await client.post("/graphql", json={"query": mutation})
    assert IN_TWO_SCOPES == answered.json()["data"]["reviewMemory"]["memory"]["statement"]
    first, again = [await reject(client, other) for _ in range(2)]
    assert ("retired", IN_TWO_SCOPES) == (first.json()["status"], first.json()["statement"])
    assert first.content == again.content
    return of_a_person["id"], other


async def reject(client: httpx.AsyncClient, id: str) -> httpx.Response:
    """Say that a belief is untrue, under one key however often."""
    return await client.post(
        f"/v1/memories/{id}/review",
        params={"ceiling": "internal"},
        headers={"idempotency-key": "untrue"},
        json={"outcome": "untrue"},
    )


async def delete(client: httpx.AsyncClient, over_rest: str, over_graphql: str) -> None:
    """Delete both, twice each; the review of one is repeated when there is nothing left to show."""
    mutation = f'mutation {{ deleteMemory(input: {{id: "{over_graphql}", ceiling: INTERNAL,'
    mutation += ' idempotencyKey: "deleted-too"}) { deletedId } }'
    for _ in range(2):
        response = await client.delete(
            f"/v1/memories/{over_rest}", params={"ceiling": "internal"}, headers={"idempotency-key": "deleted"}
        )
        assert 204 == response.status_code
        answered = await client.post("/graphql", json={"query": mutation})
        assert over_graphql == answered.json()["data"]["deleteMemory"]["deletedId"]
    assert 404 == (await reject(client, over_graphql)).status_code


async def held_by_column(place: Place) -> dict[str, set[str]]:
    """Which columns hold which words, once statistics are taken of whatever they may be taken of."""
    async with place.connected() as connection:
        await connection.execute("analyze")
        assert await connection.fetchval("select count(*) from pg_stats where tablename = 'beliefs'")
        return await find_in_columns(connection, WORDS)


async def check_erased(told: Told, client: httpx.AsyncClient) -> None:
    """No column, statistic, dump or export holds a word; what a person is called is no part of the belief."""
    assert {"people.name": {NAME}} == await held_by_column(told.place)
    assert {NAME} == disclosed(await dump(told.place), WORDS)
    exported = await told.place.run("export")
    assert {NAME} == disclosed(exported.output, WORDS)
    for word in WORDS:
        assert [] == await search(client, word)


async def check_refused(told: Told, former: list[dict[str, Any]]) -> None:
    """Whatever path the statements come by, they are blocked, and what they were to replace stands."""
    async with told.place.connected() as connection:
        before = await connection.fetch("select * from beliefs order by store_position")
    [other, *_] = [row for row in before if (row["tenant_id"], row["principal_id"], row["status"]) == (*LIVE_OF_OWNER,)]
    lines = [
        line(OF_A_PERSON),
        line(OF_A_PERSON, source_event_ids=[3], authority="user"),
        line(RESPELLED, subject="somebody", scope="nowhere", sensitivity="public"),
        line(OF_A_PERSON, polarity="retract"),
        line(IN_TWO_SCOPES, supersedes=str(other["id"])),
        line(IN_TWO_SCOPES, contradicts=[str(other["id"])]),
        *former,
        *(each | {"id": str(uuid4())} for each in former),
        *(each | {"id": str(uuid4()), "status": "retired", "valid_to": each["updated_at"]} for each in former),
    ]
    assert {"blocked": len(lines)} == (await told.imported(*lines))["counts"]
    async with told.place.connected() as connection:
        assert before == await connection.fetch("select * from beliefs order by store_position")


LIVE_OF_OWNER = (OWNER.tenant, OWNER.principal, 2)


async def test_a_deleted_statement_is_nowhere_was_in_no_log_and_is_never_formed_again(place: Place) -> None:
    told = Told(place)
    async with told.serving("text") as server, server.client(place.token(OWNER)) as client:
        await form(told)
        over_rest, over_graphql = await serve_and_review(client)
        for word in WORDS:
            await provoke(server, place.token(OWNER), word)
        listed = await place.run("memory", "list", *WHOSE, "--ceiling", "restricted", "--text", "quixzorble")
        assert {"quixzorble"} <= disclosed(listed.output, WORDS)
        told.texts.append(listed.log)
        # What follows would find them.
        assert BY_COLUMN == await held_by_column(place)
        assert set(WORDS) == disclosed(await dump(place), WORDS)
        exported = (await place.run("export")).output.splitlines()
        former = [each for each in map(json.loads, exported) if disclosed(each.get("statement", ""), WORDS)]
        assert 3 == len(former)
        told.check()

        await delete(client, over_rest, over_graphql)
        await check_erased(told, client)
        await check_refused(told, former)
    told.check()

    async with told.serving("json") as server, server.client(place.token(OWNER)) as client:
        for word in WORDS:
            await provoke(server, place.token(OWNER), word)
        await check_refused(told, former)
        await check_erased(told, client)
    told.check()
