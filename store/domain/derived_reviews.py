"""What each review outcome does to a derived record. Source: belief store decisions, Derived records (Review)."""

from dataclasses import dataclass, replace
from datetime import datetime

from store.domain.derived import DerivedRecord, DerivedStatus, retired
from store.domain.vocabulary import EventKind, Portability, ReviewOutcome


@dataclass(frozen=True, slots=True, kw_only=True)
class DerivedReviewEffect:
    """The record to write, and the event to append."""

    record: DerivedRecord
    event: EventKind


def review_derived(
    record: DerivedRecord, outcome: ReviewOutcome, *, position: int, now: datetime
) -> DerivedReviewEffect | None:
    """The effect of one outcome on one derived record; None where it changes nothing.

    Of a retired one nothing is left that could be untrue or out of place; its flag can still be cleared.
    """
    match outcome:
        case ReviewOutcome.DISMISS:
            if not record.flagged_for_review:
                return None
            dismissed = replace(record, flagged_for_review=False, updated_at=now, store_position=position)
            return DerivedReviewEffect(record=dismissed, event=EventKind.REVIEWED)
        case ReviewOutcome.UNTRUE:
            if record.status is DerivedStatus.RETIRED:
                return None
            shell = retired(record, position=position, now=now)
            return DerivedReviewEffect(record=shell, event=EventKind.REJECTED)
        case ReviewOutcome.NOT_HERE:
            if record.status is DerivedStatus.RETIRED or record.portability is Portability.LOCAL:
                return None
            localised = replace(
                record,
                portability=Portability.LOCAL,
                updated_at=now,
                store_position=position,
                revision=record.revision + 1,
            )
            return DerivedReviewEffect(record=localised, event=EventKind.REJECTED)
