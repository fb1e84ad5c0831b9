"""Somebody of whom something was concluded, for tests of what the page shows of it."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from gateway.service.environment import system_clock
from store.domain.derived import DerivedRecord
from store.domain.memories import MemoryRecord
from store.domain.vocabulary import BeliefType
from store.ports.store import Transaction
from tests.browser.site import Person, Site
from tests.factories import memory, reference
from tests.services.derivations import hypothesis, proposal

BEES, BOATS, SUPPOSED = "Keeps bees", "Keeps a rowing boat", "Would rather live by the water"


@dataclass(frozen=True, slots=True, kw_only=True)
class Concluded:
    """Two beliefs, what sums them up, and what is supposed of the summary and one of the two."""

    person: Person
    bees: MemoryRecord
    boats: MemoryRecord
    summary: DerivedRecord
    supposition: DerivedRecord


async def concluded(
    site: Site,
    **changes: Any,  # fields of the second belief
) -> Concluded:
    """Somebody new of whom this is believed, summed up and supposed."""
    bees = memory(BEES, last_evidence_at=system_clock())
    boats = memory(
        BOATS,
        belief_type=BeliefType.PREFERENCE,
        source_event_ids=(2,),
        last_evidence_at=system_clock(),
        **changes,
    )
    person = await site.person(bees, boats)

    async def support(transaction: Transaction) -> None:
        for belief in (bees, boats):
            references = [reference(number) for number in belief.source_event_ids]
            await transaction.memories.add_references(person.owner, belief.id, references)

    await site.store.transact(support)
    summary = await site.derive(person, proposal((BEES, [bees.id]), (BOATS, [boats.id])))
    supposition = await site.derive(person, hypothesis(SUPPOSED, summary.id, boats.id))
    return Concluded(person=person, bees=bees, boats=boats, summary=summary, supposition=supposition)


async def chain(site: Site, steps: int) -> tuple[Person, list[DerivedRecord]]:
    """Somebody of whom each summary rests on the one before, as many steps deep; the last one is the deepest."""
    texts = [f"Counts to {number}" for number in range(steps + 1)]
    person = await site.person(*(memory(text) for text in texts))
    before, *others = person.records
    summaries: list[DerivedRecord] = []
    source: UUID = before.id
    for number, belief in enumerate(others):
        summary = await site.derive(person, proposal((texts[number], [source]), (belief.statement, [belief.id])))
        summaries.append(summary)
        source = summary.id
    return person, summaries
