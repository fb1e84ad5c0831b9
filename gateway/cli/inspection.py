"""What can be known about a deployment: its settings, its schema in the database, its health."""

from gateway.cli.answers import CommandFailed, show_json
from gateway.cli.doctor import Finding, examine
from gateway.cli.interruption import run_to_the_end
from gateway.cli.options import AsJson, DatabaseUrl, DataDirectory, settings_of
from gateway.cli.terminal import show_table
from gateway.compose import migrate_database
from gateway.settings import report_settings


def migrate(*, data_dir: DataDirectory = None, database_url: DatabaseUrl = None) -> None:
    """Bring the database's schema, and the settings of its role, to what this version needs."""
    settings = settings_of(data_dir=data_dir, database_url=database_url)
    run_to_the_end(lambda _: migrate_database(settings))
    print("The database is of this version's schema.")


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
