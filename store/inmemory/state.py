"""What the in-memory store holds, as plain dictionaries of frozen values.

A state that a snapshot reads is never changed: a transaction works on a clone, which replaces it as a whole.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from store.domain.derived import Ancestor, DerivedRecord
from store.domain.journal import Event, EvidenceReference, Receipt, Rejection, Tombstone
from store.domain.memories import MemoryRecord
from store.domain.owners import Owner
from store.domain.people import Person
from store.domain.tokens import AccessToken
from store.domain.vocabulary import RejectionKind
from store.ports.store import StoreFact


class Sequence:
    """Rising numbers that no rollback gives back, as a database sequence hands them out."""

    def __init__(self) -> None:
        self._numbers: Iterator[int] = itertools.count(1)

    def take(self) -> int:
        """The next number."""
        return next(self._numbers)

    def rise_above(self, number: int) -> None:
        """Hand out only numbers greater than this one from now on."""
        self._numbers = itertools.count(max(number + 1, self.take()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Sequences:
    """The two sequences of a store."""

    positions: Sequence = field(default_factory=Sequence)
    events: Sequence = field(default_factory=Sequence)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredMemory:
    """A row: the record with every link, and what is computed from it when it is written."""

    record: MemoryRecord
    statement_hash: bytes
    subject_key: str
    display_subject_key: str
    lexemes: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredDerived:
    """A derived record, all that it rests on by id, and what is computed from it when it is written.

    A retired one has neither ancestors nor lexemes.
    """

    record: DerivedRecord
    ancestors: tuple[Ancestor, ...]
    derivation_hash: bytes
    statement_hash: bytes
    lexemes: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonFact:
    """The copy of a live statement about a person, which other features read."""

    person_key: str
    statement: str
    statement_hash: bytes


@dataclass(slots=True, kw_only=True)
class OwnerState:
    """Everything of one owner. No dictionary is ever reached but through its owner."""

    memories: dict[UUID, StoredMemory] = field(default_factory=dict)
    derived: dict[UUID, StoredDerived] = field(default_factory=dict)
    references: dict[UUID, tuple[EvidenceReference, ...]] = field(default_factory=dict)
    people_facts: dict[UUID, PersonFact] = field(default_factory=dict)
    events: dict[tuple[UUID, int], Event] = field(default_factory=dict)
    receipts: dict[str, Receipt] = field(default_factory=dict)
    tombstones: dict[bytes, Tombstone] = field(default_factory=dict)
    rejections: dict[tuple[bytes, RejectionKind], Rejection] = field(default_factory=dict)
    people: dict[str, Person] = field(default_factory=dict)

    def clone(self) -> "OwnerState":
        """A copy whose dictionaries may be changed; the values are frozen and shared."""
        return OwnerState(
            memories=dict(self.memories),
            derived=dict(self.derived),
            references=dict(self.references),
            people_facts=dict(self.people_facts),
            events=dict(self.events),
            receipts=dict(self.receipts),
            tombstones=dict(self.tombstones),
            rejections=dict(self.rejections),
            people=dict(self.people),
        )

    def is_empty(self) -> bool:
        """Whether nothing of the owner is stored."""
        rows = (self.memories, self.derived, self.events, self.receipts, self.tombstones, self.rejections, self.people)
        return not any(rows)


@dataclass(slots=True, kw_only=True)
class State:
    """Everything that the store holds, its sequences aside."""

    owners: dict[Owner, OwnerState] = field(default_factory=dict)
    tokens: dict[UUID, AccessToken] = field(default_factory=dict)
    facts: dict[StoreFact, str] = field(default_factory=dict)
    import_offsets: dict[str, tuple[int, datetime]] = field(default_factory=dict)

    def clone(self) -> "State":
        """A copy that a transaction may change."""
        return State(
            owners={owner: held.clone() for owner, held in self.owners.items()},
            tokens=dict(self.tokens),
            facts=dict(self.facts),
            import_offsets=dict(self.import_offsets),
        )

    def of(self, owner: Owner) -> OwnerState:
        """What is held of an owner, to be read; an owner of whom nothing is stored has an empty state."""
        return self.owners.get(owner) or OwnerState()

    def for_writing(self, owner: Owner) -> OwnerState:
        """What is held of an owner, to be changed."""
        return self.owners.setdefault(owner, OwnerState())
