"""GraphiQL as npm leaves it in a data directory, installed once from a lock file, whoever asks first."""

import fcntl
import shutil
from functools import cache
from pathlib import Path

from tests.conformance.node import INSTALL_SECONDS, run

PROJECT = Path(__file__).with_name("graphiql")


@cache
def installed_graphiql() -> Path | None:
    """The directory with its packages; None where there is no npm, or npm can't get them."""
    if shutil.which("npm") is None:
        return None
    lock_file = PROJECT / "package-lock.json"
    stamp = PROJECT / "node_modules" / ".installed"
    # The lock file is never written, so it can be the lock: several processes test at once.
    with lock_file.open("rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        state = lock.read()
        if stamp.is_file() and stamp.read_bytes() == state:
            return PROJECT
        command = ("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
        if run(*command, directory=PROJECT, seconds=INSTALL_SECONDS).returncode:
            return None
        stamp.write_bytes(state)
    return PROJECT
