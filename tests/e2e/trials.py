"""A trial: writers write over HTTP, something strikes, and what is left is compared with what was acknowledged.

Each write is noted before it is sent and when it is acknowledged. After the blow the database holds every acknowledged
write, and each other one whole or not at all. Then every write is sent again under its key, which applies it once.
Source: belief store decisions, Review and delete.
"""

import asyncio
import json
import random
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

import httpx

from gateway.service.demonstration import DEMO_OWNERS
from store.domain.owners import Owner
from store.domain.vocabulary import ReviewOutcome
from tests.e2e.processes import Connection, Place, Server
from tests.e2e.writes import Subject, Transport, Unanswered, Write, find_applied, find_states

WRITERS = 4
WRITE_SECONDS_MAX = 0.4
START_SECONDS_MAX = 1.5
DELETED_SHARE = 0.4
SUBJECTS_MIN = 60
SUBJECTS_FORMED = 150


@asynccontextmanager
async def one_moment(place: Place) -> AsyncIterator[Connection]:
    """A connection that sees the database as of one moment."""
    async with place.connected() as connection, connection.transaction(isolation="repeatable_read", readonly=True):
        yield connection


@asynccontextmanager
async def clients(place: Place, server: Server) -> AsyncIterator[dict[Owner, httpx.AsyncClient]]:
    """A client for each owner, whose connections are used again."""
    async with AsyncExitStack() as stack:
        yield {owner: await stack.enter_async_context(server.client(place.token(owner))) for owner in DEMO_OWNERS}


@dataclass(kw_only=True)
class Trial:
    """Rounds in one place: their chance, the subjects that are left, and those that were written to."""

    place: Place
    chance: random.Random
    left: deque[Subject] = field(default_factory=deque)
    touched: list[Subject] = field(default_factory=list)
    broken_off: int = 0

    async def replenish(self) -> None:
        """Form more subjects where few are left. It takes a server that runs."""
        if len(self.left) < SUBJECTS_MIN:
            subjects = await form_subjects(self.place, SUBJECTS_FORMED)
            self.chance.shuffle(subjects)
            self.left += subjects

    async def write_until(self, server: Server, blow: Callable[[], None]) -> list[Subject]:
        """Writers write side by side until the blow, at a moment of chance, ends it; what they wrote to."""
        has_struck = asyncio.Event()

        def strike() -> None:
            has_struck.set()
            blow()

        async with clients(self.place, server) as by_owner:
            asyncio.get_running_loop().call_later(self.chance.uniform(0, WRITE_SECONDS_MAX), strike)
            written = await asyncio.gather(*(self._write(by_owner, has_struck) for _ in range(WRITERS)))
            await has_struck.wait()
        return [subject for each in written for subject in each]

    async def _write(self, by_owner: dict[Owner, httpx.AsyncClient], has_struck: asyncio.Event) -> list[Subject]:
        """Write to one subject after the other until something is not acknowledged, as it must not be before."""
        written: list[Subject] = []
        while self.left and not has_struck.is_set():
            subject = self.left.popleft()
            written.append(subject)
            for write in self._plan(subject):
                subject.sent.append(write)
                try:
                    subject.acknowledgements.append(await write.send(by_owner[subject.owner]))
                except Unanswered:
                    assert has_struck.is_set(), "a write was not acknowledged, and nothing had struck"
                    self.broken_off += 1
                    return written
        return written

    def _plan(self, subject: Subject) -> list[Write]:
        """Some reviews in any order, the same one twice among them, and often a deletion."""
        outcomes: list[ReviewOutcome | None] = [*self.chance.choices(list(ReviewOutcome), k=self.chance.randint(1, 3))]
        if self.chance.random() < DELETED_SHARE:
            outcomes.append(None)
        transports = list(Transport)
        return [
            Write(id=subject.ids[0], key=str(uuid4()), outcome=outcome, transport=self.chance.choice(transports))
            for outcome in outcomes
        ]

    async def check(self, server: Server, subjects: list[Subject]) -> None:
        """What a crash left of the subjects is whole, and writing everything again applies each write once."""
        async with one_moment(self.place) as connection:
            applied = await find_applied(connection, subjects)
            states = await find_states(connection, subjects)
        for subject, keys, state in zip(subjects, applied, states, strict=True):
            assert [write.key for write in subject.sent[: len(keys)]] == keys
            assert len(subject.acknowledgements) <= len(keys)
            assert subject.expected(len(keys)) == state
        async with clients(self.place, server) as by_owner:
            for subject, keys in zip(subjects, applied, strict=True):
                await self._send_again(by_owner[subject.owner], subject, applied=len(keys))
        self.touched += subjects
        await self.check_all()

    async def _send_again(self, client: httpx.AsyncClient, subject: Subject, *, applied: int) -> None:
        if subject.acknowledgements and len(subject.acknowledgements) == applied:
            # Nothing came after the last acknowledgement: the same answer, to the letter.
            assert subject.acknowledgements[-1] == await subject.sent[applied - 1].send(client)
        for write in subject.sent:
            await write.send(client)
        shown = await client.get(f"/v1/memories/{subject.ids[0]}", params={"ceiling": "restricted"})
        assert (404 if subject.is_deleted else 200) == shown.status_code
        for write in subject.sent:
            answer = await write.send(client)
            if write.outcome is None:
                assert answer != "not_found"
            elif subject.is_deleted:
                assert "not_found" == answer
            elif write.transport is Transport.REST:
                assert shown.text == answer

    async def check_all(self) -> None:
        """Every subject that was ever written to is as all of its writes, each applied once, make it."""
        async with one_moment(self.place) as connection:
            states = await find_states(connection, self.touched)
            receipts = await connection.fetchval("select count(*) from receipts")
        assert [subject.expected(len(subject.sent)) for subject in self.touched] == states
        assert sum(len(subject.sent) for subject in self.touched) == receipts

    async def break_a_start(self, blow: Callable[[Server], None]) -> Server:
        """Begin a start, and end it by the blow at any moment of it; the process that has ended."""
        async with self.place.starting() as server:
            asyncio.get_running_loop().call_later(self.chance.uniform(0, START_SECONDS_MAX), blow, server)
            await server.ended()
            return server


def line(owner: Owner, number: int, *, scope: str, subject: str) -> dict[str, Any]:
    """A candidate to be written to; every other one is flagged, for it is sensitive and nobody's own word."""
    return {
        "version": 1,
        "kind": "belief",
        "tenant": owner.tenant,
        "principal": owner.principal,
        "subject": subject,
        "statement": f"Statement {number} of {subject}",
        "belief_type": "fact",
        "scope": scope,
        "sensitivity": "sensitive" if number % 2 else "public",
        "confidence": 0.9,
        "source_session_id": str(UUID(int=number + 1)),
        "source_event_ids": [1, 2],
    }


async def form_subjects(place: Place, count: int) -> list[Subject]:
    """Form subjects of all owners, every third one in two scopes, through the importer beside the running server."""
    name = f"trial {uuid4()}"
    lines = []
    for number in range(count):
        owner = DEMO_OWNERS[number % len(DEMO_OWNERS)]
        lines.append(line(owner, number, scope="conversation", subject=name))
        if number // len(DEMO_OWNERS) % 3 == 0:
            lines.append(line(owner, number, scope="elsewhere", subject=name))
    file = place.directory / "subjects.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)))
    imported = await place.run("import", file, "--json")
    assert {"formed": len(lines)} == imported.answer["counts"]
    async with one_moment(place) as connection:
        rows = await connection.fetch(
            "select tenant_id, principal_id, statement_hash, array_agg(id order by scope) as ids from beliefs"
            " where subject = $1 group by 1, 2, 3",
            name,
        )
        subjects = [
            Subject(
                owner=Owner(tenant=row["tenant_id"], principal=row["principal_id"]),
                ids=tuple(row["ids"]),
                statement_hash=row["statement_hash"],
            )
            for row in rows
        ]
        for subject, state in zip(subjects, await find_states(connection, subjects), strict=True):
            subject.at_first = state
    assert count == len(subjects)
    return subjects
