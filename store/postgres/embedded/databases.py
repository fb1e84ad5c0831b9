"""The databases of one cluster: created, dumped, loaded beside the one in use, and put in its place at once."""

from pathlib import Path

from store.postgres.embedded.cluster import Cluster

_LOADING = ".loading"
_REPLACED = ".replaced"


class Databases:
    """Acts on a running cluster; who changes what is in use is its only user.

    Raises EmbeddedPostgresError from every method.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def create(self, name: str) -> None:
        """Create a database unless it exists."""
        if name not in self._names():
            self._cluster.query(f"CREATE DATABASE {_quoted(name)}")

    def dump(self, name: str, path: Path) -> None:
        """Write a database to a file, as it stands at one moment."""
        self._cluster.transfer("pg_dump", "--format=custom", "--no-owner", "--file", str(path), database=name)

    def load(self, name: str, path: Path) -> str:
        """Load a dump into a new database beside the named one; the name of the new one."""
        loading = f"{name}{_LOADING}"
        self.discard_leftovers(name)
        self._cluster.query(f"CREATE DATABASE {_quoted(loading)}")
        options = ("--no-owner", "--exit-on-error", "--single-transaction")
        self._cluster.transfer("pg_restore", *options, str(path), database=loading)
        return loading

    def put_in_place(self, name: str) -> None:
        """Let the loaded database take the place of the named one, which is dropped; both happen or neither."""
        former, loading, replaced = _quoted(name), _quoted(f"{name}{_LOADING}"), _quoted(f"{name}{_REPLACED}")
        # Statements in one call are one transaction.
        self._cluster.query(
            f"ALTER DATABASE {former} RENAME TO {replaced}; ALTER DATABASE {loading} RENAME TO {former}"
        )
        self.discard_leftovers(name)

    def discard_leftovers(self, name: str) -> None:
        """Drop what was being loaded, and what was replaced, beside a database that is in place."""
        names = self._names()
        if name in names:
            for leftover in sorted(names & {f"{name}{_LOADING}", f"{name}{_REPLACED}"}):
                self._cluster.query(f"DROP DATABASE {_quoted(leftover)} WITH (FORCE)")

    def _names(self) -> set[str]:
        return set(self._cluster.query("SELECT datname FROM pg_database"))


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
