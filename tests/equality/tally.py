"""What was compared: how many documents, how they were answered, by which layer, and what of the schema they used."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from gateway.graphql.fast.pages import FastPages
from gateway.graphql.fast.projections import Projection
from tests.equality.pairs import Answer, Pair
from tests.equality.requests import Asked

_SHARES: Mapping[str, float] = {
    "whole": 0.25,
    "partial": 0.08,
    "refused": 0.08,
    "page": 0.15,
    "projected": 0.15,
    "executed": 0.05,
}
"""The least of each kind, of all that is compared."""


@dataclass(slots=True)
class Tally:
    """Counts of documents."""

    outcomes: Counter[str] = field(default_factory=Counter)
    """`whole`, `partial` (errors of fields), `refused` (of a document or a request), `untold` (no body)."""
    layers: Counter[str] = field(default_factory=Counter)
    """`page` (written by the store), `projected` (at least in part), `executed` (by the library alone)."""
    used: set[str] = field(default_factory=set)
    """Coordinates of what was answered, at least in part."""
    shown: Counter[str] = field(default_factory=Counter)
    """How often each of the fast layers has shown something; see `watched`."""
    asked: int = 0

    @property
    def compared(self) -> int:
        """All of them."""
        return self.outcomes.total()

    @contextmanager
    def noting(self) -> Iterator[None]:
        """Note by which layer one document is answered."""
        self.asked += 1
        self.shown.clear()
        yield
        self.layers["page" if self.shown["page"] else "projected" if self.shown["projected"] else "executed"] += 1

    def note(self, asked: Asked, answer: Answer) -> None:
        """Count one document."""
        _, content, *_ = answer
        body: dict[str, Any] = json.loads(content or b"{}")  # Any: JSON
        outcome = "untold" if not content else "refused" if "data" not in body else "whole"
        outcome = "partial" if outcome == "whole" and "errors" in body else outcome
        self.outcomes[outcome] += 1
        if outcome in {"whole", "partial"}:
            self.used |= asked.document.coordinates

    def check(self, documents: int) -> None:
        """So many documents are enough, of which none is too rare to tell anything."""
        if self.compared < self.asked:
            # The difference is what is to be seen.
            return
        assert self.compared >= documents
        counts = self.outcomes + self.layers
        rare = {kind: counts[kind] for kind, share in _SHARES.items() if counts[kind] < share * self.compared}
        assert not rare, f"too few of {self.compared}: {rare}"


@contextmanager
def watched(tally: Tally) -> Iterator[None]:
    """Count, for as long as the block lasts, what the fast layers show."""
    answer, show = FastPages.answer, Projection.show

    async def answer_counted(*arguments: Any) -> Any:  # Any: as the method has it
        answered = await answer(*arguments)
        tally.shown["page"] += 1
        return answered

    def show_counted(*arguments: Any) -> Any:  # Any: as the method has it
        shown = show(*arguments)
        tally.shown["projected"] += 1
        return shown

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FastPages, "answer", answer_counted)
        patch.setattr(Projection, "show", show_counted)
        yield


async def compare(pair: Pair, secret: str, asked: Asked, tally: Tally, *, times: int = 2) -> Answer:
    """Ask the plain side once and the other one so many times, since what recurs may take another way; the answer."""
    expected = await asked.of(pair.plain, secret)
    with tally.noting():
        assert expected == await asked.of(pair.fast, secret), asked
    for _ in range(times - 1):
        assert expected == await asked.of(pair.fast, secret), asked
    tally.note(asked, expected)
    return expected
