"""The closed enumerations of the belief store and the orders between their members.

The value of a member is the word on the wire. An order is a table, never the order of declaration.
Source: belief store decisions, Vocabulary.
"""

from enum import StrEnum


class MemoryStatus(StrEnum):
    """Where a belief stands in its life. `candidate` is legal in a filter and never stored."""

    CANDIDATE = "candidate"
    PROVISIONAL = "provisional"
    ACTIVE = "active"
    SUPERSEDED = "superseded"
    EXPIRED = "expired"
    RETIRED = "retired"


LIVE_STATUSES = frozenset({MemoryStatus.PROVISIONAL, MemoryStatus.ACTIVE})
STORED_STATUSES = frozenset(MemoryStatus) - {MemoryStatus.CANDIDATE}


class BeliefType(StrEnum):
    """What kind of belief it is."""

    FACT = "fact"
    PREFERENCE = "preference"
    RELATIONSHIP = "relationship"
    USER_MODEL_ATTR = "user_model_attr"
    PROCEDURE_POINTER = "procedure_pointer"


class Polarity(StrEnum):
    """Whether the statement is held or its opposite is."""

    ASSERT = "assert"
    RETRACT = "retract"


class Portability(StrEnum):
    """How far a belief may travel from where it was formed."""

    PORTABLE = "portable"
    CONTEXTUAL = "contextual"
    LOCAL = "local"


class Authority(StrEnum):
    """Who stands behind a belief: the person, the person's agreement, or inference alone."""

    USER = "user"
    AFFIRMED = "affirmed"
    INFERRED = "inferred"


class Sensitivity(StrEnum):
    """How private a belief is; a ceiling is one of these too."""

    PUBLIC = "public"
    INTERNAL = "internal"
    SENSITIVE = "sensitive"
    RESTRICTED = "restricted"


SENSITIVITY_ORDER: dict[Sensitivity, int] = {
    Sensitivity.PUBLIC: 0,
    Sensitivity.INTERNAL: 1,
    Sensitivity.SENSITIVE: 2,
    Sensitivity.RESTRICTED: 3,
}


def within(sensitivity: Sensitivity, ceiling: Sensitivity) -> bool:
    """Whether a belief of this sensitivity exists under the ceiling."""
    return SENSITIVITY_ORDER[sensitivity] <= SENSITIVITY_ORDER[ceiling]


def sensitivities_within(ceiling: Sensitivity) -> frozenset[Sensitivity]:
    """Every sensitivity at or below the ceiling."""
    return frozenset(sensitivity for sensitivity in Sensitivity if within(sensitivity, ceiling))


class ClaimKind(StrEnum):
    """What the statement claims."""

    ONGOING_PROJECT = "ongoing_project"
    GOAL = "goal"
    ROLE = "role"
    SKILL = "skill"
    INTEREST = "interest"
    HABIT = "habit"
    CONSTRAINT = "constraint"
    RECURRING_STATE = "recurring_state"
    RELATIONSHIP = "relationship"
    PREFERENCE = "preference"
    RESOURCE = "resource"
    PROJECT_FACT = "project_fact"


class Derivation(StrEnum):
    """Whether the statement was said or supposed."""

    DIRECT = "direct"
    HYPOTHESIS = "hypothesis"


class Longevity(StrEnum):
    """How long the statement is expected to hold."""

    ONGOING = "ongoing"
    DURABLE = "durable"
    TENTATIVE = "tentative"


class RejectionKind(StrEnum):
    """Why a statement was rejected."""

    UNTRUE = "untrue"
    CHANGED = "changed"
    NOT_HERE = "not_here"
    UNSPECIFIED = "unspecified"
    DELETED = "deleted"


BLOCKING_REJECTIONS = frozenset({RejectionKind.UNTRUE, RejectionKind.DELETED})


class ReviewOutcome(StrEnum):
    """What a person says of a belief put before them."""

    DISMISS = "dismiss"
    UNTRUE = "untrue"
    NOT_HERE = "not_here"


class AccessScope(StrEnum):
    """A permission. All are known from the first day, whether or not their surface is mounted."""

    MEMORY_READ = "memory.read"
    MEMORY_WRITE = "memory.write"
    MEMORY_ADMIN = "memory.admin"
    PERSONAL_READ = "personal.read"
    PERSONAL_WRITE = "personal.write"
    PERSONAL_PROPOSE = "personal.propose"
    PERSONAL_OPERATE = "personal.operate"
    STRUCTURED_READ = "structured.read"
    STRUCTURED_WRITE = "structured.write"
    ADMIN_MEMORIES = "admin.memories"


class EventKind(StrEnum):
    """What the journal records. A payload holds identifiers, kinds and counts, never text."""

    FORMED = "memory.formed"
    REINFORCED = "memory.reinforced"
    CONTRADICTED = "memory.contradicted"
    SUPERSEDED = "memory.superseded"
    EXPIRED = "memory.expired"
    REVIEWED = "memory.reviewed"
    REJECTED = "memory.rejected"
    DELETED = "memory.deleted"
    OPERATOR_ACCESS = "operator.access"
    PRINCIPAL_ERASED = "principal.erased"


class ReceiptKind(StrEnum):
    """Which write a receipt stands for."""

    REVIEW_COMPLETED = "memory.review_completed"
    DELETE_COMPLETED = "memory.delete_completed"
