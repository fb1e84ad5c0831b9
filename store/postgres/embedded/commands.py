"""Running PostgreSQL's own programs, as ourselves or as the account that owns the cluster.

Every program gets a clean environment, so that the caller's PG*, LC_* and secrets reach neither it nor the server;
the null device as input; a session of its own, so that Ctrl-C at the terminal reaches the gateway alone; and a file
for its output. A pipe would be inherited by the server, and reading it would never end.
"""

import os
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from store.postgres.embedded.account import Account
from store.postgres.embedded.errors import EmbeddedPostgresError


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a program ended: its exit status, and what it wrote to both outputs."""

    status: int
    output: str

    @property
    def last_line(self) -> str:
        """The last line written, usually the reason of a failure; empty when nothing was written."""
        return next((line.strip() for line in reversed(self.output.splitlines()) if line.strip()), "")


def run_command(
    command: Sequence[str | Path],
    *,
    directory: Path,
    wait_seconds: float | None,
    account: Account | None = None,
    inherited: Sequence[int] = (),
) -> Outcome:
    """Run a program in `directory` to its end, and tell how it ended.

    `account` is whom root becomes for it (None: nobody else); without `wait_seconds` it may take any time; `inherited`
    are descriptors that the program keeps open.
    Raises: OSError when the program can't be started, a PermissionError when the account may not run it;
    EmbeddedPostgresError when it takes longer than `wait_seconds`.
    """
    assumed = account if account is not None and account.assumed else None
    with tempfile.TemporaryFile() as output:
        try:
            finished = subprocess.run(
                command,
                cwd=directory,
                env={"PATH": os.environ.get("PATH", os.defpath), "LANG": "C"},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                pass_fds=inherited,
                user=assumed.user_id if assumed else None,
                group=assumed.group_id if assumed else None,
                extra_groups=[] if assumed else None,
                timeout=wait_seconds,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise EmbeddedPostgresError(f"{command[0]} did not end within {error.timeout:.0f} s.") from error
        output.seek(0)
        return Outcome(status=finished.returncode, output=output.read().decode(errors="replace"))


def can_enter(account: Account, directory: Path) -> bool:
    """Whether the account may enter the directory, which takes leave to pass every directory above it.

    The account tries it: mode bits alone would not tell of access control lists.
    """
    attempt: list[str | Path] = ["/bin/sh", "-c", 'cd -- "$1"', "sh", directory]
    return run_command(attempt, directory=Path("/"), wait_seconds=10, account=account).status == 0


def blocking_directory(account: Account, directory: Path) -> Path | None:
    """The topmost directory on the way to `directory`, or that one, which the account may not enter; None if none."""
    if not account.assumed or can_enter(account, directory):
        return None
    way = [*reversed(directory.parents), directory]
    return next((step for step in way if not can_enter(account, step)), directory)
