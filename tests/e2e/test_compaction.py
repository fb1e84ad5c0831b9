"""An operator clears a deleted word from the files of the data directory, with or without stopping the requests."""

import json
from pathlib import Path
from typing import Any

import pytest

from gateway.service.demonstration import DEMO_OWNERS
from store.postgres.maintenance import LEXEME_INDEXES
from tests.e2e.processes import Connection, Place

pytestmark = [pytest.mark.e2e, pytest.mark.postgres]

CANARY = "zebrafinchwobbly"
MARA = DEMO_OWNERS[0]
OWNER = ("--tenant", "harbour", "--principal", "ada", "--ceiling", "restricted")


def candidate(statement: str, **fields: Any) -> str:
    whose = {"version": 1, "kind": "belief", "tenant": "harbour", "principal": "ada"}
    what = {"subject": "Ada", "statement": statement, "belief_type": "fact", "scope": "conversation"}
    origin = {
        "sensitivity": "public",
        "source_session_id": "6f1d3c52-8a0e-4d57-9b7e-2f6a1c9d4e10",
        "source_event_ids": [1],
    }
    return json.dumps(whose | what | origin | fields)


async def import_lines(place: Place, *lines: str) -> None:
    path = place.directory / "lines.jsonl"
    path.write_text("".join(f"{line}\n" for line in lines))
    await place.run("import", path)
    path.unlink()


async def delete(place: Place, word: str) -> None:
    page = (await place.run("memory", "list", *OWNER, "--text", word, "--json")).answer
    for number, item in enumerate(page["items"]):
        await place.run("memory", "delete", item["id"], *OWNER, "--key", f"delete-{number}")


def files_with(place: Place, word: str) -> list[Path]:
    """The files of the data directory that hold the word, in whatever case."""
    files = [path for path in place.data.rglob("*") if path.is_file() and not path.is_symlink()]
    return [path.relative_to(place.data) for path in files if word.encode() in path.read_bytes().lower()]


async def left_by_a_broken_rebuild(connection: Connection) -> None:
    """Make what a rebuild of each index leaves that was killed."""
    for index, table in LEXEME_INDEXES.items():
        await connection.execute(f"create index {index}_ccnew on {table} using gin (search)")
        await connection.execute(f"update pg_index set indisvalid = false where indexrelid = '{index}_ccnew'::regclass")


async def compacted(place: Place) -> str:
    findings = {each["check"]: each["remark"] for each in (await place.run("doctor", "--json")).answer}
    return str(findings["files"])


async def test_after_a_full_compaction_no_file_holds_a_deleted_word(place: Place) -> None:
    await import_lines(place, candidate(f"Keeps a {CANARY}", subject="person:kai"), candidate("Sails"))
    await delete(place, CANARY)
    assert files_with(place, CANARY)
    assert "never compacted" in await compacted(place)

    done = (await place.run("compact", "--full", "--json")).answer

    assert {"log_cleared": True, "readers": 0} == done
    assert [] == files_with(place, CANARY)
    assert "(full)" in await compacted(place)
    page = (await place.run("memory", "list", *OWNER, "--text", "sails", "--json")).answer
    assert 1 == len(page["items"])


async def test_a_compaction_beside_the_requests_clears_index_and_log(place: Place) -> None:
    async with place.serving() as server:
        await import_lines(place, candidate(f"Keeps a {CANARY}"))
        async with place.connected() as connection:
            await left_by_a_broken_rebuild(connection)
        await delete(place, CANARY)

        await place.run("compact")

        async with server.client(place.token(MARA)) as client:
            found = await client.get("/v1/memories", params={"ceiling": "internal", "text": "the"})
        assert 200 == found.status_code
        async with place.connected() as connection:
            assert 0 == await connection.fetchval("select count(*) from pg_index where not indisvalid")
    left = files_with(place, CANARY)
    assert [] == [path for path in left if "pg_wal" in path.parts]
