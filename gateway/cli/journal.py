"""The journal: what was done to beliefs, and by operators, listed and followed."""

import json
from typing import Annotated

import typer

from gateway.cli.answers import show_json
from gateway.cli.interruption import Interrupted
from gateway.cli.options import AsJson, DatabaseUrl, DataDirectory, OfPrincipal, moment, with_services
from gateway.cli.refusals import utf8_text
from gateway.cli.terminal import show_table
from gateway.compose import Services
from store.domain.encodings import wire_time
from store.domain.journal import NO_SESSION, Event, EventFilter
from store.domain.vocabulary import EventKind

Kinds = Annotated[
    list[EventKind] | None,
    typer.Option("--kind", help="Of this kind; repeatable. operator.access is what an operator did."),
]


def journal(  # noqa: PLR0913 (a command has an argument for each of its options)
    *,
    tenant: Annotated[
        str | None,
        typer.Option(
            "--tenant", parser=utf8_text, metavar="TEXT", help="Only of this tenant; an empty one is the store itself."
        ),
    ] = None,
    principal: OfPrincipal = None,
    kind: Kinds = None,
    since: Annotated[
        str | None, typer.Option("--since", help="From this time on, such as 2027-01-31T08:00:00Z.")
    ] = None,
    until: Annotated[str | None, typer.Option("--until", help="Before this time.")] = None,
    limit: Annotated[int, typer.Option("--limit", help="How many at most, the last ones, up to 10000.")] = 100,
    follow: Annotated[bool, typer.Option("--follow", help="Go on with what comes, until Ctrl-C.")] = False,
    as_json: AsJson = False,
    data_dir: DataDirectory = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Show the last events, the oldest first. An event holds ids, kinds and counts, never a text."""
    filter = EventFilter(
        tenant=tenant,
        principal=principal,
        kinds=frozenset(kind) if kind else None,
        since=None if since is None else moment("--since", since),
        until=None if until is None else moment("--until", until),
    )

    async def listed(services: Services) -> list[Event]:
        return await services.journals.last(filter, limit=limit)

    async def followed(services: Services) -> None:
        async for event in services.journals.follow(filter):
            print(json.dumps(_wire(event)) if as_json else _line(event), flush=True)

    if follow:
        try:
            with_services(followed, data_dir=data_dir, database_url=database_url)
        except Interrupted:
            return
    entries = [_wire(event) for event in with_services(listed, data_dir=data_dir, database_url=database_url)]
    if as_json:
        show_json(entries)
    elif entries:
        rows = [[_text(value) for value in entry.values()] for entry in entries]
        show_table(list(entries[0]), rows)


def _line(event: Event) -> str:
    return "  ".join(_text(value) for value in _wire(event).values())


def _text(value: object) -> str:
    if isinstance(value, dict):
        return " ".join(f"{name}={each}" for name, each in value.items()) or "-"
    return "-" if value in (None, "") else str(value)


def _wire(event: Event) -> dict[str, object]:
    return {
        "occurred_at": wire_time(event.occurred_at),
        "number": event.number,
        "kind": event.kind.value,
        "tenant": event.owner.tenant,
        "principal": event.owner.principal,
        "session_id": None if event.session_id == NO_SESSION else str(event.session_id),
        "memory_id": event.memory_id and str(event.memory_id),
        "payload": dict(event.payload),
    }
