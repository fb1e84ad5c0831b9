"""The checks of `doctor`: what a gateway needs, each with what was found. Nothing is made or changed by them.

What is not there yet is no failure: the first start makes it.
"""

import os
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from gateway.cli.answers import CommandFailed, failure_of_command
from gateway.compose import Inspected, inspected
from gateway.database import Database
from gateway.service.keys import read_key_file
from gateway.settings import Settings
from store.domain.encodings import wire_time
from store.domain.lexical import LEXICAL_VERSION

CLOCK_TOLERANCE = timedelta(minutes=5)
_NOT_YET = "not there yet: the first start makes it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One check: whether it held, and what was found."""

    check: str
    ok: bool
    remark: str


async def examine(settings: Settings) -> list[Finding]:
    """Check data directory, key file, database, role, key, lexical version, files and clock, in this order."""
    findings = [
        await _find("data directory", lambda: _data_directory(settings)),
        await _find("key file", lambda: _key_file(settings)),
    ]
    database = Database(settings)
    if database.is_embedded and not (settings.data_dir / "postgres").exists():
        return [*findings, Finding(check="database", ok=True, remark=_NOT_YET)]
    try:
        async with inspected(settings, database) as found:
            await found.reach()
            findings.append(Finding(check="database", ok=True, remark=database.shown))
            findings += [await _find(name, check) for name, check in _checks(settings, found)]
    except Exception as error:  # noqa: BLE001 (what a check meets is its finding)
        findings.append(Finding(check="database", ok=False, remark=failure_of_command(error)[1]))
    return findings


async def _find(name: str, check: Callable[[], Awaitable[str]]) -> Finding:
    try:
        return Finding(check=name, ok=True, remark=await check())
    except Exception as error:  # noqa: BLE001 (what a check meets is its finding)
        return Finding(check=name, ok=False, remark=failure_of_command(error)[1])


async def _data_directory(settings: Settings) -> str:
    directory = settings.data_dir
    standing = next(path for path in (directory, *directory.parents) if path.exists())
    if not standing.is_dir():
        raise CommandFailed(f"{standing} is not a directory")
    if not os.access(standing, os.W_OK | os.X_OK):
        raise CommandFailed(f"{standing} can't be written by this user")
    return str(directory) if standing == directory else f"{directory}: {_NOT_YET}"


async def _key_file(settings: Settings) -> str:
    path = settings.key_path
    if read_key_file(path) is None:
        return f"{path}: {_NOT_YET}"
    if path.stat().st_mode & 0o077:
        raise CommandFailed(f"{path} is open to others: chmod 600 {path}")
    return str(path)


def _checks(settings: Settings, found: Inspected) -> Sequence[tuple[str, Callable[[], Awaitable[str]]]]:
    """The checks that ask the database; each says what it found, or raises."""

    async def schema() -> str:
        await found.check_schema()
        return "of this version"

    async def role() -> str:
        await found.check_role()
        return "set as the statements need it"

    async def key() -> str:
        named = (await found.facts()).key_id
        keyring = read_key_file(settings.key_path)
        if named is None:
            return "the database names none yet"
        if keyring is None or not keyring.holds(named):
            raise CommandFailed(f"the database was written with the key {named}, which the key file does not hold")
        waiting = sum(key.id != named for key in keyring.keys[keyring.position(named) + 1 :])
        return f"{named}; {waiting} added since and not current yet" if waiting else named

    async def lexical() -> str:
        version = (await found.facts()).lexical_version
        if version not in (None, LEXICAL_VERSION):
            raise CommandFailed(
                f"the lexemes are of version {version}, this program's rules are {LEXICAL_VERSION}: "
                "`belief-gateway reindex` makes them anew"
            )
        return str(version or _NOT_YET)

    async def files() -> str:
        compacted = (await found.facts()).compacted
        done = f"compacted {compacted}" if compacted else "never compacted"
        return f"{done}; about {await found.dead_rows()} deleted or rewritten rows are not cleared yet"

    async def clock() -> str:
        now = datetime.now(UTC)
        newest = (await found.facts()).newest_at
        if newest is not None and newest - now > CLOCK_TOLERANCE:
            raise CommandFailed(f"the clock shows {wire_time(now)}, the database holds {wire_time(newest)}")
        return wire_time(now)

    return [
        ("schema", schema),
        ("role", role),
        ("hash key", key),
        ("lexical version", lexical),
        ("files", files),
        ("clock", clock),
    ]
