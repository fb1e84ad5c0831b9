"""From settings to ready services and the application: the only module that names an adapter.

The embedded PostgreSQL is started, and migrated, with the services that use it, and stopped after them. An external
one is never migrated in passing: other gateways of an older version may be serving from it.
Source: The embedded PostgreSQL, "Recommendation"; belief store decisions, Review and delete (the key file).
"""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from importlib.metadata import version
from pathlib import Path
from uuid import uuid4

from starlette.applications import Starlette

from gateway.app import build_app
from gateway.graphql.documents import InvalidManifest, TrustedDocuments, read_manifest
from gateway.observability.exchanges import ExchangeReports
from gateway.observability.metrics import GatewayMetrics
from gateway.service.demonstration import DemoService, refuse_other_owners
from gateway.service.environment import Environment, Measures, NoMeasures
from gateway.service.exporting import ExportService
from gateway.service.formation import FormationService
from gateway.service.importing import ImportService, LocomoImportService
from gateway.service.issuer_keys import IssuerKeys, file_reader, url_reader
from gateway.service.keys import open_keyring
from gateway.service.memories import PublicMemoryService
from gateway.service.operators import OperatorService
from gateway.service.signed_tokens import Issuer, SignedTokenService
from gateway.service.store_inspection import StoreInspection, count_stored, inspect_store
from gateway.service.sweeps import SweepService
from gateway.service.tokens import TokenService
from gateway.settings import DocumentsMode, Settings
from store.domain.keyring import Keyring
from store.domain.lexical import LEXICAL_VERSION
from store.ports.errors import StoreUnavailable
from store.ports.store import Store, StoreFact, Transaction
from store.postgres.embedded.errors import EmbeddedPostgresError
from store.postgres.embedded.server import EmbeddedServer
from store.postgres.migrating import SchemaMismatch, UnsuitableSettings, check_settings, migrate
from store.postgres.store import PostgresStore

DATABASE = "beliefs"
VERSION = version("belief-gateway")


class StartRefused(Exception):
    """The gateway can't run on these settings; the message tells the operator what to do."""


class DatabaseUnavailable(Exception):
    """The database can't be reached or started; the message is for the operator."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """Everything that commands and transports act through, over one store."""

    settings: Settings
    memories: PublicMemoryService
    operators: OperatorService
    tokens: TokenService
    importing: ImportService
    locomo: LocomoImportService
    exporting: ExportService
    sweeps: SweepService
    demonstration: DemoService
    key_id: str
    store: Store
    database: "Database"

    async def stored_by_sensitivity(self) -> Mapping[str, int]:
        """How many beliefs of all principals are stored, by sensitivity."""
        return await count_stored(self.store)


class Database:
    """The database that the settings name: the embedded one while it is used, or an external one."""

    def __init__(self, settings: Settings) -> None:
        """Touch nothing yet."""
        self._settings = settings
        self._server: EmbeddedServer | None = None

    @property
    def is_embedded(self) -> bool:
        """Whether this program runs the server itself."""
        return self._settings.database_url is None

    @property
    def shown(self) -> str:
        """What an operator is told of it: no password."""
        external = self._settings.database_shown
        return f"the database {external}" if external else f"the embedded PostgreSQL in {self._root}"

    @property
    def _root(self) -> Path:
        return self._settings.data_dir / "postgres"

    @asynccontextmanager
    async def used(self) -> AsyncIterator[str]:
        """Use it: its URL. The embedded server is started for it, and stopped again after its last user.

        Raises DatabaseUnavailable where the embedded one can't be started or stopped.
        """
        if self._settings.database_url is not None:
            yield self._settings.database_url.get_secret_value()
            return
        _make_data_directory(self._settings.data_dir)
        self._server = EmbeddedServer(self._root, binaries=self._settings.postgres_binaries)
        try:
            await self._operate(self._server.start)
            await self._operate(partial(self._server.create_database, DATABASE))
            yield self._server.url(DATABASE)
        finally:
            await self._operate(self._server.stop)

    async def revive(self) -> None:
        """Start the embedded server again where it died; an external one is for others to mend."""
        if self._server is not None:
            await self._operate(self._server.start)

    async def _operate(self, work: Callable[[], None]) -> None:
        """Run blocking work in a thread to its end, even where we are cancelled: its effects are ours to undo."""
        task = asyncio.ensure_future(asyncio.to_thread(work))
        try:
            await asyncio.shield(task)
        except EmbeddedPostgresError as error:
            raise DatabaseUnavailable(str(error)) from error
        except asyncio.CancelledError:
            await asyncio.gather(task, return_exceptions=True)
            raise


@asynccontextmanager
async def running(
    settings: Settings, *, metrics: GatewayMetrics | None = None, for_demo: bool = False
) -> AsyncIterator[Services]:
    """The services of these settings, over a database that is up and of this program's schema.

    Raises StartRefused, KeyFileError and DatabaseUnavailable, the last one also for a StoreUnavailable of what is done
    with them. `for_demo` refuses an external database of other principals, with Conflict, before anything is written.
    """
    _make_data_directory(settings.data_dir)
    database = Database(settings)
    async with database.used() as url, opened_store(settings, database, url) as store:
        if for_demo and not database.is_embedded:
            await refuse_other_owners(store)
        keyring = await open_keyring(store, settings.key_path)
        await store.transact(_claim_lexical_version)
        services = _services(settings, database, store, keyring, metrics)
        try:
            with _explained(database):
                yield services
        finally:
            await services.tokens.close()


@asynccontextmanager
async def opened_store(settings: Settings, database: Database, url: str) -> AsyncIterator[Store]:
    """A store over the database. The embedded one is migrated; another one must be, and its role must be set.

    Raises StartRefused with what to run, and DatabaseUnavailable.
    """
    store = PostgresStore(url, pool_size=settings.pool_size, pool_timeout_seconds=settings.pool_wait_seconds)
    try:
        await _prepare(database, url, store)
        yield store
    finally:
        await store.close()


async def _prepare(database: Database, url: str, store: Store) -> None:
    with _explained(database):
        if database.is_embedded:
            await migrate(url)
        await store.check()
        await check_settings(url)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspected:
    """A database as it is, to be asked whether it suits; each question raises StartRefused or DatabaseUnavailable."""

    database: Database
    url: str
    store: Store

    async def reach(self) -> None:
        """Return if the database answers, whatever its schema."""
        with suppress(StartRefused):
            await self.check_schema()

    async def check_schema(self) -> None:
        """Return if the schema is this program's."""
        with _explained(self.database):
            await self.store.check()

    async def check_role(self) -> None:
        """Return if the role has the settings that the statements rely on."""
        with _explained(self.database):
            await check_settings(self.url)

    async def facts(self) -> StoreInspection:
        """What the store says of itself."""
        with _explained(self.database):
            return await inspect_store(self.store)


@asynccontextmanager
async def inspected(settings: Settings, database: Database) -> AsyncIterator[Inspected]:
    """Look at the database without changing it; raises DatabaseUnavailable."""
    async with database.used() as url:
        store = PostgresStore(url, pool_size=1, pool_timeout_seconds=settings.pool_wait_seconds)
        try:
            yield Inspected(database=database, url=url, store=store)
        finally:
            await store.close()


async def migrate_database(settings: Settings) -> None:
    """Bring the database's schema, and its role's settings, to what this program needs. Raises DatabaseUnavailable."""
    database = Database(settings)
    async with database.used() as url:
        with _explained(database):
            await migrate(url)


async def database_answers(services: Services) -> bool:
    """Whether the database can be asked at the moment."""
    try:
        await services.store.check()
    except StoreUnavailable:
        return False
    return True


def application(services: Services, metrics: GatewayMetrics) -> Starlette:
    """The application of these services, with the surfaces that the settings mount.

    Raises StartRefused for a manifest of trusted documents that can't be taken.
    """
    settings = services.settings
    try:
        return build_app(
            memories=services.memories if settings.api_enabled else None,
            tokens=services.tokens,
            ready=services.store.check,
            version=VERSION,
            exchanges=ExchangeReports(metrics),
            trusted=_trusted_documents(settings),
            count_document=metrics.document,
        )
    except InvalidManifest as error:
        raise StartRefused(f"In {settings.documents}, {error}.") from error


def _trusted_documents(settings: Settings) -> TrustedDocuments:
    if settings.documents is None:
        return TrustedDocuments()
    try:
        content = settings.documents.read_bytes()
    except OSError as error:
        raise StartRefused(f"The manifest {settings.documents} can't be read: {error.strerror}.") from error
    return TrustedDocuments(read_manifest(content), only=settings.documents_mode is DocumentsMode.ONLY)


def _services(
    settings: Settings,
    database: Database,
    store: Store,
    keyring: Keyring,
    metrics: GatewayMetrics | None,
) -> Services:
    measures: Measures = metrics or NoMeasures()
    environment = Environment(keyring=keyring, measures=measures)
    memories = PublicMemoryService(store, environment)
    formation = FormationService(store, environment)
    importing = ImportService(store, environment, formation)
    count_failure: Callable[[], None] = metrics.last_use_failed if metrics else lambda: None
    tokens = TokenService(
        store, new_id=uuid4, on_last_use_failure=count_failure, signed=_signed_tokens(settings, environment)
    )
    return Services(
        settings=settings,
        memories=memories,
        operators=OperatorService(store, environment, memories),
        tokens=tokens,
        importing=importing,
        locomo=LocomoImportService(store, formation),
        exporting=ExportService(store),
        sweeps=SweepService(store, environment, receipt_retention=timedelta(days=settings.receipt_retention_days)),
        demonstration=DemoService(store, importing=importing, memories=memories, tokens=tokens),
        key_id=keyring.current.id,
        store=store,
        database=database,
    )


def _signed_tokens(settings: Settings, environment: Environment) -> SignedTokenService | None:
    """The signed tokens of the issuer that the settings name, if they name one."""
    if settings.oidc_issuer is None or settings.oidc_audience is None or settings.oidc_jwks is None:
        return None
    place = settings.oidc_jwks
    issuer = Issuer(
        issuer=settings.oidc_issuer,
        audience=settings.oidc_audience,
        tenant_claim=settings.oidc_tenant_claim,
        scopes_claim=settings.oidc_scopes_claim,
        leeway=timedelta(seconds=settings.oidc_leeway_seconds),
    )
    keys = IssuerKeys(url_reader(place) if "://" in place else file_reader(Path(place)))
    return SignedTokenService(issuer, keys, clock=environment.clock)


@contextmanager
def _explained(database: Database) -> Iterator[None]:
    """Raise what an operator can act on in place of the store's own failure."""
    try:
        yield
    except SchemaMismatch as error:
        raise StartRefused(f"{error}. `belief-gateway migrate` does it; asked was {database.shown}.") from error
    except UnsuitableSettings as error:
        raise StartRefused(f"In {database.shown}, {error}") from error
    except StoreUnavailable as error:
        raise DatabaseUnavailable(f"{database.shown} can't be used: {error}.") from error


async def _claim_lexical_version(transaction: Transaction) -> None:
    """Note in a new store by which rules its lexemes are made; what stands is judged where text is searched."""
    await transaction.facts.claim(StoreFact.LEXICAL_VERSION, LEXICAL_VERSION)


def _make_data_directory(directory: Path) -> None:
    """Make the data directory, closed to others but for passing through to PostgreSQL's own where root needs it."""
    try:
        directory.mkdir(mode=0o711 if os.geteuid() == 0 else 0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StartRefused(f"The data directory {directory} can't be made: {error.strerror}.") from error
