"""The records on which others rest, walked outwards from some of them: which may be shown, and in which order.

A record is eligible at a moment while it is live, at or below the ceiling, and all that it rests on, directly or
through others, is so too, each at the revision that was pinned; it rests on at most 64 records, at most 8 deep. What is
looked up is judged whole, however little of it is displayed: nothing is shown whose reason may not be.

Everything here is decided over records that were read before; `Ancestry` holds them. Whatever contradicts the rules by
which records are derived is met with InconsistentAncestry wherever it lies in what is judged, and never passed over.
Source: evidence graph decisions; Read a memory evidence graph, Interpret the result and Coverage and work bounds.
"""

from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TypeAlias
from uuid import UUID

from store.domain.derived import (
    ANCESTORS_MAX,
    ANCESTRY_DEPTH_MAX,
    SOURCES_MAX,
    DerivedRecord,
    DerivedStatus,
    PinnedSource,
    runs_at,
)
from store.domain.memories import MemoryRecord, is_live
from store.domain.vocabulary import Sensitivity, within

TRAVERSAL_VERSION = "derived_ancestry_v1"
ROOTS_MAX = 16
DISPLAY_DEPTH_MAX = 8
DISPLAY_DEPTH_DEFAULT = 4
NODE_LIMIT_MAX = 256
NODE_LIMIT_DEFAULT = 128
"""Look-ups of a request, those of missing and ineligible records among them."""
EDGES_MAX = NODE_LIMIT_MAX * SOURCES_MAX
RECORD_BYTES_MAX = 8 * 1_024 * 1_024
"""Of all nodes of a graph together."""
DEPENDENCY_RECORDS_MAX = 4_096
"""Distinct records on which the nodes of a graph rest."""
DEPENDENCY_BYTES_MAX = 16 * 1_024 * 1_024

StoredRecord: TypeAlias = MemoryRecord | DerivedRecord


class EvidenceRootStatus(StrEnum):
    """What became of a record that was asked for."""

    INCLUDED = "included"
    UNAVAILABLE = "unavailable"
    NOT_EXAMINED = "not_examined"


class EvidenceStopReason(StrEnum):
    """Why a graph is not complete."""

    DEPTH_LIMIT = "depth_limit"
    NODE_LIMIT = "node_limit"


class Budget(StrEnum):
    """A bound on the work of one request."""

    RECORD_BYTES = "record_bytes"
    DEPENDENCY_RECORDS = "dependency_work.records_examined"
    DEPENDENCY_BYTES = "dependency_work.bytes_examined"


class InconsistentAncestry(Exception):
    """What is stored contradicts the rules by which records are derived; the message tells the rule alone."""


class BudgetExceeded(Exception):
    """More work than one request may ask for."""

    def __init__(self, budget: Budget, maximum: int) -> None:
        """Name the budget and its maximum."""
        super().__init__(f"{budget.value} would exceed {maximum}")
        self.budget = budget
        self.maximum = maximum


@dataclass(frozen=True, slots=True, kw_only=True)
class Budgets:
    """What one request may ask for at most."""

    record_bytes: int = RECORD_BYTES_MAX
    dependency_records: int = DEPENDENCY_RECORDS_MAX
    dependency_bytes: int = DEPENDENCY_BYTES_MAX


BUDGETS = Budgets()


@dataclass(frozen=True, slots=True, kw_only=True)
class AncestryQuery:
    """From which records, how deep, and after how many look-ups the walk ends. Roots are distinct."""

    root_ids: Sequence[UUID]
    max_depth: int
    node_limit: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Ancestry:
    """What was read to be judged: which ids were looked up, and the records that were found.

    At least everything within ANCESTRY_DEPTH_MAX steps of what is displayed was looked up. `size_of` is the size of a
    record in bytes: of the JSON by which it is shown, in UTF-8.
    """

    looked_up: Collection[UUID]
    records: Mapping[UUID, StoredRecord]
    ceiling: Sensitivity
    now: datetime
    size_of: Callable[[StoredRecord], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Root:
    """A record that was asked for, and what became of it."""

    id: UUID
    status: EvidenceRootStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """An eligible record, and how few steps lead to it."""

    record: StoredRecord
    depth: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """One node that was derived from another, at the revisions that they have."""

    source_id: UUID
    source_revision: int
    target_id: UUID
    target_revision: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AncestryGraph:
    """What is shown of an ancestry. It is complete exactly without a stop reason.

    `records_examined` counts look-ups. The bytes and the dependencies are those of the nodes: what is not shown tells
    nothing of itself by them.
    """

    roots: tuple[Root, ...]
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    stop_reasons: tuple[EvidenceStopReason, ...]
    records_examined: int
    record_bytes: int
    dependency_records: int
    dependency_bytes: int


def walk_ancestry(query: AncestryQuery, ancestry: Ancestry, *, budgets: Budgets = BUDGETS) -> AncestryGraph:
    """Walk breadth first: the roots in their order, then the sources of each node by ascending id, each record once.

    Raises InconsistentAncestry and BudgetExceeded.
    """
    walk = _Walk(query, _Judge(ancestry), _Accounts(ancestry, budgets))
    walk.run()
    return walk.graph()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Support:
    """All that an eligible record rests on, and how deep that goes."""

    ancestors: frozenset[UUID] = frozenset()
    depth: int = 0


class _Judge:
    """Tells which records are eligible. Each is judged once, after all that it rests on."""

    def __init__(self, ancestry: Ancestry) -> None:
        self._ancestry = ancestry
        self._supports: dict[UUID, _Support | None] = {}

    def record(self, id: UUID) -> StoredRecord | None:
        """The record of an id where there is one at or below the ceiling."""
        record = self._ancestry.records.get(id)
        return record if record is not None and within(record.sensitivity, self._ancestry.ceiling) else None

    def support(self, id: UUID) -> _Support | None:
        """What an eligible record rests on; None for a missing or an ineligible one. Raises InconsistentAncestry."""
        # Not by recursion: what is inconsistent may be deeper than a stack.
        path: dict[UUID, Iterator[UUID]] = {}
        if id not in self._supports:
            path[id] = self._unjudged(id)
        while path:
            current = next(reversed(path))
            source = next(path[current], None)
            if source is None:
                del path[current]
                self._supports[current] = self._judged(current)
            elif source in path:
                raise InconsistentAncestry("a record rests on itself")
            else:
                path[source] = self._unjudged(source)
        return self._supports[id]

    def _unjudged(self, id: UUID) -> Iterator[UUID]:
        """The sources of a record that are still to be judged, as they are when they are asked for."""
        return (source.id for source in self._sources(id) if source.id not in self._supports)

    def _sources(self, id: UUID) -> Sequence[PinnedSource]:
        """What a record was derived from. Raises InconsistentAncestry where they can't be all, or not its."""
        record = self.record(id)
        if not isinstance(record, DerivedRecord) or record.status is not DerivedStatus.ACTIVE:
            return ()
        if record.content is None or not 1 <= len(record.sources) <= SOURCES_MAX:
            raise InconsistentAncestry(f"an active derived record has content and 1 to {SOURCES_MAX} sources")
        for pinned in record.sources:
            self._check(record, pinned)
        return record.sources

    def _check(self, record: DerivedRecord, pinned: PinnedSource) -> None:
        source = self.record(pinned.id)
        if source is None:
            if pinned.id in self._ancestry.looked_up:
                raise InconsistentAncestry("a source is not there")
        elif source.revision < pinned.revision:
            raise InconsistentAncestry("a source is pinned at a revision that it does not have yet")
        elif not within(source.sensitivity, record.sensitivity):
            raise InconsistentAncestry("a source is more private than what was derived from it")

    def _judged(self, id: UUID) -> _Support | None:
        record, now = self.record(id), self._ancestry.now
        if record is None:
            return None
        if isinstance(record, MemoryRecord):
            return _Support() if is_live(record, now) else None
        if not runs_at(record, now):
            return None
        ancestors: set[UUID] = set()
        depth = 0
        for pinned in record.sources:
            source, support = self.record(pinned.id), self._supports[pinned.id]
            # Nothing is known of a source that lies deeper than was looked: then so does what it is a source of.
            if source is None or support is None or source.revision != pinned.revision:
                return None
            ancestors |= {pinned.id, *support.ancestors}
            depth = max(depth, support.depth + 1)
        if len(ancestors) > ANCESTORS_MAX or depth > ANCESTRY_DEPTH_MAX:
            return None
        return _Support(ancestors=frozenset(ancestors), depth=depth)


class _Accounts:
    """Adds up the work that the nodes stand for. Raises BudgetExceeded."""

    def __init__(self, ancestry: Ancestry, budgets: Budgets) -> None:
        self._ancestry = ancestry
        self._budgets = budgets
        self._dependencies: set[UUID] = set()
        self.record_bytes = 0
        self.dependency_bytes = 0

    @property
    def dependency_records(self) -> int:
        """How many distinct records the nodes rest on."""
        return len(self._dependencies)

    def add(self, record: StoredRecord, support: _Support) -> None:
        """Count a node, and what of its dependencies was not counted yet."""
        budgets, size_of = self._budgets, self._ancestry.size_of
        further = support.ancestors - self._dependencies
        self._dependencies |= further
        _check_budget(Budget.DEPENDENCY_RECORDS, len(self._dependencies), budgets.dependency_records)
        self.dependency_bytes += sum(size_of(self._ancestry.records[id]) for id in further)
        _check_budget(Budget.DEPENDENCY_BYTES, self.dependency_bytes, budgets.dependency_bytes)
        self.record_bytes += size_of(record)
        _check_budget(Budget.RECORD_BYTES, self.record_bytes, budgets.record_bytes)


def _check_budget(budget: Budget, value: int, maximum: int) -> None:
    if value > maximum:
        raise BudgetExceeded(budget, maximum)


class _Walk:
    """One walk. An id is discovered once, so that a shared ancestor has the fewest steps that lead to it."""

    def __init__(self, query: AncestryQuery, judge: _Judge, accounts: _Accounts) -> None:
        self._query = query
        self._judge = judge
        self._accounts = accounts
        self._waiting = deque((id, 0) for id in query.root_ids)
        self._discovered = set(query.root_ids)
        self._examined: set[UUID] = set()
        self._nodes: dict[UUID, Node] = {}
        self._is_cut = False

    def run(self) -> None:
        """Look up what waits, until nothing does or the limit is reached."""
        while self._waiting and len(self._examined) < self._query.node_limit:
            id, depth = self._waiting.popleft()
            self._examined.add(id)
            record, support = self._judge.record(id), self._judge.support(id)
            if record is not None and support is not None:
                self._accounts.add(record, support)
                self._nodes[id] = Node(record=record, depth=depth)
                self._discover(record, depth)

    def _discover(self, record: StoredRecord, depth: int) -> None:
        further = [source.id for source in _pinned(record) if source.id not in self._discovered]
        if depth == self._query.max_depth:
            # All that is to be discovered before a node of this depth is: what is left is left out.
            self._is_cut |= bool(further)
            return
        self._discovered.update(further)
        self._waiting.extend((id, depth + 1) for id in further)

    def graph(self) -> AncestryGraph:
        """What was met."""
        reasons = {EvidenceStopReason.DEPTH_LIMIT: self._is_cut, EvidenceStopReason.NODE_LIMIT: bool(self._waiting)}
        return AncestryGraph(
            roots=tuple(Root(id=id, status=self._status(id)) for id in self._query.root_ids),
            nodes=tuple(self._nodes.values()),
            edges=tuple(self._edges()),
            stop_reasons=tuple(reason for reason, holds in reasons.items() if holds),
            records_examined=len(self._examined),
            record_bytes=self._accounts.record_bytes,
            dependency_records=self._accounts.dependency_records,
            dependency_bytes=self._accounts.dependency_bytes,
        )

    def _status(self, id: UUID) -> EvidenceRootStatus:
        if id in self._nodes:
            return EvidenceRootStatus.INCLUDED
        return EvidenceRootStatus.UNAVAILABLE if id in self._examined else EvidenceRootStatus.NOT_EXAMINED

    def _edges(self) -> Iterator[Edge]:
        for id, node in self._nodes.items():
            for pinned in _pinned(node.record):
                if pinned.id in self._nodes:
                    yield Edge(
                        source_id=id,
                        source_revision=node.record.revision,
                        target_id=pinned.id,
                        target_revision=pinned.revision,
                    )


def _pinned(record: StoredRecord) -> Sequence[PinnedSource]:
    """What a record was derived from, by ascending id."""
    return sorted(record.sources, key=lambda source: source.id) if isinstance(record, DerivedRecord) else ()
