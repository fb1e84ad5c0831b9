"""A cluster of an older PostgreSQL is brought to the one of the package, and kept until that is confirmed."""

from pathlib import Path

import pytest

from store.postgres.embedded.upgrading import major_version
from tests.e2e.acts import ACTS
from tests.e2e.processes import Place
from tests.e2e.test_backups import MARA, OWNER, candidate, listed

OLD = Path("/usr/lib/postgresql/15/bin")

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.postgres,
    pytest.mark.skipif(not (OLD / "postgres").exists(), reason=f"there is no PostgreSQL 15 in {OLD} to upgrade from"),
]


async def test_an_older_cluster_is_upgraded_and_kept_until_it_is_confirmed(fresh: Place) -> None:
    lines = fresh.directory / "lines.jsonl"
    lines.write_text("".join(f"{candidate(f'Statement {number}')}\n" for number in range(3)))
    await fresh.run("import", lines, postgres_binaries=str(OLD))
    assert "belief-gateway upgrade" in (await fresh.run("doctor", expect=1)).output
    assert "15" == major_version(fresh.postgres)

    await fresh.run("upgrade", "--old-binaries", OLD)

    before = await listed(fresh)
    assert 3 == len(before)
    assert "18" == major_version(fresh.postgres)
    await fresh.run("upgrade", "--old-binaries", OLD, expect=5)
    kept = fresh.postgres / "data.of-15"
    assert kept.is_dir()
    # As if it had been killed between the renames: the next start refuses, and the upgrade begins anew.
    (fresh.postgres / "data").rename(fresh.directory / "elsewhere")
    assert "broken off" in (await fresh.run("memory", "list", *OWNER, expect=3)).log
    await fresh.run("upgrade", "--old-binaries", OLD)
    assert before == await listed(fresh)

    await fresh.run("upgrade", "--confirm")

    assert not kept.exists()
    acts = [each["payload"] for each in (await fresh.run("journal", "--kind", "operator.access", "--json")).answer]
    expected = [{"action": "upgrade", "former": 15, "current": 18}, {"action": "upgrade_confirm"}]
    assert expected == [act for act in acts if act["action"] in ACTS["upgrade"]]
    await fresh.run("upgrade", "--confirm", expect=4)
    await fresh.run("memory", "delete", next(iter(before)), *OWNER, "--key", "once")
    assert 2 == len(await listed(fresh))
    assert MARA.principal in (await fresh.run("export")).output
