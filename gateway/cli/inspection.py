"""What can be known about a deployment: its settings, its schemas, its key, its health."""

import json
from typing import Annotated

import typer

from gateway.cli.answers import CommandFailed, show_json, show_table
from gateway.cli.doctor import Finding, examine
from gateway.cli.interruption import run_to_the_end
from gateway.cli.options import AsJson, DatabaseUrl, DataDirectory, settings_of, with_services
from gateway.compose import VERSION, Services, migrate_database
from gateway.graphql.schema import build_schema, print_schema
from gateway.rest.openapi import openapi_document
from gateway.service.sweeps import SweepResult
from gateway.settings import load_settings, report_settings

AsConfigured = Annotated[
    bool, typer.Option("--as-configured", help="Of this deployment's settings. Default: every surface on.")
]


def migrate(*, data_dir: DataDirectory = None, database_url: DatabaseUrl = None) -> None:
    """Bring the database's schema, and the settings of its role, to what this version needs."""
    settings = settings_of(data_dir=data_dir, database_url=database_url)
    run_to_the_end(lambda _: migrate_database(settings))
    print("The database is of this version's schema.")


def sweep(*, as_json: AsJson = False, data_dir: DataDirectory = None, database_url: DatabaseUrl = None) -> None:
    """Write beliefs that have run out as expired, and forget old receipts, now. It changes no answer."""

    async def work(services: Services) -> SweepResult:
        await services.operators.note("sweep")
        return await services.sweeps.sweep()

    result = with_services(work, data_dir=data_dir, database_url=database_url)
    if as_json:
        show_json({"expired": result.expired, "receipts": result.receipts})
    else:
        print(f"Wrote {result.expired} beliefs as expired, forgot {result.receipts} receipts.")


def settings(*, as_json: AsJson = False, data_dir: DataDirectory = None, database_url: DatabaseUrl = None) -> None:
    """List every setting: its variable, its value, where that comes from, and what it means. No secret is shown."""
    reports = report_settings(
        settings_of(data_dir=data_dir, database_url=database_url),
        options={"data_dir": data_dir, "database_url": database_url},
    )
    if as_json:
        show_json(
            [
                {
                    "name": report.name,
                    "meaning": report.meaning,
                    "value": report.value,
                    "source": report.source.value,
                }
                for report in reports
            ]
        )
    else:
        rows = [(report.name, report.value, report.source.value, report.meaning) for report in reports]
        show_table(("name", "value", "source", "meaning"), rows)


def schema(*, as_configured: AsConfigured = False) -> None:
    """Print the GraphQL schema."""
    print(print_schema(build_schema(memory=_memory_is_shown(as_configured=as_configured))))


def openapi(*, as_configured: AsConfigured = False) -> None:
    """Print the OpenAPI document."""
    document = openapi_document(memory=_memory_is_shown(as_configured=as_configured), version=VERSION)
    print(json.dumps(document, ensure_ascii=False, indent=2))


def doctor(*, as_json: AsJson = False, data_dir: DataDirectory = None, database_url: DatabaseUrl = None) -> None:
    """Check what the gateway needs. Exit code 1 where something fails."""
    chosen = settings_of(data_dir=data_dir, database_url=database_url)
    findings: list[Finding] = run_to_the_end(lambda _: examine(chosen))
    if as_json:
        show_json([{"check": finding.check, "ok": finding.ok, "remark": finding.remark} for finding in findings])
    else:
        show_table(("check", "ok", "remark"), [(finding.check, finding.ok, finding.remark) for finding in findings])
    failed = sum(not finding.ok for finding in findings)
    if failed:
        raise CommandFailed(f"{failed} of {len(findings)} checks failed")


def _memory_is_shown(*, as_configured: bool) -> bool:
    return not as_configured or load_settings().api_enabled
