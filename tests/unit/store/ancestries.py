"""Small worlds of records that rest on each other, sound or not, and a reference for what is shown of them.

The reference shares nothing with the code but its types: it recurses, forgets what it has judged, and goes by levels.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from uuid import UUID

from hypothesis import strategies as st

from store.domain.ancestry import Ancestry, AncestryQuery, StoredRecord
from store.domain.derived import DerivedRecord, DerivedStatus, PinnedSource, retired
from store.domain.memories import MemoryRecord, is_live
from store.domain.vocabulary import SENSITIVITY_ORDER, MemoryStatus, Sensitivity, within
from tests.factories import NOW, derived, identifier, memory

IDS = tuple(identifier(number) for number in range(1, 13))
LEVELS = tuple(Sensitivity)[:3]
_MOSTLY = (True, True, True, True, False)


class Fault(Exception):
    """What the reference meets where the code must meet InconsistentAncestry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Records by their id, and what is asked of them."""

    records: Mapping[UUID, StoredRecord]
    query: AncestryQuery
    ceiling: Sensitivity


def size_of(record: StoredRecord) -> int:
    """A size that tells records apart."""
    return 1 << (record.id.int % 16)


@st.composite
def worlds(draw: st.DrawFn, *, sound: bool = False) -> World:
    """A world of records that were derived by the rules, with perhaps one thing that breaks them if it is not sound."""
    records: dict[UUID, StoredRecord] = {}
    order = draw(st.permutations(IDS))
    for id in order:
        known = list(records.values())
        is_derived = len(known) > 2 and draw(st.sampled_from(_MOSTLY))
        records[id] = draw(_derived(id, known)) if is_derived else draw(_beliefs(id))
    if not sound and draw(st.integers(0, 3)) == 0:
        records = draw(_broken(records))
    return World(
        records=records,
        query=AncestryQuery(
            root_ids=draw(st.lists(st.sampled_from((*IDS, identifier(99))), min_size=1, max_size=6, unique=True)),
            max_depth=draw(st.integers(0, 8)),
            node_limit=draw(st.sampled_from((1, 2, 3, 5, 8, 13, 256))),
        ),
        ceiling=draw(st.sampled_from((*Sensitivity, Sensitivity.RESTRICTED))),
    )


@st.composite
def _beliefs(draw: st.DrawFn, id: UUID) -> MemoryRecord:
    is_live = draw(st.sampled_from(_MOSTLY))
    return memory(
        id=id,
        status=MemoryStatus.ACTIVE if is_live else draw(st.sampled_from((MemoryStatus.RETIRED, MemoryStatus.EXPIRED))),
        sensitivity=draw(st.sampled_from((LEVELS[0], *LEVELS))),
        revision=draw(st.integers(1, 3)),
        expires_at=draw(st.sampled_from((None, None, NOW, NOW + timedelta(days=1)))),
    )


@st.composite
def _derived(draw: st.DrawFn, id: UUID, known: Sequence[StoredRecord]) -> DerivedRecord:
    # Often the latest ones, so that ancestries are deep.
    places = draw(st.frozensets(st.integers(0, 1) | st.integers(0, len(known) - 1), min_size=1, max_size=4))
    record = derived(
        *(known[-1 - place] for place in sorted(places)),
        id=id,
        revision=draw(st.integers(1, 2)),
        expires_at=draw(st.sampled_from((None, None, None, NOW, NOW + timedelta(days=1)))),
    )
    pins = [
        replace(pin, revision=draw(st.integers(1, pin.revision))) if draw(st.integers(0, 9)) == 0 else pin
        for pin in record.sources
    ]
    record = replace(record, sources=tuple(pins))
    return retired(record, position=1, now=NOW) if draw(st.integers(0, 9)) == 0 else record


@st.composite
def _broken(draw: st.DrawFn, records: Mapping[UUID, StoredRecord]) -> dict[UUID, StoredRecord]:
    """The same with one thing that no derivation leads to."""
    broken = dict(records)
    id = draw(st.sampled_from(IDS))
    record = records[id]
    match draw(st.integers(0, 3)):
        case 0:
            del broken[id]
        case 1:
            broken[id] = replace(record, sensitivity=Sensitivity.RESTRICTED)
        case 2 if isinstance(record, DerivedRecord) and record.sources:
            pinned = [replace(pin, revision=9) for pin in record.sources]
            broken[id] = replace(record, sources=tuple(pinned))
        case _ if isinstance(record, DerivedRecord) and record.sources:
            other = draw(st.sampled_from(IDS))
            pins = {pin.id: pin for pin in record.sources}
            pins[other] = PinnedSource(id=other, revision=records[other].revision, omitted=False)
            broken[id] = replace(record, sources=tuple(pins[each] for each in sorted(pins)))
    return broken


def known_of(world: World, *, everything: bool) -> Ancestry:
    """What is read of a world: all of it, or what lies at or below the ceiling and within reach of the roots."""
    looked_up = {*IDS, *world.query.root_ids}
    records = dict(world.records)
    if not everything:
        records = {id: record for id, record in records.items() if within(record.sensitivity, world.ceiling)}
        looked_up = level = set(world.query.root_ids[: world.query.node_limit])
        for _ in range(world.query.max_depth + 8):
            level = {pin.id for id in level for pin in pins_of(records.get(id))}
            looked_up = looked_up | level
        records = {id: record for id, record in records.items() if id in looked_up}
    return Ancestry(looked_up=looked_up, records=records, ceiling=world.ceiling, now=NOW, size_of=size_of)


def pins_of(record: StoredRecord | None) -> Sequence[PinnedSource]:
    """What a record was derived from."""
    return record.sources if isinstance(record, DerivedRecord) and record.status is DerivedStatus.ACTIVE else ()


class Reference:
    """What must be shown of a world. Raises Fault where it must not be shown at all."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.depths: dict[UUID, int] = {}
        self.examined: list[UUID] = []
        self.is_cut = self.is_limited = False
        self._walk()

    def shown(self, id: UUID) -> StoredRecord | None:
        record = self.world.records.get(id)
        return record if record is not None and within(record.sensitivity, self.world.ceiling) else None

    def _walk(self) -> None:
        level, met = list(self.world.query.root_ids), set(self.world.query.root_ids)
        for depth in range(self.world.query.max_depth + 1):
            following: list[UUID] = []
            for id in level:
                if len(self.examined) == self.world.query.node_limit:
                    self.is_limited = True
                    return
                self.examined.append(id)
                self.check(id, ())
                if self.reasons(id) is None:
                    continue
                self.depths[id] = depth
                new = sorted({pin.id for pin in pins_of(self.shown(id))} - met)
                if depth == self.world.query.max_depth:
                    self.is_cut = self.is_cut or bool(new)
                else:
                    met.update(new)
                    following += new
            level = following

    def check(self, id: UUID, trail: tuple[UUID, ...]) -> None:
        """Meet everything that an id leads to."""
        record = self.shown(id)
        if id in trail:
            raise Fault
        for pin in pins_of(record):
            assert record is not None
            source = self.shown(pin.id)
            if (
                source is None
                or source.revision < pin.revision
                or SENSITIVITY_ORDER[source.sensitivity] > SENSITIVITY_ORDER[record.sensitivity]
            ):
                raise Fault
            self.check(pin.id, (*trail, id))

    def reasons(self, id: UUID) -> frozenset[UUID] | None:
        """All that an eligible record rests on; None for one that is not."""
        reasons = self._reasons(id, 8)
        return None if reasons is None or len(reasons) > 64 else reasons

    def _reasons(self, id: UUID, steps: int) -> frozenset[UUID] | None:
        record = self.shown(id)
        if isinstance(record, MemoryRecord):
            return frozenset() if is_live(record, NOW) else None
        if record is None or record.content is None or steps == 0:
            return None
        if record.content.expires_at is not None and record.content.expires_at <= NOW:
            return None
        reasons: frozenset[UUID] = frozenset()
        for pin in record.sources:
            source, behind = self.shown(pin.id), self._reasons(pin.id, steps - 1)
            if source is None or behind is None or source.revision != pin.revision:
                return None
            reasons |= {pin.id} | behind
        return reasons
