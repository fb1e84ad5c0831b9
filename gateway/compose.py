"""From settings to ready services: the only module that names an adapter.

The embedded PostgreSQL is started, and migrated, with the services that use it, and stopped after them. An external
one is never migrated in passing: other gateways of an older version may be serving from it.
Source: The embedded PostgreSQL, "Recommendation"; belief store decisions, Review and delete (the key file).
"""

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import timedelta
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Protocol
from uuid import uuid4

from gateway.database import Database, DatabaseUnavailable, StartRefused, make_data_directory
from gateway.observability.traced_store import TracedStore
from gateway.observability.traces import Traces
from gateway.service.compaction import CompactionService
from gateway.service.company import CompanyService
from gateway.service.demonstration import DemoService, refuse_other_owners
from gateway.service.deriving import DerivationService
from gateway.service.environment import Environment, Measures, NoMeasures, system_clock
from gateway.service.evidence import EvidenceService
from gateway.service.exporting import ExportService
from gateway.service.formation import FormationService
from gateway.service.importing import ImportService, LocomoImportService
from gateway.service.journaling import journal_act
from gateway.service.journals import JournalService
from gateway.service.key_rotation import HashKeyService
from gateway.service.keys import open_keyring
from gateway.service.memories import PublicMemoryService
from gateway.service.operators import OperatorService
from gateway.service.reindexing import ReindexService
from gateway.service.store_inspection import StoreInspection, count_stored, inspect_store
from gateway.service.summarizing import SummaryService
from gateway.service.sweeps import SweepService
from gateway.service.tokens import SignedTokens, TokenService
from gateway.settings import Settings
from store.domain.keyring import Keyring
from store.domain.lexical import LEXICAL_VERSION
from store.ports.errors import StoreUnavailable
from store.ports.maintenance import Maintenance
from store.ports.store import Store, StoreFact, Transaction
from store.postgres.maintenance import PostgresMaintenance
from store.postgres.migrating import SchemaMismatch, UnsuitableSettings, check_settings, migrate
from store.postgres.store import PostgresStore

VERSION = version("belief-gateway")


class ServiceReports(Measures, Protocol):
    """Where what the services meet is counted."""

    def watch_pool(self, count: Callable[[], Mapping[str, int]]) -> None:
        """Ask for the connections in the pool, by state, when they are looked at."""
        ...

    def last_use_failed(self) -> None:
        """One last use of a token that could not be written."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """Everything that commands and transports act through, over one store."""

    settings: Settings
    memories: PublicMemoryService
    evidence: EvidenceService
    company: CompanyService
    operators: OperatorService
    tokens: TokenService
    importing: ImportService
    locomo: LocomoImportService
    summaries: SummaryService
    exporting: ExportService
    sweeps: SweepService
    demonstration: DemoService
    keys: HashKeyService
    journals: JournalService
    reindexing: ReindexService
    compaction: CompactionService
    store: Store
    database: Database

    async def stored_by_sensitivity(self) -> Mapping[str, int]:
        """How many beliefs of all principals are stored, by sensitivity."""
        return await count_stored(self.store)


@asynccontextmanager
async def running(
    settings: Settings,
    *,
    reports: ServiceReports | None = None,
    traces: Traces | None = None,
    for_demo: bool = False,
) -> AsyncIterator[Services]:
    """The services of these settings, over a database that is up and of this program's schema.

    Raises StartRefused, KeyFileError and DatabaseUnavailable, the last one also for a StoreUnavailable of what is done
    with them. `for_demo` refuses an external database of other principals, with Conflict, before anything is written.
    """
    make_data_directory(settings.data_dir)
    database = Database(settings)
    async with database.used() as url, opened_store(settings, database, url) as store:
        if for_demo and not database.is_embedded:
            await refuse_other_owners(store)
        keyring = await open_keyring(store, settings.key_path)
        await store.transact(_claim_lexical_version)
        used: Store = store if traces is None else TracedStore(store, traces)
        services = _services(settings, database, used, PostgresMaintenance(url), keyring, reports)
        if reports is not None:
            reports.watch_pool(lambda: asdict(store.connections))
        try:
            with _explained(database):
                yield services
        finally:
            await services.tokens.close()


@asynccontextmanager
async def opened_store(settings: Settings, database: Database, url: str) -> AsyncIterator[PostgresStore]:
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

    async def dead_rows(self) -> int:
        """About how many deleted or rewritten rows are still in the files."""
        with _explained(self.database):
            return await PostgresMaintenance(self.url).dead_rows()


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
            store = PostgresStore(url, pool_size=1, pool_timeout_seconds=settings.pool_wait_seconds)
            try:
                await store.transact(partial(journal_act, now=system_clock(), action="migrate"))
            finally:
                await store.close()


async def database_answers(services: Services) -> bool:
    """Whether the database can be asked at the moment."""
    try:
        await services.store.check()
    except StoreUnavailable:
        return False
    return True


def _services(
    settings: Settings,
    database: Database,
    store: Store,
    maintenance: Maintenance,
    keyring: Keyring,
    reports: ServiceReports | None,
) -> Services:
    measures: Measures = reports or NoMeasures()
    environment = Environment(keyring=keyring, measures=measures)
    memories = PublicMemoryService(store, environment, derived=settings.reconsolidation_enabled)
    evidence = EvidenceService(store, environment)
    summaries = SummaryService(store, environment, DerivationService(store, environment))
    formation = FormationService(store, environment)
    importing = ImportService(store, environment, formation)
    count_failure: Callable[[], None] = reports.last_use_failed if reports else lambda: None
    tokens = TokenService(
        store, new_id=uuid4, on_last_use_failure=count_failure, signed=_signed_tokens(settings, environment)
    )
    return Services(
        settings=settings,
        memories=memories,
        evidence=evidence,
        company=CompanyService(store, environment, evidence),
        operators=OperatorService(store, environment, memories),
        tokens=tokens,
        importing=importing,
        locomo=LocomoImportService(store, formation, summaries),
        summaries=summaries,
        exporting=ExportService(store),
        sweeps=SweepService(store, environment, receipt_retention=timedelta(days=settings.receipt_retention_days)),
        demonstration=DemoService(store, importing=importing, summaries=summaries, memories=memories, tokens=tokens),
        keys=HashKeyService(store, environment, settings.key_path),
        journals=JournalService(store),
        reindexing=ReindexService(store, environment),
        compaction=CompactionService(store, maintenance, environment),
        store=store,
        database=database,
    )


def _signed_tokens(settings: Settings, environment: Environment) -> SignedTokens | None:
    """The signed tokens of the issuer that the settings name, if they name one."""
    if settings.oidc_issuer is None or settings.oidc_audience is None or settings.oidc_jwks is None:
        return None
    # Cryptography is loaded where an issuer is named, and nowhere else.
    from gateway.service.issuer_keys import IssuerKeys, file_reader, url_reader  # noqa: PLC0415
    from gateway.service.signed_tokens import Issuer, SignedTokenService  # noqa: PLC0415

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
