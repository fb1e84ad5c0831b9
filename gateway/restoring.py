"""The embedded store as a whole: backed up, restored, and brought to another major version of PostgreSQL.

What replaces the store in use is made beside it and takes its place in one step; whatever is broken off before leaves
the old one as it was. An external database is its operator's, with its own programs.
Source: belief store decisions, Review and delete (restore); The embedded PostgreSQL, "Shape of the supervisor".
"""

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from gateway.compose import VERSION, running
from gateway.database import DATABASE, Database, StartRefused, make_data_directory, operate
from gateway.service.archives import (
    ARCHIVE_VERSION,
    DATABASE_MEMBER,
    KEY_MEMBER,
    Manifest,
    describe_member,
    read_archive,
    write_archive,
)
from gateway.service.environment import Environment, system_clock
from gateway.service.errors import Conflict, MalformedRequest
from gateway.service.journaling import journal_act
from gateway.service.keys import KeyFileError, read_key_file, write_key_file
from gateway.service.replacing import ReplacementService, TakenOver
from gateway.service.store_inspection import inspect_store
from gateway.settings import Settings
from store.domain.keyring import Keyring
from store.ports.store import Store
from store.postgres.embedded.binaries import find_binaries
from store.postgres.embedded.cluster import former_data
from store.postgres.embedded.databases import Databases
from store.postgres.embedded.server import EmbeddedServer
from store.postgres.embedded.upgrading import discard_former, major_version, put_back, swap
from store.postgres.migrating import NEWEST_REVISION, migrate
from store.postgres.revisions import knows_revision
from store.postgres.store import PostgresStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """A restored store: what the backup held, and what was taken over from the store that it replaces, if any."""

    manifest: Manifest
    taken_over: TakenOver


async def back_up(settings: Settings, path: Path) -> Manifest:
    """Write database and key file together to an archive, beside whoever uses them; what it holds.

    Raises StartRefused for an external database, Conflict where a file stands, DatabaseUnavailable.
    """
    _require_embedded(settings)
    async with running(settings) as services:
        await services.store.transact(partial(journal_act, now=system_clock(), action="backup"))
        found = await inspect_store(services.store)
        with _working_directory(settings) as directory:
            members = {name: directory / name for name in (KEY_MEMBER, DATABASE_MEMBER)}
            await services.database.dump(members[DATABASE_MEMBER])
            # After the dump: keys are only ever added, so the file holds whatever key the dump names.
            await asyncio.to_thread(_copy_key, settings.key_path, members[KEY_MEMBER])
            manifest = Manifest(
                archive=ARCHIVE_VERSION,
                gateway=VERSION,
                schema_revision=NEWEST_REVISION,
                key_id=found.key_id or "",
                lexical_version=found.lexical_version or "",
                created_at=system_clock(),
                members={name: describe_member(member) for name, member in members.items()},
            )
            try:
                await asyncio.to_thread(write_archive, path, manifest, members)
            except OSError as error:
                raise StartRefused(f"{path} can't be written: {error.strerror}.") from error
    return manifest


async def restore(settings: Settings, path: Path, *, replace: bool) -> Restored:
    """Put the store of an archive in the place of the embedded one, which must be empty unless it may be replaced.

    Of a replaced store the tombstones, rejections and revoked tokens are applied first. Raises StartRefused,
    MalformedRequest for a file that is no sound backup, Conflict for a store that is not empty, KeyFileError,
    DatabaseUnavailable.
    """
    _require_embedded(settings)
    make_data_directory(settings.data_dir)
    with _working_directory(settings) as directory:
        try:
            manifest = await asyncio.to_thread(read_archive, path, directory)
        except OSError as error:
            raise StartRefused(f"{path} can't be read: {error.strerror}.") from error
        if not knows_revision(manifest.schema_revision):
            raise StartRefused(f"The backup was made by a newer version, {manifest.gateway}: restore it with that one.")
        keyring = _merged(read_key_file(directory / KEY_MEMBER), settings.key_path, manifest.key_id)
        server = EmbeddedServer(Database(settings).root, binaries=settings.postgres_binaries)
        async with _alone(server) as databases:
            await operate(partial(databases.create, DATABASE))
            loading = await operate(partial(databases.load, DATABASE, directory / DATABASE_MEMBER))
            taken_over = await _take_over(server.url(DATABASE), server.url(loading), keyring, replace=replace)
            # It also serves the store in use, should the next step not be reached.
            await asyncio.to_thread(partial(write_key_file, settings.key_path, keyring, replacing=True))
            await operate(partial(databases.put_in_place, DATABASE))
    return Restored(manifest=manifest, taken_over=taken_over)


@dataclass(frozen=True, slots=True, kw_only=True)
class Upgraded:
    """The major versions of PostgreSQL before and after an upgrade."""

    former: str
    current: str


async def upgrade(settings: Settings, former_binaries: Path) -> Upgraded:
    """Bring the embedded cluster to the major version of the programs in use, by a dump with those that it is of.

    The old cluster is kept until `confirm_upgrade`. Raises StartRefused, Conflict where there is nothing to do,
    DatabaseUnavailable.
    """
    _require_embedded(settings)
    current = await operate(lambda: find_binaries(settings.postgres_binaries).major_version)
    with _working_directory(settings) as directory:
        dump = directory / DATABASE_MEMBER
        former = await operate(partial(_upgrade, settings, former_binaries, current, dump))
    return Upgraded(former=former, current=current)


async def confirm_upgrade(settings: Settings) -> bool:
    """Remove the cluster that an upgrade kept; False where there is none. Raises StartRefused, DatabaseUnavailable."""
    _require_embedded(settings)
    root = Database(settings).root
    if former_data(root) is None:
        return False
    # That the new cluster starts is seen by this too, before the old one is gone.
    async with running(settings) as services:
        await services.store.transact(partial(journal_act, now=system_clock(), action="upgrade_confirm"))

    def discard() -> bool:
        with EmbeddedServer(root, binaries=settings.postgres_binaries).reserved():
            return discard_former(root)

    return await operate(discard)


def _upgrade(settings: Settings, former_binaries: Path, current: str, dump: Path) -> str:
    """Make the new cluster in a directory of its own, while nobody uses the old one; the old major version."""
    root = Database(settings).root
    beside = root.with_name(f"{root.name}.new")
    server = EmbeddedServer(root, binaries=former_binaries)
    with server.reserved() as start_lock:
        put_back(root)
        former = major_version(root)
        if former is None:
            raise Conflict(f"there is no cluster in {root} yet")
        if former == current:
            raise Conflict(f"the cluster in {root} is of PostgreSQL {current} already")
        with server.run_reserved(start_lock) as databases:
            databases.dump(DATABASE, dump)
        new = EmbeddedServer(beside, binaries=settings.postgres_binaries)
        with new.alone() as databases:
            databases.create(DATABASE)
            loading = databases.load(DATABASE, dump)
            # A loop of this thread's own: the work is done in it to its end, whatever happens to the command.
            asyncio.run(_journal_upgrade(new.url(loading), former=former, current=current))
            databases.put_in_place(DATABASE)
        swap(root, beside)
        shutil.rmtree(beside)
    return former


async def _journal_upgrade(url: str, *, former: str, current: str) -> None:
    """Write the upgrade into the store that it leads to. Raises StoreError."""
    await migrate(url)
    async with _opened(url) as store:
        act = partial(journal_act, now=system_clock(), action="upgrade", former=int(former), current=int(current))
        await store.transact(act)


async def _take_over(former_url: str, restored_url: str, keyring: Keyring, *, replace: bool) -> TakenOver:
    for url in (former_url, restored_url):
        await migrate(url)
    async with _opened(former_url) as former, _opened(restored_url) as restored:
        if not replace and not await _is_empty(former):
            raise Conflict("the store is not empty: say --replace to put the backup in its place")
        named = (await inspect_store(restored)).key_id
        current = None if named is None else keyring.with_current(named)
        if current is None:
            raise KeyFileError(f"The backup names the hash key {named}, which its own key file does not hold.")
        return await ReplacementService(former, restored, Environment(keyring=current)).take_over()


async def _is_empty(store: Store) -> bool:
    async with store.snapshot() as snapshot:
        return not await snapshot.journal.owners() and not await snapshot.tokens.list(tenant=None, principal=None)


def _merged(archived: Keyring | None, path: Path, current: str) -> Keyring:
    """The keys of the archive and of the key file together, so that the tombstones of both stores are understood."""
    ring = None if archived is None else archived.with_current(current)
    if ring is None:
        raise MalformedRequest("FILE", "must hold the key that its database names")
    standing = read_key_file(path)
    others = () if standing is None else tuple(key for key in standing.keys if not ring.holds(key.id))
    return Keyring(current=ring.current, keys=(*others, *ring.keys))


def _copy_key(path: Path, copy: Path) -> None:
    keyring = read_key_file(path)
    if keyring is None:
        raise KeyFileError(f"There is no key file at {path}.")
    write_key_file(copy, keyring, replacing=False)


def _require_embedded(settings: Settings) -> None:
    if settings.database_url is not None:
        raise StartRefused(
            "This is for the embedded database. Of an external one make a backup with pg_dump, and one of the key file "
            "with `belief-gateway key backup`."
        )


@contextmanager
def _working_directory(settings: Settings) -> Iterator[Path]:
    """A closed directory in the data directory, removed at the end."""
    directory = Path(tempfile.mkdtemp(dir=settings.data_dir, prefix=".transfer-"))
    try:
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)


@asynccontextmanager
async def _alone(server: EmbeddedServer) -> AsyncIterator[Databases]:
    """Use the server as its only user, without holding up the event loop."""
    context = server.alone()
    databases = await operate(context.__enter__)
    try:
        yield databases
    finally:
        await operate(partial(context.__exit__, None, None, None))


@asynccontextmanager
async def _opened(url: str) -> AsyncIterator[PostgresStore]:
    store = PostgresStore(url)
    try:
        yield store
    finally:
        await store.close()
