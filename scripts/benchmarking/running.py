"""One run from an empty folder to its figures."""

import asyncio
import json
import os
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import psutil

from gateway.service.environment import system_clock
from scripts.benchmarking.answers import check_answers
from scripts.benchmarking.ceiling import CeilingUnknown, measure_ceilings
from scripts.benchmarking.contenders import Contender, Installation, running_gateway, running_peer
from scripts.benchmarking.database import Database, add_tokens, prepared, running_database
from scripts.benchmarking.evidence import ROWS_OF_PRINCIPAL as EVIDENCE_ROWS
from scripts.benchmarking.evidence import evidence_questions
from scripts.benchmarking.figures import Ceiling, Figures, Probe
from scripts.benchmarking.loading import groups_of, load
from scripts.benchmarking.measuring import measure_low_load, measure_pages, measure_tiny
from scripts.benchmarking.node import PEERS_FOLDER, installed, node_version
from scripts.benchmarking.probing import asked_in_turn, held_to_first, measure_writes, probe, probe_total, questions
from scripts.benchmarking.sizes import (
    ASKED_PRINCIPALS_MAX,
    FULL,
    LARGE_PRINCIPALS_FROM,
    QUICK,
    ROWS_OF_PRINCIPAL,
    Sizes,
    stages,
)
from scripts.benchmarking.starting import measure_start
from store.postgres.embedded.binaries import find_binaries

_PACKAGES = (
    "belief-gateway",
    "strawberry-graphql",
    "graphql-core",
    "starlette",
    "uvicorn",
    "uvloop",
    "httptools",
    "SQLAlchemy",
    "asyncpg",
)
_COMPARED_PRINCIPALS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What was asked for on the command line; `rows` None: the default, without stages."""

    quick: bool
    rows: int | None
    peers: Sequence[str]
    cache: Path

    @property
    def sizes(self) -> Sizes:
        """How much is measured."""
        return QUICK if self.quick else FULL


def run(options: Options) -> Figures:
    """Build, check and measure; everything that was started is stopped, and the database removed.

    Raises AnswersDiffer, EmbeddedPostgresError, LoadFailed, NodeMissing and ServerFailed.
    """
    began_at = time.monotonic()

    def say(text: str) -> None:
        print(f"[{time.monotonic() - began_at:5.0f} s] {text}", file=sys.stderr, flush=True)

    with _scratch_folder() as folder, running_database(folder) as server, ExitStack() as stack:
        database = asyncio.run(prepared(server, folder))
        # npm mostly waits, and PostgreSQL is busy meanwhile.
        installing = stack.enter_context(ThreadPoolExecutor(1)).submit(_install, options)
        gateway = stack.enter_context(running_gateway(database, folder))
        totals = _grow(options, database, gateway, say)
        say("installing the peers")
        installation = installing.result()
        return _measured(options, database, gateway, folder, installation, totals, began_at, say)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Loaded:
    """The rows that are there: the principals asked in turn, those of other sizes by size, and all rows."""

    principals: Sequence[int]
    by_rows: dict[int, int]
    rows: int
    probes: Sequence[Probe]


def _install(options: Options) -> Installation | None:
    return installed(options.cache) if set(options.peers) - {"strawberry"} else None


def _grow(options: Options, database: Database, gateway: Contender, say: Callable[[str], None]) -> _Loaded:
    """Load the rows in stages, and ask for pages after each."""
    by_rows = {rows: LARGE_PRINCIPALS_FROM + number for number, rows in enumerate(options.sizes.principal_rows)}
    position, there, total = 1, 0, 0
    principals: list[int] = []
    probes: list[Probe] = []
    totals = stages(options.rows)
    for stage in totals:
        wanted = stage // ROWS_OF_PRINCIPAL
        groups = groups_of(range(there + 1, wanted + 1), rows=ROWS_OF_PRINCIPAL, first_position=position)
        if stage == totals[-1]:
            for rows, principal in by_rows.items():
                behind = groups[-1].first_position + groups[-1].count
                groups += groups_of([principal], rows=rows, first_position=behind)
        added = sum(group.count for group in groups)
        say(f"building {added:,} beliefs of {sum(len(group.principals) for group in groups):,} principals")
        asyncio.run(load(database.url, groups, database.keyring))
        known = set(principals)
        principals = asked_in_turn(wanted, ASKED_PRINCIPALS_MAX)
        asyncio.run(add_tokens(database, [principal for principal in principals if principal not in known]))
        position, there, total = position + added, wanted, total + added
        probes.append(probe_total(gateway, database, principals, total, options.sizes))
    asyncio.run(add_tokens(database, list(by_rows.values())))
    return _Loaded(principals=principals, by_rows=by_rows, rows=total, probes=held_to_first(probes))


def _measured(
    options: Options,
    database: Database,
    gateway: Contender,
    folder: Path,
    installation: Installation | None,
    loaded: _Loaded,
    began_at: float,
    say: Callable[[str], None],
) -> Figures:
    sizes, principals = options.sizes, loaded.principals
    skipped = [] if options.quick is False else ["A quick run: short rounds, no principal of 1,000,000 rows."]
    with ExitStack() as stack:
        say("starting the peers")
        peers = [stack.enter_context(running_peer(name, database, installation, folder)) for name in options.peers]
        contenders = [gateway, *peers]
        compared = check_answers(contenders, principals[:_COMPARED_PRINCIPALS])
        say(f"all servers answer alike: {compared} pages compared")
        pages = measure_pages(contenders, database, principals, sizes, say)
        say("latencies at a fixed low rate")
        low_load = measure_low_load(contenders, principals, sizes)
        say("a tiny query while large pages run")
        tiny = measure_tiny(contenders, principals, sizes)
    say("what a page depends on")
    asked = asyncio.run(questions(gateway, database, loaded.by_rows, sizes))
    asked += asyncio.run(evidence_questions(gateway, database, loaded.by_rows[EVIDENCE_ROWS]))
    probes = [*loaded.probes, *probe(gateway, database, asked, sizes)]
    say("the database's own ceiling")
    ceilings: list[Ceiling] = []
    try:
        ceilings = measure_ceilings(database, principals=principals[-1], seconds=sizes.ceiling_seconds)
    except CeilingUnknown as reason:
        skipped.append(f"The database's own ceiling: {reason}.")
    say("reviews and deletes")
    writes = asyncio.run(measure_writes(gateway, database, principals, sizes))
    say("starts")
    start = measure_start(database, folder, sizes.start_rounds)
    return Figures(
        made_at=system_clock().isoformat(timespec="seconds"),
        quick=options.quick,
        rows=loaded.rows,
        seconds=time.monotonic() - began_at,
        machine=_machine(),
        versions=_versions(installation),
        answers_compared=compared,
        pages=pages,
        low_load=low_load,
        tiny=tiny,
        probes=probes,
        writes=writes,
        ceilings=ceilings,
        start=start,
        skipped=skipped,
    )


@contextmanager
def _scratch_folder() -> Iterator[Path]:
    """A folder that the account which runs PostgreSQL for root may enter, removed at the end."""
    folder = Path(tempfile.mkdtemp(prefix="belief-gateway-bench-"))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def _machine() -> dict[str, str | int]:
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count() or 0,
        "memory GB": round(psutil.virtual_memory().total / 1e9),
    }


def _versions(installation: Installation | None) -> dict[str, str]:
    versions = {"Python": platform.python_version(), "PostgreSQL": find_binaries(None).version}
    versions |= {package: version(package) for package in _PACKAGES}
    if installation is not None:
        versions["Node"] = node_version(installation.node)
        versions |= json.loads((PEERS_FOLDER / "package.json").read_text())["dependencies"]
    return versions
