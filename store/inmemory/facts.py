"""What the in-memory store remembers about itself."""

from datetime import datetime

from store.inmemory.state import State
from store.ports.store import StoreFact


class InMemoryFactReads:
    """Facts as they are read."""

    def __init__(self, state: State) -> None:
        self._state = state

    async def find(self, fact: StoreFact) -> str | None:
        """The value of a fact."""
        return self._state.facts.get(fact)

    async def import_offset(self, file_hash: str) -> int:
        """How many bytes of a file of this hash were imported: 0 if it was never begun."""
        offset, _ = self._state.import_offsets.get(file_hash, (0, None))
        return offset


class InMemoryFactWrites(InMemoryFactReads):
    """Facts as they are written."""

    async def claim(self, fact: StoreFact, value: str) -> str:
        """Write a fact unless it stands; the value that stands afterwards."""
        return self._state.facts.setdefault(fact, value)

    async def hold(self, fact: StoreFact) -> str | None:
        """The value of a fact; this transaction has the whole store to itself."""
        return self._state.facts.get(fact)

    async def put(self, fact: StoreFact, value: str) -> None:
        """Write a fact, whatever stands."""
        self._state.facts[fact] = value

    async def replace(self, fact: StoreFact, *, expected: str, value: str) -> bool:
        """Write a fact where the expected value stands; False where another one does, or none."""
        if self._state.facts.get(fact) != expected:
            return False
        self._state.facts[fact] = value
        return True

    async def put_import_offset(self, file_hash: str, offset: int, *, at: datetime) -> None:
        """Remember how many bytes of a file were imported."""
        self._state.import_offsets[file_hash] = (offset, at)
