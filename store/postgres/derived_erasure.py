"""What an erasure makes of derived records, as parts of one statement, whatever it meets.

Removed are the records that are named and those of a derivation that goes. Retired is what says a statement that goes,
and whatever rests on anything that goes, directly or through others: each row holds all that it rests on. Every row is
locked before one is written, in the order of the ids, so that two erasures wait for each other and never both.
"""

from store.postgres.derived_rows import RETIRED
from store.postgres.derived_tables import BY_SOURCE, CONTENT_COLUMNS, OPTIONAL_CONTENT_COLUMNS
from store.postgres.predicates import owned

WITHOUT_CONTENT = ", ".join(f"{column} = null" for column in (*CONTENT_COLUMNS, *OPTIONAL_CONTENT_COLUMNS))
"""What retiring a row makes of its content, in an update."""


def _by_hash(column: str) -> str:
    return f"""select found.id from unnest(CAST(:hashes AS bytea[])) wanted (hash) cross join lateral (
            select stored.id from derived_records stored
            where {owned("stored")} and stored.{column} = wanted.hash offset 0
        ) found"""


def derived_gone(*, condition: str = "true") -> str:
    """Parts of a `with` that do it, over :erased (ids of beliefs or records that go), :removed, :hashes and :at.

    `derived_removed` answers the ids of the rows removed. Nothing is written unless the condition holds.
    """
    return f"""
    derived_named (id) as materialized (
        select id from unnest(CAST(:removed AS uuid[])) wanted (id) union {_by_hash("derivation_hash")}
    ),
    derived_going (id) as materialized (
        select id from derived_named union {_by_hash("statement_hash")}
    ),
    derived_touched (id) as materialized (
        select id from derived_going union
        select held.derived_id from (
            select id from derived_going union select id from unnest(CAST(:erased AS uuid[])) wanted (id)
        ) source
        cross join lateral (
            select resting.derived_id from derived_sources resting
            where {owned("resting")} and resting.source_id = source.id and resting.{BY_SOURCE} offset 0
        ) held
    ),
    derived_locked (id) as materialized (
        select m.id from (select id from derived_touched order by id offset 0) wanted cross join lateral (
            select stored.id from derived_records stored
            where {owned("stored")} and stored.id = wanted.id and {condition} for update offset 0
        ) m
    ),
    derived_removed as (
        delete from derived_records m
        where {owned("m")} and m.id = any (array(
            select id from derived_locked intersect select id from derived_named
        ))
        returning m.id
    ),
    derived_retired as (
        update derived_records m set status = {RETIRED}, revision = m.revision + 1,
            updated_at = CAST(:at AS timestamptz), {WITHOUT_CONTENT}
        where {owned("m")} and m.status <> {RETIRED} and m.id = any (array(
            select id from derived_locked except select id from derived_named
        ))
    ),
    derived_sources_gone as (
        delete from derived_sources held
        where {owned("held")} and held.derived_id = any (array(select id from derived_locked))
    )"""
