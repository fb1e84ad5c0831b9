"""What scenarios of derived records share: a gateway that serves them, and a small world."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from store.domain.derived import Clause, DerivedRecord
from store.domain.memories import MemoryRecord
from store.ports.store import Store
from tests.factories import derived, memory, owner
from tests.gateways import Gateway, serving
from tests.parity.clients import Answer, Transport

ADA = owner()
CEILING = {"ceiling": "restricted"}


@pytest.fixture
async def gateway(store: Store) -> AsyncIterator[Gateway]:
    """A gateway that serves derived records."""
    async with serving(store, derived=True) as gateway:
        yield gateway


async def items(transport: Transport, **arguments: Any) -> list[str]:  # Any: a parameter of any type
    """The ids of Ada's page of both, under the highest ceiling unless told."""
    answer = await transport.browse_items(await transport.gateway.secret(ADA), {**CEILING, **arguments})
    assert answer.code is None, answer.message
    return answer.ids


async def shown(transport: Transport, record: DerivedRecord, **arguments: Any) -> Answer:  # Any: a parameter
    """The derived record as Ada reads it."""
    secret = await transport.gateway.secret(ADA)
    return await transport.read_derived(secret, str(record.id), {**CEILING, **arguments})


async def review(transport: Transport, record: DerivedRecord | MemoryRecord, outcome: str, key: str = "key") -> Answer:
    """Review either as Ada."""
    write = {**CEILING, "outcome": outcome, "idempotency_key": key}
    return await transport.review(await transport.gateway.secret(ADA), str(record.id), write)


async def delete(transport: Transport, record: DerivedRecord | MemoryRecord, key: str = "key") -> Answer:
    """Delete either as Ada."""
    write = {**CEILING, "idempotency_key": key}
    return await transport.delete(await transport.gateway.secret(ADA), str(record.id), write)


def ids(*records: MemoryRecord | DerivedRecord) -> list[str]:
    return [str(record.id) for record in records]


async def pair_and_summary(gateway: Gateway, **changes: Any) -> tuple[MemoryRecord, MemoryRecord, DerivedRecord]:
    """Two beliefs, and a summary that says what both say."""
    boat, dawn = await gateway.keep(memory("Keeps a rowing boat"), memory("Rows at dawn"))
    clauses = (
        Clause(text="Keeps a rowing boat", source_ids=(boat.id,)),
        Clause(text="Rows at dawn", source_ids=(dawn.id,)),
    )
    [summary] = await gateway.keep_derived(derived(boat, dawn, clauses=clauses, **changes))
    return boat, dawn, summary
