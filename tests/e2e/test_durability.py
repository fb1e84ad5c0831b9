"""kill -9 of the gateway, of PostgreSQL and of both: what was acknowledged is kept, and nothing is half-done.

The product's own settings, fsync included. Each round sends writes over both transports, notes each one before it is
sent and when it is acknowledged, kills at a moment of its own, lets everything come back, and compares the database
with what the writes mean. Then every write is sent again under its key, which applies each exactly once.
Source: belief store decisions, Review and delete; the embedded PostgreSQL, What survives.
"""

import asyncio
import itertools
import json
import random
from collections import deque
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from enum import Enum
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from gateway.service.demonstration import DEMO_OWNERS
from store.domain.owners import Owner
from store.domain.vocabulary import ReviewOutcome
from tests.e2e.processes import CHECKOUT, Connection, Place, Server, new_place
from tests.e2e.writes import Subject, Transport, Unanswered, Write, find_applied, find_states

pytestmark = [pytest.mark.e2e, pytest.mark.postgres]

WRITERS = 4
SUBJECTS_A_ROUND = 30
KILL_SECONDS_MAX = 0.4
START_SECONDS_MAX = 1.5
BROKEN_STARTS = 4
DELETED_SHARE = 0.4
STARTED_AGAIN = "the database was started again"
DEMO_BELIEFS = sum(
    json.loads(line)["kind"] == "belief"
    for line in (CHECKOUT / "gateway" / "demo" / "beliefs.jsonl").read_text().splitlines()
)


class Victim(Enum):
    """What is killed in a round. IN_START kills both, and then once more while they start again."""

    GATEWAY = "gateway"
    BOTH = "both"
    IN_START = "in_start"
    POSTGRES = "postgres"


@pytest.fixture
async def place() -> AsyncIterator[Place]:
    async with new_place() as place:
        yield place


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
    left: deque[Subject]
    touched: list[Subject] = field(default_factory=list)
    broken_off: int = 0

    async def write_until_killed(self, server: Server, victim: Victim) -> list[Subject]:
        """Writers write side by side until the victim is killed under them; what they wrote to."""
        is_killed = asyncio.Event()

        def kill() -> None:
            is_killed.set()
            if victim is not Victim.POSTGRES:
                server.strike()
            if victim is not Victim.GATEWAY:
                self.place.kill_postgres()

        async with clients(self.place, server) as by_owner:
            asyncio.get_running_loop().call_later(self.chance.uniform(0, KILL_SECONDS_MAX), kill)
            written = await asyncio.gather(*(self._write(by_owner, is_killed) for _ in range(WRITERS)))
            await is_killed.wait()
        return [subject for each in written for subject in each]

    async def _write(self, by_owner: dict[Owner, httpx.AsyncClient], is_killed: asyncio.Event) -> list[Subject]:
        """Write to one subject after the other until something is not acknowledged, as it must not be before."""
        written: list[Subject] = []
        while self.left and not is_killed.is_set():
            subject = self.left.popleft()
            written.append(subject)
            for write in self._plan(subject):
                subject.sent.append(write)
                try:
                    subject.acknowledgements.append(await write.send(by_owner[subject.owner]))
                except Unanswered:
                    assert is_killed.is_set(), "a write was not acknowledged, and nothing had been killed"
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

    async def break_a_start(self) -> None:
        """Begin a start and kill it, and the PostgreSQL that it may have started, at any moment of it."""
        async with self.place.starting() as server:
            asyncio.get_running_loop().call_later(self.chance.uniform(0, START_SECONDS_MAX), server.strike)
            await server.process.wait()
        self.place.kill_postgres()


def line(owner: Owner, number: int, *, scope: str) -> dict[str, Any]:
    """A candidate to be written to; every other one is flagged, for it is sensitive and nobody's own word."""
    return {
        "version": 1,
        "kind": "belief",
        "tenant": owner.tenant,
        "principal": owner.principal,
        "subject": "a trial",
        "statement": f"Statement {number} of a trial",
        "belief_type": "fact",
        "scope": scope,
        "sensitivity": "sensitive" if number % 2 else "public",
        "confidence": 0.9,
        "source_session_id": str(UUID(int=number + 1)),
        "source_event_ids": [1, 2],
    }


async def form_subjects(place: Place, count: int) -> list[Subject]:
    """Form subjects of all owners, every third one in two scopes, through the importer beside the running server."""
    lines = []
    for number in range(count):
        owner = DEMO_OWNERS[number % len(DEMO_OWNERS)]
        lines.append(line(owner, number, scope="conversation"))
        if number // len(DEMO_OWNERS) % 3 == 0:
            lines.append(line(owner, number, scope="elsewhere"))
    file = place.directory / "subjects.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)))
    imported = await place.run("import", file, "--json")
    assert {"formed": len(lines)} == imported.answer["counts"]
    async with one_moment(place) as connection:
        rows = await connection.fetch(
            "select tenant_id, principal_id, statement_hash, array_agg(id order by scope) as ids from beliefs"
            " where subject = 'a trial' group by 1, 2, 3 order by 1, 2, 3"
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


@pytest.mark.parametrize("rounds", [10, pytest.param(300, marks=pytest.mark.long)])
async def test_a_kill_at_any_moment_loses_no_acknowledged_write_and_leaves_nothing_half_done(
    place: Place, rounds: int
) -> None:
    chance = random.Random(rounds)
    victims = [victim for _, victim in zip(range(rounds), itertools.cycle(Victim), strict=False)]
    chance.shuffle(victims)
    async with place.started():
        subjects = await form_subjects(place, rounds * SUBJECTS_A_ROUND)
    chance.shuffle(subjects)
    trial = Trial(place=place, chance=chance, left=deque(subjects))
    interrupted: list[Subject] = []
    for victim in victims:
        async with place.started() as server:
            await trial.check(server, interrupted)
            interrupted = await trial.write_until_killed(server, victim)
            if victim is Victim.POSTGRES:
                await server.logged(STARTED_AGAIN)
                await trial.check(server, interrupted)
                interrupted = []
        if victim is Victim.IN_START:
            await trial.break_a_start()
    async with place.serving() as server:
        await trial.check(server, interrupted)
    # The kills came while something was under way, and subjects were left to the last round.
    assert trial.left
    assert trial.broken_off >= rounds


async def test_a_first_start_that_is_killed_again_and_again_ends_with_the_demo_loaded_once(place: Place) -> None:
    trial = Trial(place=place, chance=random.Random(1), left=deque())
    for _ in range(BROKEN_STARTS):
        await trial.break_a_start()
    async with place.serving(), one_moment(place) as connection:
        assert DEMO_BELIEFS == await connection.fetchval("select count(*) from beliefs")
        orphans = await connection.fetchval(
            "select count(*) from beliefs b where not exists"
            " (select 1 from belief_evidence e where e.memory_id = b.id and e.tenant_id = b.tenant_id)"
        )
    assert 0 == orphans
