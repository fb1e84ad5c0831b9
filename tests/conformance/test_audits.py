"""GraphQL over HTTP: the published audits, and the cases that they do not really test.

The suite's document for a failed validation has a syntax error, and the one for a failed coercion breaks a rule; so
true ones stand here beside it. Source: GraphQL over HTTP.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.node import run
from tests.conformance.serving import Served

STORED = Path(__file__).parents[1] / "data" / "graphql_http_audits.json"
GRAPHQL_RESPONSE = "application/graphql-response+json"

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("conformance")]


def test_every_audit_of_graphql_http_passes(gateway: Served, node_project: Path) -> None:
    finished = run("node", "audit.mjs", gateway.graphql, directory=node_project, TOKEN=gateway.token)
    assert (0, "") == (finished.returncode, finished.stderr)
    stored: list[dict[str, Any]] = json.loads(STORED.read_text(encoding="utf-8"))
    assert stored == json.loads(finished.stdout)
    assert 61 == len(stored)
    assert {"ok"} == {audit["status"] for audit in stored}


def ask(gateway: Served, accept: str, **content: object) -> tuple[int, str, dict[str, Any]]:
    """Status, content type and body of an answer."""
    with gateway.client() as client:
        response = client.post("/graphql", json=content, headers={"accept": accept})
    return response.status_code, response.headers["content-type"], response.json()


@pytest.mark.parametrize(("accept", "status"), [(GRAPHQL_RESPONSE, 400), ("application/json", 200)])
@pytest.mark.parametrize(
    ("content", "label"),
    [
        pytest.param({"query": "{ viewer { scopes"}, "GRAPHQL_PARSE_FAILED", id="syntax"),
        pytest.param({"query": "{ viewer { nothing } }"}, "GRAPHQL_VALIDATION_FAILED", id="validation"),
        pytest.param(
            {
                "query": "query($n: Int) { memories(ceiling: PUBLIC, first: $n) { totalCount } }",
                "variables": {"n": "many"},
            },
            "BAD_USER_INPUT",
            id="coercion",
        ),
        pytest.param(
            {"query": "query($c: Sensitivity!) { memories(ceiling: $c) { totalCount } }"},
            "BAD_USER_INPUT",
            id="missing variable",
        ),
        pytest.param(
            {"query": "query A { viewer { scopes } } query B { viewer { scopes } }"},
            "OPERATION_RESOLUTION_FAILURE",
            id="unclear operation",
        ),
        pytest.param(
            {"query": "query A { viewer { scopes } }", "operationName": "B"},
            "OPERATION_RESOLUTION_FAILURE",
            id="unknown operation",
        ),
        pytest.param({"query": "subscription { viewer { scopes } }"}, "GRAPHQL_VALIDATION_FAILED", id="subscription"),
    ],
)
def test_what_can_not_be_executed_has_no_data(
    gateway: Served, content: dict[str, object], label: str, accept: str, status: int
) -> None:
    answered, media_type, body = ask(gateway, accept, **content)
    assert (status, f"{accept}; charset=utf-8") == (answered, media_type)
    assert {"errors"} == set(body)
    [error] = body["errors"]
    assert {"code": "malformed_request", "classification": label} == error["extensions"]
    assert "path" not in error


@pytest.mark.parametrize("accept", [GRAPHQL_RESPONSE, "application/json"])
def test_a_field_that_fails_is_null_beside_the_others(gateway: Served, accept: str) -> None:
    query = "{ viewer { scopes } memories(ceiling: PUBLIC, first: 0) { totalCount } }"
    answered, media_type, body = ask(gateway, accept, query=query)
    assert (200, f"{accept}; charset=utf-8") == (answered, media_type)
    assert {"viewer": {"scopes": ["MEMORY_READ", "MEMORY_WRITE"]}, "memories": None} == body["data"]
    [error] = body["errors"]
    assert ["memories"] == error["path"]
    assert {"code": "malformed_request", "classification": "BAD_USER_INPUT"} == error["extensions"]


def test_a_subscription_is_refused_by_name_whatever_the_method(gateway: Served) -> None:
    query = "subscription { viewer { scopes } }"
    with gateway.client() as client:
        for response in (
            client.post("/graphql", json={"query": query}, headers={"accept": GRAPHQL_RESPONSE}),
            client.get("/graphql", params={"query": query}, headers={"accept": GRAPHQL_RESPONSE}),
        ):
            assert 400 == response.status_code
            assert "subscription" in response.json()["errors"][0]["message"]
