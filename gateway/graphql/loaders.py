"""Beliefs that are reached from beliefs, fetched together: one statement for all of a level, per kind of link.

The loaders live as long as one snapshot, for one principal; the ceiling is part of every key.
"""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeVar
from uuid import UUID

from strawberry.dataloader import DataLoader

from gateway.service.memory_reading import MemoryReading
from gateway.service.principal import Principal
from gateway.views.memories import MemoryView
from store.domain.vocabulary import Sensitivity

Answer = TypeVar("Answer")
Found = TypeVar("Found")


class Ask(Protocol):
    """How a snapshot is asked."""

    async def __call__(self, question: Callable[[MemoryReading], Awaitable[Answer]], /) -> Answer:
        """Ask one thing."""
        ...


class _Key(NamedTuple):
    ceiling: Sensitivity
    id: UUID


class MemoryLinks:
    """The beliefs that others name, each under the ceiling of the one that names it."""

    def __init__(self, ask: Ask, principal: Principal) -> None:
        """Ask a snapshot on behalf of a principal."""
        self._ask = ask
        self._principal = principal
        self._named: DataLoader[_Key, MemoryView | None] = DataLoader(self._load_named)
        self._superseded: DataLoader[_Key, Sequence[MemoryView]] = DataLoader(self._load_superseded)

    async def find(self, id: UUID, ceiling: Sensitivity) -> MemoryView | None:
        """The belief, or None if it can't be seen."""
        return await self._named.load(_Key(ceiling, id))

    async def find_many(self, ids: Sequence[UUID], ceiling: Sensitivity) -> Sequence[MemoryView]:
        """Those of the ids that can be seen, in the order of the ids."""
        found = await self._named.load_many([_Key(ceiling, id) for id in ids])
        return [view for view in found if view is not None]

    async def find_superseded(self, id: UUID, ceiling: Sensitivity) -> Sequence[MemoryView]:
        """The beliefs that this one replaced, nearest first, never past one that can't be seen."""
        return await self._superseded.load(_Key(ceiling, id))

    async def _load_named(self, keys: list[_Key]) -> list[MemoryView | None]:
        found = await self._load(keys, lambda reading, ids, ceiling: reading.find_many(self._principal, ids, ceiling))
        return [found.get(key) for key in keys]

    async def _load_superseded(self, keys: list[_Key]) -> list[Sequence[MemoryView]]:
        found = await self._load(
            keys, lambda reading, ids, ceiling: reading.find_superseded(self._principal, ids, ceiling)
        )
        return [found.get(key, ()) for key in keys]

    async def _load(
        self,
        keys: Iterable[_Key],
        question: Callable[[MemoryReading, list[UUID], Sensitivity], Awaitable[Mapping[UUID, Found]]],
    ) -> dict[_Key, Found]:
        """What is found for each key, by one question for each ceiling."""
        ids: defaultdict[Sensitivity, list[UUID]] = defaultdict(list)
        for key in keys:
            ids[key.ceiling].append(key.id)
        found: dict[_Key, Found] = {}
        for ceiling, named in ids.items():

            async def ask(
                reading: MemoryReading, named: list[UUID] = named, ceiling: Sensitivity = ceiling
            ) -> Mapping[UUID, Found]:
                return await question(reading, named, ceiling)

            answer = await self._ask(ask)
            found |= {_Key(ceiling, id): item for id, item in answer.items()}
        return found
