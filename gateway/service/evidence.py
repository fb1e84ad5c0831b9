"""Reading the evidence behind records: the graph of what they rest on, from one snapshot and as of one moment.

The store is asked three times, however large the graph: for the ids of everything that can be needed, for the derived
records among them, and for the beliefs. Order, limits and eligibility are decided by the domain over what was found.
The bytes of a record are those of its view as JSON, in UTF-8, which is how a client receives it.

As many graphs are read at once as there are slots in this process; a further one is refused before the store is asked,
so that whoever reads graphs leaves connections to everybody else.
Source: evidence graph decisions; Read a memory evidence graph.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from gateway.service.derived_reading import MemoryItemView
from gateway.service.environment import Environment
from gateway.service.errors import ForeignScope, GatewayError, MalformedRequest, RetrievalBusy, StorageInconsistency
from gateway.service.identifiers import parse_identifier
from gateway.service.memory_reading import MemoryReading, measured
from gateway.service.principal import Principal
from gateway.views.derived import derived_view
from gateway.views.evidence import EvidenceGraphView, References, coverage_view, edge_views, node_view, root_views
from gateway.views.memories import memory_view
from gateway.views.workspaces import Visibility
from store.domain.ancestry import (
    DEPENDENCY_RECORDS_MAX,
    DISPLAY_DEPTH_DEFAULT,
    DISPLAY_DEPTH_MAX,
    NODE_LIMIT_DEFAULT,
    NODE_LIMIT_MAX,
    ROOTS_MAX,
    TRAVERSAL_VERSION,
    Ancestry,
    AncestryGraph,
    AncestryQuery,
    Budget,
    BudgetExceeded,
    InconsistentAncestry,
    StoredRecord,
    walk_ancestry,
)
from store.domain.derived import ANCESTRY_DEPTH_MAX, DerivedRecord
from store.domain.owners import Owner
from store.domain.vocabulary import AccessScope, Sensitivity
from store.ports.errors import StoreInconsistent
from store.ports.store import Snapshot, Store

CONCURRENT_GRAPHS_MAX = 4
"""Graphs that one process reads at once: each holds a connection, of which there are ten unless told otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceQuery:
    """Which records the evidence is asked of, in which order, how far it is shown, and after how many look-ups."""

    ceiling: Sensitivity
    root_ids: tuple[UUID, ...]
    max_depth: int = DISPLAY_DEPTH_DEFAULT
    node_limit: int = NODE_LIMIT_DEFAULT

    def check_types(self) -> None:
        """Refuse an empty list of roots."""
        if not self.root_ids:
            raise MalformedRequest("root_record_ids", "must not be empty")

    def check_rules(self) -> None:
        """Refuse too many roots, one that is named twice, and a limit out of its range."""
        if len(self.root_ids) > ROOTS_MAX:
            raise MalformedRequest("root_record_ids", f"must hold at most {ROOTS_MAX} identifiers")
        if len(set(self.root_ids)) < len(self.root_ids):
            raise MalformedRequest("root_record_ids", "must not name a record twice")
        if not 0 <= self.max_depth <= DISPLAY_DEPTH_MAX:
            raise MalformedRequest("max_depth", f"must be from 0 to {DISPLAY_DEPTH_MAX}")
        if not 1 <= self.node_limit <= NODE_LIMIT_MAX:
            raise MalformedRequest("node_limit", f"must be from 1 to {NODE_LIMIT_MAX}")


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceScope:
    """Whose memory a caller says is meant."""

    project_id: str | None
    mission_id: str | None
    agent_id: str | None
    visibility: str

    def check(self, principal: Principal) -> None:
        """Raise ForeignScope for anything but what is the principal's own."""
        is_own = self.agent_id in {None, principal.owner.principal} and self.visibility == Visibility.PRIVATE.value
        if not is_own or self.project_id is not None or self.mission_id is not None:
            raise ForeignScope


def parse_root_ids(texts: Iterable[str]) -> tuple[UUID, ...]:
    """The identifiers of roots. Raises MalformedRequest for a text that is none."""
    return tuple(map(_parse_root_id, texts))


def _parse_root_id(text: str) -> UUID:
    id = parse_identifier(text)
    if id is None:
        raise MalformedRequest("root_record_ids", "must hold UUIDs in their canonical form")
    return id


class EvidenceService:
    """Reads graphs of evidence for the principal who asks."""

    def __init__(self, store: Store, environment: Environment, *, slots: int = CONCURRENT_GRAPHS_MAX) -> None:
        """Serve from a store, so many graphs at once."""
        self._store = store
        self._environment = environment
        self._free = slots

    async def graph(
        self, principal: Principal, query: EvidenceQuery, *, scope: EvidenceScope | None = None
    ) -> EvidenceGraphView:
        """The graph, from a snapshot of its own; a scope that is given must be the principal's own.

        Raises AuthorizationError without memory.read; ForeignScope; MalformedRequest for the query, and for a budget
        that would be exceeded, which it names; RetrievalBusy; StorageInconsistency.
        """
        with self._admitted(principal, query, scope):
            now = self._environment.clock()
            async with self._store.snapshot() as snapshot:
                return await _graph(snapshot, principal.owner, query, now)

    async def graph_within(
        self, reading: MemoryReading, principal: Principal, query: EvidenceQuery
    ) -> EvidenceGraphView:
        """The graph, from the snapshot and as of the moment of a request that reads more. Raises as `graph` does."""
        with self._admitted(principal, query):
            return await _graph(reading.snapshot, principal.owner, query, reading.now)

    @contextmanager
    def _admitted(
        self, principal: Principal, query: EvidenceQuery, scope: EvidenceScope | None = None
    ) -> Iterator[None]:
        """Hold a slot for a query that was checked, and report what becomes of it."""
        with measured(self._environment.measures, "graph", query.ceiling):
            query.check_types()
            principal.require(AccessScope.MEMORY_READ)
            if scope is not None:
                scope.check(principal)
            query.check_rules()
            if self._free == 0:
                raise RetrievalBusy
            self._free -= 1
            try:
                yield
            finally:
                self._free += 1


class _Views:
    """The views of records as of one moment, each made once, and how large they are."""

    def __init__(self, now: datetime) -> None:
        self._now = now
        self._views: dict[UUID, MemoryItemView] = {}
        self._sizes: dict[UUID, int] = {}

    def of(self, record: StoredRecord) -> MemoryItemView:
        """The view of a record."""
        view = self._views.get(record.id)
        if view is None:
            view = derived_view(record) if isinstance(record, DerivedRecord) else memory_view(record, self._now)
            self._views[record.id] = view
        return view

    def size_of(self, record: StoredRecord) -> int:
        """Bytes of the view as JSON, in UTF-8."""
        size = self._sizes.get(record.id)
        if size is None:
            size = self._sizes[record.id] = len(self.of(record).model_dump_json().encode())
        return size


async def _graph(snapshot: Snapshot, owner: Owner, query: EvidenceQuery, now: datetime) -> EvidenceGraphView:
    views = _Views(now)
    refusal: GatewayError
    try:
        graph = await _walked(snapshot, owner, query, now, views)
    except BudgetExceeded as error:
        refusal = _refusal(error)
    except InconsistentAncestry as error:
        refusal = StorageInconsistency(str(error))
    except StoreInconsistent:
        refusal = StorageInconsistency("a record can't be read")
    else:
        return _graph_view(graph, query, now, views)
    # Raised without what it came of: it lives until the answer is written, and would hold every record that was read.
    del views
    raise refusal


def _graph_view(graph: AncestryGraph, query: EvidenceQuery, now: datetime, views: _Views) -> EvidenceGraphView:
    references = References()
    return EvidenceGraphView.model_construct(
        traversal_version=TRAVERSAL_VERSION,
        evaluated_at=now,
        max_depth=query.max_depth,
        node_limit=query.node_limit,
        roots=root_views(graph),
        nodes=tuple(node_view(node, views.of(node.record), references) for node in graph.nodes),
        edges=edge_views(graph, references),
        coverage=coverage_view(graph),
    )


async def _walked(
    snapshot: Snapshot, owner: Owner, query: EvidenceQuery, now: datetime, views: _Views
) -> AncestryGraph:
    ceiling = query.ceiling
    looked_up = await snapshot.derived.closure(
        owner,
        # Roots are looked up first of all: those behind the limit never are.
        query.root_ids[: query.node_limit],
        ceiling=ceiling,
        depth=query.max_depth + ANCESTRY_DEPTH_MAX,
        limit=DEPENDENCY_RECORDS_MAX + 1,
    )
    if len(looked_up) > DEPENDENCY_RECORDS_MAX:
        raise BudgetExceeded(Budget.DEPENDENCY_RECORDS, DEPENDENCY_RECORDS_MAX)
    derived = await snapshot.derived.find_stored(owner, looked_up, ceiling=ceiling)
    beliefs = await snapshot.memories.find_many(
        owner, set(looked_up).difference(record.id for record in derived), ceiling=ceiling
    )
    found: list[StoredRecord] = [*derived, *beliefs]
    return walk_ancestry(
        AncestryQuery(root_ids=query.root_ids, max_depth=query.max_depth, node_limit=query.node_limit),
        Ancestry(
            looked_up=frozenset(looked_up),
            records={record.id: record for record in found},
            ceiling=ceiling,
            now=now,
            size_of=views.size_of,
        ),
    )


def _refusal(error: BudgetExceeded) -> MalformedRequest:
    return MalformedRequest(
        error.budget.value, f"would exceed {error.maximum}: ask for fewer roots, or for a smaller node_limit"
    )
