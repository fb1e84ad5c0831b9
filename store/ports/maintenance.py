"""What a store must do about what deleted rows leave behind in its files.

Source: The store on PostgreSQL, Erasure on disk.
"""

from typing import Protocol

from store.domain.maintenance import Compaction


class Maintenance(Protocol):
    """Clearing the files of a store."""

    async def vacuum(self) -> bool:
        """Clear deleted rows from the tables that had any, gently, beside the requests; whether one was cleared.

        Does nothing while another process does it, and where the store can't be reached without a pooler.
        """
        ...

    async def compact(self, *, full: bool) -> Compaction:
        """Clear deleted rows from tables, indexes and the log of writes.

        `full` rewrites every table, which nobody can read or write meanwhile.
        """
        ...

    async def dead_rows(self) -> int:
        """About how many deleted or rewritten rows are still in the tables' files."""
        ...
