"""Import and export: lines in, lines out.

| kind | what a line holds beside `version` (1), `kind`, `tenant` and `principal` |
|---|---|
| `belief` with `id` | a belief as it was exported: restored as it is |
| `belief` without `id` | a candidate: formed, reinforced or refused |
| `person` | `key`, `name` |
| `tombstone` | `statement_hash`, `key_id`, `created_at`: what it covers is erased |
| `rejection` | the same with `rejection_kind` and `memory_id` |
| `event` | one entry of the journal |
| `receipt` | one applied idempotency key |

A line that can't be taken is reported by its number and leaves nothing behind; the others are taken.
Source: belief store decisions, Formation (Restoring).
"""

import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import IO, Annotated

import typer

from gateway.cli.answers import CommandFailed, ExitCode, note, show_json, show_values
from gateway.cli.options import AsJson, DatabaseUrl, DataDirectory, OfPrincipal, OfTenant, owner_meant, with_services
from gateway.cli.refusals import some_text
from gateway.cli.terminal import progress
from gateway.compose import Services
from gateway.service.errors import MalformedRequest
from gateway.service.importing import ImportReport

ERRORS_SHOWN_MAX = 20
CHUNK_BYTES = 1_048_576


class ImportFormat(StrEnum):
    """What a file holds."""

    JSONL = "jsonl"
    LOCOMO = "locomo"


def import_lines(
    file: Annotated[str, typer.Argument(metavar="FILE", parser=some_text, help="The file; - is standard input.")],
    *,
    format: Annotated[ImportFormat, typer.Option("--format", help="What the file holds.")] = ImportFormat.JSONL,
    derive: Annotated[
        bool, typer.Option("--derive", help="Sum up what was imported from LoCoMo, as `derive` does.")
    ] = False,
    as_json: AsJson = False,
    data_dir: DataDirectory = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Take beliefs and all else in. A second run changes nothing; an interrupted one is gone on with.

    A line without an id is a candidate and goes through formation; a line with one is restored as it is. Exit code 1
    where lines were refused: they are named by number, and all others are kept.
    """
    if derive and format is not ImportFormat.LOCOMO:
        raise CommandFailed("--derive needs --format locomo; of other beliefs `derive` makes summaries", ExitCode.USAGE)
    source = opened(file)
    take = partial(_import_locomo, derive=derive) if format is ImportFormat.LOCOMO else _import_lines

    async def work(services: Services) -> ImportReport:
        await services.operators.note("import_begin")
        try:
            report = await take(services, source)
        except MalformedRequest as error:
            # It is of the file as a whole: lines that can't be taken are in the report.
            name = "standard input" if file == "-" else file
            raise CommandFailed(f"{name} {error.reason}", ExitCode.USAGE) from error
        await services.operators.note("import_end", lines=report.lines, refused=report.refused)
        return report

    with source:
        report = with_services(work, data_dir=data_dir, database_url=database_url)
    _show(report, as_json=as_json)
    if report.refused:
        raise CommandFailed(f"{report.refused} lines were refused")


def export_lines(
    file: Annotated[
        str, typer.Argument(metavar="FILE", parser=some_text, help="The file to write; - is standard output.")
    ] = "-",
    *,
    tenant: OfTenant = None,
    principal: OfPrincipal = None,
    data_dir: DataDirectory = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Write out beliefs, people, tombstones, rejections, events and receipts, as an import takes them.

    The file holds everything that is believed, whatever its sensitivity: it is readable by its owner alone. The hash
    key is not in it: the store that imports it needs the same key file.
    """
    if principal is not None and tenant is None:
        raise CommandFailed("--principal needs --tenant", ExitCode.USAGE)
    owner = owner_meant(tenant, principal)

    async def work(services: Services) -> int:
        count = 0
        await services.operators.note("export_begin", owner)
        with _written(file) as target, progress("Exporting", None) as advance:
            async for line in services.exporting.lines(tenant=tenant, principal=principal):
                text = json.dumps(line, ensure_ascii=False, separators=(",", ":"))
                target.write(f"{text}\n".encode())
                count += 1
                advance(count)
        await services.operators.note("export_end", owner, lines=count)
        return count

    count = with_services(work, data_dir=data_dir, database_url=database_url)
    note(f"Exported {count} lines.")


async def _import_lines(services: Services, source: IO[bytes]) -> ImportReport:
    if not source.seekable():
        with progress("Importing", None) as advance:
            return await services.importing.run(source, file_hash=None, progress=advance)
    size = source.seek(0, os.SEEK_END)
    source.seek(0)
    file_hash = hashlib.sha256()
    while chunk := source.read(CHUNK_BYTES):
        file_hash.update(chunk)
    with progress("Importing", size) as advance:
        return await services.importing.run(source, file_hash=file_hash.hexdigest(), progress=advance)


async def _import_locomo(services: Services, source: IO[bytes], *, derive: bool) -> ImportReport:
    with progress("Importing", None) as advance:
        return await services.locomo.run(source.read(), derive=derive, progress=advance)


def opened(file: str) -> IO[bytes]:
    """The file to read; - is standard input. Raises CommandFailed."""
    if file == "-":
        return sys.stdin.buffer
    try:
        return Path(file).open("rb")
    except OSError as error:
        raise CommandFailed(f"{file} can't be read: {error.strerror}", ExitCode.USAGE) from error


@contextmanager
def _written(file: str) -> Iterator[IO[bytes]]:
    """Standard output, or a file of the owner's alone that appears when it is whole."""
    if file == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    path = Path(file)
    try:
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
        try:
            with os.fdopen(descriptor, "wb") as target:
                yield target
                target.flush()
                os.fsync(target.fileno())
            Path(temporary).replace(path)
        finally:
            Path(temporary).unlink(missing_ok=True)
    except OSError as error:
        raise CommandFailed(f"{path} can't be written: {error.strerror}") from error


def _show(report: ImportReport, *, as_json: bool) -> None:
    if as_json:
        errors = [{"line": number, "reason": reason} for number, reason in report.errors]
        show_json(
            {
                "lines": report.lines,
                "resumed_at": report.resumed_at,
                "counts": report.counts,
                "refused": report.refused,
                "errors": errors,
            }
        )
        return
    show_values({"lines": report.lines, **report.counts, "refused": report.refused})
    for number, reason in report.errors[:ERRORS_SHOWN_MAX]:
        note(f"line {number}: {reason}")
    if report.refused > ERRORS_SHOWN_MAX:
        note(f"and {report.refused - ERRORS_SHOWN_MAX} more; --json shows up to 1,000.")
