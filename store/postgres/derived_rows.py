"""Rows of derived records and records of the domain, each made from the other; and whether a row stands."""

import json
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from store.domain.derived import (
    Clause,
    DerivedContent,
    DerivedRecord,
    DerivedStatus,
    PinnedSource,
    RecordKind,
)
from store.domain.lexical import record_lexemes
from store.domain.owners import Owner
from store.domain.vocabulary import Authority, MemoryStatus, Portability
from store.ports.derived import DerivedWrite
from store.postgres.codes import (
    BELIEF_TYPE_CODES,
    BELIEF_TYPES,
    SENSITIVITIES,
    SENSITIVITY_CODES,
    STATUS_CODES,
    subject_key,
)
from store.postgres.lexemes import search_prefix
from store.postgres.predicates import owned
from store.postgres.rows import aware

DERIVED_STATUS_CODES: dict[DerivedStatus, int] = {
    DerivedStatus.ACTIVE: STATUS_CODES[MemoryStatus.ACTIVE],
    DerivedStatus.RETIRED: STATUS_CODES[MemoryStatus.RETIRED],
}
"""As of beliefs."""
RETIRED = DERIVED_STATUS_CODES[DerivedStatus.RETIRED]
_STATUSES = {code: status for status, code in DERIVED_STATUS_CODES.items()}

_RECORD_COLUMNS = (
    "id",
    "tenant_id",
    "principal_id",
    "record_kind",
    "revision",
    "status",
    "flagged_for_review",
    "sensitivity",
    "portability",
    "created_at",
    "updated_at",
    "store_position",
)
_CONTENT_COLUMNS = (
    "subject",
    "display_subject",
    "clauses",
    "belief_types",
    "session_ids",
    "scope",
    "authority",
    "confidence",
    "last_evidence_at",
    "valid_from",
    "expires_at",
    "method",
    "method_revision",
    "evidence_ref",
)
DERIVED_COLUMNS_COUNT = len(_RECORD_COLUMNS) + len(_CONTENT_COLUMNS) + 3


def derived_columns(alias: str) -> str:
    """The columns of a record, for a relation of rows that `with_sources` follows."""
    return f"{_own_columns(alias)}, pinned.source_ids, pinned.revisions, pinned.omissions"


def columns_without_sources(alias: str) -> str:
    """The columns of a record as if it had no sources: its lexemes do not depend on them."""
    return f"{_own_columns(alias)}, null, null, null"


def _own_columns(alias: str) -> str:
    return ", ".join(f"{alias}.{column}" for column in (*_RECORD_COLUMNS, *_CONTENT_COLUMNS))


def with_sources(alias: str) -> str:
    """A join of each row with its sources in the order of their ids, as SQL for a from clause."""
    return f"""cross join lateral (
        select array_agg(direct.source_id) as source_ids, array_agg(direct.revision) as revisions,
            array_agg(direct.omitted) as omissions
        from (
            select held.source_id, held.revision, held.omitted from derived_sources held
            where {owned("held")} and held.derived_id = {alias}.id and held.is_direct order by held.source_id
        ) direct
    ) pinned"""


def derived_by_key(alias: str, keys: str, key: str) -> str:
    """A join of a relation of keys, called `key`, with the owner's row of each; as `rows_by_key` is one of beliefs."""
    return f"""{keys} cross join lateral (
        select * from derived_records stored where {owned("stored")} and stored.id = {key}.id offset 0
    ) {alias}"""


def _is_missing(table: str) -> str:
    return f"""not exists (
            select from {table} source
            where {owned("source")} and source.id = held.source_id and source.revision = held.revision offset 0
        )"""


def rests_on_what_is_there(alias: str) -> str:
    """Whether all that an active row rests on is there at the pinned revision.

    Each is looked up by its key, inside fences, so that no plan reads all that an owner has.
    """
    return f"""not exists (
        select from derived_sources held where {owned("held")} and held.derived_id = {alias}.id
            and {_is_missing("beliefs")} and {_is_missing("derived_records")} offset 0
    )"""


def stands_or_is_retired(alias: str) -> str:
    """Whether a row is shown by itself, at :now."""
    return f"({alias}.status = {RETIRED} or ({alias}.ends_at > :now and {rests_on_what_is_there(alias)}))"


def derived_record_of(row: Sequence[Any]) -> DerivedRecord:  # Any: the columns above, in their order
    """The record of a row that begins with the columns above."""
    status = _STATUSES[row[5]]
    # A row that was retired while this one waited for it has lost its sources since.
    is_active = status is DerivedStatus.ACTIVE
    return DerivedRecord(
        id=row[0],
        owner=Owner(tenant=row[1], principal=row[2]),
        record_kind=RecordKind(row[3]),
        revision=row[4],
        status=status,
        flagged_for_review=row[6],
        sensitivity=SENSITIVITIES[row[7]],
        portability=Portability(row[8]),
        created_at=aware(row[9]),
        updated_at=aware(row[10]),
        store_position=row[11],
        content=_content_of(row) if is_active else None,
        sources=_sources_of(row) if is_active else (),
    )


def _content_of(row: Sequence[Any]) -> DerivedContent:  # Any: as above
    return DerivedContent(
        subject=row[12],
        display_subject=row[13],
        clauses=tuple(
            Clause(text=clause["text"], source_ids=tuple(map(UUID, clause["source_ids"]))) for clause in row[14]
        ),
        belief_types=tuple(BELIEF_TYPES[code] for code in row[15]),
        session_ids=tuple(row[16]),
        scope=row[17],
        authority=Authority(row[18]),
        confidence=row[19],
        last_evidence_at=None if row[20] is None else aware(row[20]),
        valid_from=aware(row[21]),
        expires_at=None if row[22] is None else aware(row[22]),
        method=row[23],
        method_revision=row[24],
        evidence_ref=row[25],
    )


def _sources_of(row: Sequence[Any]) -> tuple[PinnedSource, ...]:  # Any: as above
    return tuple(
        PinnedSource(id=id, revision=revision, omitted=omitted)
        for id, revision, omitted in zip(row[26] or (), row[27] or (), row[28] or (), strict=True)
    )


def changed_values(record: DerivedRecord) -> dict[str, object]:
    """What `put` writes of a record, by column."""
    return {
        "revision": record.revision,
        "status": DERIVED_STATUS_CODES[record.status],
        "flagged_for_review": record.flagged_for_review,
        "portability": record.portability.value,
        "updated_at": record.updated_at,
        "store_position": record.store_position,
    }


def added_values(write: DerivedWrite) -> dict[str, object]:
    """Every column of an active record's row but its lexemes."""
    record, content = write.record, _content(write.record)
    clauses = [{"text": each.text, "source_ids": [str(id) for id in each.source_ids]} for each in content.clauses]
    return {
        **changed_values(record),
        "id": record.id,
        "tenant_id": record.owner.tenant,
        "principal_id": record.owner.principal,
        "record_kind": record.record_kind.value,
        "sensitivity": SENSITIVITY_CODES[record.sensitivity],
        "created_at": record.created_at,
        "derivation_hash": write.derivation_hash,
        "statement_hash": write.statement_hash,
        **{column: getattr(content, column) for column in _CONTENT_COLUMNS},
        "subject_key": subject_key(content.subject),
        "display_subject_key": subject_key(content.display_subject),
        "clauses": json.dumps(clauses, ensure_ascii=False),
        "belief_types": [BELIEF_TYPE_CODES[each] for each in content.belief_types],
        "session_ids": list(content.session_ids),
        "authority": content.authority.value,
    }


def source_values(write: DerivedWrite) -> dict[str, object]:
    """All that a record rests on, each once: parallel arrays for `unnest`."""
    direct = {source.id: source for source in write.record.sources}
    rests_on: Mapping[UUID, int] = {
        **{ancestor.id: ancestor.revision for ancestor in write.ancestors},
        **{source.id: source.revision for source in write.record.sources},
    }
    return {
        "source_ids": list(rests_on),
        "source_revisions": list(rests_on.values()),
        "source_is_direct": [id in direct for id in rests_on],
        "source_omitted": [id in direct and direct[id].omitted for id in rests_on],
    }


def derived_lexemes(record: DerivedRecord, *, shown: str | None = None) -> list[str]:
    """The lexemes of an active row, for array_to_tsvector; those it has where it shows another subject."""
    content = _content(record)
    prefix = search_prefix(record.owner, record.sensitivity)
    found = record_lexemes(
        subject=content.subject,
        display_subject=content.display_subject if shown is None else shown,
        statement=content.statement,
    )
    return sorted(prefix + lexeme for lexeme in found)


def _content(record: DerivedRecord) -> DerivedContent:
    assert record.content is not None, "the record is active"
    return record.content
