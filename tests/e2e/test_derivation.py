"""Deriving with the real program: by its own method, from a file, and as the demo shows it."""

import json
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any
from uuid import UUID

import pytest

from gateway.service.demonstration import DEMO_OWNERS
from store.postgres.embedded.server import EmbeddedServer
from tests.e2e.processes import Finished, Place

pytestmark = [pytest.mark.e2e, pytest.mark.postgres]

MARA, TOMAS, YUKI = DEMO_OWNERS
WHOSE = ("--tenant", MARA.tenant, "--principal", MARA.principal)
NOTHING = {"derived": 0, "unchanged": 0, "blocked": 0, "refused": 0, "withheld": 0, "errors": []}


def candidate(statement: str, number: int) -> str:
    fields: dict[str, Any] = {
        "version": 1,
        "kind": "belief",
        "tenant": MARA.tenant,
        "principal": MARA.principal,
        "subject": "Mara",
        "statement": statement,
        "belief_type": "fact",
        "scope": "conversation",
        "sensitivity": "internal",
        "source_session_id": str(UUID(int=1)),
        "source_event_ids": [number],
    }
    return json.dumps(fields) + "\n"


def shown_by(place: Place) -> Callable[..., Awaitable[Finished]]:
    """Runs commands where derived records are on."""
    return partial(place.run, reconsolidation_enabled="true")


async def test_what_is_derived_by_a_command_is_shown_reviewed_and_deleted_by_others(fresh: Place) -> None:
    beliefs, proposals = fresh.directory / "beliefs.jsonl", fresh.directory / "proposals.jsonl"
    beliefs.write_text(candidate("Keeps bees", 1) + candidate("Sails", 2))
    fresh.data.mkdir(mode=0o711)
    run = shown_by(fresh)
    with EmbeddedServer(fresh.postgres):
        await fresh.run("import", beliefs)
        first = (await fresh.run("derive", *WHOSE, "--json")).answer
        again = (await fresh.run("derive", "--tenant", MARA.tenant, "--all", "--json")).answer
        ceiling = (*WHOSE, "--ceiling", "internal")
        plain = (await run("memory", "list", *ceiling, "--json")).answer["items"]
        both = (await run("memory", "list", *ceiling, "--include-derived", "--json")).answer["items"]
        off = await fresh.run("memory", "list", *ceiling, "--include-derived", expect=2)
        summary, *_ = both
        shown = (await run("memory", "get", summary["id"], *ceiling, "--json")).answer
        await fresh.run("memory", "get", summary["id"], *ceiling, expect=4)

        ids = [each["id"] for each in plain]
        proposal = {
            "version": 1,
            "record_kind": "hypothesis",
            "subject": "Mara",
            "clauses": [{"text": "Quixzorble likes wind", "source_ids": ids}],
            "source_ids": ids,
            "method": "elsewhere",
            "method_revision": "7",
            "evidence_ref": "run 1",
        }
        lines = [proposal, proposal | {"confidence": 0.36}, proposal | {"note": "Quixzorble"}]
        proposals.write_text("".join(json.dumps(line) + "\n" for line in lines))
        taken = await fresh.run("derive", *WHOSE, "--file", proposals, "--json", expect=1)
        told = await fresh.run("derive", *WHOSE, "--file", proposals, expect=1)

        table = await run("memory", "list", *ceiling, "--include-derived", "--text", "wind")
        untrue = ("--outcome", "untrue", "--key", "one")
        rejected = (await run("memory", "review", summary["id"], *ceiling, *untrue, "--json")).answer
        await run("memory", "delete", summary["id"], *ceiling, "--key", "two")
        last = (await fresh.run("derive", *WHOSE, "--json")).answer

    assert NOTHING | {"derived": 1} == first
    assert NOTHING | {"unchanged": 1} == again
    assert [summary, *plain] == both
    assert ("summary", "Keeps bees Sails") == (summary["record_kind"], summary["content"]["statement"])
    assert summary == shown
    assert "--include-derived needs derived records, which AGENT_MEMORY_RECONSOLIDATION_ENABLED turns on.\n" == off.log
    assert (1, 2) == (taken.answer["derived"], taken.answer["refused"])
    assert [2, 3] == [each["line"] for each in taken.answer["errors"]]
    assert "line 2: confidence must not exceed" in told.log
    assert "line 3: note is not a field" in told.log
    assert "Quixzorble" not in taken.log + told.log + told.output
    assert "Quixzorble likes wind" in table.output
    assert ("retired", None, []) == (rejected["status"], rejected["content"], rejected["sources"])
    assert NOTHING | {"blocked": 1} == last


async def test_the_demo_shows_derived_records_that_a_run_finds_in_place(place: Place) -> None:
    shown = {}
    with EmbeddedServer(place.postgres):
        for owner in (MARA, TOMAS, YUKI):
            whose = ("--tenant", owner.tenant, "--principal", owner.principal, "--ceiling", "internal")
            page = await shown_by(place)("memory", "list", *whose, "--include-derived", "--limit", "200", "--json")
            shown[owner] = [item for item in page.answer["items"] if "record_kind" in item]
        again = [
            (await place.run("derive", "--tenant", tenant, "--all", "--json")).answer
            for tenant in (MARA.tenant, TOMAS.tenant)
        ]

    for records in shown.values():
        ids = {record["id"] for record in records}
        assert any(source["id"] in ids for record in records for source in record["sources"])
        assert {"public", "internal"} == {record["content"]["sensitivity"] for record in records}
    for report in again:
        assert report["unchanged"] > 0
        assert NOTHING == report | {"unchanged": 0}
