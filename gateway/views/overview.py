"""What is believed about a person at a glance: counts, under a ceiling.

Source: belief store decisions, Reading (overview).
"""

from pydantic import BaseModel, ConfigDict, Field

from store.domain.overviews import CONFIDENCE_BANDS, MemoryOverview
from store.domain.vocabulary import STORED_STATUSES, BeliefType, MemoryStatus, Sensitivity


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class StatusCount(_Frozen):
    """How many beliefs have one status."""

    status: MemoryStatus = Field(description="The status, as it stands now.")
    count: int = Field(ge=0, description="How many beliefs have it.")


class BeliefTypeCount(_Frozen):
    """How many live beliefs are of one type."""

    belief_type: BeliefType = Field(description="The type.")
    count: int = Field(ge=0, description="How many live beliefs are of it.")


class SensitivityCount(_Frozen):
    """How many live beliefs are of one sensitivity."""

    sensitivity: Sensitivity = Field(description="The sensitivity; never above the ceiling.")
    count: int = Field(ge=0, description="How many live beliefs are of it.")


class ConfidenceBandCount(_Frozen):
    """How many live beliefs lie in one band of confidence."""

    minimum: float = Field(description="The lowest confidence of the band, included.")
    maximum: float = Field(description="The highest, excluded, save in the last band, which holds 1.")
    count: int = Field(ge=0, description="How many live beliefs lie in it.")


class MonthCount(_Frozen):
    """How many live beliefs were formed in one month."""

    month: str = Field(description="The month of formation in UTC, as YYYY-MM.")
    count: int = Field(ge=0, description="How many live beliefs were formed in it.")


class OverviewView(_Frozen):
    """Everything believed about you under one ceiling, counted."""

    statuses: tuple[StatusCount, ...] = Field(description="All beliefs by status, every stored status once.")
    belief_types: tuple[BeliefTypeCount, ...] = Field(description="Live beliefs by type, every type once.")
    sensitivities: tuple[SensitivityCount, ...] = Field(
        description="Live beliefs by sensitivity, every sensitivity up to the ceiling once."
    )
    confidence_bands: tuple[ConfidenceBandCount, ...] = Field(description="Live beliefs by confidence, in fifths.")
    months: tuple[MonthCount, ...] = Field(description="Live beliefs by month of formation, months with any, in order.")
    flagged_for_review: int = Field(ge=0, description="Live beliefs that wait for your review.")


def overview_view(overview: MemoryOverview, visible: frozenset[Sensitivity]) -> OverviewView:
    """The view of the counts; `visible` are the sensitivities up to the ceiling."""
    return OverviewView(
        statuses=tuple(
            StatusCount(status=status, count=overview.statuses.get(status, 0))
            for status in MemoryStatus
            if status in STORED_STATUSES
        ),
        belief_types=tuple(
            BeliefTypeCount(belief_type=kind, count=overview.belief_types.get(kind, 0)) for kind in BeliefType
        ),
        sensitivities=tuple(
            SensitivityCount(sensitivity=sensitivity, count=overview.sensitivities.get(sensitivity, 0))
            for sensitivity in Sensitivity
            if sensitivity in visible
        ),
        confidence_bands=tuple(
            ConfidenceBandCount(
                minimum=band / CONFIDENCE_BANDS,
                maximum=(band + 1) / CONFIDENCE_BANDS,
                count=overview.confidence_bands.get(band, 0),
            )
            for band in range(CONFIDENCE_BANDS)
        ),
        months=tuple(
            MonthCount(month=f"{year:04d}-{month:02d}", count=overview.months[year, month])
            for year, month in sorted(overview.months)
        ),
        flagged_for_review=overview.flagged,
    )
