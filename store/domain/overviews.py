"""Counts over one owner's beliefs under a ceiling. Source: belief store decisions, Reading (overview)."""

from collections.abc import Mapping
from dataclasses import dataclass

from store.domain.vocabulary import BeliefType, MemoryStatus, Sensitivity

CONFIDENCE_BANDS = 5
"""Bands of equal width from 0 to 1; the last one holds 1 itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryOverview:
    """Counts over one owner's beliefs at or below a ceiling.

    `statuses` counts every effective status; all others count the live set. `confidence_bands` is
    keyed by the lower end in fifths (0 to 4), `months` by (year, month) of created_at in UTC. Keys
    with a count of zero are absent.
    """

    statuses: Mapping[MemoryStatus, int]
    belief_types: Mapping[BeliefType, int]
    sensitivities: Mapping[Sensitivity, int]
    confidence_bands: Mapping[int, int]
    months: Mapping[tuple[int, int], int]
    flagged: int
