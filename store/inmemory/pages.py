"""Pages in memory: the one order of beliefs and derived records, store_position descending, then id ascending."""

from collections.abc import Iterable
from typing import TypeVar
from uuid import UUID

from store.domain.derived import DerivedRecord
from store.domain.memories import MemoryRecord
from store.ports.memories import Direction, Keyset, MemoryBrowseQuery

Record = TypeVar("Record", MemoryRecord, DerivedRecord)


def page(selected: Iterable[Record], query: MemoryBrowseQuery) -> tuple[tuple[Record, ...], bool | None]:
    """Limit + 1 of the selected records in the order walked, from the keyset on, and whether the other side has any."""
    backward = query.direction is Direction.BACKWARD
    ordered = sorted(selected, key=_order, reverse=backward)
    beyond = [record for record in ordered if query.keyset is None or _lies_beyond(record, query.keyset, backward)]
    return tuple(beyond[: query.limit + 1]), len(beyond) < len(ordered) if query.with_opposite else None


def _order(record: MemoryRecord | DerivedRecord) -> tuple[int, UUID]:
    return -record.store_position, record.id


def _lies_beyond(record: MemoryRecord | DerivedRecord, keyset: Keyset, backward: bool) -> bool:
    here, there = _order(record), (-keyset.position, keyset.id)
    return here < there if backward else here > there
