"""Graphs for tests of services: asked of a deployment, and told by numbers."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, cast
from uuid import UUID

from gateway.service.evidence import EvidenceQuery, EvidenceService
from gateway.service.principal import Principal
from gateway.views.evidence import EvidenceGraphView
from store.domain.ancestry import StoredRecord
from store.domain.derived import DerivedRecord
from store.domain.memories import MemoryRecord
from store.domain.owners import Owner
from store.domain.vocabulary import AccessScope, Sensitivity
from store.ports.store import Result, Snapshot, Store, Transaction
from tests.factories import derived, identifier, memory
from tests.services.deployment import ADA, Deployment
from tests.worlds import keep, keep_derived

READER = frozenset({AccessScope.MEMORY_READ})


async def graph(
    deployment: Deployment,
    *roots: UUID,
    of: Owner = ADA,
    ceiling: Sensitivity = Sensitivity.RESTRICTED,
    service: EvidenceService | None = None,
    limits: Mapping[str, int] = MappingProxyType({}),
) -> EvidenceGraphView:
    """The graph of some roots, as their owner reads it."""
    evidence = service or EvidenceService(deployment.store, deployment.environment)
    query = EvidenceQuery(ceiling=ceiling, root_ids=roots, **limits)
    return await evidence.graph(Principal(owner=of, scopes=READER), query)


def statuses(graph: EvidenceGraphView) -> list[str]:
    """What became of the roots, in their order."""
    return [root.status.value for root in graph.roots]


def nodes(graph: EvidenceGraphView) -> list[UUID]:
    """The records that are shown, in their order."""
    return [node.record.id for node in graph.nodes]


async def keep_world(store: Store, *records: StoredRecord, owner: Owner = ADA) -> None:
    """Store records exactly as they are, as one owner's, those first on which others rest."""
    beliefs = [replace(record, owner=owner) for record in records if isinstance(record, MemoryRecord)]
    await keep(store, *beliefs)
    for record in records:
        if isinstance(record, DerivedRecord):
            await _keep_derived(store, replace(record, owner=owner))


async def _keep_derived(store: Store, record: DerivedRecord) -> None:
    if record.content is not None:
        await keep_derived(store, record)
        return
    stand_in = derived(memory(owner=record.owner), id=record.id, sensitivity=Sensitivity.RESTRICTED)
    await keep_derived(store, replace(stand_in, sensitivity=record.sensitivity))
    await store.transact(lambda transaction: transaction.derived.put(record))


def layered() -> list[StoredRecord]:
    """5 rests on 3 and 4, and both on 1; 4 on 2 as well. The ids are in the order of the numbers."""
    one, two = memory("Keeps bees", id=identifier(1)), memory("Drinks tea", id=identifier(2))
    three = derived(one, id=identifier(3), statement="Keeps bees")
    four = derived(one, two, id=identifier(4), statement="Drinks tea")
    return [one, two, three, four, derived(three, four, id=identifier(5), statement="Keeps bees")]


@dataclass(frozen=True, slots=True)
class WatchedStore:
    """A store that calls back after each read of derived records, and counts the snapshots that were opened."""

    store: Store
    after: Callable[[str], Awaitable[None]]

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[Snapshot]:
        async with self.store.snapshot() as snapshot:
            # It has every attribute of what it stands for.
            yield cast("Snapshot", _WatchedSnapshot(snapshot, self.after))

    def single_read(self) -> AbstractAsyncContextManager[Snapshot]:
        return self.store.single_read()

    async def transact(self, work: Callable[[Transaction], Awaitable[Result]]) -> Result:
        return await self.store.transact(work)

    async def check(self) -> None:
        await self.store.check()

    async def close(self) -> None:
        await self.store.close()


class _WatchedSnapshot:
    def __init__(self, snapshot: Snapshot, after: Callable[[str], Awaitable[None]]) -> None:
        self.derived = _WatchedReads(snapshot.derived, after)
        self.memories = snapshot.memories


class _WatchedReads:
    def __init__(self, reads: object, after: Callable[[str], Awaitable[None]]) -> None:
        self._reads = reads
        self._after = after

    def __getattr__(self, name: str) -> Callable[..., Any]:  # Any: as the operation is
        async def watched(*arguments: object, **named: object) -> Any:  # as above
            found = await getattr(self._reads, name)(*arguments, **named)
            await self._after(name)
            return found

        return watched
