"""Beliefs that are linked with each other."""

from store.domain.memories import MemoryRecord
from tests.factories import identifier, memory


def clique(count: int) -> list[MemoryRecord]:
    """So many beliefs, each in conflict with all the others."""
    ids = [identifier(number) for number in range(1, count + 1)]
    return [
        memory(f"Has boat {number}", id=id, conflicts_with=tuple(other for other in ids if other != id))
        for number, id in enumerate(ids)
    ]
