"""The README tells the truth: what it lists is what the program has, and its examples are taken."""

import ast
import importlib
import json
import re
import shlex
import tomllib
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, get_args
from urllib.parse import parse_qs, urlsplit
from uuid import UUID

import pytest
import typer
from annotated_types import Ge, Gt, Le
from graphql import GraphQLError, build_schema, parse, validate
from prometheus_client.metrics import MetricWrapperBase

from gateway.cli.answers import ExitCode
from gateway.cli.application import program
from gateway.compose import VERSION
from gateway.graphql.errors import Label, field_error_body, request_error_body
from gateway.http.errors import STATUSES, Failure
from gateway.observability.metrics import GatewayMetrics
from gateway.rest.openapi import openapi_document
from gateway.rest.operations import MEMORY_OPERATIONS
from gateway.service.errors import ErrorCode
from gateway.service.records import AnyLine, BeliefLine, CandidateLine, parse_line
from gateway.settings import Settings, variable_name
from store.domain.formation import new_record
from store.domain.memories import check_record
from store.domain.vocabulary import AccessScope
from store.postgres.migrating import ROLE_SETTINGS
from tests.architecture.tracked import ROOT, python_files, syntax_of, text_of, tracked_files
from tests.e2e.acts import ACTS, EXEMPT

README = Path("README.md")
ORDER = (
    "Run it and test it",
    "One query in GraphQL, and the same in REST",
    "The map",
    "The route of a request",
    "Settings",
    "Scopes and errors",
    "Limits",
    "Tests",
    "Decisions",
)
"""The sections a newcomer reads first; what users and operators look up follows."""
BOUND = re.compile(r"[A-Z][A-Z0-9_]*_(MAX|MIN|DEFAULT|SECONDS|INTERVAL|TOLERANCE|BATCH|LINES|ROWS)")
LIMIT = re.compile(r"\[`(\w+)`\]\(([\w/.]+)\)")
"""A named limit, and the module that has it."""
OPERATION_CODES = {
    ErrorCode.MALFORMED_REQUEST,
    ErrorCode.AUTHENTICATION_ERROR,
    ErrorCode.AUTHORIZATION_ERROR,
    ErrorCode.NOT_FOUND,
    ErrorCode.CONFLICT,
}
"""What a field can fail with."""
UNITS = {"days": timedelta(days=1), "hour": timedelta(hours=1), "minutes": timedelta(minutes=1)}

Row = Mapping[str, str]


def section(title: str) -> str:
    """The text beneath a heading of the second level."""
    _, found, rest = text_of(README).partition(f"\n## {title}\n")
    assert found, f"the README has no section {title}"
    return rest.partition("\n## ")[0]


def tables(text: str) -> Iterator[list[Row]]:
    """Every table of a text: its rows, by the names of the columns."""
    for block in re.findall(r"(?:^\|.*\|$\n?)+", text, re.MULTILINE):
        head, _, *rows = [[cell.strip() for cell in line[1:-1].split("|")] for line in block.splitlines()]
        yield [dict(zip(head, row, strict=True)) for row in rows]


def table(title: str, *columns: str) -> list[Row]:
    """The rows of all tables of a section that have exactly these columns."""
    return [row for rows in tables(section(title)) if set(rows[0]) == set(columns) for row in rows]


def words(cell: str) -> list[str]:
    """What a cell holds in code."""
    return re.findall(r"`([^`]+)`", cell)


def word(cell: str) -> str:
    """The one word in code that a cell begins with."""
    return words(cell)[0]


def blocks(language: str) -> list[str]:
    """Every fenced block of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text_of(README), re.MULTILINE | re.DOTALL)


def commands(path: str) -> list[list[str]]:
    """The arguments of every curl command on a path of the demo."""
    found = [shlex.split(block) for block in blocks("sh") if block.startswith("curl ")]
    return [command for command in found if any(urlsplit(part).path == path for part in command)]


def test_the_sections_stand_in_the_order_of_a_newcomer() -> None:
    assert list(ORDER) == re.findall(r"^## (.+)$", text_of(README), re.MULTILINE)[: len(ORDER)]


@pytest.mark.parametrize("page", [path for path in tracked_files() if path.suffix == ".md"], ids=str)
def test_every_relative_link_leads_somewhere(page: Path) -> None:
    text = text_of(page)
    targets = re.findall(r"\]\(([^)\s]+)\)", text)
    headings = {f"#{heading.lower().replace(' ', '-')}" for heading in re.findall(r"^#+ ([\w ]+)$", text, re.MULTILINE)}
    relative = [target for target in targets if not urlsplit(target).scheme and target not in headings]
    assert [] == [target for target in relative if not (ROOT / page.parent / target).exists()]


def test_every_folder_of_tests_is_described() -> None:
    folders = {f"tests/{path.parts[1]}" for path in python_files("tests") if path.name.startswith("test_")}
    described = re.findall(r"\[(tests/\w+)\]", "".join(row["Folder"] for row in table("Tests", "Folder", "Question")))

    assert folders - {f"tests/{path.name}" for path in (ROOT / "tests").glob("test_*.py")} == set(described)


def test_the_settings_are_those_of_the_program() -> None:
    rows = table("Settings", "Variable", "Default", "Values", "Meaning")
    described = {word(row["Variable"]): (row["Default"].strip("`"), row["Meaning"]) for row in rows}
    expected = {}
    for name, field in Settings.model_fields.items():
        default = "" if field.default_factory or field.default in {None, ()} else str(field.default)
        shown = default.lower() if isinstance(field.default, bool) else default
        expected[variable_name(name)] = (shown, str(field.description))

    assert expected == described
    assert list(expected) == list(described)


def test_the_bounds_of_settings_are_those_of_the_program() -> None:
    rows = table("Settings", "Variable", "Default", "Values", "Meaning")
    described = {word(row["Variable"]): re.findall(r"\d+", row["Values"]) for row in rows}
    bounds = {
        variable_name(name): [
            str(int(getattr(bound, attribute)))  # each is a whole number
            for bound in field.metadata
            for kind, attribute in ((Gt, "gt"), (Ge, "ge"), (Le, "le"))
            if isinstance(bound, kind)
        ]
        for name, field in Settings.model_fields.items()
    }

    assert bounds == described


def test_the_scopes_are_those_of_the_program() -> None:
    opened = {word(row["Scope"]): row["Opens"] for row in table("Scopes and errors", "Scope", "Opens")}

    assert [scope.value for scope in AccessScope] == list(opened)
    for operation in MEMORY_OPERATIONS:
        assert f"{operation.method} {operation.path}" in words(opened[operation.scope.value])


def label_of(code: ErrorCode) -> str:
    """The label of a code: of a failed field for the codes of operations, of a failed request for the others."""
    failure = Failure(code=code, message="")
    if code in OPERATION_CODES:
        body = field_error_body(GraphQLError(""), failure)
    else:
        body = request_error_body(Exception(), failure)
    return str(body["extensions"]["classification"])


def test_the_errors_are_those_of_the_program() -> None:
    rows = table("Scopes and errors", "Code", "Status", "Classification", "When")

    assert {code.value: str(status) for code, status in STATUSES.items()} == {
        word(row["Code"]): row["Status"] for row in rows
    }
    assert {code.value: label_of(code) for code in ErrorCode} == {
        word(row["Code"]): word(row["Classification"]) for row in rows
    }
    assert set(Label) == {label for row in rows for label in words(row["Classification"])}


def bounds_of(path: Path) -> list[str]:
    """The public constants of a module that are bounds by their name."""
    assignments = [statement for statement in syntax_of(path).body if isinstance(statement, ast.Assign)]
    # One that is set to another is the other under a second name.
    own = [each for each in assignments if not isinstance(each.value, ast.Name)]
    names = [target.id for each in own for target in each.targets if isinstance(target, ast.Name)]
    return [name for name in names if BOUND.fullmatch(name)]


def constant(path: Path | str, name: str) -> Any:  # Any: a number or a span of time
    """The value of a constant of a module."""
    return getattr(importlib.import_module(".".join(Path(path).with_suffix("").parts)), name)


def value_of(cell: str) -> int | float | timedelta:
    """The value that a cell shows, with the unit of a span of time."""
    number, _, unit = cell.replace(",", "").partition(" ")
    # Not always a float: the largest is beyond the integers that a float can tell apart.
    value = float(number) if "." in number else int(number)
    return UNITS[unit] * value if unit in UNITS else value


def test_every_bound_is_a_limit() -> None:
    described = {(path, name) for name, path in LIMIT.findall(section("Limits"))}
    modules = [path for path in python_files("gateway", "store") if "migrations" not in path.parts]

    assert [] == [
        f"{path} {name}" for path in modules for name in bounds_of(path) if (str(path), name) not in described
    ]


@pytest.mark.parametrize("row", table("Limits", "Limit", "Value", "Name"), ids=lambda row: word(row["Name"]))
def test_a_limit_is_that_of_the_program(row: Row) -> None:
    link = LIMIT.fullmatch(row["Name"])

    assert link is not None
    value = constant(link[2], link[1])
    assert (float(value) if isinstance(value, Decimal) else value) == value_of(row["Value"])


def test_the_commands_are_those_of_the_program() -> None:
    def names(group: Any, *before: str) -> Iterator[str]:  # Any: the library's own class
        for name, command in group.commands.items():
            inner = (*before, name)
            yield from names(command, *inner) if hasattr(command, "commands") else (" ".join(inner),)

    described = [word(row["Command"]) for row in table("Command line", "Command", "Does", "Its acts in the journal")]

    assert sorted(names(typer.main.get_command(program))) == sorted(described)


def test_the_acts_in_the_journal_are_those_of_the_commands() -> None:
    rows = table("Command line", "Command", "Does", "Its acts in the journal")
    for row in rows:
        command, told = word(row["Command"]), row["Its acts in the journal"]
        acts = [act for act in words(told) if not act.startswith("--")]
        assert list(ACTS.get(command, [])) == acts
        assert command in ACTS or told == f"none: {EXEMPT[command]}"


def test_the_exit_codes_are_those_of_the_program() -> None:
    described = [row["Exit code"] for row in table("Command line", "Exit code", "Means")]

    assert [str(code.value) for code in ExitCode] == described


def test_the_settings_of_the_role_are_those_of_the_program() -> None:
    rows = table("PostgreSQL", "Setting of the role", "Set to", "Suits as well")

    assert {setting.name: setting.value for setting in ROLE_SETTINGS} == {
        word(row["Setting of the role"]): word(row["Set to"]) for row in rows
    }


def test_the_metrics_are_those_of_the_program() -> None:
    collected = GatewayMetrics().registry.collect()
    names = {metric.name + ("_total" if metric.type == "counter" else "") for metric in collected}
    described = {word(row["Metric"]) for row in table("Logs and metrics", "Metric", "Labels", "Counts")}

    assert {name for name in names if not name.startswith("process_")} == described


def test_the_labels_of_metrics_are_those_of_the_program() -> None:
    rows = table("Logs and metrics", "Metric", "Labels", "Counts")
    described = {
        word(row["Metric"]).removesuffix("_total"): tuple(filter(None, row["Labels"].split(", "))) for row in rows
    }
    collectors = GatewayMetrics().registry._collector_to_names

    assert described == {each._name: each._labelnames for each in collectors if isinstance(each, MetricWrapperBase)}


def test_the_dependencies_are_those_of_the_project() -> None:
    declared = tomllib.loads(text_of(Path("pyproject.toml")))["project"]
    runtime, development = (
        {re.split(r"[^\w-]", requirement, maxsplit=1)[0] for requirement in requirements}
        for requirements in (declared["dependencies"], declared["optional-dependencies"]["dev"])
    )

    assert runtime == {row["Package"] for row in table("Dependencies", "Package", "Does")}
    assert [] == [name for name in sorted(development) if name not in section("Dependencies")]


def test_the_example_in_graphql_is_valid() -> None:
    [command] = commands("/graphql")
    body = json.loads(command[command.index("-d") + 1])

    assert {"query"} == set(body)
    assert [] == validate(build_schema(text_of(Path("schema.graphql"))), parse(body["query"]))


def test_the_example_in_rest_is_documented() -> None:
    document = openapi_document(memory=True, version=VERSION)
    [command] = commands("/v1/memories")
    [url] = [urlsplit(part) for part in command if part.startswith("http")]
    operation = document["paths"][url.path]["get"]
    parameters = {each["name"]: each for each in operation["parameters"] if each["in"] == "query"}
    given = parse_qs(url.query, keep_blank_values=True)

    assert set(given) <= set(parameters)
    assert {name for name, parameter in parameters.items() if parameter.get("required")} <= set(given)
    assert given["ceiling"][0] in parameters["ceiling"]["schema"]["enum"]


def examples() -> list[tuple[str, bytes]]:
    """The example lines of the import, each behind the text that introduces it."""
    parts = re.split(r"^```json\n(.*?)\n```$", section("Import and export"), flags=re.MULTILINE | re.DOTALL)
    return [(text, line.encode()) for text, line in zip(parts[:-1:2], parts[1::2], strict=True)]


def listed(text: str, heading: str) -> set[str]:
    """The fields that stand behind a heading, up to the end of the sentence."""
    _, _, rest = text.partition(f"\n{heading}: ")
    return set(words(rest.partition(".\n")[0]))


def test_there_is_an_example_of_every_kind_of_line() -> None:
    kinds = sorted(kind.__name__ for kind in get_args(AnyLine))

    assert kinds == sorted(type(parse_line(line)).__name__ for _, line in examples())


def test_the_fields_of_a_line_are_those_of_the_program() -> None:
    for text, content in examples():
        kind = type(parse_line(content))
        required = {name for name, field in kind.model_fields.items() if field.is_required()}

        assert required - {"version", "kind", "tenant", "principal"} == listed(text, "Required"), kind.__name__
        assert set(kind.model_fields) - required == listed(text, "Optional"), kind.__name__


def test_the_defaults_of_a_candidate_are_those_of_the_program() -> None:
    text = " ".join(section("Import and export").split())
    told = {name: field.default for name, field in CandidateLine.model_fields.items() if not field.is_required()}

    assert [] == [
        name
        for name, default in told.items()
        if default not in (None, ()) and f"`{name}` is `{str(default).lower()}`" not in text
    ]


def test_the_beliefs_among_the_examples_may_be_stored() -> None:
    now = datetime(2026, 1, 31, tzinfo=UTC)
    for line in (parse_line(content) for _, content in examples()):
        if isinstance(line, BeliefLine):
            check_record(line.record())
        elif isinstance(line, CandidateLine):
            formed = line.candidate()
            id = UUID(int=1)
            check_record(
                new_record(formed, owner=line.owner, id=id, display_subject=formed.subject, position=1, now=now)
            )
