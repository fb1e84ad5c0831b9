"""Backups of the embedded store: made while it serves, restored whole, and never half."""

import asyncio
import json
import signal
import stat
import sys
import tarfile
from asyncio.subprocess import DEVNULL
from pathlib import Path
from typing import Any

import httpx
import pytest

from gateway.service.demonstration import DEMO_OWNERS
from store.postgres.embedded.server import EmbeddedServer
from tests.e2e.processes import CHECKOUT, Place, Server, new_place

pytestmark = [pytest.mark.e2e, pytest.mark.postgres]

MARA = DEMO_OWNERS[0]
OWNER = ("--tenant", MARA.tenant, "--principal", MARA.principal, "--ceiling", "restricted")
CEILING = {"ceiling": "restricted"}


async def listed(place: Place) -> dict[str, dict[str, Any]]:
    """Mara's live beliefs, by id."""
    page = (await place.run("memory", "list", *OWNER, "--limit", "200", "--json")).answer
    return {item["id"]: item for item in page["items"]}


async def write(client: httpx.AsyncClient, id: str, outcome: str) -> None:
    headers = {"idempotency-key": f"{outcome}-{id}"}
    if outcome == "delete":
        answer = await client.delete(f"/v1/memories/{id}", params=CEILING, headers=headers)
    else:
        answer = await client.post(
            f"/v1/memories/{id}/review", params=CEILING, headers=headers, json={"outcome": outcome}
        )
    assert answer.status_code in {200, 204}, answer.text


async def change(server: Server, token: str) -> tuple[str, str]:
    """Delete one belief and call another untrue; their ids."""
    async with server.client(token) as client:
        page = (await client.get("/v1/memories", params=CEILING | {"limit": 2})).json()
        gone, wrong = (item["id"] for item in page["items"])
        await write(client, gone, "delete")
        await write(client, wrong, "untrue")
    return gone, wrong


async def test_a_backup_made_while_serving_brings_back_all_but_what_was_forbidden_since(place: Place) -> None:
    archive = place.directory / "backup.tar"
    async with place.serving() as server:
        await place.run("backup", archive)
        before = await listed(place)
        await place.run("key", "rotate")
        await place.run("key", "activate")
        gone, wrong = await change_when_followed(server, place.token(MARA))
        assert "stop the gateway" in (await place.run("restore", archive, "--replace", expect=3)).log
        tokens = (await place.run("token", "list", "--json")).answer
        revoked = tokens[0]["id"]
        await place.run("token", "revoke", revoked)
    assert 0o600 == stat.S_IMODE(archive.stat().st_mode)
    await place.run("backup", archive, expect=5)
    await place.run("restore", archive, expect=5)
    assert set(before) - {gone, wrong} == set(await listed(place))

    answer = (await place.run("restore", archive, "--replace", "--json")).answer

    assert {"tombstones": 2, "rejections": 1, "erased": 1, "tokens": 1} == answer["taken_over"]
    assert set(before) - {gone, wrong} == set(await listed(place))
    assert revoked in {each["id"] for each in (await place.run("token", "list", "--json")).answer if each["revoked_at"]}
    findings = (await place.run("doctor", "--json")).answer
    assert [] == [finding for finding in findings if not finding["ok"]]
    assert [] == [path.name for path in place.data.iterdir() if path.name.startswith(".")]
    async with place.serving() as server, server.client(place.token(MARA)) as client:
        assert 404 == (await client.get(f"/v1/memories/{gone}", params=CEILING)).status_code


async def change_when_followed(server: Server, token: str) -> tuple[str, str]:
    """The same, once the gateway has taken up the key that was made current."""
    await server.logged("another hash key is current")
    return await change(server, token)


async def test_a_backup_is_restored_where_nothing_is_yet(place: Place) -> None:
    archive = place.directory / "backup.tar"
    async with place.serving():
        await place.run("backup", archive)
    before = await listed(place)
    async with new_place() as other:
        await other.run("restore", archive)

        assert before == await listed(other)
        assert (place.data / "key").read_bytes() == (other.data / "key").read_bytes()


async def test_a_file_that_is_no_sound_backup_is_refused(place: Place) -> None:
    archive = place.directory / "backup.tar"
    async with place.serving():
        await place.run("backup", archive)
    before = await listed(place)
    content = archive.read_bytes()
    for number, damaged in enumerate(damages(archive, content)):
        path = place.directory / f"damaged-{number}.tar"
        path.write_bytes(damaged)
        assert str(path) in (await place.run("restore", path, "--replace", expect=2)).log
    assert "can't be read" in (await place.run("restore", place.directory / "absent", expect=1)).log

    assert before == await listed(place)


def damages(archive: Path, content: bytes) -> list[bytes]:
    with tarfile.open(archive) as opened:
        dump = opened.getmember("database.dump")
    middle = dump.offset_data + dump.size // 2
    return [
        b"nothing",
        content[: len(content) // 2],
        content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :],
        content.replace(b'"archive": 1', b'"archive": 2'),
    ]


async def test_a_restore_that_is_killed_leaves_one_store_or_the_other(fresh: Place) -> None:
    archive = fresh.directory / "backup.tar"
    lines = fresh.directory / "lines.jsonl"
    lines.write_text("".join(f"{candidate(f'Statement {number}')}\n" for number in range(5)))
    await fresh.run("import", lines)
    await fresh.run("backup", archive)
    gone, *kept = sorted(await listed(fresh))
    await fresh.run("memory", "delete", gone, *OWNER, "--key", "once")

    for step in ("load", "take_over", "put_in_place"):
        await killed_before(step, fresh, archive)
        fresh.kill_postgres()
        assert kept == sorted(await listed(fresh)), step

    assert 1 == (await fresh.run("restore", archive, "--replace", "--json")).answer["taken_over"]["erased"]
    assert kept == sorted(await listed(fresh))
    with EmbeddedServer(fresh.postgres):
        async with fresh.connected() as connection:
            databases = await connection.fetch("select datname from pg_database where datname like 'beliefs%'")
    assert ["beliefs"] == [row[0] for row in databases]
    assert [] == [finding for finding in (await fresh.run("doctor", "--json")).answer if not finding["ok"]]


def candidate(statement: str) -> str:
    """A line of Mara's."""
    whose = {"version": 1, "kind": "belief", "tenant": MARA.tenant, "principal": MARA.principal}
    what = {"subject": "Mara", "statement": statement, "belief_type": "fact", "scope": "conversation"}
    session = "6f1d3c52-8a0e-4d57-9b7e-2f6a1c9d4e10"
    return json.dumps(whose | what | {"sensitivity": "public", "source_session_id": session, "source_event_ids": [1]})


KILLED = """
import os, signal, sys
from gateway import restoring
from gateway.cli.application import main
from store.postgres.embedded.databases import Databases

def fatal(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

step = sys.argv.pop(1)
owner = Databases if hasattr(Databases, step) else restoring.ReplacementService if step == "take_over" else restoring
setattr(owner, step, fatal)
main()
"""
"""The program, killed where it is about to take a step."""


async def killed_before(step: str, place: Place, archive: Path) -> None:
    """Restore in a process that is killed before it takes a step."""
    arguments = (step, "restore", archive, "--replace", "--data-dir", place.data)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", KILLED, *arguments), cwd=CHECKOUT, stdout=DEVNULL, stderr=DEVNULL
    )
    assert -signal.SIGKILL == await process.wait()
