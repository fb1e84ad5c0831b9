"""kill -9 of the gateway, of PostgreSQL and of both: what was acknowledged is kept, and nothing is half-done.

The product's own settings, fsync included.
Source: belief store decisions, Review and delete; the embedded PostgreSQL, What survives.
"""

import itertools
import json
import random
from enum import Enum
from functools import partial

import pytest

from tests.e2e.processes import CHECKOUT, Place, Server
from tests.e2e.trials import Trial, one_moment
from tests.e2e.writes import Subject

pytestmark = [pytest.mark.e2e, pytest.mark.postgres]

BROKEN_STARTS = 4
STARTED_AGAIN = "the database was started again"
DEMO_BELIEFS = sum(
    json.loads(line)["kind"] == "belief"
    for line in (CHECKOUT / "gateway" / "demo" / "beliefs.jsonl").read_text().splitlines()
)


class Victim(Enum):
    """What is killed in a round. IN_START kills both, and then once more while they start again."""

    GATEWAY = "gateway"
    BOTH = "both"
    IN_START = "in_start"
    POSTGRES = "postgres"


def kill(place: Place, server: Server, victim: Victim) -> None:
    """Kill what a round kills."""
    if victim is not Victim.POSTGRES:
        server.strike()
    if victim is not Victim.GATEWAY:
        place.kill_postgres()


@pytest.mark.parametrize("rounds", [10, pytest.param(200, marks=pytest.mark.long)])
async def test_a_kill_at_any_moment_loses_no_acknowledged_write_and_leaves_nothing_half_done(
    place: Place, rounds: int
) -> None:
    chance = random.Random(rounds)
    victims = [victim for _, victim in zip(range(rounds), itertools.cycle(Victim), strict=False)]
    chance.shuffle(victims)
    trial = Trial(place=place, chance=chance)
    interrupted: list[Subject] = []
    for victim in victims:
        async with place.started() as server:
            await trial.check(server, interrupted)
            await trial.replenish()
            interrupted = await trial.write_until(server, partial(kill, place, server, victim))
            if victim is Victim.POSTGRES:
                await server.logged(STARTED_AGAIN)
                await trial.check(server, interrupted)
                interrupted = []
        if victim is Victim.IN_START:
            await trial.break_a_start(Server.strike)
            place.kill_postgres()
    async with place.serving() as server:
        await trial.check(server, interrupted)
    # The kills came while something was under way.
    assert trial.broken_off >= rounds


async def test_a_first_start_that_is_killed_again_and_again_ends_with_the_demo_loaded_once(fresh: Place) -> None:
    trial = Trial(place=fresh, chance=random.Random(1))
    for _ in range(BROKEN_STARTS):
        await trial.break_a_start(Server.strike)
        fresh.kill_postgres()
    async with fresh.serving(), one_moment(fresh) as connection:
        assert DEMO_BELIEFS == await connection.fetchval("select count(*) from beliefs")
        orphans = await connection.fetchval(
            "select count(*) from beliefs b where not exists"
            " (select 1 from belief_evidence e where e.memory_id = b.id and e.tenant_id = b.tenant_id)"
        )
    assert 0 == orphans
