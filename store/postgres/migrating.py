"""Bringing a database to this program's schema, and its role to the settings that the statements rely on.

Source: The store on PostgreSQL, Settings of the role.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from sqlalchemy import Connection, NullPool, text
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine

from store.ports.errors import StoreError
from store.postgres.engine import unnamed_statements
from store.postgres.failures import judged_failures

NEWEST_REVISION = "0003"
"""The revision that the migrations lead to."""

_MIGRATION_LOCK = 0x62656C6965667331
"""The advisory lock of a migration: one process migrates, the others wait and find nothing to do."""


class SchemaMismatch(StoreError):
    """The database is not of this program's schema version. The message says what to do."""


class UnsuitableSettings(StoreError):
    """The role lacks settings that the statements rely on. The message holds the statements to run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleSetting:
    """A setting that `migrate` makes, and which values of the operator's own choice are as good."""

    name: str
    value: str
    suits: Callable[[str], bool]


ROLE_SETTINGS = (
    RoleSetting(name="TimeZone", value="UTC", suits=lambda value: value in {"UTC", "GMT", "Etc/UTC"}),
    RoleSetting(name="statement_timeout", value="30s", suits=lambda value: value != "0"),
    RoleSetting(name="idle_in_transaction_session_timeout", value="60s", suits=lambda value: value != "0"),
    # Workers take longer to start than a page takes to be read.
    RoleSetting(name="max_parallel_workers_per_gather", value="0", suits=lambda value: value == "0"),
    # A plan made while the tables are empty is kept when they grow: it must use an index from the first row on.
    RoleSetting(name="enable_seqscan", value="off", suits=lambda value: value == "off"),
    # Compiling takes longer than any of the statements, and a plan without an index seems to cost enough for it.
    RoleSetting(name="jit", value="off", suits=lambda value: value == "off"),
    # The forms of a page are planned once, for any values: a plan made for some may not suit others.
    RoleSetting(name="plan_cache_mode", value="force_generic_plan", suits=lambda value: value == "force_generic_plan"),
)


async def check_revision(connection: AsyncConnection) -> None:
    """Raise SchemaMismatch unless the database is at this program's newest revision."""
    current = await _revision(connection)
    if current != NEWEST_REVISION:
        raise SchemaMismatch(
            f"the database is at schema version {current or 'none'}, this program needs {NEWEST_REVISION}: "
            "run its migration, or a newer program"
        )


async def migrate(url: str) -> None:
    """Bring the database to this program's schema, and set the role's settings where they lack, in one transaction.

    Processes that do so at once wait for each other. Connections made afterwards have the settings. Raises StoreError.
    """
    async with _connection(url) as connection, connection.begin():
        # A large table takes its time to migrate, and another process its time to finish.
        await connection.execute(text("set local statement_timeout = 0"))
        await connection.execute(text("select pg_advisory_xact_lock(:number)"), {"number": _MIGRATION_LOCK})
        if await _revision(connection) != NEWEST_REVISION:
            await connection.run_sync(_upgrade)
        for statement in await _missing_settings(connection):
            await connection.execute(text(statement))


async def check_settings(url: str) -> None:
    """Raise UnsuitableSettings, with the statements to run, unless the role's settings suit. Raises StoreError."""
    async with _connection(url) as connection:
        missing = await _missing_settings(connection)
    if missing:
        raise UnsuitableSettings("the role's settings do not suit; run: " + " ".join(f"{each};" for each in missing))


@asynccontextmanager
async def _connection(url: str) -> AsyncIterator[AsyncConnection]:
    """A connection of its own, made anew and not kept."""
    engine = create_async_engine(url, poolclass=NullPool, hide_parameters=True, connect_args=unnamed_statements(url))
    try:
        with judged_failures():
            async with engine.connect() as connection:
                yield connection
    finally:
        await engine.dispose()


async def _revision(connection: AsyncConnection) -> str | None:
    """The revision that the database is at; None where it is at none."""
    if not await connection.scalar(text("select to_regclass('alembic_version') is not null")):
        return None
    current: str | None = await connection.scalar(text("select version_num from alembic_version"))
    return current


def _upgrade(connection: Connection) -> None:
    # Seldom needed, and large.
    from store.postgres.revisions import upgrade  # noqa: PLC0415

    upgrade(connection)


async def _missing_settings(connection: AsyncConnection) -> list[str]:
    """The statements that give the role of this connection, in this database, the settings that it lacks."""
    row = (await connection.execute(text("select quote_ident(current_user), quote_ident(current_database())"))).one()
    statement = text("select name, reset_val from pg_settings where name = any(:names)")
    found = await connection.execute(statement, {"names": [setting.name for setting in ROLE_SETTINGS]})
    values = {name: str(value) for name, value in found}
    return [
        f"ALTER ROLE {row[0]} IN DATABASE {row[1]} SET {setting.name} = '{setting.value}'"
        for setting in ROLE_SETTINGS
        if not setting.suits(values[setting.name])
    ]
