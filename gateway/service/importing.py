"""Import: lines into the store, in batches that are atomic with the place they end at.

A second run changes nothing; an interrupted one goes on where the last batch ended, found by the file's
hash. A line that can't be taken is reported by number and leaves nothing behind.
Source: belief store decisions, Formation (Restoring).
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol, TypeAlias

from gateway.service.environment import Environment
from gateway.service.erasure import erase_statements, find_equal_hashes
from gateway.service.errors import Conflict, GatewayError, MalformedRequest, Unavailable
from gateway.service.formation import FormationService
from gateway.service.guards import require_key
from gateway.service.locomo import LocomoBelief, read_locomo
from gateway.service.people import subject_locks, take_person
from gateway.service.records import (
    ERRORS_KEPT_MAX,
    AnyLine,
    BeliefLine,
    CandidateLine,
    EventLine,
    PersonLine,
    ReceiptLine,
    RejectionLine,
    TombstoneLine,
    parse_line,
)
from gateway.service.summarizing import SummaryService
from store.domain.memories import InvalidRecord
from store.domain.owners import Owner
from store.domain.people import PERSON_PREFIX, Person
from store.ports.store import Store, Transaction

BATCH_LINES = 200

EqualHashes: TypeAlias = Mapping[Owner, Mapping[bytes, frozenset[bytes]]]
"""By owner and hash: the hashes of the same statement under every key."""


class Lines(Protocol):
    """A source of lines that can be read from a byte onwards."""

    def seek(self, offset: int, /) -> int:
        """Go to a byte."""
        ...

    def __iter__(self) -> Iterator[bytes]:
        """Lines with their ends."""
        ...


@dataclass(slots=True)
class ImportReport:
    """What an import did: counts by outcome, and the lines that were refused, with the reason."""

    lines: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    refused: int = 0
    errors: list[tuple[int, str]] = field(default_factory=list)
    resumed_at: int = 0

    def add(self, other: "ImportReport") -> None:
        """Take over another report's numbers."""
        self.lines += other.lines
        self.refused += other.refused
        self.errors = (self.errors + other.errors)[:ERRORS_KEPT_MAX]
        for outcome, count in other.counts.items():
            self.counts[outcome] = self.counts.get(outcome, 0) + count

    def count(self, outcome: str, number: int = 1) -> None:
        """Note the outcome of a line, or of so many."""
        self.counts[outcome] = self.counts.get(outcome, 0) + number

    def refuse(self, number: int, reason: str) -> None:
        """Note one line that was refused."""
        self.refused += 1
        self.errors.append((number, reason))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Batch:
    """Consecutive lines: their numbers and bytes, and the byte at which the batch ends."""

    lines: Sequence[tuple[int, bytes]]
    end: int


class ImportService:
    """Takes lines in: candidates are formed, everything else is restored."""

    def __init__(self, store: Store, environment: Environment, formation: FormationService) -> None:
        """Write to a store through the governed formation."""
        self._store = store
        self._environment = environment
        self._formation = formation

    async def run(
        self, lines: Lines, *, file_hash: str | None, progress: Callable[[int], None] = lambda _: None
    ) -> ImportReport:
        """Import every line; `progress` is told the byte at which each batch ended.

        With a file hash (64 hexadecimal digits) an interrupted run of the same bytes is gone on with;
        without one the lines are read from where they stand. Raises Unavailable and StoreError; what was
        committed until then stays.
        """
        report = ImportReport()
        first_number, offset = 1, 0
        if file_hash is not None:
            async with self._store.snapshot() as snapshot:
                report.resumed_at = offset = await snapshot.facts.import_offset(file_hash)
            lines.seek(0)
            first_number += _count_lines(lines, until=offset)
            lines.seek(offset)
        for batch in _batches(lines, first_number=first_number, offset=offset):
            report.add(await self._store.transact(partial(self._take, batch=batch, file_hash=file_hash)))
            progress(batch.end)
        if file_hash is not None:
            # A finished file is read again when it is imported again: a refused line may be taken then.
            await self._store.transact(partial(self._remember, file_hash=file_hash, offset=0))
        return report

    async def _take(self, transaction: Transaction, batch: _Batch, file_hash: str | None) -> ImportReport:
        report = ImportReport(lines=len(batch.lines))
        taken: list[tuple[int, AnyLine]] = []
        for number, content in batch.lines:
            if not content.strip():
                continue
            try:
                taken.append((number, parse_line(content.rstrip(b"\r\n"))))
            except MalformedRequest as error:
                report.refuse(number, error.message)
        lines = [line for _, line in taken]
        await self._lock(transaction, lines)
        equal = await self._equal_hashes(transaction, lines)
        for number, line in taken:
            try:
                report.count(await self._take_line(transaction, line, equal))
            except InvalidRecord as error:
                report.refuse(number, str(error))
            except Unavailable:
                raise
            except GatewayError as error:
                report.refuse(number, error.message)
        if file_hash is not None:
            await self._remember(transaction, file_hash, batch.end)
        report.errors.sort()
        return report

    async def _lock(self, transaction: Transaction, lines: Iterable[AnyLine]) -> None:
        """Take every lock of the batch at once, in the one order that all writers keep."""
        locks: dict[Owner, set[bytes]] = {}
        for line in lines:
            held = locks.setdefault(line.owner, set())
            match line:
                case BeliefLine():
                    held |= self._formation.restore_locks(line.record())
                case CandidateLine():
                    held |= self._formation.locks(line.owner, subject=line.subject, statement=line.statement)
                case PersonLine():
                    held |= subject_locks(f"{PERSON_PREFIX}{line.key}")
                case TombstoneLine():
                    held.add(line.statement_hash)
        await _hold(transaction, locks)

    async def _equal_hashes(self, transaction: Transaction, lines: Sequence[AnyLine]) -> EqualHashes:
        """For the hash of each tombstone that does not stand yet: those of the same statement under other keys."""
        buried: dict[Owner, set[bytes]] = {}
        for line in lines:
            if isinstance(line, TombstoneLine) and self._environment.keyring.holds(line.key_id):
                buried.setdefault(line.owner, set()).add(line.statement_hash)
        equal: dict[Owner, Mapping[bytes, frozenset[bytes]]] = {}
        for owner, hashes in buried.items():
            fresh = [hash for hash in hashes if not await transaction.journal.entombed(owner, [hash])]
            texts = [
                line.statement for line in lines if isinstance(line, BeliefLine | CandidateLine) and line.owner == owner
            ]
            equal[owner] = await find_equal_hashes(transaction, self._environment.keyring, owner, fresh, texts)
        return equal

    async def _take_line(self, transaction: Transaction, line: AnyLine, equal: EqualHashes) -> str:
        """Take one line in; the outcome that is counted. Raises before anything of the line is written."""
        match line:
            case CandidateLine():
                formed = await self._formation.form_within(transaction, line.owner, line.candidate())
                return formed.outcome.value
            case BeliefLine():
                restored = await self._formation.restore_within(transaction, line.record(), line.references())
                return restored.value
            case PersonLine():
                return _noted("person", await take_person(transaction, line.person()))
            case TombstoneLine():
                return await self._take_tombstone(transaction, line, equal)
            case RejectionLine():
                await self._require_known_key(transaction, line.key_id)
                return _noted("rejection", await transaction.journal.add_rejection(line.rejection()))
            case EventLine():
                return await _take_event(transaction, line)
            case ReceiptLine():
                return await _take_receipt(transaction, line)

    async def _take_tombstone(self, transaction: Transaction, line: TombstoneLine, equal: EqualHashes) -> str:
        """Entomb a statement and erase the rows that hold it, as a deletion does."""
        await self._require_known_key(transaction, line.key_id)
        tombstone = line.tombstone()
        if await transaction.journal.entombed(line.owner, [tombstone.statement_hash]):
            return _noted("tombstone", new=False)
        hashes = {tombstone.statement_hash} | equal[line.owner].get(tombstone.statement_hash, frozenset())
        await erase_statements(transaction, line.owner, hashes, [tombstone], now=self._environment.clock())
        return _noted("tombstone", new=True)

    async def _require_known_key(self, transaction: Transaction, key_id: str) -> None:
        await require_key(transaction.facts, self._environment.keyring)
        if not self._environment.keyring.holds(key_id):
            raise MalformedRequest("key_id", "must name a key of this deployment's key file")

    async def _remember(self, transaction: Transaction, file_hash: str, offset: int) -> None:
        await transaction.facts.put_import_offset(file_hash, offset, at=self._environment.clock())


async def _hold(transaction: Transaction, locks: Mapping[Owner, Collection[bytes]]) -> None:
    for owner in sorted(locks):
        await transaction.journal.lock_statements(owner, locks[owner])


async def _take_event(transaction: Transaction, line: EventLine) -> str:
    event = line.event()
    if await transaction.journal.restore_event(event):
        return _noted("event", new=True)
    if await transaction.journal.find_event(event.owner, event.session_id, event.number) != event:
        raise Conflict("number is taken by another event of that session, which stays")
    return _noted("event", new=False)


async def _take_receipt(transaction: Transaction, line: ReceiptLine) -> str:
    receipt = line.receipt()
    held = await transaction.journal.find_receipt(receipt.owner, receipt.key)
    if held is None:
        return _noted("receipt", await transaction.journal.add_receipt(receipt))
    if held.request_hash != receipt.request_hash:
        raise Conflict("key is taken by the receipt of another request")
    return _noted("receipt", new=False)


def _noted(kind: str, new: bool) -> str:
    return f"{kind}_restored" if new else f"{kind}_skipped"


def _count_lines(lines: Iterable[bytes], *, until: int) -> int:
    """How many lines lie before a byte that begins one."""
    count = position = 0
    if until == 0:
        return 0
    for line in lines:
        position += len(line)
        count += 1
        if position >= until:
            break
    return count


def _batches(lines: Iterable[bytes], *, first_number: int, offset: int) -> Iterator[_Batch]:
    batch: list[tuple[int, bytes]] = []
    for number, line in enumerate(lines, first_number):
        offset += len(line)
        batch.append((number, line))
        if len(batch) == BATCH_LINES:
            yield _Batch(lines=batch, end=offset)
            batch = []
    if batch:
        yield _Batch(lines=batch, end=offset)


class LocomoImportService:
    """Takes the LoCoMo conversations in, as restored beliefs, and sums them up where that is asked for."""

    def __init__(self, store: Store, formation: FormationService, summaries: SummaryService) -> None:
        """Write to a store through the governed formation and derivation."""
        self._store = store
        self._formation = formation
        self._summaries = summaries

    async def run(
        self, content: bytes, *, derive: bool = False, progress: Callable[[int, int], None] = lambda *_: None
    ) -> ImportReport:
        """Import the whole file; `progress` is told how many of how many beliefs are done.

        With `derive` each principal of the file is summed up then. A second run changes nothing. Raises
        MalformedRequest for a file of another shape.
        """
        people, beliefs = read_locomo(content)
        report = ImportReport(lines=len(beliefs))
        await self._store.transact(partial(_take_people, people=people))
        for start in range(0, len(beliefs), BATCH_LINES):
            batch = beliefs[start : start + BATCH_LINES]
            for outcome in await self._store.transact(partial(self._restore, batch=batch)):
                report.count(outcome)
            progress(start + len(batch), len(beliefs))
        if derive:
            for owner in sorted({belief.record.owner for belief in beliefs}):
                summed_up = await self._summaries.sum_up(owner)
                for outcome in ("derived", "unchanged", "blocked", "refused"):
                    report.count(f"summaries_{outcome}", getattr(summed_up, outcome))
        return report

    async def _restore(self, transaction: Transaction, *, batch: Sequence[LocomoBelief]) -> list[str]:
        locks: dict[Owner, set[bytes]] = {}
        for belief in batch:
            record = belief.record
            locks.setdefault(record.owner, set()).update(self._formation.restore_locks(record))
        await _hold(transaction, locks)
        return [
            (await self._formation.restore_within(transaction, belief.record, belief.references)).value
            for belief in batch
        ]


async def _take_people(transaction: Transaction, *, people: Sequence[Person]) -> None:
    locks: dict[Owner, set[bytes]] = {}
    for person in people:
        locks.setdefault(person.owner, set()).update(subject_locks(f"{PERSON_PREFIX}{person.key}"))
    await _hold(transaction, locks)
    for person in people:
        await take_person(transaction, person)
