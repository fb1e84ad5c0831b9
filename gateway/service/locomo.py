"""The LoCoMo conversations as beliefs: a deterministic mapping, without any model.

Every observation becomes one belief of the person it is about. Identifiers, sensitivities and all else
follow from the file alone, so that a second import finds each belief in its place.
Source: LoCoMo, Mapping to beliefs.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid5

from gateway.service.errors import MalformedRequest
from store.domain.journal import EvidenceReference
from store.domain.memories import MemoryRecord
from store.domain.owners import Owner
from store.domain.people import PERSON_PREFIX, UNNAMED_PERSON, Person
from store.domain.vocabulary import (
    Authority,
    BeliefType,
    ClaimKind,
    Derivation,
    Longevity,
    MemoryStatus,
    Polarity,
    Portability,
    Sensitivity,
)

TENANT = "locomo"
SCOPE = "conversation"
_TIME_FORMAT = "%I:%M %p on %d %B, %Y"
_OBSERVATIONS = re.compile(r"session_(\d+)_observation")
_TURN = re.compile(r"D(\d+):(\d+)")
_NAME = re.compile(r"(?<!^)\b[A-Z][\w'’]+(?: [A-Z][\w'’]+)*")

_SENSITIVE_WORDS: Sequence[tuple[Sensitivity, re.Pattern[str]]] = (
    (
        Sensitivity.RESTRICTED,
        re.compile(
            r"\b(therap\w+|depress\w+|transgender|lgbtq?\w*|gay|lesbian|adopt\w+|died|death|passed away|grie\w+)\b"
        ),
    ),
    (
        Sensitivity.SENSITIVE,
        re.compile(
            r"\b(health\w*|doctor|hospital|injur\w+|illness|diagnos\w+|anxi\w+|mental|money|debt|salary|loan|"
            r"financ\w+|relig\w+|church|faith|pray\w*|divorc\w+|breakup|lost (?:his|her|their) \w+)\b"
        ),
    ),
)
_KINDS: Sequence[tuple[re.Pattern[str], BeliefType, ClaimKind]] = (
    (
        re.compile(r"\b(wife|husband|friends?|mother|father|mom|dad|sister|brother|son|daughter|partner|girlfriend)\b"),
        BeliefType.RELATIONSHIP,
        ClaimKind.RELATIONSHIP,
    ),
    (re.compile(r"\b(likes?|enjoys?|prefers?|loves?|favou?rite)\b"), BeliefType.PREFERENCE, ClaimKind.PREFERENCE),
    (
        re.compile(r"\b(plan(?:s|ning)?|wants?|hopes?|aims?|dreams? of|goal)\b"),
        BeliefType.USER_MODEL_ATTR,
        ClaimKind.GOAL,
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LocomoBelief:
    """One belief of the file, and the turns on which it rests."""

    record: MemoryRecord
    references: tuple[EvidenceReference, ...]


def read_locomo(content: bytes) -> tuple[list[Person], list[LocomoBelief]]:
    """The people and beliefs of the file, beliefs in the order (session time, sample, order in the file).

    Raises MalformedRequest for a file of another shape.
    """
    try:
        samples = json.loads(content)
        if not isinstance(samples, list) or not samples:
            raise ValueError
        people = [person for sample in samples for person in _people(sample)]
        placed = [
            (belief.record.created_at, place, index, belief)
            for place, sample in enumerate(samples)
            for index, belief in enumerate(_beliefs(sample))
        ]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise MalformedRequest("file", "is not a LoCoMo file") from error
    placed.sort(key=lambda item: item[:3])
    return people, [belief for *_, belief in placed]


def _people(sample: Mapping[str, Any]) -> Iterator[Person]:
    conversation = sample["conversation"]
    speakers = [conversation["speaker_a"], conversation["speaker_b"]]
    for principal in speakers:
        for speaker in speakers:
            yield Person(owner=_owner(sample, principal), key=speaker, name=speaker)


def _owner(sample: Mapping[str, Any], speaker: str) -> Owner:
    return Owner(tenant=TENANT, principal=f"{sample['sample_id']}/{speaker}")


def _beliefs(sample: Mapping[str, Any]) -> Iterator[LocomoBelief]:
    for key, speakers in sample["observation"].items():
        match = _OBSERVATIONS.fullmatch(key)
        if match is None:
            raise ValueError(key)
        number = int(match[1])
        written = sample["conversation"][f"session_{number}_date_time"]
        at = datetime.strptime(written, _TIME_FORMAT).replace(tzinfo=UTC)
        for speaker, observations in speakers.items():
            for index, (statement, evidence) in enumerate(observations):
                yield _belief(sample, number, at, speaker, index, statement, _turns(evidence))


def _turns(evidence: str | list[str]) -> list[tuple[int, int]]:
    """(session, turn) of each piece of evidence: a string, a list, or a string that joins several."""
    written = [evidence] if isinstance(evidence, str) else evidence
    turns = []
    for part in (part.strip() for entry in written for part in entry.split(",")):
        match = _TURN.fullmatch(part)
        if match is None:
            raise ValueError(part)
        turns.append((int(match[1]), int(match[2])))
    return list(dict.fromkeys(turns))


def session_id(sample_id: str, number: int) -> UUID:
    """The identifier of a session, which serves both speakers."""
    return uuid5(NAMESPACE_URL, f"{TENANT}/{sample_id}/{number}")


def _belief(
    sample: Mapping[str, Any],
    number: int,
    at: datetime,
    speaker: str,
    index: int,
    statement: str,
    turns: Sequence[tuple[int, int]],
) -> LocomoBelief:
    sample_id = sample["sample_id"]
    session = session_id(sample_id, number)
    id = uuid5(NAMESPACE_URL, f"{TENANT}/{sample_id}/{number}/{speaker}/{index}")
    references = tuple(
        EvidenceReference(session_id=session_id(sample_id, of_session), number=turn) for of_session, turn in turns
    )
    dice = hashlib.sha256(id.bytes).digest()
    stated = dice[0] % 10 == 0
    sensitivity = _sensitivity(statement, dice[1])
    belief_type, claim_kind = _kind(statement)
    subject = _subject(statement, speaker)
    record = MemoryRecord(
        id=id,
        owner=_owner(sample, speaker),
        subject=subject,
        display_subject=UNNAMED_PERSON if subject.startswith(PERSON_PREFIX) else subject,
        statement=statement,
        belief_type=belief_type,
        status=MemoryStatus.ACTIVE if stated else MemoryStatus.PROVISIONAL,
        polarity=Polarity.ASSERT,
        scope=SCOPE,
        claim_kind=claim_kind,
        derivation=Derivation.DIRECT,
        longevity=Longevity.DURABLE,
        portability=Portability.CONTEXTUAL,
        authority=Authority.USER if stated else Authority.INFERRED,
        sensitivity=sensitivity,
        confidence=Decimal(500 + dice[2]) / 1000,
        utility=Decimal(0),
        corroboration_count=1,
        evidence_count=len(references),
        flagged_for_review=not stated and sensitivity in (Sensitivity.SENSITIVE, Sensitivity.RESTRICTED),
        conflicts_with=(),
        superseded_by=None,
        source_session_id=session,
        source_event_ids=tuple(turn for of_session, turn in turns if of_session == number),
        formation_run_id=None,
        consolidation_policy_version=None,
        lifecycle_policy_version=None,
        origin_scopes=(SCOPE,),
        valid_from=at,
        valid_to=None,
        expires_at=None,
        last_evidence_at=at,
        last_used_at=None,
        last_reinforced_at=None,
        created_at=at,
        updated_at=at,
        store_position=1,
        revision=1,
    )
    return LocomoBelief(record=record, references=references)


def _sensitivity(statement: str, dice: int) -> Sensitivity:
    """By the statement's words; what they leave open is decided by a hash, so that every class occurs."""
    lowered = statement.lower()
    for sensitivity, words in _SENSITIVE_WORDS:
        if words.search(lowered):
            return sensitivity
    if dice < 128:
        return Sensitivity.PUBLIC
    return Sensitivity.INTERNAL if dice < 236 else Sensitivity.SENSITIVE


def _kind(statement: str) -> tuple[BeliefType, ClaimKind]:
    lowered = statement.lower()
    for words, belief_type, claim_kind in _KINDS:
        if words.search(lowered):
            return belief_type, claim_kind
    return BeliefType.FACT, ClaimKind.PROJECT_FACT


def _subject(statement: str, speaker: str) -> str:
    """The speaker as a person where the statement begins with the name, else a name in it, else the speaker's."""
    if statement.startswith(speaker):
        return f"{PERSON_PREFIX}{speaker}"
    named = _NAME.search(statement)
    return named[0] if named else speaker
