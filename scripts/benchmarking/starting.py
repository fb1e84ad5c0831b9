"""What it takes to start the program, in CPU, as multiples of what Python itself takes to do nothing."""

import os
import resource
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from scripts.benchmarking.answers import exchange
from scripts.benchmarking.contenders import ROOT, running_gateway
from scripts.benchmarking.database import Database
from scripts.benchmarking.figures import Start
from scripts.benchmarking.shapes import get

_RUN_SECONDS = 60
_READY = get("/readyz", {}, {})


def measure_start(database: Database, logs: Path, rounds: int) -> Start:
    """The CPU of `python -c pass`, of `--help` and of a start up to the first answer that it is ready."""
    nothing = median(_cpu_of([sys.executable, "-c", "pass"]) for _ in range(rounds))
    help_text = median(_cpu_of([sys.executable, "-m", "gateway", "--help"]) for _ in range(rounds))
    return Start(
        python_cpu=1000 * nothing,
        help_multiple=help_text / nothing,
        ready_multiple=median(_cpu_until_ready(database, logs) for _ in range(rounds)) / nothing,
    )


def _cpu_of(command: Sequence[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL, env=os.environ, timeout=_RUN_SECONDS)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _cpu_until_ready(database: Database, logs: Path) -> float:
    with running_gateway(database, logs) as gateway:
        exchange(gateway.server.port, _READY)
        return gateway.server.usage().cpu_seconds
