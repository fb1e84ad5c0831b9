"""The schema that migrations make, and the settings of the role."""

import asyncio

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, text
from sqlalchemy.engine import make_url
from sqlalchemy.ext.asyncio import create_async_engine

from store.postgres.migrating import (
    NEWEST_REVISION,
    ROLE_SETTINGS,
    RoleSetting,
    SchemaMismatch,
    UnsuitableSettings,
    check_settings,
    migrate,
)
from store.postgres.store import PostgresStore
from store.postgres.tables import metadata

pytestmark = pytest.mark.postgres

Rows = list[tuple[object, ...]]

CONSTRAINTS = """
    select conrelid::regclass::text, conname, pg_get_constraintdef(oid) from pg_constraint
    where connamespace = 'public'::regnamespace and contype <> 'n' order by 1, 2
"""
INDEXES = "select tablename, indexname, indexdef from pg_indexes where schemaname = 'public' order by 1, 2"
COLUMNS = """
    select table_name, column_name, data_type, udt_name, collation_name, is_nullable, numeric_precision, numeric_scale,
        generation_expression
    from information_schema.columns where table_schema = 'public' order by 1, 2
"""
SEQUENCES = "select sequencename, data_type, start_value, increment_by from pg_sequences order by 1"

OF_ALEMBIC = "alembic_version"


async def read(url: str, query: str) -> Rows:
    """The rows of a query on a connection of its own, without those about Alembic's own table."""
    engine = create_async_engine(url)
    try:
        async with engine.connect() as connection:
            return [tuple(row) for row in await connection.execute(text(query)) if row[0] != OF_ALEMBIC]
    finally:
        await engine.dispose()


async def run(url: str, *statements: str) -> None:
    """Run statements in one transaction."""
    engine = create_async_engine(url)
    try:
        async with engine.begin() as connection:
            for statement in statements:
                await connection.execute(text(statement))
    finally:
        await engine.dispose()


async def test_two_processes_that_start_at_once_migrate_once(bare_database_url: str) -> None:
    await asyncio.gather(migrate(bare_database_url), migrate(bare_database_url))

    assert [(NEWEST_REVISION,)] == await read(bare_database_url, "select version_num from alembic_version")
    await check_settings(bare_database_url)


async def test_migrating_again_changes_nothing(own_database_url: str) -> None:
    before = [await read(own_database_url, query) for query in (CONSTRAINTS, INDEXES, COLUMNS, SEQUENCES)]

    await migrate(own_database_url)

    assert before == [await read(own_database_url, query) for query in (CONSTRAINTS, INDEXES, COLUMNS, SEQUENCES)]


@pytest.mark.parametrize("query", [CONSTRAINTS, INDEXES, COLUMNS, SEQUENCES])
async def test_migrations_make_what_the_program_describes(
    own_database_url: str, bare_database_url: str, query: str
) -> None:
    engine = create_async_engine(bare_database_url)
    async with engine.begin() as connection:
        await connection.run_sync(metadata.create_all)
    await engine.dispose()

    assert await read(bare_database_url, query) == await read(own_database_url, query)


async def test_alembic_finds_no_difference(own_database_url: str) -> None:
    def differences(connection: Connection) -> list[object]:
        context = MigrationContext.configure(
            connection, opts={"include_object": lambda _, name, kind, *__: (kind, name) != ("table", OF_ALEMBIC)}
        )
        found: list[object] = compare_metadata(context, metadata)
        return found

    engine = create_async_engine(own_database_url)
    async with engine.connect() as connection:
        found = await connection.run_sync(differences)
    await engine.dispose()

    assert [] == found


async def test_every_unique_key_holds_the_tenant_but_those_of_access_tokens(own_database_url: str) -> None:
    keys = await read(
        own_database_url,
        """
        select indrelid::regclass::text, indexrelid::regclass::text from pg_index
        where indrelid in (select oid from pg_class where relnamespace = 'public'::regnamespace) and indisunique
            and not exists (
                select from pg_attribute
                where attrelid = indrelid and attnum = any (indkey) and attname = 'tenant_id'
            )
        order by 2
        """,
    )

    assert [("access_tokens", "access_tokens_id_key"), ("access_tokens", "access_tokens_pkey")] == keys


async def test_no_statistics_are_kept_of_texts_lexemes_and_hashes(own_database_url: str) -> None:
    # attstattarget: null from PostgreSQL 17 on, -1 before, where nobody has set it.
    kept = await read(
        own_database_url,
        """
        select attrelid::regclass::text, attname from pg_attribute
        where attrelid in (select oid from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r')
            and attnum > 0 and atttypid::regtype::text in ('text', 'text[]', 'tsvector', 'bytea', 'jsonb')
            and coalesce(attstattarget, -1) <> 0
        """,
    )

    assert [] == kept


async def test_an_analysed_table_keeps_no_statement(own_database_url: str) -> None:
    await run(
        own_database_url,
        """
        insert into people_facts (tenant_id, principal_id, memory_id, person_key, statement, statement_hash)
        select 'harbour', 'ada', md5(i::text)::uuid, 'grace', 'Keeps a rowing boat', '\\x00'
        from generate_series(1, 500) i
        """,
    )
    await run(own_database_url, "analyze")

    statistics = await read(own_database_url, "select tablename::text, pg_stats::text from pg_stats")

    assert "people_facts" in {row[0] for row in statistics}
    assert "rowing" not in str(statistics)


async def test_there_are_no_triggers_and_no_foreign_keys(own_database_url: str) -> None:
    assert [] == await read(own_database_url, "select tgname from pg_trigger")
    assert [] == await read(own_database_url, "select conname from pg_constraint where contype = 'f'")


async def test_a_role_without_settings_is_refused_with_the_statements_to_run(bare_database_url: str) -> None:
    with pytest.raises(UnsuitableSettings) as refusal:
        await check_settings(bare_database_url)

    statements = [part.strip() for part in str(refusal.value).partition("run: ")[2].split(";") if part.strip()]
    await run(bare_database_url, *statements)
    await check_settings(bare_database_url)


@pytest.mark.parametrize("setting", ROLE_SETTINGS, ids=lambda setting: setting.name)
async def test_a_setting_that_was_changed_is_named(own_database_url: str, setting: RoleSetting) -> None:
    unsuitable = {
        "TimeZone": "Asia/Tokyo",
        "statement_timeout": "0",
        "idle_in_transaction_session_timeout": "0",
        "max_parallel_workers_per_gather": "2",
        "enable_seqscan": "on",
        "jit": "on",
        "plan_cache_mode": "auto",
    }
    database = make_url(own_database_url).database
    await run(
        own_database_url,
        f"alter role current_user in database {database} set {setting.name} = '{unsuitable[setting.name]}'",
    )

    with pytest.raises(UnsuitableSettings, match=rf"SET {setting.name} = "):
        await check_settings(own_database_url)


async def test_a_timeout_of_the_operators_own_choice_stands(own_database_url: str) -> None:
    database = make_url(own_database_url).database
    await run(own_database_url, f"alter role current_user in database {database} set statement_timeout = '5s'")

    await migrate(own_database_url)

    assert [("5s",)] == await read(own_database_url, "show statement_timeout")


async def test_a_store_of_another_schema_version_is_refused(bare_database_url: str) -> None:
    store = PostgresStore(bare_database_url)
    try:
        with pytest.raises(SchemaMismatch):
            await store.check()
        await migrate(bare_database_url)
        await store.check()
        await run(bare_database_url, "update alembic_version set version_num = '9999'")
        with pytest.raises(SchemaMismatch):
            await store.check()
    finally:
        await store.close()
