"""Every table of the first release.

The statements are final: a later change is a later revision.
"""

from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

SEQUENCES = ("create sequence belief_positions as bigint", "create sequence event_numbers as bigint")

TABLES = (
    """
create table beliefs (
    tenant_id text collate "C" not null,
    principal_id text collate "C" not null,
    id uuid not null,
    subject text collate "C" not null,
    subject_key bytea not null,
    display_subject text collate "C" not null,
    display_subject_key bytea not null,
    statement text collate "C" not null,
    statement_hash bytea not null,
    search tsvector not null,
    belief_type smallint not null,
    status smallint not null,
    polarity text collate "C" not null,
    scope text collate "C" not null,
    claim_kind text collate "C" not null,
    derivation text collate "C" not null,
    longevity text collate "C" not null,
    portability text collate "C" not null,
    authority text collate "C" not null,
    sensitivity smallint not null,
    confidence numeric(4, 3) not null,
    utility numeric(4, 3) not null,
    corroboration_count integer not null,
    evidence_count integer not null,
    flagged_for_review boolean not null,
    conflicts_with uuid[] not null,
    superseded_by uuid,
    source_session_id uuid not null,
    source_event_ids integer[] not null,
    formation_run_id uuid,
    consolidation_policy_version text collate "C",
    lifecycle_policy_version text collate "C",
    origin_scopes text[] collate "C" not null,
    valid_from timestamptz not null,
    valid_to timestamptz,
    expires_at timestamptz,
    last_evidence_at timestamptz,
    last_used_at timestamptz,
    last_reinforced_at timestamptz,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    store_position bigint not null,
    revision integer not null,
    ends_at timestamptz generated always as (coalesce(least(expires_at, valid_to), 'infinity')) stored not null,
    constraint beliefs_pkey primary key (tenant_id, principal_id, id),
    constraint beliefs_subject_check check (char_length(subject) between 1 and 512),
    constraint beliefs_statement_check check (char_length(statement) between 1 and 8192),
    constraint beliefs_scope_check check (char_length(scope) between 1 and 256),
    constraint beliefs_belief_type_check check (belief_type between 0 and 4),
    constraint beliefs_status_check check (status between 1 and 5),
    constraint beliefs_sensitivity_check check (sensitivity between 0 and 3),
    constraint beliefs_polarity_check check (polarity in ('assert', 'retract')),
    constraint beliefs_claim_kind_check check (claim_kind in ('ongoing_project', 'goal', 'role', 'skill',
        'interest', 'habit', 'constraint', 'recurring_state', 'relationship', 'preference', 'resource',
        'project_fact')),
    constraint beliefs_derivation_check check (derivation in ('direct', 'hypothesis')),
    constraint beliefs_longevity_check check (longevity in ('ongoing', 'durable', 'tentative')),
    constraint beliefs_portability_check check (portability in ('portable', 'contextual', 'local')),
    constraint beliefs_authority_check check (authority in ('user', 'affirmed', 'inferred')),
    constraint beliefs_confidence_check check (confidence between 0 and 1),
    constraint beliefs_utility_check check (utility between -1 and 1),
    constraint beliefs_corroboration_count_check check (corroboration_count >= 1),
    constraint beliefs_evidence_count_check check (evidence_count >= 1),
    constraint beliefs_conflicts_with_check check
        (cardinality(conflicts_with) <= 1024 and id <> all (conflicts_with)),
    constraint beliefs_superseded_by_check check (superseded_by is null or (superseded_by <> id and status = 3)),
    constraint beliefs_superseded_check check (status <> 3 or valid_to is not null),
    constraint beliefs_source_event_ids_check check (cardinality(source_event_ids) between 1 and 1000),
    constraint beliefs_origin_scopes_check check (cardinality(origin_scopes) between 1 and 64),
    constraint beliefs_valid_to_check check (valid_to >= valid_from),
    constraint beliefs_store_position_check check (store_position >= 1),
    constraint beliefs_revision_check check (revision >= 1)
)
""",
    """
create table belief_evidence (
    tenant_id text collate "C" not null,
    principal_id text collate "C" not null,
    memory_id uuid not null,
    session_id uuid not null,
    number integer not null,
    ordinal integer not null,
    constraint belief_evidence_pkey primary key (tenant_id, principal_id, memory_id, session_id, number)
)
""",
    """
create table people (
    tenant_id text collate "C" not null,
    principal_id text collate "C" not null,
    key_digest bytea not null,
    key text collate "C" not null,
    name text collate "C" not null,
    constraint people_pkey primary key (tenant_id, principal_id, key_digest)
)
""",
    """
create table people_facts (
    tenant_id text collate "C" not null,
    principal_id text collate "C" not null,
    memory_id uuid not null,
    person_key text collate "C" not null,
    statement text collate "C" not null,
    statement_hash bytea not null,
    constraint people_facts_pkey primary key (tenant_id, principal_id, memory_id)
)
""",
    """
create table events (
    tenant_id text collate "C" not null,
    principal_id text collate "C" not null,
    session_id uuid not null,
    number bigint not null,
    kind text collate "C" not null,
    memory_id uuid,
    occurred_at timestamptz not null,
    payload jsonb not null,
    constraint events_pkey primary key (tenant_id, principal_id, session_id, number),
    constraint events_kind_check check (kind in ('memory.formed', 'memory.reinforced', 'memory.contradicted',
        'memory.superseded', 'memory.expired', 'memory.reviewed', 'memory.rejected', 'memory.deleted',
        'operator.access', 'principal.erased'))
)
""",
    """
create table receipts (
    tenant_id text collate "C" not null,
    principal_id text collate "C" not null,
    key text collate "C" not null,
    kind text collate "C" not null,
    request_hash bytea not null,
    memory_id uuid not null,
    created_at timestamptz not null,
    constraint receipts_pkey primary key (tenant_id, principal_id, key),
    constraint receipts_kind_check check (kind in ('memory.review_completed', 'memory.delete_completed'))
)
""",
    """
create table tombstones (
    tenant_id text collate "C" not null,
    principal_id text collate "C" not null,
    statement_hash bytea not null,
    key_id text collate "C" not null,
    created_at timestamptz not null,
    constraint tombstones_pkey primary key (tenant_id, principal_id, statement_hash)
)
""",
    """
create table rejections (
    tenant_id text collate "C" not null,
    principal_id text collate "C" not null,
    statement_hash bytea not null,
    kind text collate "C" not null,
    key_id text collate "C" not null,
    memory_id uuid not null,
    created_at timestamptz not null,
    constraint rejections_pkey primary key (tenant_id, principal_id, statement_hash, kind),
    constraint rejections_kind_check check (kind in ('untrue', 'changed', 'not_here', 'unspecified', 'deleted'))
)
""",
    """
create table access_tokens (
    token_hash bytea not null,
    id uuid not null,
    tenant_id text collate "C" not null,
    principal_id text collate "C" not null,
    scopes text[] collate "C" not null,
    label text collate "C" not null,
    created_at timestamptz not null,
    expires_at timestamptz,
    revoked_at timestamptz,
    last_used_at timestamptz,
    constraint access_tokens_pkey primary key (token_hash),
    constraint access_tokens_id_key unique (id)
)
""",
    """
create table store_facts (
    tenant_id text collate "C" not null,
    name text collate "C" not null,
    value text collate "C" not null,
    constraint store_facts_pkey primary key (tenant_id, name)
)
""",
    """
create table imports (
    tenant_id text collate "C" not null,
    file_hash text collate "C" not null,
    byte_offset bigint not null,
    updated_at timestamptz not null,
    constraint imports_pkey primary key (tenant_id, file_hash)
)
""",
)

INDEXES = (
    """
create index beliefs_by_class on beliefs (tenant_id, principal_id, sensitivity, status, store_position desc, id)
    include (ends_at) where sensitivity >= 0
""",
    """
create index beliefs_by_display_subject on beliefs (tenant_id, principal_id, display_subject_key, sensitivity,
    status, store_position desc, id) include (ends_at) where display_subject_key is not null
""",
    """
create index beliefs_by_position on beliefs (tenant_id, principal_id, store_position desc, id)
    where store_position > 0
""",
    """
create index beliefs_by_session on beliefs (tenant_id, principal_id, source_session_id, sensitivity, status,
    store_position desc, id) include (ends_at) where source_session_id is not null
""",
    """
create index beliefs_by_statement on beliefs (tenant_id, principal_id, statement_hash)
    where statement_hash is not null
""",
    """
create index beliefs_by_subject on beliefs (tenant_id, principal_id, subject_key, sensitivity, status,
    store_position desc, id) include (ends_at) where subject_key is not null
""",
    """
create index beliefs_by_successor on beliefs (tenant_id, principal_id, superseded_by, id)
    where superseded_by is not null
""",
    """
create index beliefs_by_type on beliefs (tenant_id, principal_id, belief_type, sensitivity, status,
    store_position desc, id) include (ends_at) where belief_type is not null
""",
    """
create index beliefs_due on beliefs (tenant_id, principal_id, sensitivity, ends_at) include (store_position, id)
    where status in (1, 2) and ends_at < 'infinity'
""",
    """
create index beliefs_to_be_swept on beliefs (tenant_id, ends_at)
    where status in (1, 2) and isfinite(ends_at)
""",
    """
create index beliefs_flagged on beliefs (tenant_id, principal_id, sensitivity, status, store_position desc, id)
    include (ends_at) where flagged_for_review
""",
    "create index beliefs_search on beliefs using gin (search) with (fastupdate = off)",
    "create index people_facts_by_statement on people_facts (tenant_id, principal_id, statement_hash)",
    "create index receipts_by_age on receipts (tenant_id, created_at)",
    "create index access_tokens_by_owner on access_tokens (tenant_id, principal_id)",
)

# No statistics of what a person may delete: pg_statistic would keep texts and words after their rows are gone, and
# statistics that are switched off later leave the old ones. None of the plans needs them.
COLUMNS_WITHOUT_STATISTICS = {
    "beliefs": (
        "tenant_id",
        "principal_id",
        "subject",
        "subject_key",
        "display_subject",
        "display_subject_key",
        "statement",
        "statement_hash",
        "search",
        "polarity",
        "scope",
        "claim_kind",
        "derivation",
        "longevity",
        "portability",
        "authority",
        "consolidation_policy_version",
        "lifecycle_policy_version",
        "origin_scopes",
    ),
    "belief_evidence": ("tenant_id", "principal_id"),
    "people": ("tenant_id", "principal_id", "key_digest", "key", "name"),
    "people_facts": ("tenant_id", "principal_id", "person_key", "statement", "statement_hash"),
    "events": ("tenant_id", "principal_id", "kind", "payload"),
    "receipts": ("tenant_id", "principal_id", "key", "kind", "request_hash"),
    "tombstones": ("tenant_id", "principal_id", "statement_hash", "key_id"),
    "rejections": ("tenant_id", "principal_id", "statement_hash", "kind", "key_id"),
    "access_tokens": ("token_hash", "tenant_id", "principal_id", "scopes", "label"),
    "store_facts": ("tenant_id", "name", "value"),
    "imports": ("tenant_id", "file_hash"),
}


def upgrade() -> None:
    for statement in (*SEQUENCES, *TABLES, *INDEXES):
        op.execute(statement)
    for table, columns in COLUMNS_WITHOUT_STATISTICS.items():
        for column in columns:
            op.execute(f"alter table {table} alter column {column} set statistics 0")
