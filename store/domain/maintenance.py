"""What the clearing of a store's files came to. Source: The store on PostgreSQL, Erasure on disk."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Compaction:
    """What a compaction could do.

    `log_cleared`: whether the log of writes was cycled until it holds nothing from before; it is not where the role may
    not. `readers`: sessions that began before and were still open, and for whom deleted rows had to be kept.
    """

    log_cleared: bool
    readers: int
