"""The disk fills up: writes are refused as unavailable, reads go on, and nothing is corrupt when there is room again.

The whole data directory lies on a small file system of the test's own, which takes the right to mount one.
"""

import asyncio
import os
from asyncio.subprocess import DEVNULL
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

import pytest

from store.domain.vocabulary import ReviewOutcome
from tests.e2e.processes import Place, Server, new_place
from tests.e2e.writes import Transport, Write
from tests.faults.loads import CEILING, OWNER, Load, check_kept, load_of

pytestmark = [pytest.mark.e2e, pytest.mark.postgres]

DISK_BYTES = 192 * 1024 * 1024
CHUNK_BYTES = 64 * 1024
REFUSED_COUNT = 10
WRITES_MAX = 5_000


@pytest.fixture
async def place() -> AsyncIterator[Place]:
    async with new_place() as place:
        place.data.mkdir()
        options = f"size={DISK_BYTES},mode=0711"
        if not await succeeds("mount", "-t", "tmpfs", "-o", options, "tmpfs", place.data):
            pytest.skip("a file system can't be mounted here: a full disk is not tried")
        try:
            yield place
        finally:
            place.kill_postgres()
            assert await succeeds("umount", "--lazy", place.data)


async def succeeds(*command: str | Path) -> bool:
    """Whether a command of the system does what it is for."""
    process = await asyncio.create_subprocess_exec(*command, stderr=DEVNULL)
    return await process.wait() == 0


def fill(path: Path) -> None:
    """Take all the room that is left."""
    with path.open("wb") as file, pytest.raises(OSError, match="No space left"):
        write_to_the_end(file.fileno())


def write_to_the_end(descriptor: int) -> None:
    for _ in range(DISK_BYTES // CHUNK_BYTES):
        os.write(descriptor, bytes(CHUNK_BYTES))


async def write(load: Load, server: Server, place: Place, *, until_refused: int) -> None:
    """Write until so many writes were refused."""
    refused = len(load.refused)
    async with server.client(place.token(OWNER)) as client:
        for number in range(WRITES_MAX):
            id, transport = load.ids[number % len(load.ids)], list(Transport)[number % 2]
            await load.send(client, Write(id=id, key=str(uuid4()), outcome=ReviewOutcome.UNTRUE, transport=transport))
            if len(load.refused) - refused == until_refused:
                return
    raise AssertionError("the disk never filled up")


async def test_a_full_disk_refuses_writes_and_nothing_else(place: Place) -> None:
    async with place.started(log_level="warning") as server:
        async with place.connected() as connection:
            load = await load_of(connection)
        filler = place.data / "filler"
        fill(filler)
        await write(load, server, place, until_refused=REFUSED_COUNT)
        async with server.client(place.token(OWNER)) as client:
            page = await client.get("/v1/memories", params=CEILING)
        filler.unlink()
        async with server.client(place.token(OWNER)) as client:
            write_ = Write(id=load.ids[0], key=str(uuid4()), outcome=ReviewOutcome.UNTRUE, transport=Transport.REST)
            assert await load.send(client, write_)
        async with place.connected() as connection:
            await check_kept(connection, load)
        await server.stop()
    assert 200 == page.status_code
    assert page.json()["items"]
    assert "SQLSTATE 53100" in server.log
    assert "unexpected failure" not in server.log
    async with place.serving(), place.connected() as connection:
        # Every page is read, and its checksum verified.
        await check_kept(connection, load)
