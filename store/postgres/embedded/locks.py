"""Locks between the processes that share one server: flocks on files of the root directory.

The kernel drops a flock when its last holder dies, however it dies, so nothing is left behind by kill -9. It keeps
that promise on a local file system only.
"""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from store.postgres.embedded.errors import EmbeddedPostgresError

_NETWORK_FILE_SYSTEMS = frozenset({"afpfs", "cifs", "nfs", "nfs4", "smb3", "smbfs"})
_POLL_SECONDS = 0.02


def refuse_network_file_system(root: Path) -> None:
    """Raise EmbeddedPostgresError when the directory lies on a file system that other machines write too."""
    mounts = {Path(partition.mountpoint): partition.fstype for partition in psutil.disk_partitions(all=True)}
    mount = next((directory for directory in (root, *root.parents) if directory in mounts), None)
    if mount is not None and mounts[mount] in _NETWORK_FILE_SYSTEMS:
        raise EmbeddedPostgresError(
            f"{root} lies on a network file system ({mounts[mount]} at {mount}), where locks are no protection: "
            "choose a local directory, or use a PostgreSQL server of your own."
        )


@contextmanager
def exclusive_lock(path: Path, *, wait_seconds: float) -> Iterator[int]:
    """Hold the lock file for oneself; gives its descriptor, which a child may inherit to hold the lock on.

    Raises: EmbeddedPostgresError when others hold it for longer than `wait_seconds`.
    """
    descriptor = _open(path)
    try:
        give_up_at = time.monotonic() + wait_seconds
        while not try_exclusive(descriptor):
            if time.monotonic() > give_up_at:
                raise EmbeddedPostgresError(
                    f"Another process has held {path} for {wait_seconds:.0f} s: it starts or stops PostgreSQL there."
                )
            time.sleep(_POLL_SECONDS)
        yield descriptor
    finally:
        os.close(descriptor)


def shared_lock(path: Path) -> int:
    """Join the holders of the lock file; the descriptor returned holds the lock until it is closed.

    Waits without limit: a lock file is taken exclusively only by who holds the one that guards it.
    """
    descriptor = _open(path)
    fcntl.flock(descriptor, fcntl.LOCK_SH)
    return descriptor


def try_exclusive(descriptor: int) -> bool:
    """Whether the lock is now held by this descriptor alone; does not wait for others to leave."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _open(path: Path) -> int:
    """A descriptor of the lock file, made when absent; never through a link that another left in our directory."""
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
