"""Gates 1 and 2: the ceiling is stated, and nothing above it is returned or can be told from nothing."""

import itertools
import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from store.domain.vocabulary import SENSITIVITY_ORDER, Sensitivity
from tests.factories import identifier, memory, owner
from tests.parity.clients import Answer, Transport

_tenants = itertools.count(1)


@pytest.mark.gate("gate.memory.read_api_ceiling_required")
@pytest.mark.parametrize("ceiling", [None, "top", "0", "", "public restricted"])
async def test_a_request_without_a_ceiling_is_refused(transport: Transport, ceiling: str | None) -> None:
    [kept] = await transport.gateway.keep(memory("Keeps a heliotrope"))
    secret = await transport.gateway.secret(owner())
    stated = {} if ceiling is None else {"ceiling": ceiling}
    write = {**stated, "idempotency_key": "key"}

    answers = [
        await transport.browse(secret, stated),
        await transport.read(secret, str(kept.id), stated),
        await transport.review(secret, str(kept.id), {**write, "outcome": "untrue"}),
        await transport.delete(secret, str(kept.id), write),
    ]

    for answer in answers:
        assert "malformed_request" == answer.code
        assert "ceiling" in answer.message
        assert "heliotrope" not in answer.response.text
    unchanged = await transport.read(secret, str(kept.id), {"ceiling": "public"})
    assert ("active", "Keeps a heliotrope") == (unchanged.row["status"], unchanged.row["statement"])


def whole(answer: Answer) -> tuple[int, bytes, dict[str, str]]:
    """The response, its request id aside."""
    headers = dict(answer.response.headers)
    id = headers.pop("x-request-id").encode()
    return answer.response.status_code, answer.response.content.replace(id, b""), headers


# The store of the fixture serves all examples: each has a tenant of its own.
@pytest.mark.gate("gate.memory.read_api_ceiling_filter")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    sensitivities=st.lists(st.sampled_from(Sensitivity), min_size=1, max_size=6),
    ceiling=st.sampled_from(Sensitivity),
    limit=st.integers(1, 7),
)
async def test_nothing_above_the_ceiling_is_returned_or_distinguishable(
    transport: Transport, sensitivities: list[Sensitivity], ceiling: Sensitivity, limit: int
) -> None:
    asking = owner(tenant=f"tenant {next(_tenants)}")
    kept = await transport.gateway.keep(
        *(
            memory(f"Statement {number}", owner=asking, sensitivity=sensitivity)
            for number, sensitivity in enumerate(sensitivities)
        )
    )
    visible = [record for record in kept[::-1] if SENSITIVITY_ORDER[record.sensitivity] <= SENSITIVITY_ORDER[ceiling]]
    secret = await transport.gateway.secret(asking)
    absent = str(identifier(404))
    write = {"ceiling": ceiling, "idempotency_key": "key"}
    review = {**write, "outcome": "dismiss"}

    walked: list[str] = []
    page_count = 0
    place: dict[str, object] = {"ceiling": ceiling, "limit": limit}
    while True:
        page = await transport.browse(secret, place)
        walked += page.ids
        page_count += 1
        if page.next_cursor is None:
            break
        place["cursor"] = page.next_cursor

    # The hidden rows tell of themselves neither by a row nor by a page that goes on.
    assert [str(record.id) for record in visible] == walked
    assert max(1, math.ceil(len(visible) / limit)) == page_count
    nothing = [
        whole(await transport.read(secret, absent, {"ceiling": ceiling})),
        whole(await transport.review(secret, absent, review)),
        whole(await transport.delete(secret, absent, write)),
    ]
    for record in kept:
        id = str(record.id)
        if record in visible:
            assert (await transport.read(secret, id, {"ceiling": ceiling})).code is None
            continue
        assert nothing == [
            whole(await transport.read(secret, id, {"ceiling": ceiling})),
            whole(await transport.review(secret, id, review)),
            whole(await transport.delete(secret, id, write)),
        ]
