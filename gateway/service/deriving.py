"""The governed derivation: summaries and hypotheses over the beliefs of one owner, and over each other.

No transport reaches it; the command line and the importer do. A derivation holds the locks of every statement on which
it would rest, of what it would say, and of every derivation between, and reads all of it again under them: so none
slips past a deletion. What was deleted or found untrue is refused, whatever path it comes by.
Source: belief store decisions, Derived records.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from gateway.service.derived_reviews import derivation_hashes, placement_hashes, session_of
from gateway.service.environment import Environment
from gateway.service.guards import hold_lexical_version, require_key
from gateway.service.people import find_shown_subject, subject_locks
from store.domain.derived import (
    ANCESTRY_DEPTH_MAX,
    DerivedContent,
    DerivedRecord,
    DerivedStatus,
    RecordKind,
    retired,
)
from store.domain.deriving import (
    DerivationOutcome,
    DerivationProposal,
    Source,
    ancestors_of,
    belief_source,
    can_be_source,
    check_proposal,
    check_support,
    derive,
    derived_source,
)
from store.domain.keyring import Keyring
from store.domain.memories import InvalidRecord, MemoryRecord
from store.domain.owners import Owner
from store.domain.vocabulary import BLOCKING_REJECTIONS, EventKind, Portability, RejectionKind, Sensitivity
from store.ports.derived import DerivedWrite
from store.ports.errors import StoreContention, StoreInconsistent
from store.ports.store import Store, Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class DerivationResult:
    """What became of a proposal, and the record that holds it now (None where it was blocked)."""

    outcome: DerivationOutcome
    id: UUID | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Met:
    """What a proposal would rest on, by id: its sources and all that these rest on."""

    beliefs: Mapping[UUID, MemoryRecord]
    derived: Mapping[UUID, DerivedRecord]


class DerivationService:
    """Derives records, refusing what no live belief of the owner says and what was forbidden."""

    def __init__(self, store: Store, environment: Environment) -> None:
        """Write to a store; the environment holds clock, keys and new identifiers."""
        self._store = store
        self._environment = environment

    async def derive(self, owner: Owner, proposal: DerivationProposal) -> DerivationResult:
        """Derive one record, or find that it stands, or refuse it.

        Raises InvalidRecord for a rule that the proposal breaks; nothing is written then. A source that is absent,
        another owner's, not live, retracted, or a derived record that does not stand is such a rule.
        """
        check_proposal(proposal)
        return await self._store.transact(lambda transaction: self._derive(transaction, owner, proposal))

    async def retire(self, owner: Owner, id: UUID) -> bool:
        """Retire a record that nobody needs any more; False where it is not there, or retired already."""

        async def work(transaction: Transaction) -> bool:
            found = await transaction.derived.find_many_for_update(owner, [id])
            return await _retire(transaction, found, self._environment.clock())

        return await self._store.transact(work)

    async def _derive(self, transaction: Transaction, owner: Owner, proposal: DerivationProposal) -> DerivationResult:
        now, keyring = self._environment.clock(), self._environment.keyring
        seen = await _seen(transaction, owner, await _closure(transaction, owner, proposal.source_ids))
        said = _hashes_said(keyring, owner, proposal)
        locks = _hashes_met(keyring, owner, seen) | said | subject_locks(proposal.subject)
        await transaction.journal.lock_statements(owner, locks)
        await require_key(transaction.facts, keyring)
        await hold_lexical_version(transaction.facts)
        if await transaction.journal.blocked(owner, said, kinds=BLOCKING_REJECTIONS):
            return DerivationResult(outcome=DerivationOutcome.BLOCKED, id=None)
        met = await _locked(transaction, owner, await _closure(transaction, owner, proposal.source_ids))
        if {*met.beliefs, *met.derived} != {*seen.beliefs, *seen.derived}:
            raise StoreContention
        sources = [await _source(transaction, owner, id, met, now) for id in proposal.source_ids]
        if proposal.record_kind is RecordKind.HYPOTHESIS:
            await _check_support(transaction, owner, proposal, sources, met)
        record = derive(
            proposal,
            sources,
            owner=owner,
            id=self._environment.new_id(),
            display_subject=await find_shown_subject(transaction, owner, proposal.subject),
            position=1,
            now=now,
        )
        return await self._put(transaction, record, sources, now)

    async def _put(
        self, transaction: Transaction, record: DerivedRecord, sources: Collection[Source], now: datetime
    ) -> DerivationResult:
        """Write a record, unless one of the same that says the same stands; retire those that are withheld.

        One of another sensitivity has no part in it: it would be told of where it is hidden.
        """
        content, owner, keyring = record.content, record.owner, self._environment.keyring
        assert content is not None, "it was just derived"
        hashes = derivation_hashes(keyring, owner, content)
        equal = await transaction.derived.find_equal_ids(owner, hashes.values())
        for other in await transaction.derived.find_many_for_update(owner, equal):
            if not _is_of_the_same(other, record, content):
                continue
            if await _stands(transaction, other, now):
                return DerivationResult(outcome=DerivationOutcome.UNCHANGED, id=other.id)
            await _retire(transaction, [other], now)
        placed = placement_hashes(keyring, record, content).values()
        if await transaction.journal.blocked(owner, placed, kinds={RejectionKind.NOT_HERE}):
            # What was kept to its scope is so again when it is made anew.
            record = replace(record, portability=Portability.LOCAL)
        [position] = await transaction.memories.next_positions(1)
        write = DerivedWrite(
            record=replace(record, store_position=position),
            ancestors=ancestors_of(sources),
            derivation_hash=hashes[keyring.current.id],
            statement_hash=keyring.statement_hash(owner, content.statement),
        )
        await transaction.derived.add(write)
        await transaction.journal.append(
            owner,
            EventKind.FORMED,
            session_id=session_of(record),
            memory_id=record.id,
            at=now,
            payload={"record_kind": record.record_kind.value, "sources": len(record.sources)},
        )
        return DerivationResult(outcome=DerivationOutcome.DERIVED, id=record.id)


def _is_of_the_same(other: DerivedRecord, record: DerivedRecord, content: DerivedContent) -> bool:
    """Whether what says the same is of one kind, sensitivity, subject and scope; of a retired one less is known."""
    if (other.record_kind, other.sensitivity) != (record.record_kind, record.sensitivity):
        return False
    held = other.content
    return held is None or (held.subject, held.scope) == (content.subject, content.scope)


async def _closure(transaction: Transaction, owner: Owner, ids: Collection[UUID]) -> frozenset[UUID]:
    """The ids and those of all that they rest on."""
    ancestors = await transaction.derived.find_ancestors(owner, ids)
    return frozenset(ids).union(*({ancestor.id for ancestor in found} for found in ancestors.values()))


async def _seen(transaction: Transaction, owner: Owner, ids: Collection[UUID]) -> _Met:
    """What the ids name, as it stands before anything is locked."""
    beliefs = await transaction.shown.find_many(owner, ids, ceiling=Sensitivity.RESTRICTED)
    derived = await transaction.shown_derived.find_stored(owner, ids, ceiling=Sensitivity.RESTRICTED)
    return _met(beliefs, derived)


async def _locked(transaction: Transaction, owner: Owner, ids: Collection[UUID]) -> _Met:
    beliefs = await transaction.memories.find_many_for_update(owner, ids)
    derived = await transaction.derived.find_many_for_update(owner, ids)
    return _met(beliefs, derived)


def _met(beliefs: Collection[MemoryRecord], derived: Collection[DerivedRecord]) -> _Met:
    return _Met(beliefs={record.id: record for record in beliefs}, derived={record.id: record for record in derived})


def _hashes_said(keyring: Keyring, owner: Owner, proposal: DerivationProposal) -> frozenset[bytes]:
    """The hashes, under every key, of the derivation, of the statement as it is rendered, and of each clause."""
    texts = proposal.texts
    whole = " ".join(texts)
    hashes = {hash for said in (texts, [whole]) for hash in keyring.derivation_hashes_by_key(owner, said).values()}
    return frozenset(hashes).union(*(keyring.statement_hashes(owner, text) for text in (whole, *texts)))


def _hashes_met(keyring: Keyring, owner: Owner, met: _Met) -> frozenset[bytes]:
    """The hashes, under every key, by which what a record would rest on is deleted or found untrue."""
    hashes = [keyring.statement_hashes(owner, record.statement) for record in met.beliefs.values()]
    contents = [record.content for record in met.derived.values() if record.content is not None]
    hashes += [frozenset(derivation_hashes(keyring, owner, content).values()) for content in contents]
    return frozenset[bytes]().union(*hashes)


async def _source(transaction: Transaction, owner: Owner, id: UUID, met: _Met, now: datetime) -> Source:
    """A source as it stands. Raises InvalidRecord for one that can't be one."""
    belief = met.beliefs.get(id)
    if belief is not None and can_be_source(belief, now):
        return belief_source(belief)
    derived = met.derived.get(id)
    if derived is not None and derived.content is not None and await _stands(transaction, derived, now):
        ancestors = (await transaction.derived.find_ancestors(owner, [id]))[id]
        return derived_source(derived, derived.content, ancestors=ancestors, depth=_depth(id, met.derived))
    raise InvalidRecord(
        "source_ids",
        "must name live beliefs that are not retracted, and derived records that stand, of the same owner",
    )


def _depth(id: UUID, derived: Mapping[UUID, DerivedRecord]) -> int:
    """In how many steps a derived record rests on beliefs. All that it rests on is given."""
    depth, reached = 0, {id}
    while reached:
        depth += 1
        if depth > ANCESTRY_DEPTH_MAX:
            raise StoreInconsistent("a derived record rests on others in more steps than may be")
        reached = {source.id for id in reached for source in derived[id].sources if source.id in derived}
    return depth


async def _stands(transaction: Transaction, record: DerivedRecord, now: datetime) -> bool:
    found = await transaction.shown_derived.find(record.owner, record.id, ceiling=Sensitivity.RESTRICTED, now=now)
    return found is not None and found.status is DerivedStatus.ACTIVE


async def _check_support(
    transaction: Transaction,
    owner: Owner,
    proposal: DerivationProposal,
    sources: Collection[Source],
    met: _Met,
) -> None:
    """Refuse a hypothesis that the beliefs behind its clause do not support."""
    named = {id for clause in proposal.clauses for id in clause.source_ids}
    behind = named | {ancestor.id for source in sources if source.id in named for ancestor in source.ancestors}
    beliefs = sorted(behind & set(met.beliefs))
    check_support([await transaction.memories.find_references(owner, id) for id in beliefs])


async def _retire(transaction: Transaction, records: Collection[DerivedRecord], now: datetime) -> bool:
    """Retire those that are not yet, and note it as the end of each; whether there was one."""
    active = [record for record in records if record.status is DerivedStatus.ACTIVE]
    for record in active:
        [position] = await transaction.memories.next_positions(1)
        await transaction.derived.put(retired(record, position=position, now=now))
        await transaction.journal.append(
            record.owner,
            EventKind.EXPIRED,
            session_id=session_of(record),
            memory_id=record.id,
            at=now,
            payload={},
        )
    return bool(active)
