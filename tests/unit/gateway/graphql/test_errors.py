"""Failures of fields and documents: codes, labels, the names they mention, and what they keep to themselves."""

import logging

import pytest
from graphql import GraphQLError

from gateway.graphql.endpoint import ERRORS_MAX
from gateway.graphql.errors import MESSAGE_LENGTH_MAX, field_failure
from gateway.service.errors import ErrorCode
from store.domain.vocabulary import Sensitivity
from tests.factories import identifier, memory, owner
from tests.unit.gateway.graphql.clients import GRAPHQL_RESPONSE, Client, deployment

SECRET = "swordfish"
COUNT = "totalCount"


def memories(arguments: str, selection: str = COUNT) -> str:
    return f"{{ memories({arguments}) {{ {selection} }} }}"


@pytest.mark.parametrize(
    ("query", "variables", "message"),
    [
        (memories(f'ceiling: PUBLIC, first: "{SECRET}"'), {}, "first must be of type Int"),
        (memories("ceiling: PUBLIC, first: 99999999999"), {}, "first must be of type Int"),
        (memories(f"ceiling: PUBLIC, first: {'9' * 4_400}"), {}, "first must be of type Int"),
        (memories("ceiling: PUBLIC, flagged: 1"), {}, "flagged must be of type Boolean"),
        (memories('ceiling: PUBLIC, confidenceMin: "0.5"'), {}, "confidenceMin must be of type Float"),
        ("query($n: Float) " + memories("ceiling: PUBLIC, confidenceMax: $n"), {"n": SECRET}, "$n must be of type"),
        (memories(f'ceiling: PUBLIC, formedAfter: "{SECRET}"'), {}, "formedAfter must be of type DateTime"),
        (memories('ceiling: PUBLIC, formedAfter: "2026-01-01T00:00:00"'), {}, "formedAfter must be of type DateTime"),
        (memories('ceiling: PUBLIC, formedBefore: "2026-01-01"'), {}, "formedBefore must be of type DateTime"),
        (memories("ceiling: PUBLIC, formedBefore: 1767225600"), {}, "formedBefore must be of type DateTime"),
        (memories("ceiling: PUBLIC, formedBefore: [NEVER]"), {}, "formedBefore must be of type DateTime"),
        (
            "query($t: DateTime) " + memories("ceiling: PUBLIC, formedBefore: $t"),
            {"t": "0001-01-01T00:00:00+01:00"},
            "$t must be of type DateTime",
        ),
        (
            "query($t: DateTime) " + memories("ceiling: PUBLIC, formedAfter: $t"),
            {"t": 1},
            "$t must be of type DateTime",
        ),
        (
            f'query($t: DateTime = "{SECRET}") ' + memories("ceiling: PUBLIC, formedAfter: $t"),
            {},
            "$t must be of type DateTime",
        ),
        (
            memories(f"ceiling: {SECRET}"),
            {},
            "ceiling must be of type Sensitivity!, with values from PUBLIC, INTERNAL, SENSITIVE, RESTRICTED",
        ),
        (memories("ceiling: PUBLIC, sensitivities: [PUBLIC, null]"), {}, "sensitivities must be of type Sensitivity!"),
        (memories("first: 1"), {}, "Argument 'Query.memories(ceiling:)' of type 'Sensitivity!' is required"),
        (memories("ceiling: PUBLIC, limit: 1"), {}, "Unknown argument 'limit' on field 'Query.memories'."),
        (
            f'mutation {{ deleteMemory(input: {{id: "{SECRET}", ceiling: PUBLIC}}) {{ deletedId }} }}',
            {},
            "input.idempotencyKey is required",
        ),
        (
            'mutation { deleteMemory(input: {id: 1, ceiling: PUBLIC, idempotencyKey: "k", more: 1}) { deletedId } }',
            {},
            "input.more is not known",
        ),
        ("query($n: Int!) " + memories("ceiling: PUBLIC, first: $n"), {}, "$n is required"),
        ("query($n: Int!) " + memories("ceiling: PUBLIC, first: $n"), {"n": None}, "$n must be of type Int!"),
        ("query($n: Int) " + memories("ceiling: PUBLIC, first: $n"), {"n": SECRET}, "$n must be of type Int"),
        (f'query($n: Int = "{SECRET}") ' + memories("ceiling: PUBLIC, first: $n"), {}, "$n must be of type Int"),
        (
            "query($n: [Sensitivity!]) " + memories("ceiling: PUBLIC, sensitivities: $n"),
            {"n": ["PUBLIC", SECRET]},
            "$n must be of type Sensitivity!, with values from PUBLIC",
        ),
        (
            "mutation($i: DeleteMemoryInput!) { deleteMemory(input: $i) { deletedId } }",
            {"i": {"id": SECRET, "ceiling": "PUBLIC"}},
            "$i.idempotencyKey is required",
        ),
        (
            "mutation($i: DeleteMemoryInput!) { deleteMemory(input: $i) { deletedId } }",
            {"i": {"id": {"deep": SECRET}, "ceiling": "PUBLIC", "idempotencyKey": "k"}},
            "$i.id must be of type ID!",
        ),
        (
            "mutation($i: ReviewMemoryInput!) { reviewMemory(input: $i) { memory { id } } }",
            {"i": {"id": "x", "ceiling": "PUBLIC", "idempotencyKey": "k", "outcome": "CHANGED"}},
            "$i.outcome must be of type ReviewOutcome!, with values from DISMISS, UNTRUE, NOT_HERE",
        ),
        (memories('ceiling: PUBLIC, subject: "a\\u0000b"'), {}, "subject must hold neither U+0000"),
        (memories("ceiling: PUBLIC, first: 1e400"), {}, "query must hold finite numbers only"),
        ("query($b: Boolean = -1e999) { viewer @include(if: $b) { scopes } }", {}, "query must hold finite numbers"),
        ("{ viewer @include(if: 1E+400) { scopes } }", {}, "query must hold finite numbers only"),
        ("{ viewer { scopes } gatevay { version } }", {}, "Cannot query field 'gatevay' on type 'Query'."),
        ("{ gateway }", {}, "Field 'gateway' of type 'Gateway' must have a selection of subfields."),
        (f'{{ viewer {{ scopes }} "{SECRET}" }}', {}, "query is no GraphQL document: Expected Name, found String."),
        (f'{{ memory(id: "\\u{SECRET}") }}', {}, "query is no GraphQL document: Invalid Unicode escape sequence."),
        (f'{{ memory(id: "{SECRET}) }}', {}, "query is no GraphQL document: Unterminated string."),
    ],
)
async def test_a_refused_document_names_the_place_and_not_the_value(
    client: Client, query: str, variables: dict[str, object], message: str
) -> None:
    error = await client.error(query, variables)
    assert "malformed_request" == error["extensions"]["code"]
    assert error["message"].startswith(message)
    assert SECRET not in error["message"]
    assert "Did you mean" not in error["message"]
    assert {} == client.store.reads


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("ceiling: PUBLIC, first: 0", "first must be a positive integer"),
        ("ceiling: PUBLIC, last: -1", "last must be a positive integer"),
        ("ceiling: PUBLIC, first: 1, last: 1", "last can't be used together with first"),
        ('ceiling: PUBLIC, first: 1, before: "x"', "before belongs to last"),
        ('ceiling: PUBLIC, last: 1, after: "x"', "after belongs to first"),
        ('ceiling: PUBLIC, after: "swordfish"', "after is not a cursor of this server"),
        ('ceiling: PUBLIC, before: ""', "before must not be empty"),
        ("ceiling: PUBLIC, beliefTypes: []", "beliefTypes must not be empty"),
        ('ceiling: PUBLIC, sessionId: ""', "sessionId must not be empty"),
        (f'ceiling: PUBLIC, text: "{"x" * 1_025}"', "text must"),
        ("ceiling: PUBLIC, confidenceMin: -0.001", "confidenceMin must be from 0 to 1"),
        ("ceiling: PUBLIC, confidenceMin: 1.0000000000000002", "confidenceMin must be from 0 to 1"),
        (f"ceiling: PUBLIC, confidenceMax: {'9' * 400}", "confidenceMax must be from 0 to 1"),
        ("ceiling: PUBLIC, confidenceMin: 0.5, confidenceMax: 0.499", "confidenceMax must not be less than"),
        (
            'ceiling: PUBLIC, formedAfter: "2026-01-01T00:00:00Z", formedBefore: "2026-01-01T01:00:00+01:00"',
            "formedBefore must be later than",
        ),
    ],
)
@pytest.mark.parametrize("selection", [COUNT, "nodes { id }"])
async def test_a_rule_of_the_service_speaks_of_the_schemas_names(
    client: Client, arguments: str, message: str, selection: str
) -> None:
    response = await client.post(memories(arguments, selection))
    assert 200 == response.status_code
    [error] = response.json()["errors"]
    assert {"memories": None} == response.json()["data"]
    assert error["message"].startswith(message)
    assert ["memories"] == error["path"]
    assert {"code": "malformed_request", "classification": "BAD_USER_INPUT"} == error["extensions"]


async def test_a_null_that_slips_in_through_a_default_names_its_variable(client: Client) -> None:
    query = "query($c: Sensitivity = PUBLIC) " + memories("ceiling: $c")
    error = await client.error(query, {"c": None})
    assert "$c has no value that its type takes" == error["message"]
    assert "malformed_request" == error["extensions"]["code"]
    query = "query($c: Boolean = true) { viewer @include(if: $c) { scopes } }"
    response = await client.post(query, {"c": None})
    assert 400 == response.status_code
    assert {"errors"} == set(response.json())


async def test_absent_foreign_hidden_and_misspelt_are_not_found_alike() -> None:
    foreign = memory(owner=owner("eve"))
    hidden = memory("Hides a key", sensitivity=Sensitivity.SENSITIVE)
    async with deployment(foreign, hidden) as client:
        answers = {
            (response.status_code, response.text)
            for id in (foreign.id, hidden.id, identifier(), "none", "")
            for response in [
                await client.post("query($id: ID!) { memory(id: $id, ceiling: INTERNAL) { id } }", {"id": str(id)})
            ]
        }
        [(status, _)] = answers
        assert 200 == status
        error = await client.error(f'{{ memory(id: "{hidden.id}", ceiling: PUBLIC) {{ id }} }}')
        assert ["memory"] == error["path"]
        assert {"code": "not_found", "classification": "BAD_USER_INPUT"} == error["extensions"]
        assert "no such memory" == error["message"]


async def test_without_the_scope_a_field_is_forbidden_and_its_siblings_are_answered(client: Client) -> None:
    response = await client.acting("personal.read").post(
        "{ viewer { scopes } memories(ceiling: PUBLIC) { totalCount } }"
    )
    assert {"viewer": {"scopes": ["PERSONAL_READ"]}, "memories": None} == response.json()["data"]
    [error] = response.json()["errors"]
    assert {"code": "authorization_error", "classification": "FORBIDDEN"} == error["extensions"]
    assert {} == client.store.reads


async def test_types_come_before_the_scope_and_rules_after_it(client: Client) -> None:
    acting = client.acting("personal.read")
    assert "malformed_request" == (await acting.error(memories("ceiling: PUBLIC, statuses: []")))["extensions"]["code"]
    assert "authorization_error" == (await acting.error(memories("ceiling: PUBLIC, first: 0")))["extensions"]["code"]


@pytest.mark.parametrize("failing", ["snapshot", "browse", "count", "find_superseded"])
async def test_a_query_that_the_store_can_not_answer_is_503_as_a_whole(client: Client, failing: str) -> None:
    query = "{ viewer { scopes } memories(ceiling: PUBLIC) { nodes { id supersedes { id } } totalCount } }"
    assert 200 == (await client.post(query)).status_code
    client.store.failing = failing
    response = await client.post(query)
    assert 503 == response.status_code
    assert "1" == response.headers["retry-after"]
    assert {"errors"} == set(response.json())
    [error] = response.json()["errors"]
    assert {"code": "unavailable", "classification": "INTERNAL_SERVER_ERROR"} == error["extensions"]
    plain = await client.http.post("/graphql", json={"query": query}, headers=client.headers(accept="application/json"))
    assert 503 == plain.status_code


async def test_a_failed_sibling_never_hides_a_mutation_that_was_applied() -> None:
    record = memory(flagged_for_review=True)
    async with deployment(record) as client:
        review = f'reviewMemory(input: {{id: "{record.id}", ceiling: PUBLIC, outcome: DISMISS, idempotencyKey: "%s"}})'
        client.store.failing = "snapshot"
        response = await client.post(
            f"mutation {{ a: {review % 'one'} {{ memory {{ flaggedForReview }} }}"
            f' b: deleteMemory(input: {{id: "none", ceiling: PUBLIC, idempotencyKey: "two"}}) {{ deletedId }}'
            f" c: {review % 'three'} {{ memory {{ flaggedForReview supersedes {{ id }} }} }}"
            f" d: {review % 'four'} {{ memory {{ status }} }} }}"
        )
        assert 200 == response.status_code
        expected = {
            "a": {"memory": {"flaggedForReview": False}},
            "b": None,
            "c": {"memory": {"flaggedForReview": False, "supersedes": None}},
            "d": {"memory": {"status": "ACTIVE"}},
        }
        assert expected == response.json()["data"]
        errors = {error["path"][0]: error["extensions"]["code"] for error in response.json()["errors"]}
        assert {"b": "not_found", "c": "unavailable"} == errors


@pytest.mark.parametrize("failing", ["browse", "find_superseded", "count"])
async def test_an_unexpected_failure_is_masked_at_its_field(
    client: Client, failing: str, caplog: pytest.LogCaptureFixture
) -> None:
    client.store.failing = failing
    client.store.failure = KeyError(SECRET)
    query = "{ viewer { scopes } memories(ceiling: PUBLIC) { nodes { id supersedes { id } } totalCount } }"
    response = await client.post(query)
    assert 200 == response.status_code
    assert response.json()["data"]["viewer"]
    [error] = response.json()["errors"]
    assert "an internal error occurred" == error["message"]
    assert {"code": "internal_error", "classification": "INTERNAL_SERVER_ERROR"} == error["extensions"]
    assert "memories" == error["path"][0]
    assert SECRET not in response.text + caplog.text
    assert 0 == client.store.open_snapshots


async def test_of_many_failed_fields_a_bounded_number_is_listed() -> None:
    async with deployment(*(memory(f"Has boat {number}") for number in range(ERRORS_MAX + 50))) as client:
        client.store.failing, client.store.failure = "find_superseded", KeyError(SECRET)
        response = await client.post("{ memories(ceiling: PUBLIC, first: 200) { nodes { id supersedes { id } } } }")
    nodes = response.json()["data"]["memories"]["nodes"]
    assert [None] * (ERRORS_MAX + 50) == [node["supersedes"] for node in nodes]
    assert ERRORS_MAX == len(response.json()["errors"])


def test_what_is_not_known_is_masked_and_logged_without_its_text(caplog: pytest.LogCaptureFixture) -> None:
    for error in (
        GraphQLError("Cannot return null", path=["a"]),
        GraphQLError(SECRET, path=["a"], original_error=GraphQLError(SECRET, original_error=ValueError(SECRET))),
        GraphQLError(SECRET, path=["a"], original_error=KeyError(SECRET)),
    ):
        failure = field_failure(error)
        assert (ErrorCode.INTERNAL_ERROR, "an internal error occurred") == (failure.code, failure.message)
    assert 3 == len(caplog.records)
    assert SECRET not in caplog.text


async def test_a_refusal_logs_nothing_of_the_request(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        await client.error(memories(f'ceiling: PUBLIC, first: "{SECRET}"'))
        await client.error(f'{{ memory(id: "{SECRET}", ceiling: PUBLIC) {{ id }} }}')
    assert SECRET not in caplog.text


async def test_a_message_is_bounded(client: Client) -> None:
    error = await client.error(f"{{ {'x' * 100_000} }}")
    assert len(error["message"]) <= MESSAGE_LENGTH_MAX + 1


async def test_a_conflict_is_told_at_its_field(client: Client) -> None:
    query = 'mutation($a: ID!) { deleteMemory(input: {id: $a, ceiling: PUBLIC, idempotencyKey: "same"}) { deletedId } }'
    id = (await client.data(memories("ceiling: PUBLIC", "nodes { id }")))["memories"]["nodes"][0]["id"]
    assert {"deleteMemory": {"deletedId": id}} == await client.data(query, {"a": id})
    assert {"deleteMemory": {"deletedId": id}} == await client.data(query, {"a": id})
    error = await client.error(query, {"a": str(identifier())})
    assert {"code": "conflict", "classification": "BAD_USER_INPUT"} == error["extensions"]


async def test_the_media_type_of_a_field_failure_changes_nothing(client: Client) -> None:
    query = memories("ceiling: PUBLIC, first: 0")
    answers = [
        await client.http.post("/graphql", json={"query": query}, headers=client.headers(accept=accept))
        for accept in (GRAPHQL_RESPONSE, "application/json")
    ]
    assert [200, 200] == [answer.status_code for answer in answers]
    assert answers[0].json() == answers[1].json()
