"""The two lock files that PostgreSQL keeps itself: `postmaster.pid` in the data directory, and the socket's.

Each names the server's process by its id. After a crash the id can belong to another process (in a container the same
few ids come back at every start) or to a zombie that nobody reaps, and PostgreSQL then refuses to start for ever.
"""

import os
import tempfile
from pathlib import Path

import psutil

from store.postgres.embedded.account import Account

# Start times are known to a clock tick, file times to the granularity of the file system.
_CLOCK_TOLERANCE_SECONDS = 2.0


def recorded_process(lock_file: Path) -> int | None:
    """The process id in the first line of a lock file; None when the file is absent, empty or something else."""
    try:
        first_line = lock_file.read_text(errors="replace").partition("\n")[0].strip()
    except FileNotFoundError:
        return None
    # A server in single-user mode writes its id with a minus sign.
    return abs(int(first_line)) if first_line.removeprefix("-").isdecimal() else None


def names_live_server(lock_file: Path) -> bool:
    """Whether the recorded process can be the server that wrote the file.

    It can't when it is gone, a zombie, no postgres process, or started after the file was last written.
    """
    recorded = recorded_process(lock_file)
    if recorded is None:
        return False
    try:
        written_at = lock_file.stat().st_mtime
        process = psutil.Process(recorded)
        return (
            process.status() != psutil.STATUS_ZOMBIE
            and process.name() == "postgres"
            and process.create_time() <= written_at + _CLOCK_TOLERANCE_SECONDS
        )
    except (FileNotFoundError, psutil.NoSuchProcess, psutil.AccessDenied):
        # Who is denied is no root and looks at another user's process, which can't be a server of ours.
        return False


def release_stale(lock_file: Path, account: Account) -> None:
    """Make a lock file that names no live server harmless; call only while holding the start lock.

    Our own process id takes the place of the recorded one: to PostgreSQL a file that names the parent of pg_ctl is
    stale. Deleting the file would also delete the key of the shared memory block, by which PostgreSQL finds out that
    backends of the dead server still write. A file without an id, left by a full disk or a power cut, is deleted.
    """
    if not lock_file.exists() or names_live_server(lock_file):
        return
    if recorded_process(lock_file) is None:
        lock_file.unlink()
        return
    _, newline, rest = lock_file.read_bytes().partition(b"\n")
    write_file(lock_file, str(os.getpid()).encode() + newline + rest, account)


def write_file(path: Path, content: bytes, account: Account) -> None:
    """Put a file of the account in place at once, whole, never through a link that another left there."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f"{path.name}.")
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        account.own(file.fileno())
    Path(name).replace(path)
