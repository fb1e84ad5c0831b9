"""The tables of derived records.

The statements are final: a later change is a later revision.
"""

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

TABLES = (
    """
create table derived_records (
    tenant_id text collate "C" not null,
    principal_id text collate "C" not null,
    id uuid not null,
    record_kind text collate "C" not null,
    status smallint not null,
    flagged_for_review boolean not null,
    revision integer not null,
    sensitivity smallint not null,
    portability text collate "C" not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    store_position bigint not null,
    derivation_hash bytea not null,
    statement_hash bytea not null,
    subject text collate "C",
    subject_key bytea,
    display_subject text collate "C",
    display_subject_key bytea,
    clauses jsonb,
    belief_types smallint[],
    session_ids uuid[],
    scope text collate "C",
    authority text collate "C",
    confidence numeric(4, 3),
    last_evidence_at timestamptz,
    valid_from timestamptz,
    expires_at timestamptz,
    method text collate "C",
    method_revision text collate "C",
    evidence_ref text collate "C",
    search tsvector,
    ends_at timestamptz generated always as (coalesce(expires_at, 'infinity')) stored not null,
    constraint derived_records_pkey primary key (tenant_id, principal_id, id),
    constraint derived_records_record_kind_check check (record_kind in ('summary', 'hypothesis')),
    constraint derived_records_status_check check (status in (2, 5)),
    constraint derived_records_revision_check check (revision >= 1),
    constraint derived_records_sensitivity_check check (sensitivity between 0 and 3),
    constraint derived_records_portability_check check (portability in ('portable', 'contextual', 'local')),
    constraint derived_records_store_position_check check (store_position >= 1),
    constraint derived_records_content_check check (num_nulls(subject, subject_key, display_subject,
        display_subject_key, clauses, belief_types, session_ids, scope, authority, confidence, valid_from, method,
        method_revision, evidence_ref, search) = case when status = 5 then 15 else 0 end),
    constraint derived_records_optional_content_check check
        (status = 2 or num_nonnulls(last_evidence_at, expires_at) = 0),
    constraint derived_records_subject_check check (char_length(subject) between 1 and 512),
    constraint derived_records_clauses_check check (jsonb_array_length(clauses) between 1 and 4),
    constraint derived_records_belief_types_check check (cardinality(belief_types) between 1 and 5),
    constraint derived_records_session_ids_check check (cardinality(session_ids) >= 1),
    constraint derived_records_scope_check check (char_length(scope) between 1 and 256),
    constraint derived_records_authority_check check (authority in ('user', 'affirmed', 'inferred')),
    constraint derived_records_confidence_check check (confidence between 0 and 1),
    constraint derived_records_method_check check (octet_length(method) between 1 and 256),
    constraint derived_records_method_revision_check check (octet_length(method_revision) between 1 and 256),
    constraint derived_records_evidence_ref_check check (octet_length(evidence_ref) between 1 and 2048)
)
""",
    """
create table derived_sources (
    tenant_id text collate "C" not null,
    principal_id text collate "C" not null,
    derived_id uuid not null,
    source_id uuid not null,
    revision integer not null,
    is_direct boolean not null,
    omitted boolean not null,
    constraint derived_sources_pkey primary key (tenant_id, principal_id, derived_id, source_id),
    constraint derived_sources_source_id_check check (source_id <> derived_id),
    constraint derived_sources_revision_check check (revision >= 1),
    constraint derived_sources_omitted_check check (is_direct or not omitted)
)
""",
)

INDEXES = (
    """
create index derived_records_by_level on derived_records (tenant_id, principal_id, sensitivity, store_position desc,
    id) include (ends_at) where status = 2
""",
    """
create index derived_records_by_derivation on derived_records (tenant_id, principal_id, derivation_hash)
    where derivation_hash is not null
""",
    """
create index derived_records_by_statement on derived_records (tenant_id, principal_id, statement_hash)
    where statement_hash is not null
""",
    """
create index derived_records_to_be_swept on derived_records (tenant_id, ends_at)
    where status = 2 and isfinite(ends_at)
""",
    "create index derived_records_search on derived_records using gin (search) with (fastupdate = off)",
    """
create index derived_sources_by_source on derived_sources (tenant_id, principal_id, source_id, derived_id)
    where revision > 0
""",
)

# As in the first migration: nothing that a person may delete is kept by pg_statistic.
COLUMNS_WITHOUT_STATISTICS = {
    "derived_records": (
        "tenant_id",
        "principal_id",
        "record_kind",
        "portability",
        "derivation_hash",
        "statement_hash",
        "subject",
        "subject_key",
        "display_subject",
        "display_subject_key",
        "clauses",
        "scope",
        "authority",
        "method",
        "method_revision",
        "evidence_ref",
        "search",
    ),
    "derived_sources": ("tenant_id", "principal_id"),
}


def upgrade() -> None:
    for statement in (*TABLES, *INDEXES):
        op.execute(statement)
    for table, columns in COLUMNS_WITHOUT_STATISTICS.items():
        for column in columns:
            op.execute(f"alter table {table} alter column {column} set statistics 0")
