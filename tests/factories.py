"""Valid values for tests: a test names only what it is about."""

import itertools
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from store.domain.derived import (
    Clause,
    DerivedContent,
    DerivedRecord,
    DerivedStatus,
    PinnedSource,
    RecordKind,
    check_derived,
)
from store.domain.formation import Candidate
from store.domain.journal import Event, EvidenceReference, Receipt, Rejection, Tombstone
from store.domain.keyring import HashKey, Keyring, key_id
from store.domain.memories import MemoryRecord, check_record
from store.domain.owners import Owner
from store.domain.people import display_subject
from store.domain.tokens import AccessToken, token_hash
from store.domain.vocabulary import (
    SENSITIVITY_ORDER,
    AccessScope,
    Authority,
    BeliefType,
    ClaimKind,
    Derivation,
    EventKind,
    Longevity,
    MemoryStatus,
    Polarity,
    Portability,
    ReceiptKind,
    RejectionKind,
    Sensitivity,
)

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)
"""The moment at which tests read and write."""
FORMED_AT = NOW - timedelta(days=30)
SESSION = UUID("5e551000-0000-4000-8000-000000000001")
OTHER_SESSION = UUID("5e551000-0000-4000-8000-000000000002")

_numbers = itertools.count(1)


def owner(principal: str = "ada", *, tenant: str = "harbour") -> Owner:
    """A principal of a tenant."""
    return Owner(tenant=tenant, principal=principal)


def identifier(number: int | None = None) -> UUID:
    """The UUID of a number, so that a test can order ids; a fresh one without a number."""
    return UUID(f"00000000-0000-4000-8000-{next(_numbers) + 2**40 if number is None else number:012x}")


def keyring(secret: bytes = bytes(range(32)), *older: bytes) -> Keyring:
    """A ring whose current key has this secret."""
    keys = tuple(HashKey(id=key_id(each), secret=each) for each in (secret, *older))
    return Keyring(current=keys[0], keys=keys)


def memory(
    statement: str = "Keeps a rowing boat",
    *,
    subject: str = "Ada",
    status: MemoryStatus = MemoryStatus.ACTIVE,
    **changes: Any,  # any other field of the record, by its name: replace() refuses what is none
) -> MemoryRecord:
    """A valid belief at a fresh id and position; a superseded one has ended a day ago unless told otherwise."""
    number = next(_numbers)
    record = MemoryRecord(
        id=identifier(),
        owner=owner(),
        subject=subject,
        display_subject=display_subject(subject, None),
        statement=statement,
        belief_type=BeliefType.FACT,
        status=status,
        polarity=Polarity.ASSERT,
        scope="conversation",
        claim_kind=ClaimKind.PROJECT_FACT,
        derivation=Derivation.DIRECT,
        longevity=Longevity.DURABLE,
        portability=Portability.CONTEXTUAL,
        authority=Authority.INFERRED,
        sensitivity=Sensitivity.PUBLIC,
        confidence=Decimal("0.5"),
        utility=Decimal(0),
        corroboration_count=1,
        evidence_count=1,
        flagged_for_review=False,
        conflicts_with=(),
        superseded_by=None,
        source_session_id=SESSION,
        source_event_ids=(1,),
        formation_run_id=None,
        consolidation_policy_version=None,
        lifecycle_policy_version=None,
        origin_scopes=("conversation",),
        valid_from=FORMED_AT,
        valid_to=NOW - timedelta(days=1) if status is MemoryStatus.SUPERSEDED else None,
        expires_at=None,
        last_evidence_at=FORMED_AT,
        last_used_at=None,
        last_reinforced_at=None,
        created_at=FORMED_AT,
        updated_at=FORMED_AT,
        store_position=number,
        revision=1,
    )
    record = replace(record, **changes)
    check_record(record)
    return record


def derived(
    *sources: MemoryRecord | DerivedRecord,
    statement: str = "Keeps a rowing boat",
    subject: str = "Ada",
    **changes: Any,  # any other field of the record or its content, by its name: replace() refuses what is none
) -> DerivedRecord:
    """A valid summary of one clause that all of its sources say, as private as the strictest, at a fresh id."""
    content = DerivedContent(
        subject=subject,
        display_subject=display_subject(subject, None),
        clauses=(Clause(text=statement, source_ids=tuple(sorted(source.id for source in sources))),),
        belief_types=(BeliefType.FACT,),
        session_ids=(SESSION,),
        scope="conversation",
        authority=Authority.INFERRED,
        confidence=Decimal("0.5"),
        last_evidence_at=FORMED_AT,
        valid_from=FORMED_AT,
        expires_at=None,
        method="extraction",
        method_revision="1",
        evidence_ref="run 1",
    )
    said = {field.name: changes.pop(field.name) for field in fields(content) if field.name in changes}
    record = DerivedRecord(
        id=identifier(),
        owner=sources[0].owner,
        record_kind=RecordKind.SUMMARY,
        revision=1,
        status=DerivedStatus.ACTIVE,
        flagged_for_review=False,
        sensitivity=max((source.sensitivity for source in sources), key=SENSITIVITY_ORDER.__getitem__),
        portability=Portability.CONTEXTUAL,
        created_at=FORMED_AT,
        updated_at=FORMED_AT,
        store_position=next(_numbers),
        content=replace(content, **said),
        sources=tuple(
            PinnedSource(id=source.id, revision=source.revision, omitted=False)
            for source in sorted(sources, key=lambda source: source.id)
        ),
    )
    record = replace(record, **changes)
    check_derived(record)
    return record


def candidate(
    statement: str = "Keeps a rowing boat",
    **changes: Any,  # any other field of the candidate, by its name: replace() refuses what is none
) -> Candidate:
    """A valid candidate of an inferred, public fact."""
    return replace(
        Candidate(
            subject="Ada",
            statement=statement,
            belief_type=BeliefType.FACT,
            scope="conversation",
            sensitivity=Sensitivity.PUBLIC,
            source_session_id=SESSION,
            source_event_ids=(1,),
        ),
        **changes,
    )


def reference(number: int, *, session_id: UUID = SESSION) -> EvidenceReference:
    """A reference to one event of a source session."""
    return EvidenceReference(session_id=session_id, number=number)


def event(number: int, *, owner: Owner, session_id: UUID = SESSION, memory_id: UUID | None = None) -> Event:
    """A journal entry under a number of its own."""
    return Event(
        owner=owner,
        session_id=session_id,
        number=number,
        kind=EventKind.REVIEWED,
        memory_id=memory_id,
        occurred_at=NOW,
        payload={"outcome": "dismiss", "count": 1, "whole": True, "absent": None},
    )


def receipt(key: str, *, owner: Owner, created_at: datetime = NOW, memory_id: UUID | None = None) -> Receipt:
    """The receipt of a review."""
    return Receipt(
        owner=owner,
        key=key,
        kind=ReceiptKind.REVIEW_COMPLETED,
        request_hash=bytes(32),
        memory_id=memory_id or identifier(),
        created_at=created_at,
    )


def tombstone(statement_hash: bytes, *, owner: Owner) -> Tombstone:
    """The tombstone of a statement."""
    return Tombstone(owner=owner, statement_hash=statement_hash, key_id=keyring().current.id, created_at=NOW)


def rejection(statement_hash: bytes, kind: RejectionKind = RejectionKind.UNTRUE, *, owner: Owner) -> Rejection:
    """The rejection of a statement."""
    return Rejection(
        owner=owner,
        statement_hash=statement_hash,
        key_id=keyring().current.id,
        kind=kind,
        memory_id=identifier(),
        created_at=NOW,
    )


def token(secret: str, *, owner: Owner, created_at: datetime = NOW) -> AccessToken:
    """A reading token that ends only when it is revoked."""
    return AccessToken(
        id=identifier(),
        token_hash=token_hash(secret),
        owner=owner,
        scopes=frozenset({AccessScope.MEMORY_READ, AccessScope.MEMORY_WRITE}),
        label="laptop",
        created_at=created_at,
        expires_at=None,
        revoked_at=None,
        last_used_at=None,
    )
