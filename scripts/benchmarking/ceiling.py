"""The database's own ceiling: the gateway's statements for a page, run by pgbench on the same cores.

What the gateway reaches beside this figure tells how much of a request is the database's. The parameters of the
statements stand in their text as pgbench writes its variables, so that the text is taken as it is.
"""

import os
import re
import subprocess
from datetime import datetime

from gateway.service.environment import system_clock
from scripts.benchmarking.data import owner
from scripts.benchmarking.database import NAME, Database
from scripts.benchmarking.figures import Ceiling
from scripts.benchmarking.shapes import EXTRA_LARGE, LARGE
from scripts.benchmarking.sizes import CONNECTIONS
from store.domain.vocabulary import Sensitivity
from store.ports.memories import MemoryBrowseQuery, MemoryFilter
from store.postgres.browsing import page_parameters, page_shape, page_statement
from store.postgres.classes import filter_parameters
from store.postgres.embedded.binaries import find_binaries
from store.postgres.embedded.configuration import PORT, USER

_GRACE_SECONDS = 60


class CeilingUnknown(Exception):
    """pgbench is not there, or refused the statement; the message says which."""


def measure_ceilings(database: Database, *, principals: int, seconds: int) -> list[Ceiling]:
    """For a page of each length what pgbench reaches over the first so many principals. Raises CeilingUnknown."""
    return [
        _measured(database, rows=shape.rows, principals=principals, seconds=seconds) for shape in (LARGE, EXTRA_LARGE)
    ]


def _measured(database: Database, *, rows: int, principals: int, seconds: int) -> Ceiling:
    program = find_binaries(None).directory / "pgbench"
    if not os.access(program, os.X_OK):
        raise CeilingUnknown(f"pgbench is not among PostgreSQL's programs in {program.parent}")
    query = MemoryBrowseQuery(
        filter=MemoryFilter(owner=owner(1), ceiling=Sensitivity.SENSITIVE, now=system_clock()), limit=rows
    )
    statement = page_statement(page_shape(query)).text
    parameters = {**filter_parameters(query.filter), **page_parameters(query)}
    named = {name for name in parameters if re.search(rf"(?<!:):{name}\b", statement)} - {"principal"}
    # The one variable that changes: a principal's name is its number.
    script = f"\\set principal random(1, {principals})\n{statement.strip()};\n"
    before = database.usage()
    finished = subprocess.run(
        [
            program,
            *("--no-vacuum", "--protocol=prepared", f"--client={CONNECTIONS}", "--jobs=1", f"--time={seconds}"),
            *(f"--define={name}={_variable(parameters[name])}" for name in sorted(named)),
            *("--file=-", f"--host={database.socket_directory}", f"--port={PORT}", f"--username={USER}", NAME),
        ],
        input=script,
        capture_output=True,
        text=True,
        timeout=seconds + _GRACE_SECONDS,
        check=False,
    )
    used = database.usage().cpu_seconds - before.cpu_seconds
    count = re.search(r"actually processed: (\d+)", finished.stdout)
    rate = re.search(r"tps = ([\d.]+)", finished.stdout)
    if finished.returncode != 0 or count is None or rate is None:
        raise CeilingUnknown(f"pgbench refused the statement of a page: {finished.stderr.strip()[-300:]}")
    return Ceiling(rows=rows, rate=float(rate[1]), database_cpu=1000 * used / int(count[1]))


def _variable(value: object) -> str:
    """A value as PostgreSQL reads it from text."""
    match value:
        case list():
            return "{" + ",".join(map(_variable, value)) + "}"
        case bool():
            return "t" if value else "f"
        case datetime():
            return value.isoformat()
        case int() | str():
            return str(value)
        case _:
            raise TypeError(f"no parameter of a page is a {type(value).__name__}")
