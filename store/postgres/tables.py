"""The tables of the store.

Every primary and unique key holds the tenant, so that the tables can be distributed by it; access tokens, which are
looked up before the tenant is known, are the exception. There are no triggers, no foreign keys and no clocks.
Text is compared by code point (collation "C"), as Python compares it, and no index depends on the server's locale.
Statistics are off on every column that holds text, lexemes or hashes: the first migration sees to it.
Source: The store on PostgreSQL, Columns and indexes; Growing past one machine.
"""

from enum import StrEnum

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Computed,
    DateTime,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Numeric,
    PrimaryKeyConstraint,
    Sequence,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
    Uuid,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, TSVECTOR

from store.domain.vocabulary import (
    Authority,
    ClaimKind,
    Derivation,
    EventKind,
    Longevity,
    Polarity,
    Portability,
    ReceiptKind,
    RejectionKind,
)

metadata = MetaData(
    naming_convention={
        "pk": "%(table_name)s_pkey",
        "uq": "%(table_name)s_%(column_0_N_name)s_key",
        "ck": "%(table_name)s_%(constraint_name)s_check",
    }
)

TEXT = Text(collation="C")
TIME = DateTime(timezone=True)

LIVE_WITH_AN_END = "status in (1, 2) and ends_at < 'infinity'"
"""The rows that a moment can make expire: the condition of the index that finds those of one owner."""
TO_BE_SWEPT = "status in (1, 2) and isfinite(ends_at)"
"""The same rows: the condition of the index that finds those of a tenant."""

belief_positions = Sequence("belief_positions", metadata=metadata, data_type=BigInteger)
event_numbers = Sequence("event_numbers", metadata=metadata, data_type=BigInteger)


def words_check(column: str, words: type[StrEnum]) -> CheckConstraint:
    """The constraint that a column holds one of an enumeration's words."""
    allowed = ", ".join(f"'{word.value}'" for word in words)
    return CheckConstraint(f"{column} in ({allowed})", name=column)


beliefs = Table(
    "beliefs",
    metadata,
    Column("tenant_id", TEXT, nullable=False),
    Column("principal_id", TEXT, nullable=False),
    Column("id", Uuid, nullable=False),
    Column("subject", TEXT, nullable=False),
    Column("subject_key", LargeBinary, nullable=False),
    Column("display_subject", TEXT, nullable=False),
    Column("display_subject_key", LargeBinary, nullable=False),
    Column("statement", TEXT, nullable=False),
    Column("statement_hash", LargeBinary, nullable=False),
    Column("search", TSVECTOR, nullable=False),
    Column("belief_type", SmallInteger, nullable=False),
    Column("status", SmallInteger, nullable=False),
    Column("polarity", TEXT, nullable=False),
    Column("scope", TEXT, nullable=False),
    Column("claim_kind", TEXT, nullable=False),
    Column("derivation", TEXT, nullable=False),
    Column("longevity", TEXT, nullable=False),
    Column("portability", TEXT, nullable=False),
    Column("authority", TEXT, nullable=False),
    Column("sensitivity", SmallInteger, nullable=False),
    Column("confidence", Numeric(4, 3), nullable=False),
    Column("utility", Numeric(4, 3), nullable=False),
    Column("corroboration_count", Integer, nullable=False),
    Column("evidence_count", Integer, nullable=False),
    Column("flagged_for_review", Boolean, nullable=False),
    Column("conflicts_with", ARRAY(Uuid), nullable=False),
    Column("superseded_by", Uuid),
    Column("source_session_id", Uuid, nullable=False),
    Column("source_event_ids", ARRAY(Integer), nullable=False),
    Column("formation_run_id", Uuid),
    Column("consolidation_policy_version", TEXT),
    Column("lifecycle_policy_version", TEXT),
    Column("origin_scopes", ARRAY(TEXT), nullable=False),
    Column("valid_from", TIME, nullable=False),
    Column("valid_to", TIME),
    Column("expires_at", TIME),
    Column("last_evidence_at", TIME),
    Column("last_used_at", TIME),
    Column("last_reinforced_at", TIME),
    Column("created_at", TIME, nullable=False),
    Column("updated_at", TIME, nullable=False),
    Column("store_position", BigInteger, nullable=False),
    Column("revision", Integer, nullable=False),
    Column(
        "ends_at", TIME, Computed("coalesce(least(expires_at, valid_to), 'infinity')", persisted=True), nullable=False
    ),
    PrimaryKeyConstraint("tenant_id", "principal_id", "id"),
    CheckConstraint("char_length(subject) between 1 and 512", name="subject"),
    CheckConstraint("char_length(statement) between 1 and 8192", name="statement"),
    CheckConstraint("char_length(scope) between 1 and 256", name="scope"),
    CheckConstraint("belief_type between 0 and 4", name="belief_type"),
    CheckConstraint("status between 1 and 5", name="status"),
    CheckConstraint("sensitivity between 0 and 3", name="sensitivity"),
    words_check("polarity", Polarity),
    words_check("claim_kind", ClaimKind),
    words_check("derivation", Derivation),
    words_check("longevity", Longevity),
    words_check("portability", Portability),
    words_check("authority", Authority),
    CheckConstraint("confidence between 0 and 1", name="confidence"),
    CheckConstraint("utility between -1 and 1", name="utility"),
    CheckConstraint("corroboration_count >= 1", name="corroboration_count"),
    CheckConstraint("evidence_count >= 1", name="evidence_count"),
    CheckConstraint("cardinality(conflicts_with) <= 1024 and id <> all (conflicts_with)", name="conflicts_with"),
    CheckConstraint("superseded_by is null or (superseded_by <> id and status = 3)", name="superseded_by"),
    CheckConstraint("status <> 3 or valid_to is not null", name="superseded"),
    CheckConstraint("cardinality(source_event_ids) between 1 and 1000", name="source_event_ids"),
    CheckConstraint("cardinality(origin_scopes) between 1 and 64", name="origin_scopes"),
    CheckConstraint("valid_to >= valid_from", name="valid_to"),
    CheckConstraint("store_position >= 1", name="store_position"),
    CheckConstraint("revision >= 1", name="revision"),
)


# Each index but the primary key is partial, with a condition that every row meets or that its purpose implies. The
# planner takes a partial index only for a query that says the condition: so each query finds its own index and no
# other, also while the tables are empty and all seem to cost the same. (Plans that are made then are kept.)
IN_ORDER_OF_POSITION = "store_position > 0"
IN_CLASSES = "sensitivity >= 0"


def _ranged(name: str, *leading: str, only: str) -> Index:
    """An index whose rows of one sensitivity and one stored status lie in the order of a page."""
    columns = ("tenant_id", "principal_id", *leading, "sensitivity", "status")
    return Index(
        name,
        *(beliefs.c[column] for column in columns),
        beliefs.c.store_position.desc(),
        beliefs.c.id,
        postgresql_include=["ends_at"],
        postgresql_where=text(only),
    )


Index(
    "beliefs_by_position",
    beliefs.c.tenant_id,
    beliefs.c.principal_id,
    beliefs.c.store_position.desc(),
    beliefs.c.id,
    postgresql_where=text(IN_ORDER_OF_POSITION),
)
_ranged("beliefs_by_class", only=IN_CLASSES)
_ranged("beliefs_by_type", "belief_type", only="belief_type is not null")
_ranged("beliefs_by_session", "source_session_id", only="source_session_id is not null")
_ranged("beliefs_by_subject", "subject_key", only="subject_key is not null")
_ranged("beliefs_by_display_subject", "display_subject_key", only="display_subject_key is not null")
_ranged("beliefs_flagged", only="flagged_for_review")
Index(
    "beliefs_due",
    beliefs.c.tenant_id,
    beliefs.c.principal_id,
    beliefs.c.sensitivity,
    beliefs.c.ends_at,
    postgresql_include=["store_position", "id"],
    postgresql_where=text(LIVE_WITH_AN_END),
)
Index("beliefs_to_be_swept", beliefs.c.tenant_id, beliefs.c.ends_at, postgresql_where=text(TO_BE_SWEPT))
Index(
    "beliefs_by_successor",
    beliefs.c.tenant_id,
    beliefs.c.principal_id,
    beliefs.c.superseded_by,
    beliefs.c.id,
    postgresql_where=text("superseded_by is not null"),
)
Index(
    "beliefs_by_statement",
    beliefs.c.tenant_id,
    beliefs.c.principal_id,
    beliefs.c.statement_hash,
    postgresql_where=text("statement_hash is not null"),
)
Index("beliefs_search", beliefs.c.search, postgresql_using="gin", postgresql_with={"fastupdate": "off"})

belief_evidence = Table(
    "belief_evidence",
    metadata,
    Column("tenant_id", TEXT, nullable=False),
    Column("principal_id", TEXT, nullable=False),
    Column("memory_id", Uuid, nullable=False),
    Column("session_id", Uuid, nullable=False),
    Column("number", Integer, nullable=False),
    Column("ordinal", Integer, nullable=False),
    PrimaryKeyConstraint("tenant_id", "principal_id", "memory_id", "session_id", "number"),
)

people = Table(
    "people",
    metadata,
    Column("tenant_id", TEXT, nullable=False),
    Column("principal_id", TEXT, nullable=False),
    Column("key_digest", LargeBinary, nullable=False),
    Column("key", TEXT, nullable=False),
    Column("name", TEXT, nullable=False),
    PrimaryKeyConstraint("tenant_id", "principal_id", "key_digest"),
)

people_facts = Table(
    "people_facts",
    metadata,
    Column("tenant_id", TEXT, nullable=False),
    Column("principal_id", TEXT, nullable=False),
    Column("memory_id", Uuid, nullable=False),
    Column("person_key", TEXT, nullable=False),
    Column("statement", TEXT, nullable=False),
    Column("statement_hash", LargeBinary, nullable=False),
    PrimaryKeyConstraint("tenant_id", "principal_id", "memory_id"),
)
Index("people_facts_by_statement", people_facts.c.tenant_id, people_facts.c.principal_id, people_facts.c.statement_hash)

events = Table(
    "events",
    metadata,
    Column("tenant_id", TEXT, nullable=False),
    Column("principal_id", TEXT, nullable=False),
    Column("session_id", Uuid, nullable=False),
    Column("number", BigInteger, nullable=False),
    Column("kind", TEXT, nullable=False),
    Column("memory_id", Uuid),
    Column("occurred_at", TIME, nullable=False),
    Column("payload", JSONB, nullable=False),
    PrimaryKeyConstraint("tenant_id", "principal_id", "session_id", "number"),
    words_check("kind", EventKind),
)
Index("events_by_number", events.c.number)

receipts = Table(
    "receipts",
    metadata,
    Column("tenant_id", TEXT, nullable=False),
    Column("principal_id", TEXT, nullable=False),
    Column("key", TEXT, nullable=False),
    Column("kind", TEXT, nullable=False),
    Column("request_hash", LargeBinary, nullable=False),
    Column("memory_id", Uuid, nullable=False),
    Column("created_at", TIME, nullable=False),
    PrimaryKeyConstraint("tenant_id", "principal_id", "key"),
    words_check("kind", ReceiptKind),
)
Index("receipts_by_age", receipts.c.tenant_id, receipts.c.created_at)

tombstones = Table(
    "tombstones",
    metadata,
    Column("tenant_id", TEXT, nullable=False),
    Column("principal_id", TEXT, nullable=False),
    Column("statement_hash", LargeBinary, nullable=False),
    Column("key_id", TEXT, nullable=False),
    Column("created_at", TIME, nullable=False),
    PrimaryKeyConstraint("tenant_id", "principal_id", "statement_hash"),
)

rejections = Table(
    "rejections",
    metadata,
    Column("tenant_id", TEXT, nullable=False),
    Column("principal_id", TEXT, nullable=False),
    Column("statement_hash", LargeBinary, nullable=False),
    Column("kind", TEXT, nullable=False),
    Column("key_id", TEXT, nullable=False),
    Column("memory_id", Uuid, nullable=False),
    Column("created_at", TIME, nullable=False),
    PrimaryKeyConstraint("tenant_id", "principal_id", "statement_hash", "kind"),
    words_check("kind", RejectionKind),
)

access_tokens = Table(
    "access_tokens",
    metadata,
    Column("token_hash", LargeBinary, nullable=False),
    Column("id", Uuid, nullable=False),
    Column("tenant_id", TEXT, nullable=False),
    Column("principal_id", TEXT, nullable=False),
    Column("scopes", ARRAY(TEXT), nullable=False),
    Column("label", TEXT, nullable=False),
    Column("created_at", TIME, nullable=False),
    Column("expires_at", TIME),
    Column("revoked_at", TIME),
    Column("last_used_at", TIME),
    PrimaryKeyConstraint("token_hash"),
    UniqueConstraint("id"),
)
Index("access_tokens_by_owner", access_tokens.c.tenant_id, access_tokens.c.principal_id)

WHOLE_STORE = ""
"""The tenant of what belongs to the store itself. No tenant has this name."""

store_facts = Table(
    "store_facts",
    metadata,
    Column("tenant_id", TEXT, nullable=False),
    Column("name", TEXT, nullable=False),
    Column("value", TEXT, nullable=False),
    PrimaryKeyConstraint("tenant_id", "name"),
)

imports = Table(
    "imports",
    metadata,
    Column("tenant_id", TEXT, nullable=False),
    Column("file_hash", TEXT, nullable=False),
    Column("byte_offset", BigInteger, nullable=False),
    Column("updated_at", TIME, nullable=False),
    PrimaryKeyConstraint("tenant_id", "file_hash"),
)
