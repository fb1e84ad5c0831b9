"""Readers and writers who go on whatever happens, and note what they are answered."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from uuid import UUID, uuid4

import httpx

from gateway.service.demonstration import DEMO_OWNERS
from store.domain.vocabulary import ReviewOutcome
from tests.e2e.processes import Connection, Place, Server
from tests.e2e.writes import Transport, Unanswered, Write
from tests.faults.obstacles import until

OWNER = DEMO_OWNERS[0]
CEILING = {"ceiling": "restricted"}
PAGE = "{ memories(ceiling: RESTRICTED) { totalCount nodes { id } } }"
OF_OWNER = "tenant_id = $1 and principal_id = $2"


@dataclass(kw_only=True)
class Load:
    """Requests of one principal, and what became of them."""

    ids: list[UUID]
    statuses: Counter[int] = field(default_factory=Counter)
    acknowledged: set[str] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)

    async def read(self, client: httpx.AsyncClient) -> None:
        """Read pages on both transports: never an empty one, never half of one, never a failure but `unavailable`."""
        while True:
            rest = await client.get("/v1/memories", params=CEILING)
            graphql = await client.post("/graphql", json={"query": PAGE})
            for answer in (rest, graphql):
                self.statuses[answer.status_code] += 1
                assert answer.status_code in {200, 503}, answer.text
                assert ("retry-after" in answer.headers) == (answer.status_code == 503)
            if rest.status_code == 200:
                assert rest.json()["items"]
            if graphql.status_code == 200:
                assert graphql.json()["data"]["memories"]["nodes"], graphql.text

    async def write(self, client: httpx.AsyncClient) -> None:
        """Write one review after the other under keys of their own; each that is applied appends an event."""
        for number, id in enumerate(self.ids * 1000):
            transport = list(Transport)[number % 2]
            write = Write(id=id, key=str(uuid4()), outcome=ReviewOutcome.UNTRUE, transport=transport)
            await self.send(client, write)

    async def answered(self, status: int, *, times: int = 20) -> None:
        """Return when so many more pages were answered with this status."""
        wanted = self.statuses[status] + times
        await until(lambda: self.statuses[status] >= wanted)

    async def send(self, client: httpx.AsyncClient, write: Write) -> bool:
        """Send a write; whether it was acknowledged."""
        try:
            await write.send(client)
        except Unanswered:
            self.refused.add(write.key)
            return False
        self.acknowledged.add(write.key)
        return True

    @asynccontextmanager
    async def going_on(self, place: Place, server: Server, *, readers: int, writers: int) -> AsyncIterator[None]:
        """Send from so many clients until the block is left; raises what one of them found wrong."""
        async with server.client(place.token(OWNER)) as client:
            tasks = [
                *(asyncio.create_task(self.read(client)) for _ in range(readers)),
                *(asyncio.create_task(self.write(client)) for _ in range(writers)),
            ]
            try:
                yield
            finally:
                for task in tasks:
                    task.cancel()
                for task in tasks:
                    with suppress(asyncio.CancelledError):
                        await task


async def load_of(connection: Connection) -> Load:
    """A load over the beliefs of the principal."""
    rows = await connection.fetch(f"select id from beliefs where {OF_OWNER}", OWNER.tenant, OWNER.principal)
    return Load(ids=[row["id"] for row in rows])


async def check_kept(connection: Connection, load: Load) -> None:
    """Every acknowledged write is there, once, with its receipt; and no receipt without its write."""
    rows = await connection.fetch(f"select key from receipts where {OF_OWNER}", OWNER.tenant, OWNER.principal)
    receipts = [row["key"] for row in rows]
    assert load.acknowledged <= set(receipts)
    events = await connection.fetchval(
        f"select count(*) from events where {OF_OWNER} and kind = 'memory.rejected'", OWNER.tenant, OWNER.principal
    )
    assert len(receipts) == events
