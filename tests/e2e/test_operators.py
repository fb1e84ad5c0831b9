"""What operators do with the real program: acts are in the journal, words are made anew, the journal is followed."""

import asyncio
import contextlib
import json
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Iterator
from typing import Any

import pytest
import typer

from gateway.cli.application import program
from gateway.service.demonstration import DEMO_OWNERS
from store.postgres.embedded.server import EmbeddedServer
from tests.e2e.acts import ACTS, EXEMPT
from tests.e2e.processes import CHECKOUT, WAIT_SECONDS, Place
from tests.e2e.test_backups import CEILING, MARA, OWNER, candidate

pytestmark = [pytest.mark.e2e, pytest.mark.postgres]

TABLES = ("beliefs", "derived_records")
"""The tables whose rows are found by their words."""
APART = {"serve", "upgrade", "restore"}
"""Commands whose acts are looked for by tests of their own."""


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


async def test_every_act_of_an_operator_is_in_the_journal(fresh: Place) -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.e2e.operating", fresh.data, fresh.directory),
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

    assert set(ACTS) == set(told["commands"]) | APART
    acts = [act_of(entry) for entry in told["journal"]]
    assert [action for command in told["commands"] for action in ACTS[command]] == [action for _, action in acts]
    derive = ["derive_begin", "derive_end"]
    own = ["list", "get", "review", "delete", "token_create", "token_revoke", *derive, "erase"]
    assert own == [action for principal, action in acts if principal == MARA.principal]
    assert {"", MARA.principal} == {principal for principal, _ in acts}
    assert [("", action) for action in ACTS["restore"]] == [act_of(entry) for entry in told["restored"]]


def test_every_command_writes_an_act_or_is_exempt_with_a_reason() -> None:
    assert commands() == set(ACTS) | set(EXEMPT)
    assert not set(ACTS) & set(EXEMPT)
    assert all(ACTS.values())
    assert all(EXEMPT.values())


async def test_what_the_demo_does_for_an_operator_is_in_the_journal(place: Place) -> None:
    """It was started once before; a second start finds everything in place."""
    entries = (await place.run("journal", "--kind", "operator.access", "--json")).answer

    load, token = ACTS["serve"]
    expected = [("", load), *((owner.principal, token) for owner in DEMO_OWNERS for _ in range(2))]
    assert expected == [act_of(entry) for entry in entries]
    tokens = {each["id"] for each in (await place.run("token", "list", "--json")).answer}
    assert tokens == {entry["payload"]["token"] for entry in entries[1:]}


async def test_what_only_the_work_itself_refuses_is_told_by_the_name_that_was_given(fresh: Place) -> None:
    lines = fresh.directory / "lines.jsonl"
    lines.write_text("no conversation")
    fresh.data.mkdir(mode=0o711)
    with EmbeddedServer(fresh.postgres):
        taken = await fresh.run("import", lines, "--format", "locomo", expect=2)
        past = ("--scope", "memory.read", "--expires-at", "2020-01-01T00:00:00Z")
        created = await fresh.run("token", "create", *OWNER[:4], *past, expect=2)
        listed = await fresh.run("memory", "list", *OWNER, "--limit", "0", expect=2)
    assert f"{lines} is not a LoCoMo file.\n" == taken.log
    assert "--expires-at must lie in the future.\n" == created.log
    assert "--limit must be a positive integer.\n" == listed.log


async def test_an_act_that_is_narrowed_to_a_principal_stands_under_it(fresh: Place) -> None:
    await fresh.run("export", "--tenant", MARA.tenant, "--principal", MARA.principal)
    await fresh.run("token", "list", "--tenant", MARA.tenant, "--principal", MARA.principal)
    await fresh.run("token", "list", "--tenant", MARA.tenant)

    entries = (await fresh.run("journal", "--json")).answer

    acts = [(MARA.principal, action) for command in ("export", "token list") for action in ACTS[command]]
    assert [*acts, ("", "token_list")] == [act_of(entry) for entry in entries]


async def test_words_are_made_anew_while_the_gateway_serves(place: Place) -> None:
    text = CEILING | {"text": "the"}
    async with place.serving() as server, server.client(place.token(MARA)) as client:
        before = (await client.get("/v1/memories", params=text)).json()
        assert before["items"]
        async with place.connected() as connection:
            await connection.execute("update store_facts set value = '0/9.9.9' where name = 'lexical_version'")
            await connection.execute("update beliefs set search = ''")
            rows = sum([await connection.fetchval(f"select count(*) from {table}") for table in TABLES])
        assert 503 == (await client.get("/v1/memories", params=text)).status_code
        assert 200 == (await client.get("/v1/memories", params=CEILING)).status_code
        lines = place.directory / "lines.jsonl"
        lines.write_text(f"{candidate('Keeps bees')}\n")
        await place.run("import", lines, expect=3)

        answer = (await place.run("reindex", "--json")).answer

        assert {"rows": rows, "resumed": False} == answer
        assert before == (await client.get("/v1/memories", params=text)).json()
        await place.run("import", lines)


async def test_the_journal_is_followed_until_it_is_stopped(fresh: Place) -> None:
    fresh.data.mkdir(mode=0o711)
    with EmbeddedServer(fresh.postgres):
        await fresh.run("sweep")
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "gateway", "journal", "--follow", "--json", "--data-dir", fresh.data),
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
                await fresh.run("token", "list")
            followed.append(json.loads(await line))
            process.send_signal(signal.SIGINT)
            await process.wait()

    assert {"action": "token_list"} == followed[0]["payload"]
    assert 0 == process.returncode
