"""A signal ends the program at any moment: while it starts, and while writes are under way, which end whole."""

import asyncio
import random

import pytest

from gateway.cli.serving import GRACE_SECONDS
from tests.e2e.processes import Place, Server
from tests.e2e.trials import Trial

pytestmark = [pytest.mark.e2e, pytest.mark.postgres]

STARTS = 4
STOP_SECONDS_MAX = GRACE_SECONDS + 10


def interrupt(server: Server) -> None:
    """Ask for the end."""
    server.process.terminate()


def is_stopped(place: Place) -> bool:
    """Whether PostgreSQL was stopped, rather than killed or left running; also where it was never started."""
    return not (place.postgres / "data" / "postmaster.pid").exists()


async def test_a_signal_while_it_starts_leaves_no_database_running(fresh: Place) -> None:
    trial = Trial(place=fresh, chance=random.Random(2))
    for _ in range(STARTS):
        server = await trial.break_a_start(interrupt)
        assert is_stopped(fresh), server.log
        assert "Traceback" not in server.log
    async with fresh.serving():
        pass
    assert is_stopped(fresh)


async def test_a_signal_amid_writes_ends_within_seconds_and_what_was_acknowledged_is_kept(place: Place) -> None:
    async with place.started() as server:
        trial = Trial(place=place, chance=random.Random(3))
        await trial.replenish()
        # A client that keeps its connection and asks for nothing must not hold up the end.
        _, idle = await asyncio.open_connection(*server.address)
        subjects = await trial.write_until(server, lambda: interrupt(server))
        async with asyncio.timeout(STOP_SECONDS_MAX):
            await server.ended()
        idle.close()
        assert 0 == server.process.returncode, server.log
        assert is_stopped(place)
    assert subjects
    async with place.serving() as server:
        await trial.check(server, subjects)
