"""Deriving records: by the extractive method of this program, or from a file of proposals of an external deriver.

A file holds one proposal a line, as `gateway/service/derived_requests.py` documents it.
"""

from contextlib import nullcontext
from typing import IO, Annotated

import typer

from gateway.cli.answers import CommandFailed, ExitCode, note, show_json, show_values
from gateway.cli.options import AsJson, DatabaseUrl, DataDirectory, Tenant, owner_of, with_services
from gateway.cli.refusals import some_text, utf8_text
from gateway.cli.terminal import progress
from gateway.cli.transfer import ERRORS_SHOWN_MAX, opened
from gateway.compose import Services
from gateway.service.summarizing import DerivationReport
from store.domain.owners import Owner


def derive(
    tenant: Tenant,
    *,
    principal: Annotated[
        str | None, typer.Option("--principal", parser=utf8_text, metavar="TEXT", help="The principal.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Every principal of the tenant.")] = False,
    file: Annotated[
        str | None,
        typer.Option(
            "--file",
            metavar="FILE",
            parser=some_text,
            help="Proposals of an external deriver, one JSON object a line; - is standard input.",
        ),
    ] = None,
    as_json: AsJson = False,
    data_dir: DataDirectory = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Sum up what is believed of a principal, or derive what a file proposes. A second run changes nothing.

    Without a file sessions, months and all of them are summed up in the words of their beliefs, and what stands no more
    is retired, and made anew where that is possible. Exit code 1 where something was refused.
    """
    if every == (principal is not None):
        raise CommandFailed("say either --principal or --all", ExitCode.USAGE)
    if file is not None and principal is None:
        raise CommandFailed("--file needs --principal", ExitCode.USAGE)
    owner = None if principal is None else owner_of(tenant, principal)
    lines = None if file is None else opened(file)

    async def work(services: Services) -> DerivationReport:
        report = DerivationReport()
        known = await services.summaries.owners(tenant)
        if not known or (owner is not None and owner not in known):
            # Before the act is noted: an entry would make somebody of a misspelled name.
            raise CommandFailed("nothing is stored of that tenant or principal", ExitCode.NOT_FOUND)
        for each in known if owner is None else [owner]:
            report.add(await _derive(services, each, lines))
        return report

    with nullcontext() if lines is None else lines:
        report = with_services(work, data_dir=data_dir, database_url=database_url)
    _show(report, as_json=as_json)
    if report.refused:
        raise CommandFailed(f"{report.refused} proposals were refused")


async def _derive(services: Services, owner: Owner, lines: IO[bytes] | None) -> DerivationReport:
    await services.operators.note("derive_begin", owner)
    with progress("Deriving", None) as advance:
        if lines is None:
            report = await services.summaries.sum_up(owner)
        else:
            report = await services.summaries.take(owner, lines, progress=advance)
    await services.operators.note("derive_end", owner, derived=report.derived, refused=report.refused)
    return report


def _show(report: DerivationReport, *, as_json: bool) -> None:
    counts = {name: getattr(report, name) for name in ("derived", "unchanged", "blocked", "refused", "withheld")}
    if as_json:
        show_json({**counts, "errors": [{"line": number, "reason": reason} for number, reason in report.errors]})
        return
    show_values(counts)
    for number, reason in report.errors[:ERRORS_SHOWN_MAX]:
        note(f"line {number}: {reason}")
    if len(report.errors) > ERRORS_SHOWN_MAX:
        note(f"and {report.refused - ERRORS_SHOWN_MAX} more; --json shows up to 1,000.")
