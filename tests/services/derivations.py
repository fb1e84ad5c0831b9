"""Proposals of derived records for tests: a test names only what it is about."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any
from uuid import UUID

from store.domain.derived import RecordKind
from store.domain.deriving import DerivationClause, DerivationProposal


def proposal(
    *clauses: tuple[str, Sequence[UUID]],
    omitted: Sequence[UUID] = (),
    **changes: Any,  # any other field of the proposal, by its name: replace() refuses what is none
) -> DerivationProposal:
    """A summary of these clauses, each with the sources that say it, over these and the omitted ones."""
    wish = DerivationProposal(
        record_kind=RecordKind.SUMMARY,
        subject="Ada",
        clauses=tuple(DerivationClause(text=text, source_ids=tuple(ids)) for text, ids in clauses),
        source_ids=tuple(dict.fromkeys([*(id for _, ids in clauses for id in ids), *omitted])),
        method="elsewhere",
        method_revision="7",
        evidence_ref="run 1",
    )
    return replace(wish, **changes)


def hypothesis(
    text: str,
    *sources: UUID,
    **changes: Any,  # as above
) -> DerivationProposal:
    """What is supposed of these sources."""
    return proposal((text, sources), record_kind=RecordKind.HYPOTHESIS, **changes)


LOW = Decimal("0.3")
