"""What the port does not show of the in-memory store: the copies of statements about people, and its sequences."""

from dataclasses import replace

import pytest

from store.domain.memories import MemoryRecord
from store.domain.vocabulary import MemoryStatus
from store.inmemory.memories import InMemoryMemoryReads, InMemoryMemoryWrites
from store.inmemory.state import PersonFact, Sequence, Sequences, State
from tests.factories import NOW, memory, owner
from tests.worlds import KEYRING, everything

ADA = owner()
ABOUT_KAI = memory("Likes plums", subject="person:kai")
HASH = KEYRING.statement_hash(ADA, ABOUT_KAI.statement)
COPY = PersonFact(person_key="kai", statement="Likes plums", statement_hash=HASH)


@pytest.fixture
def state() -> State:
    return State()


@pytest.fixture
def writes(state: State) -> InMemoryMemoryWrites:
    return InMemoryMemoryWrites(state, Sequences())


def copies(state: State) -> list[PersonFact]:
    return list(state.of(ADA).people_facts.values())


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (ABOUT_KAI, [COPY]),
        (replace(ABOUT_KAI, status=MemoryStatus.PROVISIONAL), [COPY]),
        # Stored as live, though it has run out: the sweep takes the copy away.
        (replace(ABOUT_KAI, expires_at=NOW), [COPY]),
        (replace(ABOUT_KAI, status=MemoryStatus.RETIRED), []),
        (replace(ABOUT_KAI, subject="Kai"), []),
        (replace(ABOUT_KAI, subject="person:"), []),
    ],
)
async def test_a_live_statement_about_a_person_is_copied(
    state: State, writes: InMemoryMemoryWrites, record: MemoryRecord, expected: list[PersonFact]
) -> None:
    await writes.add(record, statement_hash=HASH)

    assert expected == copies(state)


async def test_a_copy_stands_exactly_while_its_belief_is_stored_as_live(
    state: State, writes: InMemoryMemoryWrites
) -> None:
    await writes.add(ABOUT_KAI, statement_hash=HASH)

    await writes.put(replace(ABOUT_KAI, status=MemoryStatus.EXPIRED))
    assert [] == copies(state)
    await writes.put(replace(ABOUT_KAI, status=MemoryStatus.ACTIVE))
    assert [COPY] == copies(state)
    await writes.erase(ADA, [ABOUT_KAI.id])
    assert [] == copies(state)


async def test_copies_are_erased_by_their_statement(state: State, writes: InMemoryMemoryWrites) -> None:
    other = memory("Likes pears", subject="person:kai")
    await writes.add(ABOUT_KAI, statement_hash=HASH)
    await writes.add(other, statement_hash=KEYRING.statement_hash(ADA, other.statement))

    await writes.erase_facts(ADA, [HASH])

    assert ["Likes pears"] == [copy.statement for copy in copies(state)]


async def test_a_clone_shares_nothing_that_changes(state: State, writes: InMemoryMemoryWrites) -> None:
    await writes.add(ABOUT_KAI, statement_hash=HASH)

    await InMemoryMemoryWrites(state.clone(), Sequences()).erase(ADA, [ABOUT_KAI.id])

    assert 1 == await InMemoryMemoryReads(state).count(everything(ADA))


def test_a_sequence_rises_and_never_turns_back() -> None:
    sequence = Sequence()

    taken = [sequence.take()]
    sequence.rise_above(9)
    taken.append(sequence.take())
    sequence.rise_above(3)
    taken.append(sequence.take())

    assert [1, 10, 11] == taken
