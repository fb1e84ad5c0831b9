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
from gateway.compose import Services, running
from gateway.http.request_id import current_request_id
from gateway.observability.logs import configure_logging
from gateway.service.records import Time
from gateway.settings import LogFormat, LogLevel, Settings, load_settings, unknown_variables
from store.domain.owners import Owner
from store.domain.vocabulary import Sensitivity

Result = TypeVar("Result")
_TIME: TypeAdapter[datetime] = TypeAdapter(Time)

DataDirectory = Annotated[
    Path | None, typer.Option("--data-dir", help="The data directory, in place of AGENT_MEMORY_DATA_DIR.")
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
Tenant = Annotated[str, typer.Option("--tenant", help="The tenant of the principal.")]
PrincipalName = Annotated[str, typer.Option("--principal", help="The principal within the tenant.")]
Ceiling = Annotated[
    Sensitivity, typer.Option("--ceiling", help="The highest sensitivity that is meant; it has no default.")
]
WriteKey = Annotated[
    str, typer.Option("--key", help="The idempotency key: the same one again applies nothing and answers again.")
]
MemoryId = Annotated[str, typer.Argument(metavar="ID", help="The belief's identifier.")]


def settings_of(*, data_dir: Path | None, database_url: str | None) -> Settings:
    """The settings of a command that ends by itself; it logs what is a warning at least, unless it is told."""
    settings = load_settings(data_dir=data_dir, database_url=database_url)
    level = settings.log_level if settings.is_given("log_level") else LogLevel.WARNING
    start_logging(settings, level)
    for variable in unknown_variables(os.environ):
        note(f"{variable} is no setting of this program.")
    return settings


def start_logging(settings: Settings, level: LogLevel) -> None:
    """Log as the settings say, with the id of the request under way."""

    def request_id() -> str | None:
        current = current_request_id.get()
        return None if current == "-" else current

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
    """Whose beliefs a command is about."""
    return Owner(tenant=tenant, principal=principal)


def moment(option: str, text: str) -> datetime:
    """The time that an option gives, in UTC. Raises CommandFailed for one that is sloppy or without a zone."""
    try:
        return _TIME.validate_python(text)
    except ValidationError:
        # The cause would show what was given.
        message = f"{option} must be a time with its zone, such as 2027-01-31T08:00:00Z"
        raise CommandFailed(message, ExitCode.USAGE) from None
