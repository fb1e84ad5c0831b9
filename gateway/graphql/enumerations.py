"""The closed enumerations as GraphQL shows them: upper-case names, and a description of each value.

The domain's own enumerations are registered with Strawberry, not copied, so that resolvers speak domain values.
Source: belief store decisions, Vocabulary.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import TypeVar

import strawberry
from strawberry.types.enum import StrawberryEnumDefinition

from gateway.views.evidence import EvidenceRecordKind, EvidenceRelation
from store.domain.ancestry import EvidenceRootStatus, EvidenceStopReason
from store.domain.derived import RecordKind
from store.domain.vocabulary import (
    AccessScope,
    Authority,
    BeliefType,
    ClaimKind,
    Derivation,
    Longevity,
    MemoryStatus,
    Polarity,
    Portability,
    ReviewOutcome,
    Sensitivity,
)


class Surface(StrEnum):
    """A kind of memory that this gateway can serve."""

    MEMORIES = "memories"
    DERIVED_MEMORIES = "derived_memories"
    EVIDENCE = "evidence"


Enumeration = TypeVar("Enumeration", bound=StrEnum)

_DESCRIPTIONS: Mapping[type[StrEnum], tuple[str, Mapping[StrEnum, str]]] = {
    MemoryStatus: (
        "Where a belief stands in its life. The live ones are provisional and active.",
        {
            MemoryStatus.CANDIDATE: "Proposed and not stored; a filter may ask for it, and finds nothing.",
            MemoryStatus.PROVISIONAL: "Live, and open to being confirmed or contradicted.",
            MemoryStatus.ACTIVE: "Live and established.",
            MemoryStatus.SUPERSEDED: "Replaced by a later belief.",
            MemoryStatus.EXPIRED: "Run out: its time has passed.",
            MemoryStatus.RETIRED: "Withdrawn, and kept for the record.",
        },
    ),
    BeliefType: (
        "What kind of belief it is.",
        {
            BeliefType.FACT: "Something that is so.",
            BeliefType.PREFERENCE: "What somebody likes better or would rather have.",
            BeliefType.RELATIONSHIP: "How people, or people and things, stand to each other.",
            BeliefType.USER_MODEL_ATTR: "A trait of yours that the system works with.",
            BeliefType.PROCEDURE_POINTER: "Where the way of doing something is written down.",
        },
    ),
    Polarity: (
        "Whether the statement is held, or its opposite is.",
        {
            Polarity.ASSERT: "The statement is held to be so.",
            Polarity.RETRACT: "The statement is held not to be so.",
        },
    ),
    Portability: (
        "How far a belief may travel from where it was formed.",
        {
            Portability.PORTABLE: "It may be used anywhere.",
            Portability.CONTEXTUAL: "It may be used where the context is alike.",
            Portability.LOCAL: "It stays in the scope it was formed in.",
        },
    ),
    Authority: (
        "Who stands behind a belief, strongest first.",
        {
            Authority.USER: "You said it yourself.",
            Authority.AFFIRMED: "You agreed to it.",
            Authority.INFERRED: "It was concluded from what was seen.",
        },
    ),
    Sensitivity: (
        "How private a belief is, least private first. A ceiling shows its own level and everything below it.",
        {
            Sensitivity.PUBLIC: "Anybody may know it.",
            Sensitivity.INTERNAL: "Meant for those you work or live with.",
            Sensitivity.SENSITIVE: "Could hurt you in the wrong hands.",
            Sensitivity.RESTRICTED: "The most private level.",
        },
    ),
    ClaimKind: (
        "What the statement claims.",
        {
            ClaimKind.ONGOING_PROJECT: "A project that is under way.",
            ClaimKind.GOAL: "Something that is aimed for.",
            ClaimKind.ROLE: "A part that somebody plays.",
            ClaimKind.SKILL: "Something that somebody can do.",
            ClaimKind.INTEREST: "Something that somebody cares about.",
            ClaimKind.HABIT: "Something done regularly.",
            ClaimKind.CONSTRAINT: "A limit that has to be kept.",
            ClaimKind.RECURRING_STATE: "A state that comes and goes.",
            ClaimKind.RELATIONSHIP: "A tie between people, or people and things.",
            ClaimKind.PREFERENCE: "Something that is liked better.",
            ClaimKind.RESOURCE: "Something that is at hand to be used.",
            ClaimKind.PROJECT_FACT: "A fact about something worked on.",
        },
    ),
    Derivation: (
        "Whether the statement was said or supposed.",
        {
            Derivation.DIRECT: "Taken from what a source says.",
            Derivation.HYPOTHESIS: "Supposed from several observations.",
        },
    ),
    Longevity: (
        "How long the statement is expected to hold.",
        {
            Longevity.ONGOING: "As long as what it speaks of goes on.",
            Longevity.DURABLE: "For good, unless something changes it.",
            Longevity.TENTATIVE: "Perhaps not for long.",
        },
    ),
    RecordKind: (
        "What kind of derived record it is.",
        {
            RecordKind.SUMMARY: "It says again what several beliefs say, in their words.",
            RecordKind.HYPOTHESIS: "It supposes something that several beliefs point to.",
        },
    ),
    EvidenceRecordKind: (
        "What kind of record a node is.",
        {
            EvidenceRecordKind.BELIEF: "A belief.",
            EvidenceRecordKind.SUMMARY: "A derived record that says again what several beliefs say.",
            EvidenceRecordKind.HYPOTHESIS: "A derived record that supposes something.",
        },
    ),
    EvidenceRelation: (
        "How one record rests on another.",
        {EvidenceRelation.DERIVED_FROM: "It was derived from it."},
    ),
    EvidenceRootStatus: (
        "What became of a record that was asked for.",
        {
            EvidenceRootStatus.INCLUDED: "It is a node.",
            EvidenceRootStatus.UNAVAILABLE: "It was looked up, and is missing or may not be shown; which is not told.",
            EvidenceRootStatus.NOT_EXAMINED: "The limit of look-ups was reached before it: it may be there.",
        },
    ),
    EvidenceStopReason: (
        "Why a graph is not complete.",
        {
            EvidenceStopReason.DEPTH_LIMIT: "Something lies deeper than was to be shown.",
            EvidenceStopReason.NODE_LIMIT: "Something would have taken more look-ups than were allowed.",
        },
    ),
    ReviewOutcome: (
        "What you say of a belief.",
        {
            ReviewOutcome.DISMISS: "It may stay as it is: its flag is cleared, nothing else changes.",
            ReviewOutcome.UNTRUE: "It is wrong: it is retired, and its statement is not formed again.",
            ReviewOutcome.NOT_HERE: "It does not belong here: it stays live, and is used only where it was formed.",
        },
    ),
    AccessScope: (
        "A permission of the credential. All are known, whether or not what they open is mounted.",
        {
            AccessScope.MEMORY_READ: "Read your beliefs.",
            AccessScope.MEMORY_WRITE: "Review and delete your beliefs.",
            AccessScope.MEMORY_ADMIN: "Administer beliefs.",
            AccessScope.PERSONAL_READ: "Read your personal entries.",
            AccessScope.PERSONAL_WRITE: "Write your personal entries.",
            AccessScope.PERSONAL_PROPOSE: "Propose personal entries.",
            AccessScope.PERSONAL_OPERATE: "Operate on personal entries.",
            AccessScope.STRUCTURED_READ: "Read structured memories.",
            AccessScope.STRUCTURED_WRITE: "Write structured memories.",
            AccessScope.ADMIN_MEMORIES: "Administer the memories of others.",
        },
    ),
    Surface: (
        "A kind of memory that this gateway can serve.",
        {
            Surface.MEMORIES: "Beliefs: what is held to be so about you.",
            Surface.DERIVED_MEMORIES: "Derived records: what was concluded from several beliefs.",
            Surface.EVIDENCE: "Evidence: what records rest on.",
        },
    ),
}


def _register(enumeration: type[Enumeration], description: str, values: Mapping[Enumeration, str]) -> None:
    """Make the enumeration known to Strawberry. The descriptions can't stand on the members: those are the domain's."""
    strawberry.enum(enumeration, description=description)
    definition: StrawberryEnumDefinition = enumeration.__strawberry_definition__  # type: ignore[attr-defined] # set above
    for value in definition.values:
        value.description = values[enumeration(value.value)]


def described(enumeration: type[Enumeration]) -> type[Enumeration]:
    """The enumeration, known to Strawberry with its descriptions. Raises KeyError for one that has none."""
    if enumeration not in _DESCRIPTIONS:
        raise KeyError(enumeration.__name__)
    return enumeration


for _enumeration, (_description, _values) in _DESCRIPTIONS.items():
    _register(_enumeration, _description, _values)
