"""A cluster of another major version, made beside the one in use and put in its place.

The old cluster is kept as `data.of-<major>` until the operator is content. Between the two renames there is no `data`:
a start refuses then, and the upgrade that is run again puts the old one back and begins anew.
Source: The embedded PostgreSQL, "Shape of the supervisor".
"""

import os
import shutil
from pathlib import Path

from store.postgres.embedded.cluster import DATA_DIRECTORY, FORMER_DATA_PREFIX, former_data
from store.postgres.embedded.errors import EmbeddedPostgresError


def major_version(root: Path) -> str | None:
    """The major version of the cluster in a root directory; None where there is none."""
    record = root / DATA_DIRECTORY / "PG_VERSION"
    return record.read_text().strip() if record.exists() else None


def put_back(root: Path) -> None:
    """Undo an upgrade that was broken off between the renames."""
    former = former_data(root)
    if former is not None and not (root / DATA_DIRECTORY).exists():
        former.rename(root / DATA_DIRECTORY)


def swap(root: Path, upgraded: Path) -> None:
    """Put the stopped cluster of another root directory in the place of the stopped one here, which is kept."""
    former = root / f"{FORMER_DATA_PREFIX}{major_version(root)}"
    if former.exists():
        raise EmbeddedPostgresError(f"{former} is there from an earlier upgrade: confirm that one first.")
    (root / DATA_DIRECTORY).rename(former)
    (upgraded / DATA_DIRECTORY).rename(root / DATA_DIRECTORY)
    descriptor = os.open(root, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def discard_former(root: Path) -> bool:
    """Remove the cluster that an upgrade kept; False where there is none."""
    former = former_data(root)
    if former is None or not (root / DATA_DIRECTORY).exists():
        return False
    shutil.rmtree(former)
    return True
