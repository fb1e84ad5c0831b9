"""From ready services to the application: the surfaces that the settings mount, and what they decide about strangers.

Apart from the services, since most commands serve nobody: to load the transports takes longer than those commands.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from limits.errors import ConfigurationError
from starlette.applications import Starlette

from gateway.app import build_app
from gateway.compose import VERSION, Services
from gateway.database import StartRefused
from gateway.graphql.documents import InvalidManifest, TrustedDocuments, UnmountedManifest, read_manifest
from gateway.http.deadlines import Deadlines
from gateway.http.exchanges import DERIVED_SURFACE, EVIDENCE_SURFACE, MEMORY_SURFACE
from gateway.http.policy import Policy
from gateway.http.rate_limits import RateLimits, rate_limit_storage
from gateway.observability.exchanges import ExchangeReports
from gateway.observability.metrics import GatewayMetrics
from gateway.observability.traces import Traces
from gateway.setting_values import PREFIX, DocumentsMode
from gateway.settings import Settings
from gateway.web.browser import MemoryBrowser
from gateway.web.graphiql import GraphiQL, GraphiQLMissing
from gateway.web.pages import Pages

_SWITCHES: Mapping[str, tuple[str, str]] = {
    MEMORY_SURFACE: ("the memory surface", "API_ENABLED"),
    DERIVED_SURFACE: ("the surface of derived records", "RECONSOLIDATION_ENABLED"),
    EVIDENCE_SURFACE: ("the surface of evidence", "EVIDENCE_ENABLED"),
}
"""What each surface is called, and the setting that turns it on, by its name in reports. All need the first one."""


@asynccontextmanager
async def mounted(
    services: Services, metrics: GatewayMetrics, deadlines: Deadlines, traces: Traces | None = None
) -> AsyncIterator[Starlette]:
    """The application of these services, with the surfaces that the settings mount.

    Raises StartRefused for a manifest of trusted documents that can't be taken, for GraphiQL where it is not installed,
    and for rates in a Redis without its client.
    """
    rate_limits = _rate_limits(services.settings, metrics)
    try:
        yield _application(services, metrics, deadlines, traces, rate_limits)
    finally:
        await rate_limits.close()


def _application(
    services: Services,
    metrics: GatewayMetrics,
    deadlines: Deadlines,
    traces: Traces | None,
    rate_limits: RateLimits,
) -> Starlette:
    settings = services.settings
    pages = _pages(settings)
    try:
        return build_app(
            memories=services.memories if settings.api_enabled else None,
            tokens=services.tokens,
            ready=services.store.check,
            version=VERSION,
            exchanges=ExchangeReports(metrics, traces),
            trusted=_trusted_documents(settings, pages),
            count_document=metrics.document,
            deadlines=deadlines,
            encoded_pages=settings.encoded_pages,
            derived=settings.reconsolidation_enabled,
            evidence=services.evidence if settings.evidence_enabled else None,
            company=services.company if settings.evidence_enabled else None,
            pages=pages,
            policy=Policy(
                rate_limits=rate_limits,
                introspection=settings.introspection,
                origins=settings.cors_origins,
            ),
        )
    except UnmountedManifest as error:
        kind, setting = _SWITCHES[error.surface if settings.api_enabled else MEMORY_SURFACE]
        raise StartRefused(
            f"The manifest {settings.documents} ({PREFIX}DOCUMENTS, --documents) holds documents for {kind}, "
            f"which is off, such as {error.document}: set {PREFIX}{setting} to true, or leave them out."
        ) from error
    except InvalidManifest as error:
        raise StartRefused(f"In {settings.documents}, {error}.") from error


def _pages(settings: Settings) -> Pages:
    try:
        return Pages(
            browser=MemoryBrowser() if settings.browser_enabled else None,
            graphiql=GraphiQL(settings.data_dir) if settings.graphiql_enabled else None,
        )
    except GraphiQLMissing as error:
        raise StartRefused(f"{PREFIX}GRAPHIQL_ENABLED is true. {error}") from error


def _trusted_documents(settings: Settings, pages: Pages) -> TrustedDocuments:
    own = () if pages.browser is None else pages.browser.documents
    if settings.documents is None:
        return TrustedDocuments(own=own)
    try:
        content = settings.documents.read_bytes()
    except OSError as error:
        raise StartRefused(f"The manifest {settings.documents} can't be read: {error.strerror}.") from error
    return TrustedDocuments(read_manifest(content), own=own, only=settings.documents_mode is DocumentsMode.ONLY)


def _rate_limits(settings: Settings, metrics: GatewayMetrics) -> RateLimits:
    """The rate limits of the settings. Raises StartRefused where the client of a shared storage is not installed."""
    url = settings.rate_limit_url
    try:
        storage = rate_limit_storage(None if url is None else url.get_secret_value())
    except ConfigurationError as error:
        raise StartRefused("Rates in a Redis need its client: install `belief-gateway[redis]`.") from error
    return RateLimits(
        storage,
        cost_per_minute=settings.rate_limit_cost_per_minute,
        failed_authentications_per_minute=settings.rate_limit_failed_authentications_per_minute,
        reports=ExchangeReports(metrics),
    )
