"""Two gateways on one database: a write that is sent to both at once under one key applies once."""

import asyncio
import itertools
from collections import Counter
from contextlib import AsyncExitStack
from dataclasses import replace
from uuid import uuid4

import pytest

from gateway.service.demonstration import DEMO_OWNERS
from store.domain.vocabulary import EventKind, ReviewOutcome
from tests.e2e.processes import new_place
from tests.e2e.writes import Transport, Write
from tests.faults.obstacles import connected

pytestmark = [pytest.mark.e2e, pytest.mark.postgres]

OWNER = DEMO_OWNERS[0]
DELETIONS = 20
OF_OWNER = "tenant_id = $1 and principal_id = $2"
# A deletion erases every belief that says the same: only those that nothing else says.
BELIEFS = f"""
    select (array_agg(id))[1] as id from beliefs where {OF_OWNER} group by statement_hash having count(*) = 1
"""
RECEIPTS = f"select key from receipts where {OF_OWNER}"
EVENTS = f"select memory_id, kind from events where {OF_OWNER} and kind in ('memory.rejected', 'memory.deleted')"


@pytest.mark.parametrize("rounds", [200, pytest.param(600, marks=pytest.mark.long)])
async def test_the_same_key_at_both_applies_once(own_database_url: str, rounds: int) -> None:
    owner = (OWNER.tenant, OWNER.principal)
    async with new_place() as place, AsyncExitStack() as stack:
        settings = {"database_url": own_database_url, "log_level": "warning"}
        servers = [await stack.enter_async_context(place.started(**settings)) for _ in range(2)]
        clients = [await stack.enter_async_context(server.client(place.token(OWNER))) for server in servers]
        connection = await stack.enter_async_context(connected(own_database_url))
        ids = [row["id"] for row in await connection.fetch(BELIEFS, *owner)]
        reviewed = itertools.islice(itertools.cycle(ids), rounds - DELETIONS)
        writes = [
            *((id, ReviewOutcome.UNTRUE) for id in reviewed),
            *((id, None) for id in ids[:DELETIONS]),
        ]
        keys: list[str] = []
        for number, (id, outcome) in enumerate(writes):
            write = Write(id=id, key=str(uuid4()), outcome=outcome, transport=Transport.REST)
            # Each transport at each gateway, in turn.
            first, second = (replace(write, transport=list(Transport)[(number >> bit) % 2]) for bit in (0, 1))
            answers = await asyncio.gather(first.send(clients[0]), second.send(clients[1]))
            assert "not_found" not in answers
            if first.transport is second.transport:
                assert answers[0] == answers[1]
            keys.append(write.key)
        events = Counter((row["memory_id"], row["kind"]) for row in await connection.fetch(EVENTS, *owner))
        assert sorted(keys) == sorted(row["key"] for row in await connection.fetch(RECEIPTS, *owner))
        for server in servers:
            await server.stop()
    kinds = {ReviewOutcome.UNTRUE: EventKind.REJECTED.value, None: EventKind.DELETED.value}
    assert Counter((id, kinds[outcome]) for id, outcome in writes) == events
