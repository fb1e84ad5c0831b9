"""A cluster of an older PostgreSQL is brought to the one of the package, and kept until that is confirmed."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from store.postgres.embedded.upgrading import major_version
from tests.e2e.processes import Place, new_place
from tests.e2e.test_backups import MARA, OWNER, candidate, listed

OLD = Path("/usr/lib/postgresql/15/bin")

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.postgres,
    pytest.mark.skipif(not (OLD / "postgres").exists(), reason=f"there is no PostgreSQL 15 in {OLD} to upgrade from"),
]


@pytest.fixture
async def place() -> AsyncIterator[Place]:
    async with new_place() as place:
        yield place


async def test_an_older_cluster_is_upgraded_and_kept_until_it_is_confirmed(place: Place) -> None:
    lines = place.directory / "lines.jsonl"
    lines.write_text("".join(f"{candidate(f'Statement {number}')}\n" for number in range(3)))
    await place.run("import", lines, postgres_binaries=str(OLD))
    assert "belief-gateway upgrade" in (await place.run("doctor", expect=1)).output
    assert "15" == major_version(place.postgres)

    await place.run("upgrade", "--old-binaries", OLD)

    before = await listed(place)
    assert 3 == len(before)
    assert "18" == major_version(place.postgres)
    await place.run("upgrade", "--old-binaries", OLD, expect=5)
    kept = place.postgres / "data.of-15"
    assert kept.is_dir()
    # As if it had been killed between the renames: the next start refuses, and the upgrade begins anew.
    (place.postgres / "data").rename(place.directory / "elsewhere")
    assert "broken off" in (await place.run("memory", "list", *OWNER, expect=3)).log
    await place.run("upgrade", "--old-binaries", OLD)
    assert before == await listed(place)

    await place.run("upgrade", "--confirm")

    assert not kept.exists()
    await place.run("upgrade", "--confirm", expect=4)
    await place.run("memory", "delete", next(iter(before)), *OWNER, "--key", "once")
    assert 2 == len(await listed(place))
    assert MARA.principal in (await place.run("export")).output
