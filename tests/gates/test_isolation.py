"""Gate 3: a principal sees only its own beliefs."""

import pytest

from store.domain.vocabulary import MemoryStatus, Sensitivity
from tests.factories import SESSION, memory, owner
from tests.parity.clients import Transport


@pytest.mark.gate("gate.memory.read_api_principal_isolation")
async def test_a_principal_sees_only_its_own_beliefs(transport: Transport) -> None:
    [mine, *others] = await transport.gateway.keep(
        memory("Mine", owner=owner()),
        memory("Another principal's", owner=owner("bo")),
        memory("Another tenant's", owner=owner(tenant="inland")),
        memory("Another tenant's, restricted", owner=owner("bo", tenant="inland"), sensitivity=Sensitivity.RESTRICTED),
    )
    secret = await transport.gateway.secret(owner())
    everything = {"ceiling": "restricted", "status": [status.value for status in MemoryStatus]}

    for filters in ({}, {"session_id": str(SESSION)}, {"subject": "ada"}, {"text": "ada"}, {"flagged": False}):
        assert [str(mine.id)] == (await transport.browse(secret, {**everything, **filters})).ids
    write = {"ceiling": "restricted", "idempotency_key": "key"}
    for other in others:
        refused = [
            await transport.read(secret, str(other.id), {"ceiling": "restricted"}),
            await transport.review(secret, str(other.id), {**write, "outcome": "untrue"}),
            await transport.delete(secret, str(other.id), write),
        ]
        assert ["not_found"] * 3 == [answer.code for answer in refused]
        # GraphQL tells of a failed field with 200.
        assert {answer.response.status_code for answer in refused} in ({404}, {200})
        theirs = await transport.gateway.secret(other.owner)
        assert "active" == (await transport.read(theirs, str(other.id), {"ceiling": "restricted"})).row["status"]
