"""Three principals, two of them in one tenant, whose records are alike in everything but what tells them apart."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from gateway.service.cursors import encode_cursor
from store.domain.derived import DerivedRecord
from store.domain.memories import MemoryRecord
from store.domain.owners import Owner
from store.domain.vocabulary import MemoryStatus, Sensitivity
from tests.factories import FORMED_AT, NOW, derived, identifier, memory, owner

PRINCIPALS = (owner("ada"), owner("bo"), owner("ada", tenant="inland"))
_NAMES = ("Quillon", "Brimsel", "Tarvock")


@dataclass(frozen=True, slots=True, kw_only=True)
class Belongings:
    """What is one principal's own, and what a stranger could hold of it."""

    owner: Owner
    name: str
    session: UUID
    records: Sequence[MemoryRecord]
    derived: DerivedRecord

    @property
    def ids(self) -> list[str]:
        """The identifiers of the beliefs."""
        return [str(record.id) for record in self.records]

    @property
    def derived_id(self) -> str:
        """The identifier of the derived record."""
        return str(self.derived.id)

    @property
    def cursors(self) -> list[str]:
        """The cursor of each belief, and of the derived record."""
        records: Sequence[MemoryRecord | DerivedRecord] = (*self.records, self.derived)
        return [encode_cursor(record.store_position, record.id) for record in records]

    @property
    def traces(self) -> set[str]:
        """Texts that no answer to anybody else may hold."""
        return {*self.ids, self.derived_id, *self.cursors, str(self.session), self.name}


def belongings(number: int) -> Belongings:
    """What is the principal's of that number: a belief with every field and link, those beneath, what rests on it."""
    name, whose, session = _NAMES[number], PRINCIPALS[number], UUID(int=2**64 + number)
    ids = [identifier(100 * (number + 1) + index) for index in range(5)]
    # A link to a belief of each of the others too, as no path makes one.
    strangers = [identifier(100 * (other + 1)) for other in range(len(PRINCIPALS)) if other != number]
    shared: dict[str, Any] = {
        "owner": whose,
        "source_session_id": session,
        "confidence": Decimal(number) / 4,
        "created_at": FORMED_AT + timedelta(days=number),
    }
    times = ("last_evidence_at", "last_used_at", "last_reinforced_at", "expires_at", "valid_to")
    whole: dict[str, Any] = {time: NOW + timedelta(days=1) for time in times} | {
        "flagged_for_review": True,
        "formation_run_id": UUID(int=2**65 + number),
        "consolidation_policy_version": "1",
    }
    newest, old, older, opposite, hidden = ids
    records = (
        memory(f"{name} sails", subject=name, id=newest, conflicts_with=(opposite, *strangers), **whole, **shared),
        memory("Rows", id=old, status=MemoryStatus.SUPERSEDED, superseded_by=newest, **shared),
        memory("Drifts", id=older, status=MemoryStatus.SUPERSEDED, superseded_by=old, conflicts_with=(old,), **shared),
        memory("Never sails", id=opposite, conflicts_with=(newest,), sensitivity=Sensitivity.SENSITIVE, **shared),
        memory("Sinks", id=hidden, status=MemoryStatus.SUPERSEDED, superseded_by=strangers[0], **shared),
    )
    # Interleaved, as they would have been written.
    placed = [replace(record, store_position=10 * index + number + 1) for index, record in enumerate(records)]
    summary = derived(
        placed[0],
        statement=f"{name} sails",
        subject=name,
        id=identifier(100 * (number + 1) + 50),
        session_ids=(session,),
        expires_at=NOW + timedelta(days=1),
        confidence=shared["confidence"],
        created_at=shared["created_at"],
        store_position=10 * len(records) + number + 1,
    )
    return Belongings(owner=whose, name=name, session=session, records=placed, derived=summary)
