"""The numbers under which PostgreSQL keeps the enumerations that lead its indexes, and the keys of long texts."""

import hashlib

from store.domain.vocabulary import SENSITIVITY_ORDER, BeliefType, MemoryStatus, Sensitivity

SENSITIVITY_CODES: dict[Sensitivity, int] = SENSITIVITY_ORDER
STATUS_CODES: dict[MemoryStatus, int] = {
    MemoryStatus.PROVISIONAL: 1,
    MemoryStatus.ACTIVE: 2,
    MemoryStatus.SUPERSEDED: 3,
    MemoryStatus.EXPIRED: 4,
    MemoryStatus.RETIRED: 5,
}
BELIEF_TYPE_CODES: dict[BeliefType, int] = {
    BeliefType.FACT: 0,
    BeliefType.PREFERENCE: 1,
    BeliefType.RELATIONSHIP: 2,
    BeliefType.USER_MODEL_ATTR: 3,
    BeliefType.PROCEDURE_POINTER: 4,
}

SENSITIVITIES = {code: sensitivity for sensitivity, code in SENSITIVITY_CODES.items()}
STATUSES = {code: status for status, code in STATUS_CODES.items()}
BELIEF_TYPES = {code: belief_type for belief_type, code in BELIEF_TYPE_CODES.items()}


def text_key(text: str) -> bytes:
    """The 32 bytes under which a text of any length is found by equality.

    Not the text itself: an entry of a B-tree holds at most 2,704 bytes, and a subject can have 2,048 beside its owner.
    """
    return hashlib.sha256(text.encode()).digest()


def subject_key(subject: str) -> bytes:
    """The key of a subject, whatever its case. Python alone lower-cases: SQL's lower() depends on the server."""
    return text_key(subject.lower())
