"""The tables of derived records, under the rules of tables.py, whose metadata they share.

A retired record is a shell: of its content nothing is left but the keyed hashes, by which it is found when what it said
is deleted. Source: belief store decisions, Derived records; evidence graph decisions.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Computed,
    Index,
    Integer,
    LargeBinary,
    Numeric,
    PrimaryKeyConstraint,
    SmallInteger,
    Table,
    Uuid,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, TSVECTOR

from store.domain.derived import RecordKind
from store.domain.vocabulary import Authority, Portability
from store.postgres.tables import TEXT, TIME, metadata, words_check

CONTENT_COLUMNS = (
    "subject",
    "subject_key",
    "display_subject",
    "display_subject_key",
    "clauses",
    "belief_types",
    "session_ids",
    "scope",
    "authority",
    "confidence",
    "valid_from",
    "method",
    "method_revision",
    "evidence_ref",
    "search",
)
"""What every active record has, and no retired one."""
OPTIONAL_CONTENT_COLUMNS = ("last_evidence_at", "expires_at")
"""What an active record may have, and no retired one."""

derived_records = Table(
    "derived_records",
    metadata,
    Column("tenant_id", TEXT, nullable=False),
    Column("principal_id", TEXT, nullable=False),
    Column("id", Uuid, nullable=False),
    Column("record_kind", TEXT, nullable=False),
    Column("status", SmallInteger, nullable=False),
    Column("flagged_for_review", Boolean, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("sensitivity", SmallInteger, nullable=False),
    Column("portability", TEXT, nullable=False),
    Column("created_at", TIME, nullable=False),
    Column("updated_at", TIME, nullable=False),
    Column("store_position", BigInteger, nullable=False),
    Column("derivation_hash", LargeBinary, nullable=False),
    Column("statement_hash", LargeBinary, nullable=False),
    Column("subject", TEXT),
    Column("subject_key", LargeBinary),
    Column("display_subject", TEXT),
    Column("display_subject_key", LargeBinary),
    Column("clauses", JSONB),
    Column("belief_types", ARRAY(SmallInteger)),
    Column("session_ids", ARRAY(Uuid)),
    Column("scope", TEXT),
    Column("authority", TEXT),
    Column("confidence", Numeric(4, 3)),
    Column("last_evidence_at", TIME),
    Column("valid_from", TIME),
    Column("expires_at", TIME),
    Column("method", TEXT),
    Column("method_revision", TEXT),
    Column("evidence_ref", TEXT),
    Column("search", TSVECTOR),
    Column("ends_at", TIME, Computed("coalesce(expires_at, 'infinity')", persisted=True), nullable=False),
    PrimaryKeyConstraint("tenant_id", "principal_id", "id"),
    words_check("record_kind", RecordKind),
    CheckConstraint("status in (2, 5)", name="status"),
    CheckConstraint("revision >= 1", name="revision"),
    CheckConstraint("sensitivity between 0 and 3", name="sensitivity"),
    words_check("portability", Portability),
    CheckConstraint("store_position >= 1", name="store_position"),
    CheckConstraint(
        f"num_nulls({', '.join(CONTENT_COLUMNS)}) = case when status = 5 then {len(CONTENT_COLUMNS)} else 0 end",
        name="content",
    ),
    CheckConstraint(
        f"status = 2 or num_nonnulls({', '.join(OPTIONAL_CONTENT_COLUMNS)}) = 0",
        name="optional_content",
    ),
    CheckConstraint("char_length(subject) between 1 and 512", name="subject"),
    CheckConstraint("jsonb_array_length(clauses) between 1 and 4", name="clauses"),
    CheckConstraint("cardinality(belief_types) between 1 and 5", name="belief_types"),
    CheckConstraint("cardinality(session_ids) >= 1", name="session_ids"),
    CheckConstraint("char_length(scope) between 1 and 256", name="scope"),
    words_check("authority", Authority),
    CheckConstraint("confidence between 0 and 1", name="confidence"),
    CheckConstraint("octet_length(method) between 1 and 256", name="method"),
    CheckConstraint("octet_length(method_revision) between 1 and 256", name="method_revision"),
    CheckConstraint("octet_length(evidence_ref) between 1 and 2048", name="evidence_ref"),
)

IN_LEVELS = "status = 2"
"""The active records: the condition of the index in which those of one sensitivity lie in the order of a page."""

# As of beliefs: a partial index is taken only by a query that says its condition, so each query finds its own.
Index(
    "derived_records_by_level",
    derived_records.c.tenant_id,
    derived_records.c.principal_id,
    derived_records.c.sensitivity,
    derived_records.c.store_position.desc(),
    derived_records.c.id,
    postgresql_include=["ends_at"],
    postgresql_where=text(IN_LEVELS),
)
Index(
    "derived_records_by_derivation",
    derived_records.c.tenant_id,
    derived_records.c.principal_id,
    derived_records.c.derivation_hash,
    postgresql_where=text("derivation_hash is not null"),
)
Index(
    "derived_records_by_statement",
    derived_records.c.tenant_id,
    derived_records.c.principal_id,
    derived_records.c.statement_hash,
    postgresql_where=text("statement_hash is not null"),
)
DERIVED_TO_BE_SWEPT = f"{IN_LEVELS} and isfinite(ends_at)"
"""Active records that run out by themselves: the condition of the index that finds those of a tenant."""
Index(
    "derived_records_to_be_swept",
    derived_records.c.tenant_id,
    derived_records.c.ends_at,
    postgresql_where=text(DERIVED_TO_BE_SWEPT),
)
Index("derived_records_search", derived_records.c.search, postgresql_using="gin", postgresql_with={"fastupdate": "off"})

derived_sources = Table(
    "derived_sources",
    metadata,
    Column("tenant_id", TEXT, nullable=False),
    Column("principal_id", TEXT, nullable=False),
    Column("derived_id", Uuid, nullable=False),
    Column("source_id", Uuid, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("is_direct", Boolean, nullable=False),
    Column("omitted", Boolean, nullable=False),
    PrimaryKeyConstraint("tenant_id", "principal_id", "derived_id", "source_id"),
    CheckConstraint("source_id <> derived_id", name="source_id"),
    CheckConstraint("revision >= 1", name="revision"),
    CheckConstraint("is_direct or not omitted", name="omitted"),
)
"""All that each record rests on: its sources, which are direct, and what these rest on in turn."""

BY_SOURCE = "revision > 0"
"""Every row: the condition of the index by which those that rest on something are found.

It names a column that the primary key lacks, which holds the source too, and might seem to be as good.
"""
Index(
    "derived_sources_by_source",
    derived_sources.c.tenant_id,
    derived_sources.c.principal_id,
    derived_sources.c.source_id,
    derived_sources.c.derived_id,
    postgresql_where=text(BY_SOURCE),
)
