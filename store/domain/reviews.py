"""What each review outcome does to a belief. Source: belief store decisions, Review and delete."""

from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal

from store.domain.memories import MemoryRecord
from store.domain.vocabulary import EventKind, MemoryStatus, Portability, RejectionKind, ReviewOutcome

REJECTION_PENALTY = Decimal("0.2")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewEffect:
    """The record to write (None: no column changes), the event to append, the rejection to leave."""

    record: MemoryRecord | None
    event: EventKind | None
    rejection: RejectionKind | None


NOTHING = ReviewEffect(record=None, event=None, rejection=None)


def review(record: MemoryRecord, outcome: ReviewOutcome, *, position: int, now: datetime) -> ReviewEffect:
    """The effect of one outcome on one belief; `position` is used only where a column changes."""
    match outcome:
        case ReviewOutcome.DISMISS:
            return _dismiss(record, position=position, now=now)
        case ReviewOutcome.UNTRUE:
            return _untrue(record, position=position, now=now)
        case ReviewOutcome.NOT_HERE:
            return _not_here(record, position=position, now=now)


def _dismiss(record: MemoryRecord, *, position: int, now: datetime) -> ReviewEffect:
    if not record.flagged_for_review:
        return NOTHING
    reviewed = replace(record, flagged_for_review=False, updated_at=now, store_position=position)
    return ReviewEffect(record=reviewed, event=EventKind.REVIEWED, rejection=None)


def _untrue(record: MemoryRecord, *, position: int, now: datetime) -> ReviewEffect:
    if record.status is MemoryStatus.RETIRED:
        return ReviewEffect(record=None, event=EventKind.REJECTED, rejection=RejectionKind.UNTRUE)
    retired = replace(
        record,
        status=MemoryStatus.RETIRED,
        valid_to=max(now, record.valid_from),
        superseded_by=None,
        confidence=_penalised(record.confidence),
        updated_at=now,
        store_position=position,
        revision=record.revision + 1,
    )
    return ReviewEffect(record=retired, event=EventKind.REJECTED, rejection=RejectionKind.UNTRUE)


def _not_here(record: MemoryRecord, *, position: int, now: datetime) -> ReviewEffect:
    if record.portability is Portability.LOCAL:
        return NOTHING
    localised = replace(
        record,
        portability=Portability.LOCAL,
        confidence=_penalised(record.confidence),
        updated_at=now,
        store_position=position,
        revision=record.revision + 1,
    )
    return ReviewEffect(record=localised, event=EventKind.REJECTED, rejection=RejectionKind.NOT_HERE)


def _penalised(confidence: Decimal) -> Decimal:
    return max(Decimal(0), confidence - REJECTION_PENALTY)
