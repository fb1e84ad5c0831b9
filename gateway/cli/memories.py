"""Operator commands on one owner's beliefs: as the owner would see and correct them, journaled."""

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from gateway.cli.answers import note, show_json, show_values
from gateway.cli.options import (
    AsJson,
    Ceiling,
    DatabaseUrl,
    DataDirectory,
    MemoryId,
    PrincipalName,
    Tenant,
    WriteKey,
    owner_of,
    with_services,
)
from gateway.cli.terminal import show_table
from gateway.compose import Services
from gateway.service.derived_reading import MemoryItemView
from gateway.service.memory_requests import MemoryDelete, MemoryPaging, MemoryReview, MemorySelection
from gateway.views.derived import DerivedView
from store.domain.vocabulary import BeliefType, MemoryStatus, ReviewOutcome

commands = typer.Typer(
    no_args_is_help=True,
    help="Beliefs of one principal, as an operator. Every use is journaled.",
)

Text = Annotated[str | None, typer.Option("--text", help="Beliefs that hold every word of at least one term.")]
Subject = Annotated[str | None, typer.Option("--subject", help="Beliefs about exactly this subject.")]
SessionId = Annotated[str | None, typer.Option("--session-id", help="Beliefs first formed in this session.")]
Flagged = Annotated[
    bool | None, typer.Option("--flagged/--not-flagged", help="Only what waits for review, or only the rest.")
]
Statuses = Annotated[
    list[MemoryStatus] | None, typer.Option("--status", help="Of this status; repeatable. Default: the live ones.")
]
BeliefTypes = Annotated[list[BeliefType] | None, typer.Option("--belief-type", help="Of this type; repeatable.")]
IncludeDerived = Annotated[bool, typer.Option("--include-derived", help="Derived records too, in the same order.")]
Limit = Annotated[int, typer.Option("--limit", help="How many beliefs a page holds at most, up to 200.")]
Cursor = Annotated[str | None, typer.Option("--cursor", help="Where to continue: the cursor of the page before.")]


@commands.command("list")
def list_memories(  # noqa: PLR0913 (a command has an argument for each of its options)
    tenant: Tenant,
    principal: PrincipalName,
    ceiling: Ceiling,
    *,
    status: Statuses = None,
    belief_type: BeliefTypes = None,
    subject: Subject = None,
    session_id: SessionId = None,
    text: Text = None,
    flagged: Flagged = None,
    include_derived: IncludeDerived = False,
    limit: Limit = 50,
    cursor: Cursor = None,
    as_json: AsJson = False,
    data_dir: DataDirectory = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Show one page, newest first."""
    selection = MemorySelection(
        ceiling=ceiling,
        statuses=status or None,
        belief_types=belief_type or None,
        subject=subject,
        session_id=session_id,
        text=text,
        flagged=flagged,
    )
    paging = MemoryPaging(first=limit, after=cursor)

    async def work(services: Services) -> tuple[Sequence[MemoryItemView], str | None]:
        owner = owner_of(tenant, principal)
        if include_derived:
            items = await services.operators.browse_items(owner, selection, paging)
            return [edge.node for edge in items.edges], items.next_cursor
        page = await services.operators.browse(owner, selection, paging)
        return [edge.node for edge in page.edges], page.next_cursor

    views, next_cursor = with_services(work, data_dir=data_dir, database_url=database_url)
    if as_json:
        show_json({"items": [_wire(view) for view in views], "next_cursor": next_cursor})
        return
    columns = ("id", "status", "sensitivity", "flagged", "subject", "statement")
    show_table(columns, [_row(view) for view in views])
    if next_cursor is not None:
        note(f"There are more: --cursor {next_cursor}")


@commands.command("get")
def get_memory(
    id: MemoryId,
    tenant: Tenant,
    principal: PrincipalName,
    ceiling: Ceiling,
    *,
    as_json: AsJson = False,
    data_dir: DataDirectory = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Show one belief or derived record, whatever its status."""
    view = with_services(
        lambda services: services.operators.read(owner_of(tenant, principal), id, ceiling),
        data_dir=data_dir,
        database_url=database_url,
    )
    _show(view, as_json=as_json)


@commands.command("review")
def review_memory(  # noqa: PLR0913 (a command has an argument for each of its options)
    id: MemoryId,
    tenant: Tenant,
    principal: PrincipalName,
    ceiling: Ceiling,
    outcome: Annotated[
        ReviewOutcome,
        typer.Option("--outcome", help="dismiss clears the flag, untrue retires, not_here keeps it to its scope."),
    ],
    key: WriteKey,
    *,
    as_json: AsJson = False,
    data_dir: DataDirectory = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Say how one belief or derived record stands."""
    request = MemoryReview(id=id, ceiling=ceiling, outcome=outcome, idempotency_key=key)
    view = with_services(
        lambda services: services.operators.review(owner_of(tenant, principal), request),
        data_dir=data_dir,
        database_url=database_url,
    )
    _show(view, as_json=as_json)


@commands.command("delete")
def delete_memory(
    id: MemoryId,
    tenant: Tenant,
    principal: PrincipalName,
    ceiling: Ceiling,
    key: WriteKey,
    *,
    as_json: AsJson = False,
    data_dir: DataDirectory = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Delete one belief or derived record, and every other row that says the same, for good."""
    request = MemoryDelete(id=id, ceiling=ceiling, idempotency_key=key)
    deleted = with_services(
        lambda services: services.operators.delete(owner_of(tenant, principal), request),
        data_dir=data_dir,
        database_url=database_url,
    )
    if as_json:
        show_json({"deleted_id": str(deleted)})
    else:
        print(f"Deleted {deleted}.")


def _row(view: MemoryItemView) -> tuple[object, ...]:
    said = view.content if isinstance(view, DerivedView) else view
    # A page holds no derived record without its content.
    assert said is not None
    return (view.id, view.status, said.sensitivity, view.flagged_for_review, said.subject, said.statement)


def _show(view: MemoryItemView, *, as_json: bool) -> None:
    if as_json:
        show_json(_wire(view))
    else:
        show_values(_wire(view))


def _wire(view: MemoryItemView) -> dict[str, Any]:  # Any: JSON
    return view.model_dump(mode="json")
