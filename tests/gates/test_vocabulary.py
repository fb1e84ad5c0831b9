"""Gate 10: every error is a member of the closed vocabulary, with its documented status."""

import pytest

from store.domain.vocabulary import Sensitivity
from tests.factories import identifier, memory, owner
from tests.gateways import READ, WRITE
from tests.parity.clients import Answer, RestTransport, Transport

STATUSES = {
    None: 200,
    "malformed_request": 400,
    "authentication_error": 401,
    "authorization_error": 403,
    "not_found": 404,
    "conflict": 409,
}
READ_CODES = set(STATUSES) - {"conflict"}


@pytest.mark.gate("gate.memory.read_api_error_vocabulary")
async def test_every_error_is_a_member_of_the_closed_vocabulary(transport: Transport) -> None:
    seen, above, foreign = await transport.gateway.keep(
        memory("One"),
        memory("Two", sensitivity=Sensitivity.RESTRICTED),
        memory("Three", owner=owner(tenant="inland")),
    )
    secrets = {
        "full": await transport.gateway.secret(owner()),
        "reader": await transport.gateway.secret(owner(), READ),
        "writer": await transport.gateway.secret(owner(), WRITE),
        "absent": None,
        "wrong": "wrong",
        "empty": "",
    }
    ids = [str(seen.id), str(above.id), str(foreign.id), str(identifier(404)), "none", "a\u0000b", "é"]
    ceilings: list[dict[str, object]] = [{"ceiling": "public"}, {}, {"ceiling": "top"}, {"ceiling": "\u0000"}]
    filters: list[dict[str, object]] = [
        {},
        {"limit": 0},
        {"limit": "ten"},
        {"status": ["gone"]},
        {"belief_type": ["opinion"]},
        {"cursor": "!"},
        {"flagged": "maybe"},
        {"subject": ""},
        {"session_id": "none"},
        {"text": "a" * 2_000},
        {"text": "..."},
        {"colour": "red"},
    ]
    keys: list[dict[str, object]] = [{}, {"idempotency_key": "one"}, {"idempotency_key": "two words"}]
    outcomes: list[dict[str, object]] = [{"outcome": "dismiss"}, {"outcome": "changed"}, {}]

    reads: list[Answer] = []
    writes: list[Answer] = []
    for name, secret in secrets.items():
        for ceiling in ceilings[: len(ceilings) if name in ("full", "reader", "writer") else 1]:
            reads += [await transport.browse(secret, {**ceiling, **each}) for each in filters]
            reads += [await transport.read(secret, id, ceiling) for id in ids]
            for key in keys:
                writes += [
                    await transport.review(secret, id, {**ceiling, **key, **outcome})
                    for id in ids[:4]
                    for outcome in outcomes
                ]
                writes += [await transport.delete(secret, id, {**ceiling, **key}) for id in ids[:6]]

    # The keys of the loop are taken by its first write.
    for id in (str(above.id), str(seen.id)):
        writes.append(await transport.delete(secrets["full"], id, {"ceiling": "public", "idempotency_key": id}))

    assert READ_CODES == {answer.code for answer in reads}
    assert set(STATUSES) == {answer.code for answer in writes}
    if isinstance(transport, RestTransport):
        for answer in (*reads, *writes):
            error = {} if answer.code is None else answer.response.json()["error"]
            assert answer.response.status_code in (STATUSES[answer.code], 204 if answer.code is None else None)
            assert error.keys() in (set(), {"code", "message", "details", "request_id"})
            assert error.get("request_id", "") in ("", answer.response.headers["x-request-id"])
            assert "private, no-store" == answer.response.headers["cache-control"]
