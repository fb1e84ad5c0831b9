"""What operators do with the real program: acts are in the journal, words are made anew, the journal is followed."""

import asyncio
import contextlib
import json
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
import typer

from gateway.cli.application import program
from store.postgres.embedded.server import EmbeddedServer
from tests.e2e.processes import CHECKOUT, WAIT_SECONDS, Place, new_place
from tests.e2e.test_backups import CEILING, MARA, candidate

pytestmark = [pytest.mark.e2e, pytest.mark.postgres]

SILENT = {"serve", "migrate", "schema", "openapi", "settings", "doctor", "journal", "key show-id", "upgrade"}
"""Commands that show and change nothing of anybody's: what they do needs no entry."""


@pytest.fixture
async def place() -> AsyncIterator[Place]:
    async with new_place() as place:
        yield place


def commands() -> set[str]:
    """Every command of the program, by its words."""

    def names(group: Any, *before: str) -> Iterator[str]:  # Any: the library's own class
        for name, command in group.commands.items():
            inner = (*before, name)
            yield from names(command, *inner) if hasattr(command, "commands") else (" ".join(inner),)

    return set(names(typer.main.get_command(program)))


def act_of(entry: Any) -> tuple[str, str]:  # Any: JSON
    """Whose beliefs an act was about, and what it was."""
    return entry["principal"], entry["payload"]["action"]


async def test_every_act_of_an_operator_is_in_the_journal(place: Place) -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.e2e.operating", place.data, place.directory),
        cwd=CHECKOUT,
        stdin=DEVNULL,
        stdout=PIPE,
        stderr=PIPE,
    )
    try:
        output, log = await asyncio.wait_for(process.communicate(), WAIT_SECONDS)
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
    assert 0 == process.returncode, log.decode()
    told = json.loads(output)

    assert commands() == set(told["commands"]) | SILENT
    acts = [act_of(entry) for entry in told["journal"]]
    whole = ["import_begin", "import_end", "token_list", "export_begin", "export_end", "sweep"]
    whole += ["key_rotate", "key_activate", "key_backup", "reindex_begin", "reindex_end", "compact", "backup"]
    assert whole == [action for principal, action in acts if principal == ""]
    own = ["list", "get", "review", "delete", "token_create", "token_revoke", "erase"]
    assert own == [action for principal, action in acts if principal == MARA.principal]
    assert [("", "restore")] == [act_of(entry) for entry in told["restored"]]


async def test_words_are_made_anew_while_the_gateway_serves(place: Place) -> None:
    text = CEILING | {"text": "the"}
    async with place.serving() as server, server.client(place.token(MARA)) as client:
        before = (await client.get("/v1/memories", params=text)).json()
        assert before["items"]
        async with place.connected() as connection:
            await connection.execute("update store_facts set value = '0/9.9.9' where name = 'lexical_version'")
            await connection.execute("update beliefs set search = ''")
        assert 503 == (await client.get("/v1/memories", params=text)).status_code
        assert 200 == (await client.get("/v1/memories", params=CEILING)).status_code
        lines = place.directory / "lines.jsonl"
        lines.write_text(f"{candidate('Keeps bees')}\n")
        await place.run("import", lines, expect=3)

        answer = (await place.run("reindex", "--json")).answer

        assert {"rows": 318, "resumed": False} == answer
        assert before == (await client.get("/v1/memories", params=text)).json()
        await place.run("import", lines)


async def test_the_journal_is_followed_until_it_is_stopped(place: Place) -> None:
    place.data.mkdir(mode=0o711)
    with EmbeddedServer(place.postgres):
        await place.run("sweep")
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "gateway", "journal", "--follow", "--json", "--data-dir", place.data),
            cwd=CHECKOUT,
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=DEVNULL,
        )
        assert process.stdout is not None
        followed = []
        async with asyncio.timeout(WAIT_SECONDS):
            # It begins with what comes after its start, so something must come until it is seen.
            line = asyncio.create_task(process.stdout.readline())
            while not line.done():
                await place.run("token", "list")
            followed.append(json.loads(await line))
            process.send_signal(signal.SIGINT)
            await process.wait()

    assert {"action": "token_list"} == followed[0]["payload"]
    assert 0 == process.returncode
