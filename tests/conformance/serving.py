"""The application behind the server that the program runs, on a port of this machine, for clients in other processes.

The records lie in memory, and every surface is on. The server lives in a thread with a loop of its own, so that a test
may block.
"""

import asyncio
import threading
from collections.abc import Coroutine, Iterator, Sequence
from concurrent.futures import Future
from contextlib import closing, contextmanager
from dataclasses import dataclass

import httpx

from gateway.cli.listening import listen, url_of
from gateway.cli.serving import GatewayServer
from gateway.graphql.documents import NO_TRUSTED_DOCUMENTS, TrustedDocuments
from gateway.http.exchanges import Exchanges
from gateway.http.policy import DEFAULT_POLICY, Policy
from store.domain.derived import DerivedRecord
from store.domain.memories import MemoryRecord
from store.inmemory.store import InMemoryStore
from tests.factories import owner
from tests.gateways import Gateway, serving

WAIT_SECONDS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A gateway that listens, and a token of the owner that factories make."""

    url: str
    token: str

    @property
    def graphql(self) -> str:
        """Where GraphQL is asked."""
        return f"{self.url}/graphql"

    @property
    def port(self) -> int:
        """The port on 127.0.0.1."""
        return int(self.url.rpartition(":")[2])

    def client(self) -> httpx.Client:
        """A client with the token and no other header that a test has not chosen."""
        # Nothing is encrypted here, and to load the certificates takes longer than most requests.
        client = httpx.Client(base_url=self.url, timeout=WAIT_SECONDS, trust_env=False, verify=False)
        client.headers = httpx.Headers({"authorization": f"Bearer {self.token}"})
        return client


@contextmanager
def served(
    *records: MemoryRecord,
    derived: Sequence[DerivedRecord] = (),
    trusted: TrustedDocuments = NO_TRUSTED_DOCUMENTS,
    policy: Policy = DEFAULT_POLICY,
    trusted_proxies: Sequence[str] = (),
    exchanges: Exchanges | None = None,
) -> Iterator[Served]:
    """Serve these beliefs and derived records until the block is left; what happens is told to `exchanges`."""
    started: Future[tuple[Served, GatewayServer]] = Future()
    loops: list[asyncio.AbstractEventLoop] = []

    async def serve() -> None:
        loops.append(asyncio.get_running_loop())
        async with serving(
            InMemoryStore(), trusted=trusted, policy=policy, exchanges=exchanges, derived=True, evidence=True
        ) as gateway:
            server = GatewayServer(gateway.app, exchanges=exchanges, trusted_proxies=trusted_proxies)
            await _serve(gateway, records, derived, server, started)

    thread = threading.Thread(target=lambda: _run(serve(), started), name="served gateway")
    thread.start()
    served, server = started.result(WAIT_SECONDS)
    try:
        yield served
    finally:
        # In its own loop's turn: from this thread it could close what the loop is closing.
        loops[0].call_soon_threadsafe(server.end)
        thread.join(WAIT_SECONDS)
        assert not thread.is_alive()


def _run(serve: Coroutine[None, None, None], started: "Future[tuple[Served, GatewayServer]]") -> None:
    try:
        asyncio.run(serve)
    except BaseException as error:
        if not started.done():
            started.set_exception(error)
        raise


async def _serve(
    gateway: Gateway,
    records: Sequence[MemoryRecord],
    derived: Sequence[DerivedRecord],
    server: GatewayServer,
    started: "Future[tuple[Served, GatewayServer]]",
) -> None:
    with closing(listen("127.0.0.1", 0)) as listener:
        await gateway.keep(*records)
        await gateway.keep_derived(*derived)
        token = await gateway.secret(owner())
        # The listener takes connections already; they are answered as soon as the server runs.
        started.set_result((Served(url=url_of(listener), token=token), server))
        await server.serve(sockets=[listener])
