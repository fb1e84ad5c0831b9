"""Failures: the code of each, the parameter it names, and which of several is told."""

import base64
from typing import Any

import pytest

from store.domain.vocabulary import Sensitivity
from tests.factories import identifier, memory, owner
from tests.gateways import FULL, READ, WRITE, Gateway
from tests.parity.clients import Answer, Arguments, Transport

ADA = owner()
ABSENT = str(identifier(404))
WRITE_ARGUMENTS: Arguments = {"ceiling": "public", "idempotency_key": "key"}
REVIEW_ARGUMENTS: Arguments = {**WRITE_ARGUMENTS, "outcome": "dismiss"}
CURSORS = {
    "no base64": "!",
    "padding": "e30=",
    "no position": base64.urlsafe_b64encode(b"{}").rstrip(b"=").decode(),
    "a position too high": base64.urlsafe_b64encode(f'{{"p":{2**63},"i":"{ABSENT}"}}'.encode()).rstrip(b"=").decode(),
    "spaces": base64.urlsafe_b64encode(f'{{"p": 1, "i": "{ABSENT}"}}'.encode()).rstrip(b"=").decode(),
    "a non-ASCII text": "é",
}


async def ask(transport: Transport, operation: str, secret: str | None, **changes: Any) -> Answer:  # Any: a parameter
    """One operation with sound arguments, but for these; None takes one away."""
    sound = {
        "browse": {"ceiling": "public"},
        "read": {"ceiling": "public"},
        "review": REVIEW_ARGUMENTS,
        "delete": WRITE_ARGUMENTS,
    }[operation]
    id = changes.pop("id", ABSENT)
    arguments = {name: value for name, value in {**sound, **changes}.items() if value is not None}
    match operation:
        case "browse":
            return await transport.browse(secret, arguments)
        case "read":
            return await transport.read(secret, id, arguments)
        case "review":
            return await transport.review(secret, id, arguments)
        case _:
            return await transport.delete(secret, id, arguments)


OPERATIONS = ["browse", "read", "review", "delete"]


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("secret", [None, "", "wrong", "x" * 600])
async def test_a_credential_is_required(transport: Transport, operation: str, secret: str | None) -> None:
    answer = await ask(transport, operation, secret)

    assert ("authentication_error", 401) == (answer.code, answer.response.status_code)
    assert "Bearer" == answer.response.headers["www-authenticate"]


@pytest.mark.parametrize("other", ["the same", "wrong"])
async def test_a_credential_is_given_once(gateway: Gateway, other: str) -> None:
    secret = await gateway.secret(ADA)
    given = [f"Bearer {secret}", f"Bearer {secret if other == 'the same' else other}"]
    for order in (given, given[::-1]):
        async with gateway.client() as client:
            headers = [("authorization", each) for each in order]
            rest = await client.get("/v1/memories?ceiling=public", headers=headers)
            graphql = await client.post("/graphql", json={"query": "{ viewer { scopes } }"}, headers=headers)

        assert "authentication_error" == rest.json()["error"]["code"]
        assert "authentication_error" == graphql.json()["errors"][0]["extensions"]["code"]
        assert [401, 401] == [rest.status_code, graphql.status_code]


@pytest.mark.parametrize("operation", OPERATIONS)
async def test_a_scope_is_required(transport: Transport, operation: str) -> None:
    lacking, scope = (WRITE, "memory.read") if operation in ("browse", "read") else (READ, "memory.write")

    answer = await ask(transport, operation, await transport.gateway.secret(ADA, lacking))

    assert ("authorization_error", f"the scope {scope} is required") == (answer.code, answer.message)


@pytest.mark.parametrize("operation", ["read", "review", "delete"])
@pytest.mark.parametrize("id", [ABSENT, "no id at all", f"{{{ABSENT}}}", "é", "0"])
async def test_what_is_not_there_is_not_found(transport: Transport, operation: str, id: str) -> None:
    answer = await ask(transport, operation, await transport.gateway.secret(ADA), id=id)

    assert ("not_found", "no such memory") == (answer.code, answer.message)


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("ceiling", [None, "top", "", "\u0000"])
async def test_a_ceiling_is_required_and_one_of_four(transport: Transport, operation: str, ceiling: str | None) -> None:
    await transport.gateway.keep(memory())

    answer = await ask(transport, operation, await transport.gateway.secret(ADA), ceiling=ceiling)

    assert ("malformed_request", ()) == (answer.code, answer.rows)
    assert transport.spelled("ceiling") in answer.message


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("limit", 0),
        ("limit", -1),
        ("limit", "ten"),
        ("limit", 1.5),
        ("status", ["gone"]),
        ("status", ["active", "gone"]),
        ("status", ["active", ""]),
        ("belief_type", ["opinion"]),
        ("flagged", "maybe"),
        ("subject", ""),
        ("session_id", ""),
        ("cursor", ""),
        *(("cursor", cursor) for cursor in CURSORS.values()),
        ("text", "a" * 1_025),
        ("text", " ".join(f"term{number}" for number in range(65))),
        ("subject", "a\u0000b"),
        ("session_id", "a\u0000b"),
        ("text", "a\u0000b"),
        ("cursor", "\u0000"),
        ("colour", "red"),
    ],
)
async def test_a_malformed_filter_is_refused_by_name(transport: Transport, parameter: str, value: object) -> None:
    await transport.gateway.keep(memory())

    answer = await ask(transport, "browse", await transport.gateway.secret(ADA), **{parameter: value})

    assert ("malformed_request", ()) == (answer.code, answer.rows)
    assert transport.spelled(parameter) in answer.message


@pytest.mark.parametrize("operation", ["review", "delete"])
@pytest.mark.parametrize("key", [None, "", "x" * 201, "two words", "tab\there"])
async def test_an_idempotency_key_is_required_and_bounded(
    transport: Transport, operation: str, key: str | None
) -> None:
    [record] = await transport.gateway.keep(memory())
    secret = await transport.gateway.secret(ADA)

    answer = await ask(transport, operation, secret, id=str(record.id), idempotency_key=key)

    assert "malformed_request" == answer.code
    assert transport.spelled("idempotency_key") in answer.message
    assert (await ask(transport, "read", secret, id=str(record.id))).code is None


@pytest.mark.parametrize("key", ["x", "x" * 200, "!~\"\\'<&>"])
async def test_any_visible_ascii_is_an_idempotency_key(transport: Transport, key: str) -> None:
    [record] = await transport.gateway.keep(memory())

    answer = await ask(transport, "delete", await transport.gateway.secret(ADA), id=str(record.id), idempotency_key=key)

    assert answer.code is None


@pytest.mark.parametrize("outcome", [None, "changed", "", "retire"])
async def test_an_outcome_is_one_of_three(transport: Transport, outcome: str | None) -> None:
    answer = await ask(transport, "review", await transport.gateway.secret(ADA), outcome=outcome)

    assert "malformed_request" == answer.code
    assert transport.spelled("outcome") in answer.message


@pytest.mark.parametrize("operation", ["read", "review", "delete"])
async def test_an_id_with_a_null_character_is_malformed(transport: Transport, operation: str) -> None:
    answer = await ask(transport, operation, await transport.gateway.secret(ADA), id="a\u0000b")

    assert "malformed_request" == answer.code
    assert transport.spelled("id") in answer.message


async def test_the_credential_comes_before_everything_else(transport: Transport) -> None:
    assert "authentication_error" == (await ask(transport, "browse", "wrong", ceiling="top", limit=0)).code
    assert "authentication_error" == (await ask(transport, "delete", None, idempotency_key=None)).code


async def test_types_come_before_the_scope_and_rules_after_it(transport: Transport) -> None:
    reader = await transport.gateway.secret(ADA, READ)
    writer = await transport.gateway.secret(ADA, WRITE)

    for types in (
        {"ceiling": "top"},
        {"limit": "ten"},
        {"status": ["gone"]},
        {"subject": ""},
        {"text": "\u0000"},
        {"cursor": ""},
    ):
        assert "malformed_request" == (await ask(transport, "browse", writer, **types)).code
    for rules in ({"limit": 0}, {"limit": -1}, {"cursor": "!"}, {"text": "a" * 1_025}):
        assert "authorization_error" == (await ask(transport, "browse", writer, **rules)).code
    assert "malformed_request" == (await ask(transport, "delete", reader, idempotency_key=None)).code
    assert "authorization_error" == (await ask(transport, "delete", reader, idempotency_key="two words")).code
    assert "malformed_request" == (await ask(transport, "review", reader, outcome="changed")).code


async def test_rules_come_before_what_is_stored(transport: Transport) -> None:
    secret = await transport.gateway.secret(ADA)

    assert "malformed_request" == (await ask(transport, "delete", secret, idempotency_key="two words")).code
    # The session matches nothing, and the limit is wrong all the same.
    assert "malformed_request" == (await ask(transport, "browse", secret, session_id="none", limit=0)).code


async def test_a_conflict_comes_before_what_is_not_found(transport: Transport) -> None:
    [record] = await transport.gateway.keep(memory())
    secret = await transport.gateway.secret(ADA)
    await ask(transport, "review", secret, id=str(record.id))

    assert "conflict" == (await ask(transport, "delete", secret)).code
    assert "not_found" == (await ask(transport, "delete", secret, idempotency_key="fresh")).code


@pytest.mark.parametrize("operation", ["read", "review", "delete"])
async def test_absent_foreign_and_above_the_ceiling_are_one_answer(transport: Transport, operation: str) -> None:
    _, above, foreign, tenant = await transport.gateway.keep(
        memory("One"),
        memory("Two", sensitivity=Sensitivity.INTERNAL),
        memory("Three", owner=owner("bo")),
        memory("Four", owner=owner(tenant="inland")),
    )
    secret = await transport.gateway.secret(ADA, FULL)

    def bare(answer: Answer) -> tuple[int, str, dict[str, str]]:
        """The whole response, its request id aside."""
        headers = dict(answer.response.headers)
        return answer.response.status_code, answer.response.text.replace(headers.pop("x-request-id"), ""), headers

    answers = [
        await ask(transport, operation, secret, id=str(id)) for id in (ABSENT, above.id, foreign.id, tenant.id, "none")
    ]

    assert ["not_found"] * 5 == [answer.code for answer in answers]
    assert [bare(answers[0])] * 5 == [bare(answer) for answer in answers]
