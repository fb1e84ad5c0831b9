"""The lines of an import: one JSON object each, with its kind and the format's version.

A belief with an id is restored as it is; one without is a candidate and goes through formation.
Source: belief store decisions, Formation (Restoring).
"""

import re
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal, TypeVar
from uuid import UUID

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from gateway.service.errors import MalformedRequest
from gateway.service.idempotency import check_idempotency_key
from gateway.service.identifiers import parse_identifier
from gateway.service.strict_json import parse_object
from gateway.service.times import parse_time
from store.domain.formation import Candidate
from store.domain.journal import Event, EvidenceReference, Receipt, Rejection, Tombstone
from store.domain.memories import INT32_MAX, MemoryRecord, check_text
from store.domain.normalization import well_formed
from store.domain.owners import OWNER_NAME_LENGTH_MAX, Owner
from store.domain.people import Person, display_subject
from store.domain.vocabulary import (
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

FORMAT_VERSION = 1
LINE_BYTES_MAX = 1_048_576
ERRORS_KEPT_MAX = 1_000
"""Refused lines that a report keeps."""
_FIELD = re.compile(r"[a-z_]{1,64}", re.ASCII)
_WORD = r"^[a-z0-9_-]{1,64}$"
_HASH = re.compile(r"[0-9a-f]{64}", re.ASCII)


def _time(value: Any) -> Any:  # Any: JSON
    moment = parse_time(value) if isinstance(value, str) else None
    if moment is None:
        raise ValueError("must be a time of the years 1 to 9999 with its zone, such as 2026-01-31T08:00:00.000000Z")
    return moment


def _uuid(value: Any) -> Any:  # Any: JSON
    id = parse_identifier(value) if isinstance(value, str) else None
    if id is None:
        raise ValueError("must be a canonical UUID")
    return id


def _number(value: Any) -> Any:  # Any: JSON
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise ValueError("must be a number")
    number = Decimal(value)
    # A zero may come with any exponent and a digit with any tail of zeros: more than a database takes.
    plain = number.normalize() + 0
    return plain if plain == number else number


def _hash(value: Any) -> Any:  # Any: JSON
    if not isinstance(value, str) or not _HASH.fullmatch(value):
        raise ValueError("must be 64 lower-case hexadecimal digits")
    return bytes.fromhex(value)


def _name(value: str) -> str:
    check_text("it", value, OWNER_NAME_LENGTH_MAX)
    return value


def _receipt_key(value: str) -> str:
    try:
        check_idempotency_key(value)
    except MalformedRequest as error:
        raise ValueError(error.reason) from None
    return value


Time = Annotated[datetime, BeforeValidator(_time)]
Identifier = Annotated[UUID, BeforeValidator(_uuid)]
Number = Annotated[Decimal, BeforeValidator(_number)]
Hash = Annotated[bytes, BeforeValidator(_hash)]
Integer = Annotated[int, Field(strict=True)]
Boolean = Annotated[bool, Field(strict=True)]
Text = Annotated[str, Field(strict=True)]
Name = Annotated[Text, AfterValidator(_name)]
ReceiptKey = Annotated[Text, AfterValidator(_receipt_key)]
Word = Annotated[str, Field(strict=True, pattern=_WORD)]
Count = Annotated[Integer, Field(ge=0, le=INT32_MAX)]


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Literal[1]
    tenant: Name
    principal: Name

    @property
    def owner(self) -> Owner:
        """Whose line it is."""
        return Owner(tenant=self.tenant, principal=self.principal)


class PersonLine(_Line):
    """The name behind a key."""

    kind: Literal["person"]
    key: Text
    name: Text

    def person(self) -> Person:
        """The person of the line."""
        return Person(owner=self.owner, key=self.key, name=self.name)


class _Belief(_Line):
    kind: Literal["belief"]
    subject: Text
    statement: Text
    belief_type: BeliefType
    scope: Text
    sensitivity: Sensitivity
    source_session_id: Identifier
    source_event_ids: tuple[Integer, ...]


class CandidateLine(_Belief):
    """A belief to be formed. Every field of the record but the id may stand in it, and what it says of others."""

    status: MemoryStatus | None = None
    polarity: Polarity = Polarity.ASSERT
    claim_kind: ClaimKind = ClaimKind.PROJECT_FACT
    derivation: Derivation = Derivation.DIRECT
    longevity: Longevity = Longevity.DURABLE
    portability: Portability = Portability.CONTEXTUAL
    authority: Authority = Authority.INFERRED
    confidence: Number = Decimal("0.5")
    utility: Number = Decimal(0)
    corroboration_count: Integer = 1
    flagged_for_review: Boolean = False
    formation_run_id: Identifier | None = None
    consolidation_policy_version: Text | None = None
    lifecycle_policy_version: Text | None = None
    origin_scopes: tuple[Text, ...] = ()
    valid_from: Time | None = None
    valid_to: Time | None = None
    expires_at: Time | None = None
    last_evidence_at: Time | None = None
    last_used_at: Time | None = None
    last_reinforced_at: Time | None = None
    created_at: Time | None = None
    updated_at: Time | None = None
    contradicts: tuple[Identifier, ...] = ()
    supersedes: Identifier | None = None

    def candidate(self) -> Candidate:
        """The candidate of the line; `candidate` as its status says nothing more than that."""
        values = {name: getattr(self, name) for name in Candidate.__dataclass_fields__}
        if self.status is MemoryStatus.CANDIDATE:
            values["status"] = None
        return Candidate(**values)


class BeliefLine(_Belief):
    """A belief as it was stored. Counts, links, flags and times stand as they were; positions do not."""

    id: Identifier
    status: MemoryStatus
    polarity: Polarity
    claim_kind: ClaimKind
    derivation: Derivation
    longevity: Longevity
    portability: Portability
    authority: Authority
    confidence: Number
    utility: Number
    corroboration_count: Integer
    evidence_count: Integer
    flagged_for_review: Boolean
    conflicts_with: tuple[Identifier, ...]
    superseded_by: Identifier | None
    evidence: tuple[tuple[Identifier, Integer], ...]
    formation_run_id: Identifier | None
    consolidation_policy_version: Text | None
    lifecycle_policy_version: Text | None
    origin_scopes: tuple[Text, ...]
    valid_from: Time
    valid_to: Time | None
    expires_at: Time | None
    last_evidence_at: Time | None
    last_used_at: Time | None
    last_reinforced_at: Time | None
    created_at: Time
    updated_at: Time
    revision: Integer

    def record(self) -> MemoryRecord:
        """The record of the line, before it has a position and a name to show."""
        derived: dict[str, Any] = {
            "owner": self.owner,
            "display_subject": display_subject(self.subject, None),
            "store_position": 1,
        }
        own: dict[str, Any] = {
            name: getattr(self, name) for name in MemoryRecord.__dataclass_fields__ if name not in derived
        }
        own["conflicts_with"] = tuple(sorted(self.conflicts_with))
        return MemoryRecord(**own, **derived)

    def references(self) -> tuple[EvidenceReference, ...]:
        """The evidence of the line, in order."""
        return tuple(EvidenceReference(session_id=session, number=number) for session, number in self.evidence)


class TombstoneLine(_Line):
    """A deleted statement, as a keyed hash."""

    kind: Literal["tombstone"]
    statement_hash: Hash
    key_id: Text
    created_at: Time

    def tombstone(self) -> Tombstone:
        """The tombstone of the line."""
        return Tombstone(
            owner=self.owner, statement_hash=self.statement_hash, key_id=self.key_id, created_at=self.created_at
        )


class RejectionLine(_Line):
    """A rejected statement, as a keyed hash."""

    kind: Literal["rejection"]
    statement_hash: Hash
    key_id: Text
    rejection_kind: RejectionKind
    memory_id: Identifier
    created_at: Time

    def rejection(self) -> Rejection:
        """The rejection of the line."""
        return Rejection(
            owner=self.owner,
            statement_hash=self.statement_hash,
            key_id=self.key_id,
            kind=self.rejection_kind,
            memory_id=self.memory_id,
            created_at=self.created_at,
        )


class EventLine(_Line):
    """One entry of the journal."""

    kind: Literal["event"]
    session_id: Identifier
    number: Annotated[Integer, Field(ge=1, lt=2**62)]
    event_kind: EventKind
    memory_id: Identifier | None
    occurred_at: Time
    payload: dict[Word, Word | Count | Boolean | None]
    """Ids, kinds and counts, as the journal holds them: no text that a deletion would have to find."""

    def event(self) -> Event:
        """The event of the line."""
        return Event(
            owner=self.owner,
            session_id=self.session_id,
            number=self.number,
            kind=self.event_kind,
            memory_id=self.memory_id,
            occurred_at=self.occurred_at,
            payload=self.payload,
        )


class ReceiptLine(_Line):
    """One applied idempotency key."""

    kind: Literal["receipt"]
    key: ReceiptKey
    receipt_kind: ReceiptKind
    request_hash: Hash
    memory_id: Identifier
    created_at: Time

    def receipt(self) -> Receipt:
        """The receipt of the line."""
        return Receipt(
            owner=self.owner,
            key=self.key,
            kind=self.receipt_kind,
            request_hash=self.request_hash,
            memory_id=self.memory_id,
            created_at=self.created_at,
        )


Line = TypeVar("Line", bound=BaseModel)
AnyLine = PersonLine | CandidateLine | BeliefLine | TombstoneLine | RejectionLine | EventLine | ReceiptLine

_MODELS: Mapping[str, type[PersonLine | TombstoneLine | RejectionLine | EventLine | ReceiptLine]] = {
    "person": PersonLine,
    "tombstone": TombstoneLine,
    "rejection": RejectionLine,
    "event": EventLine,
    "receipt": ReceiptLine,
}


def parse_line(content: bytes) -> AnyLine:
    """The record of one line. Raises MalformedRequest that names the field and never echoes a value."""
    values = line_values(content)
    kind = values.get("kind")
    model: type[AnyLine] | None
    if kind == "belief":
        model = BeliefLine if values.get("id") is not None else CandidateLine
    else:
        model = _MODELS.get(kind) if isinstance(kind, str) else None
    if model is None:
        raise MalformedRequest("kind", f"must be one of belief, {', '.join(_MODELS)}")
    return validated(model, values)


def line_values(content: bytes) -> dict[str, Any]:  # Any: JSON
    """The object of one line, of any kind. Raises MalformedRequest."""
    if len(content) > LINE_BYTES_MAX:
        raise MalformedRequest("line", f"must not exceed {LINE_BYTES_MAX} bytes")
    values = parse_object("line", content, parse_float=Decimal)
    if not _all_well_formed(values):
        raise MalformedRequest("line", "must hold neither U+0000 nor a lone surrogate")
    return values


def validated(model: type[Line], values: Mapping[str, Any]) -> Line:  # Any: JSON
    """A line by its model. Raises MalformedRequest that names the field and never echoes a value."""
    if values.get("version") != FORMAT_VERSION:
        raise MalformedRequest("version", f"must be {FORMAT_VERSION}")
    try:
        return model.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        field = str(first["loc"][0]) if first["loc"] else "line"
        if not _FIELD.fullmatch(field):
            field = "line"
        is_nested = sum(isinstance(step, str) for step in first["loc"]) > 1
        raise MalformedRequest(field, _reason(first["type"], first["msg"], is_nested=is_nested)) from None


def _reason(kind: str, message: str, *, is_nested: bool) -> str:
    if kind == "extra_forbidden":
        return "must hold no other members than its own" if is_nested else "is not a field of this kind of record"
    if kind == "missing":
        return "must hold each of its members" if is_nested else "is required"
    return message.removeprefix("Value error, ").removeprefix("Input should be ").strip()


def _all_well_formed(value: Any) -> bool:  # Any: JSON
    match value:
        case str():
            return well_formed(value)
        case dict():
            return all(well_formed(key) and _all_well_formed(item) for key, item in value.items())
        case list():
            return all(_all_well_formed(item) for item in value)
    return True
