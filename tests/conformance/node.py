"""The Node project of `tests/node`: installed once, whoever asks first, and run as a command line is.

Where there is no Node, tests that need it are skipped with a line that says so; under CI they fail.
"""

import fcntl
import os
import shutil
import subprocess
from hashlib import sha256
from pathlib import Path
from typing import NoReturn

import pytest

PROJECT = Path(__file__).parents[1] / "node"
MODULES = PROJECT / "node_modules"
INSTALL_SECONDS = 300
RUN_SECONDS = 60


def installed_project() -> Path:
    """The project with its packages as the lock file has them; they are installed where that has not been done."""
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            _do_without(program)
    lock_file = PROJECT / "package-lock.json"
    stamp = MODULES / ".installed"
    state = sha256((PROJECT / "package.json").read_bytes() + lock_file.read_bytes()).hexdigest()
    # The lock file is never written, so it can be the lock: several processes test at once.
    with lock_file.open("rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not stamp.is_file() or stamp.read_text() != state:
            finished = run("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", seconds=INSTALL_SECONDS)
            assert 0 == finished.returncode, finished.stderr
            stamp.write_text(state)
    return PROJECT


def run(
    *command: str | Path, directory: Path = PROJECT, seconds: float = RUN_SECONDS, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end, whatever it returns."""
    return subprocess.run(
        command,
        cwd=directory,
        env=_environment() | variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )


def run_tool(name: str, *arguments: str | Path, directory: Path) -> subprocess.CompletedProcess[str]:
    """Run a command of one of the packages."""
    return run(MODULES / ".bin" / name, *arguments, directory=directory)


def _environment() -> dict[str, str]:
    """What is set here, without colours and without a proxy between us and this machine."""
    return {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")} | {
        "NO_COLOR": "1",
        "FORCE_COLOR": "0",
    }


def _do_without(program: str) -> NoReturn:
    reason = f"{program} is not installed: the audits and clients of Node are not run"
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)
