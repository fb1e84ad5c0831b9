"""Rows of beliefs and records of the domain, each made from the other."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from store.domain.memories import LINKS_SHOWN_MAX, MemoryRecord
from store.domain.owners import Owner
from store.domain.vocabulary import Authority, ClaimKind, Derivation, Longevity, Polarity, Portability
from store.postgres.codes import (
    BELIEF_TYPE_CODES,
    BELIEF_TYPES,
    SENSITIVITIES,
    SENSITIVITY_CODES,
    STATUS_CODES,
    STATUSES,
    subject_key,
)
from store.postgres.predicates import owned, visible

_COLUMNS_BEFORE_LINKS = (
    "id",
    "tenant_id",
    "principal_id",
    "subject",
    "display_subject",
    "statement",
    "belief_type",
    "status",
    "polarity",
    "scope",
    "claim_kind",
    "derivation",
    "longevity",
    "portability",
    "authority",
    "sensitivity",
    "confidence",
    "utility",
    "corroboration_count",
    "evidence_count",
    "flagged_for_review",
)
_COLUMNS_AFTER_LINKS = (
    "source_session_id",
    "source_event_ids",
    "formation_run_id",
    "consolidation_policy_version",
    "lifecycle_policy_version",
    "origin_scopes",
    "valid_from",
    "valid_to",
    "expires_at",
    "last_evidence_at",
    "last_used_at",
    "last_reinforced_at",
    "created_at",
    "updated_at",
    "store_position",
    "revision",
)

RECORD_COLUMNS_COUNT = len(_COLUMNS_BEFORE_LINKS) + 2 + len(_COLUMNS_AFTER_LINKS)


def _columns(alias: str, conflicts_with: str, superseded_by: str) -> str:
    before = (f"{alias}.{column}" for column in _COLUMNS_BEFORE_LINKS)
    after = (f"{alias}.{column}" for column in _COLUMNS_AFTER_LINKS)
    return ", ".join((*before, f"{conflicts_with} as conflicts_with", f"{superseded_by} as superseded_by", *after))


def stored_columns(alias: str) -> str:
    """The columns of a record with every link, for a row that is read to be written."""
    return _columns(alias, f"{alias}.conflicts_with", f"{alias}.superseded_by")


def shown_columns(alias: str) -> str:
    """The columns of a record with the links that the ceiling shows, over the parameters of `visible`.

    The subqueries are guarded, so that a row without links costs none.
    """
    return _columns(alias, shown_conflicts(alias), shown_successor(alias))


def shown_conflicts(alias: str) -> str:
    """The conflict links of a row that the ceiling shows, the first ones by id, as an array."""
    return f"""
        case when cardinality({alias}.conflicts_with) = 0 then {alias}.conflicts_with else array(
            select other.id from {rows_by_key("other", f"unnest({alias}.conflicts_with) link (id)", "link")}
            where other.sensitivity <= :ceiling order by other.id limit {LINKS_SHOWN_MAX}
        ) end"""


def shown_successor(alias: str) -> str:
    """The belief that replaced a row, if the ceiling shows it."""
    return f"""
        case when {alias}.superseded_by is not null then (
            select other.id from beliefs other where {visible("other")} and other.id = {alias}.superseded_by
        ) end"""


def rows_by_key(alias: str, keys: str, key: str) -> str:
    """A join of a relation of keys, called `key`, with the owner's row of each, as SQL for a from clause.

    The fence keeps it a look-up by primary key, whatever the planner expects of the owner.
    """
    return f"""{keys} cross join lateral (
        select * from beliefs stored where {owned("stored")} and stored.id = {key}.id offset 0
    ) {alias}"""


def record_of(row: Sequence[Any]) -> MemoryRecord:  # Any: the columns above, in their order
    """The record of a row that begins with the columns above."""
    return MemoryRecord(
        id=row[0],
        owner=Owner(tenant=row[1], principal=row[2]),
        subject=row[3],
        display_subject=row[4],
        statement=row[5],
        belief_type=BELIEF_TYPES[row[6]],
        status=STATUSES[row[7]],
        polarity=Polarity(row[8]),
        scope=row[9],
        claim_kind=ClaimKind(row[10]),
        derivation=Derivation(row[11]),
        longevity=Longevity(row[12]),
        portability=Portability(row[13]),
        authority=Authority(row[14]),
        sensitivity=SENSITIVITIES[row[15]],
        confidence=row[16],
        utility=row[17],
        corroboration_count=row[18],
        evidence_count=row[19],
        flagged_for_review=row[20],
        conflicts_with=tuple(row[21]),
        superseded_by=row[22],
        source_session_id=row[23],
        source_event_ids=tuple(row[24]),
        formation_run_id=row[25],
        consolidation_policy_version=row[26],
        lifecycle_policy_version=row[27],
        origin_scopes=tuple(row[28]),
        valid_from=aware(row[29]),
        valid_to=None if row[30] is None else aware(row[30]),
        expires_at=None if row[31] is None else aware(row[31]),
        last_evidence_at=None if row[32] is None else aware(row[32]),
        last_used_at=None if row[33] is None else aware(row[33]),
        last_reinforced_at=None if row[34] is None else aware(row[34]),
        created_at=aware(row[35]),
        updated_at=aware(row[36]),
        store_position=row[37],
        revision=row[38],
    )


def aware(moment: datetime) -> datetime:
    """The driver keeps the first and the last moment there is as infinities, and reads those without a zone."""
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


_CODES: dict[str, Mapping[Any, int]] = {
    "belief_type": BELIEF_TYPE_CODES,
    "status": STATUS_CODES,
    "sensitivity": SENSITIVITY_CODES,
}


def column_value(record: MemoryRecord, field: str) -> object:
    """What the column of a field holds."""
    value = getattr(record, field)
    if field in _CODES:
        return _CODES[field][value]
    return list(value) if isinstance(value, tuple) else value


_WRITTEN_FIELDS = tuple(
    column for column in (*_COLUMNS_BEFORE_LINKS, *_COLUMNS_AFTER_LINKS) if column not in {"tenant_id", "principal_id"}
)


def stored_values(record: MemoryRecord, statement_hash: bytes) -> dict[str, object]:
    """Every column of a record's row but its lexemes."""
    return {
        **{field: column_value(record, field) for field in (*_WRITTEN_FIELDS, "conflicts_with", "superseded_by")},
        "tenant_id": record.owner.tenant,
        "principal_id": record.owner.principal,
        "subject_key": subject_key(record.subject),
        "display_subject_key": subject_key(record.display_subject),
        "statement_hash": statement_hash,
    }
