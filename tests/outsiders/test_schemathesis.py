"""Schemathesis against both schemas that the gateway publishes, with a credential and without, over the real server.

Every check of that tool counts: no server error, no status, header or body that is not documented, no credential that
is not looked at, nothing refused that the document allows and nothing taken that it forbids. Of GraphQL only the last
pair is left out: a schema in GraphQL can't say that a text must not be empty, and an id that matches nothing is told
as an error. The examples are the same in every run.
"""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.rest.evidence_operations import EVIDENCE_OPERATIONS
from gateway.rest.operations import MEMORY_OPERATIONS
from gateway.service.cursors import encode_cursor
from store.domain.vocabulary import Sensitivity
from tests.architecture.tracked import ROOT
from tests.conformance.serving import Served, served
from tests.factories import derived, identifier, memory

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("outsiders")]

ANSWER_SECONDS_MAX = 5
"""For one answer, on a busy machine: whoever takes longer hangs."""
RUN_SECONDS_MAX = 120
REST_OPERATIONS = len(MEMORY_OPERATIONS) + len(EVIDENCE_OPERATIONS) + len(("/livez", "/readyz"))
ROOT_FIELDS = (
    *("viewer", "gateway", "memories", "memory", "memoryOverview", "reviewMemory", "deleteMemory"),
    *("memoryItems", "derivedMemory", "evidenceGraph"),
)
GRAPHQL_ERRORS_EXPECTED = "positive_data_acceptance"


@pytest.fixture
def gateway() -> Iterator[Served]:
    """A gateway whose beliefs and derived records the fuzzer may review and delete."""
    beliefs = [memory(f"Statement {number}", sensitivity=each) for number, each in enumerate(Sensitivity)]
    with served(*beliefs, derived=[derived(each, statement=each.statement) for each in beliefs]) as gateway:
        yield gateway


def run(directory: Path, location: str, *options: str, token: str | None, examples: int) -> str:
    """Let the tool examine what is at a location, at random but alike each time; what it says, once it is content."""
    configuration = directory / "schemathesis.toml"
    credential = "" if token is None else f"[auth.openapi.bearer]\nbearer = {json.dumps(token)}\n"
    # Nobody can guess a cursor: the tool is given one, and would take the refusal of any other for a fault.
    cursor = f'[parameters]\n"query.cursor" = "{encode_cursor(3, identifier(3))}"\n'
    configuration.write_text(f"warnings = false\n{cursor}{credential}")
    finished = subprocess.run(
        [
            *(sys.executable, "-m", "schemathesis.cli", "--config-file", str(configuration), "run", location),
            *("--phases=coverage,fuzzing", "--generation-deterministic", f"--max-examples={examples}", "--no-color"),
            *(f"--request-timeout={ANSWER_SECONDS_MAX}", *options),
        ],
        cwd=directory,
        capture_output=True,
        text=True,
        timeout=RUN_SECONDS_MAX * (1 if examples < 1_000 else 20),
        check=False,
    )
    assert 0 == finished.returncode, finished.stdout + finished.stderr
    return finished.stdout


def check_reach(told: str, *, operations: int, cases_min: int) -> None:
    """The tool saw every operation, and did not give up early."""
    assert re.search(rf"Tested: +{operations}\b", told), told
    generated = re.search(r"(\d+) generated", told)
    assert generated, told
    assert int(generated[1]) >= cases_min, told


@pytest.fixture(params=[15, pytest.param(1_500, marks=pytest.mark.long)])
def examples(request: pytest.FixtureRequest) -> int:
    """How many examples of each operation, at most."""
    count: int = request.param
    return count


@pytest.fixture(params=["with a credential", "without"])
def token(request: pytest.FixtureRequest, gateway: Served) -> str | None:
    """A credential, or none."""
    return gateway.token if request.param == "with a credential" else None


def test_rest_is_as_it_is_documented(gateway: Served, token: str | None, examples: int, tmp_path: Path) -> None:
    told = run(tmp_path, f"{gateway.url}/openapi.json", token=token, examples=examples)
    check_reach(told, operations=REST_OPERATIONS, cases_min=200)


def test_graphql_is_as_its_schema_says(gateway: Served, token: str | None, examples: int, tmp_path: Path) -> None:
    # From the file: without a credential the schema is not told.
    options = ["--url", gateway.graphql, "--exclude-checks", GRAPHQL_ERRORS_EXPECTED]
    if token is not None:
        options += ["-H", f"authorization: Bearer {token}"]
    told = run(tmp_path, str(ROOT / "schema.graphql"), *options, token=None, examples=examples)
    check_reach(told, operations=len(ROOT_FIELDS), cases_min=60)
