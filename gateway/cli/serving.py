"""The command `serve`: sockets, services, servers, until a signal asks for the end.

The order of the end is that of the start turned round: not ready, no new requests, those under way within seconds, the
background, the pool, the embedded database. A second signal changes nothing of it.
"""

import asyncio
import logging
import os
import socket
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
import uvicorn
from starlette.applications import Starlette

from gateway.cli.answers import CommandFailed
from gateway.cli.background import background_tasks, going_on
from gateway.cli.connections import IDLE_SECONDS, protocol_reporting_to
from gateway.cli.interruption import Interrupted, Interruption, run_to_the_end
from gateway.cli.listening import PortTaken, listen, listen_nearby, url_of
from gateway.cli.options import DatabaseUrl, DataDirectory, start_logging
from gateway.cli.refusals import some_path
from gateway.compose import VERSION, Services, running
from gateway.http.deadlines import Deadlines
from gateway.http.exchanges import Exchanges, NoExchanges
from gateway.http.request_id import current_request_id
from gateway.mounting import mounted
from gateway.observability.exchanges import ExchangeReports
from gateway.observability.metrics import GatewayMetrics, metrics_application
from gateway.observability.traces import Traces, tracing
from gateway.settings import Settings, load_settings, unknown_variables
from gateway.web.graphiql import is_installed

GRACE_SECONDS = 3
"""How long requests under way may take to end; what takes longer is unavailable, and its transaction undone."""
CLOSING_SECONDS = 2
"""How long those answers may take to leave before their connections are cut."""

_log = logging.getLogger(__name__)


def serve(
    *,
    demo: Annotated[
        bool, typer.Option("--demo", help="Load invented beliefs of three principals once, and show their tokens.")
    ] = False,
    port: Annotated[int | None, typer.Option("--port", help="The port to listen on; 0 takes a free one.")] = None,
    bind: Annotated[str | None, typer.Option("--bind", help="The address to listen on.")] = None,
    metrics_port: Annotated[int | None, typer.Option("--metrics-port", help="The port of /metrics.")] = None,
    documents: Annotated[
        Path | None,
        typer.Option(
            "--documents",
            parser=some_path,
            metavar="PATH",
            help="A manifest of trusted GraphQL documents, by their SHA-256.",
        ),
    ] = None,
    data_dir: DataDirectory = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Serve GraphQL and REST until Ctrl-C or SIGTERM, which stop everything, the embedded database included."""
    settings = load_settings(
        port=port,
        bind=bind,
        metrics_port=metrics_port,
        documents=documents,
        data_dir=data_dir,
        database_url=database_url,
    )
    if demo:
        settings = _for_demo(settings)
    start_logging(settings, settings.log_level, request_id=_request_id)
    for variable in unknown_variables(os.environ):
        _log.warning("a variable is no setting of this program", extra={"variable": variable})
    with (
        closing(_listener(settings)) as listener,
        closing(_metrics_listener(settings)) as metrics_listener,
        tracing(os.environ, version=VERSION) as traces,
    ):

        async def within(interruption: Interruption) -> None:
            await _serve(settings, interruption, listener, metrics_listener, traces=traces, demo=demo)

        try:
            run_to_the_end(within)
        except Interrupted:
            _log.info("stopped before it served")


def _for_demo(settings: Settings) -> Settings:
    """Everything that can be seen is on, unless it is said otherwise."""
    seen = {
        "api_enabled": True,
        "reconsolidation_enabled": True,
        "evidence_enabled": True,
        "browser_enabled": True,
        "graphiql_enabled": is_installed(settings.data_dir),
    }
    return settings.replaced(**{name: value for name, value in seen.items() if not settings.is_given(name)})


def _request_id() -> str | None:
    current = current_request_id.get()
    return None if current == "-" else current


def _listener(settings: Settings) -> socket.socket:
    try:
        return listen(settings.bind, settings.port)
    except PortTaken as error:
        raise CommandFailed(
            f"{error}. If it is a gateway on {settings.data_dir}, it is being served already; otherwise choose "
            "another port with --port"
        ) from error


def _metrics_listener(settings: Settings) -> socket.socket:
    listener, is_wished = listen_nearby(settings.metrics_bind, settings.metrics_port)
    if not is_wished:
        _log.warning(
            "the port of the metrics is taken: another one is used",
            extra={"requested_port": settings.metrics_port, "port": listener.getsockname()[1]},
        )
    return listener


async def _serve(
    settings: Settings,
    interruption: Interruption,
    listener: socket.socket,
    metrics_listener: socket.socket,
    *,
    traces: Traces | None,
    demo: bool,
) -> None:
    metrics = GatewayMetrics()
    reports = ExchangeReports(metrics, traces)
    deadlines = Deadlines(settings.request_deadline_seconds)
    async with (
        running(settings, reports=metrics, traces=traces, for_demo=demo) as services,
        mounted(services, metrics, deadlines, traces) as app,
    ):
        url = url_of(listener)
        lines = await _prepared_demo(services, url) if demo else []
        servers = [
            GatewayServer(app, exchanges=reports, trusted_proxies=settings.trusted_proxies),
            GatewayServer(metrics_application(metrics), exchanges=reports),
        ]
        async with going_on(background_tasks(services, metrics), metrics):
            interruption.react_with(partial(_announce_end, servers, deadlines, settings.drain_seconds))
            _announce(settings, url, url_of(metrics_listener), lines)
            _log.info("serving", extra={"url": url, "version": VERSION})
            await asyncio.gather(
                servers[0].serve(sockets=[listener]),
                servers[1].serve(sockets=[metrics_listener]),
            )
        _log.info("stopping")


async def _prepared_demo(services: Services, url: str) -> list[str]:
    # The demo alone draws a bar, and what draws is large.
    from gateway.cli.demo import prepare_demo  # noqa: PLC0415

    return await prepare_demo(services, url)


class GatewayServer(uvicorn.Server):
    """A server on a socket of ours, that leaves signals to the command."""

    def __init__(
        self, app: Starlette, *, exchanges: Exchanges | None = None, trusted_proxies: Sequence[str] = ()
    ) -> None:
        """Serve an application; the only log is ours, and the target of a request is in none.

        What is refused before the application sees it is reported to `exchanges`.
        """
        super().__init__(
            uvicorn.Config(
                app,
                http=protocol_reporting_to(exchanges or NoExchanges()),
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                date_header=True,
                # Anybody can say whose request they pass on: the operator names those who are believed.
                proxy_headers=bool(trusted_proxies),
                forwarded_allow_ips=list(trusted_proxies),
                timeout_keep_alive=IDLE_SECONDS,
                timeout_graceful_shutdown=GRACE_SECONDS + CLOSING_SECONDS,
            )
        )

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Take no signal."""
        yield

    def end(self) -> None:
        """Take no more connections and close those that are idle, at once; `serve` returns after the others."""
        self.should_exit = True
        if self.started:
            # The server's own loop would notice a while later, and begin requests until then.
            for server in self.servers:
                server.close()
            for connection in list(self.server_state.connections):
                connection.shutdown()


def _announce_end(servers: Sequence[GatewayServer], deadlines: Deadlines, drain_seconds: float) -> None:
    """Tell load balancers and clients to go elsewhere, and stop when they have had the time to."""
    deadlines.announce_end()
    asyncio.get_running_loop().call_later(drain_seconds, _end, servers, deadlines)


def _end(servers: Sequence[GatewayServer], deadlines: Deadlines) -> None:
    deadlines.end(GRACE_SECONDS)
    for server in servers:
        server.end()


def _announce(settings: Settings, url: str, metrics_url: str, lines: list[str]) -> None:
    surface = "GraphQL" if settings.api_enabled else "GraphQL (the memory surface is off)"
    print(f"belief-gateway {VERSION} serves on {url}")
    if settings.browser_enabled:
        print(f"  {'Browser':<12} {url}/")
    print(f"  {surface:<12} {url}/graphql{' (GraphiQL in a browser)' if settings.graphiql_enabled else ''}")
    if settings.api_enabled:
        print(f"  {'REST':<12} {url}/v1/memories")
    print(f"  {'OpenAPI':<12} {url}/openapi.json")
    print(f"  {'Health':<12} {url}/livez, {url}/readyz")
    print(f"  {'Metrics':<12} {metrics_url}/metrics")
    print(f"  {'Data':<12} {settings.data_dir}")
    for line in lines:
        print(line)
    print("\nCtrl-C stops it.", flush=True)
