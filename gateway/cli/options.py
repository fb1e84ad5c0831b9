"""The options that several commands share, and how a command comes to its settings and services."""

import os
from collections.abc import Awaitable, Callable
from datetime import datetime
from pathlib import Path
from typing import Annotated, TypeVar

import typer
from pydantic import TypeAdapter, ValidationError

from gateway.cli.answers import CommandFailed, ExitCode, note
from gateway.cli.interruption import Interruption, run_to_the_end
from gateway.cli.refusals import some_path, utf8_text
from gateway.compose import Services, running
from gateway.observability.logs import configure_logging
from gateway.service.errors import MalformedRequest
from gateway.service.records import Time
from gateway.setting_values import LogFormat, LogLevel
from gateway.settings import Settings, load_settings, unknown_variables
from store.domain.memories import InvalidRecord, check_text
from store.domain.owners import OWNER_NAME_LENGTH_MAX, WHOLE_STORE, Owner
from store.domain.vocabulary import Sensitivity

Result = TypeVar("Result")
_TIME: TypeAdapter[datetime] = TypeAdapter(Time)

DataDirectory = Annotated[
    Path | None,
    typer.Option(
        "--data-dir", parser=some_path, metavar="PATH", help="The data directory, in place of AGENT_MEMORY_DATA_DIR."
    ),
]
DatabaseUrl = Annotated[
    str | None,
    typer.Option(
        "--database-url",
        help="An external PostgreSQL, in place of AGENT_MEMORY_DATABASE_URL. Other users of this machine can see the "
        "options of a process: give a password in the environment.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Answer with JSON.")]
OfTenant = Annotated[
    str | None, typer.Option("--tenant", parser=utf8_text, metavar="TEXT", help="Only of this tenant.")
]
OfPrincipal = Annotated[
    str | None, typer.Option("--principal", parser=utf8_text, metavar="TEXT", help="Only of this principal.")
]
Tenant = Annotated[str, typer.Option("--tenant", help="The tenant of the principal.")]
PrincipalName = Annotated[str, typer.Option("--principal", help="The principal within the tenant.")]
Ceiling = Annotated[
    Sensitivity, typer.Option("--ceiling", help="The highest sensitivity that is meant; it has no default.")
]
WriteKey = Annotated[
    str, typer.Option("--key", help="The idempotency key: the same one again applies nothing and answers again.")
]
MemoryId = Annotated[str, typer.Argument(metavar="ID", help="The identifier of the belief or derived record.")]


def settings_of(*, data_dir: Path | None, database_url: str | None) -> Settings:
    """The settings of a command that ends by itself; it logs what is a warning at least, unless it is told."""
    settings = load_settings(data_dir=data_dir, database_url=database_url)
    level = settings.log_level if settings.is_given("log_level") else LogLevel.WARNING
    start_logging(settings, level)
    for variable in unknown_variables(os.environ):
        note(f"{variable} is no setting of this program.")
    return settings


def start_logging(settings: Settings, level: LogLevel, *, request_id: Callable[[], str | None] = lambda: None) -> None:
    """Log as the settings say, with the id of the request under way where there are requests."""
    configure_logging(level=level.value, as_json=settings.log_format is LogFormat.JSON, request_id=request_id)


def with_services(
    work: Callable[[Services], Awaitable[Result]], *, data_dir: Path | None, database_url: str | None
) -> Result:
    """Do the work with the services of these options, and stop what was started for it."""
    settings = settings_of(data_dir=data_dir, database_url=database_url)

    async def within(_: Interruption) -> Result:
        async with running(settings) as services:
            return await work(services)

    return run_to_the_end(within)


def owner_of(tenant: str, principal: str) -> Owner:
    """Whose beliefs a command is about. Raises MalformedRequest for a name that nobody can have."""
    for option, name in (("tenant", tenant), ("principal", principal)):
        try:
            check_text(option, name, OWNER_NAME_LENGTH_MAX)
        except InvalidRecord as error:
            raise MalformedRequest(option, error.reason) from error
    return Owner(tenant=tenant, principal=principal)


def owner_meant(tenant: str | None, principal: str | None) -> Owner:
    """Whom a command is about that may be narrowed: one principal, or else the whole store."""
    return WHOLE_STORE if tenant is None or principal is None else owner_of(tenant, principal)


def moment(option: str, text: str) -> datetime:
    """The time that an option gives, in UTC. Raises CommandFailed for one that is sloppy or without a zone."""
    try:
        return _TIME.validate_python(text)
    except ValidationError:
        # The cause would show what was given.
        message = f"{option} must be a time with its zone, such as 2027-01-31T08:00:00Z"
        raise CommandFailed(message, ExitCode.USAGE) from None
