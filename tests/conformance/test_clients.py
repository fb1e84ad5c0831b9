"""Tools and clients that others made read the schema as it is served, and what they write is taken."""

import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest
from gql import Client, gql
from gql.transport.exceptions import TransportQueryError
from gql.transport.httpx import HTTPXTransport
from graphql import (
    build_client_schema,
    build_schema,
    get_introspection_query,
    lexicographic_sort_schema,
    print_schema,
)

from gateway.graphql.documents import TrustedDocuments, hash_of, read_manifest
from tests.conformance.node import run_tool
from tests.conformance.serving import Served, served
from tests.factories import memory

SCHEMA = Path(__file__).parents[2] / "schema.graphql"
SCALARS = {"DateTime": "string", "UUID": "string"}
"""The TypeScript types of the custom scalars, as the README gives them."""

INTROSPECTION = {"specified_by_url": True, "directive_is_repeatable": True, "input_value_deprecation": True}

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("conformance")]


@pytest.fixture(scope="module")
def served_schema(gateway: Served, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The schema as introspection over HTTP tells it, in a file."""
    query = get_introspection_query(**INTROSPECTION)
    with gateway.client() as client:
        introspection = client.post("/graphql", json={"query": query}).json()["data"]
    path = tmp_path_factory.mktemp("served") / "schema.graphql"
    path.write_text(print_schema(build_client_schema(introspection)), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def relay_manifest(node_project: Path, served_schema: Path, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The manifest of documents that relay-compiler persists for the application of `tests/node/clients`."""
    directory = tmp_path_factory.mktemp("relay")
    (directory / "src").mkdir()
    shutil.copy(node_project / "clients" / "MemoriesPage.js", directory / "src")
    manifest = directory / "persisted.json"
    # The compiler adds to a file that is there already.
    manifest.write_text("{}")
    configuration = {
        "src": "./src",
        "schema": str(served_schema),
        "language": "javascript",
        "customScalarTypes": SCALARS,
        "persistConfig": {"file": str(manifest), "algorithm": "SHA256"},
    }
    (directory / "relay.config.json").write_text(json.dumps(configuration))
    finished = run_tool("relay-compiler", "relay.config.json", directory=directory)
    assert 0 == finished.returncode, finished.stdout + finished.stderr
    return manifest.read_bytes()


@pytest.fixture(scope="module")
def generated(gateway: Served, node_project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What graphql-codegen writes for the operations of `tests/node/clients`: types, and a client with a manifest."""
    directory = tmp_path_factory.mktemp("codegen")
    scalars = {"scalars": SCALARS, "strictScalars": True}
    configuration = {
        "schema": [{gateway.graphql: {"headers": {"Authorization": f"Bearer {gateway.token}"}}}],
        "documents": [str(node_project / "clients" / "operations.graphql")],
        "generates": {
            f"{directory}/types.ts": {"plugins": ["typescript"], "config": scalars},
            f"{directory}/operations.ts": {"plugins": ["typescript-operations"], "config": scalars},
            f"{directory}/client/": {
                "preset": "client",
                "presetConfig": {"persistedDocuments": {"hashAlgorithm": "sha256"}},
                "config": scalars,
            },
        },
    }
    path = directory / "codegen.json"
    path.write_text(json.dumps(configuration))
    finished = run_tool("graphql-codegen", "--config", path, directory=node_project)
    assert 0 == finished.returncode, finished.stdout + finished.stderr
    return directory


def compare(old: Path | str, new: Path, *, token: str) -> tuple[int, str]:
    """What graphql-inspector says of two schemas: the exit code and the report."""
    header = f"Authorization: Bearer {token}"
    finished = run_tool("graphql-inspector", "diff", old, new, "--left-header", header, directory=new.parent)
    return finished.returncode, finished.stdout + finished.stderr


def test_the_served_schema_is_the_committed_one(gateway: Served, node_project: Path, served_schema: Path) -> None:
    code, report = compare(served_schema, SCHEMA, token=gateway.token)
    assert (0, True) == (code, "No changes detected" in report), report


def test_a_breaking_change_is_noticed(gateway: Served, node_project: Path, tmp_path: Path) -> None:
    narrower = tmp_path / "schema.graphql"
    text = re.sub(r' *"""[^"]*"""\n *statement: String!\n', "", SCHEMA.read_text(encoding="utf-8"))
    narrower.write_text(text, encoding="utf-8")
    # The tool asks for the schema by itself here.
    code, report = compare(gateway.graphql, narrower, token=gateway.token)
    assert 1 == code, report
    assert "Field statement was removed from object type Memory" in report


def test_relay_compiles_a_paginated_application(relay_manifest: bytes) -> None:
    documents = read_manifest(relay_manifest)
    assert 3 == len(documents)
    assert any("MemoriesPagePaginationQuery" in document for document in documents.values())


def test_the_generated_types_know_the_custom_scalars(node_project: Path, generated: Path) -> None:
    shutil.copy(node_project / "clients" / "check.ts", generated)
    options = ("--noEmit", "--strict", "--skipLibCheck", "--module", "esnext", "--moduleResolution", "bundler")
    finished = run_tool("tsc", *options, "check.ts", directory=generated)
    assert (0, "") == (finished.returncode, finished.stdout)


def test_what_the_tools_persist_is_all_that_is_executed(relay_manifest: bytes, generated: Path) -> None:
    codegen_manifest = (generated / "client" / "persisted-documents.json").read_bytes()
    relay, codegen = read_manifest(relay_manifest), read_manifest(codegen_manifest)
    page = next(name for name, text in relay.items() if text.startswith("query MemoriesPageQuery"))
    trusted = TrustedDocuments(relay, codegen, only=True)
    with served(memory("One"), memory("Two"), memory("Three"), trusted=trusted) as gateway, gateway.client() as client:

        def ask(**content: object) -> Mapping[str, Any]:  # Any: JSON
            answer: Mapping[str, Any] = client.post("/graphql", json=content).json()  # Any: JSON
            return answer

        answer = ask(documentId=f"sha256:{page}", variables={"ceiling": "PUBLIC"})
        statements = [edge["node"]["statement"] for edge in answer["data"]["memories"]["edges"]]
        assert ["Three", "Two"] == statements
        for name, text in codegen.items():
            if text.startswith(("query Page", "query Items")):
                answer = ask(
                    extensions={"persistedQuery": {"version": 1, "sha256Hash": name}},
                    variables={"ceiling": "PUBLIC"},
                )
                [page] = answer["data"].values()
                assert 3 == len(page["nodes"])
        [error] = ask(query="{ viewer { scopes } }")["errors"]
        assert "PERSISTED_QUERY_NOT_FOUND" == error["extensions"]["classification"]
        [error] = ask(documentId=f"sha256:{hash_of('{ viewer { scopes } }')}")["errors"]
        assert "PERSISTED_QUERY_NOT_FOUND" == error["extensions"]["classification"]


def test_the_python_client_reads_the_schema_and_asks(gateway: Served) -> None:
    transport = HTTPXTransport(
        url=gateway.graphql, headers={"authorization": f"Bearer {gateway.token}"}, timeout=httpx.Timeout(20)
    )
    with Client(transport=transport, fetch_schema_from_transport=True, introspection_args=INTROSPECTION) as session:
        assert session.client.schema is not None
        told = print_schema(lexicographic_sort_schema(session.client.schema))
        assert print_schema(lexicographic_sort_schema(build_schema(SCHEMA.read_text(encoding="utf-8")))) == told
        page = gql("query($c: Sensitivity!) { memories(ceiling: $c) { totalCount nodes { conflictsWith } } }")
        page.variable_values = {"c": "PUBLIC"}
        answer = session.execute(page)
        assert 3 == answer["memories"]["totalCount"]
        with pytest.raises(TransportQueryError, match="first must be a positive integer"):
            session.execute(gql("{ memories(ceiling: PUBLIC, first: 0) { totalCount } }"))
