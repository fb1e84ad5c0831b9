"""The servers that are compared: how each is started, and how each is asked for a page of a principal.

All have one process, eight connections to the database where that can be set, and production settings. The gateway
checks a token, charges its limits and reports each request; the peers believe what they are told of the principal.
"""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from scripts.benchmarking.data import TENANT
from scripts.benchmarking.database import PEER_CONNECTIONS, Database, token
from scripts.benchmarking.processes import Server, free_port, running_server
from scripts.benchmarking.shapes import GATEWAY, POSTGRAPHILE, TINY, Dialect, Shape, post

ROOT = Path(__file__).parents[2]
GATEWAY_NAME = "gateway"
PEERS = ("strawberry", "mercurius", "yoga", "postgraphile")
TITLES = {
    GATEWAY_NAME: "belief-gateway",
    "strawberry": "plain Strawberry",
    "mercurius": "mercurius, jit",
    "yoga": "graphql-yoga",
    "postgraphile": "PostGraphile 5",
}
COST_PER_MINUTE = 1_000_000_000
"""Points that a principal may spend: counted on every request as always, and out of reach."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """A server that is up, and how it is asked."""

    name: str
    server: Server
    dialect: Dialect
    headers: Callable[[int], dict[str, str]]
    variables: Callable[[int], dict[str, object]] = field(default=lambda _: {})

    def page(self, shape: Shape, principal: int, *, after: str | None = None) -> bytes:
        """The request for a page."""
        variables = {"first": shape.rows, "after": after, **self.variables(principal)}
        content = {"query": self.dialect.document(shape), "variables": variables}
        return post("/graphql", content, self.headers(principal))

    def pages(self, shape: Shape, principals: Sequence[int]) -> list[bytes]:
        """The requests for the first page of each principal."""
        return [self.page(shape, principal) for principal in principals]

    def tiny(self, principal: int) -> bytes:
        """A request that asks for next to nothing."""
        return post("/graphql", {"query": TINY}, self.headers(principal))

    def ask(self, query: str, principal: int, variables: Mapping[str, object] | None = None) -> bytes:
        """The request for a document with these variables."""
        return post("/graphql", {"query": query, "variables": variables or {}}, self.headers(principal))


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """Where Node and the peers' packages are; None where no peer of Node's takes part."""

    node: Path
    folder: Path


@contextmanager
def running_gateway(database: Database, logs: Path) -> Iterator[Contender]:
    """The gateway as an operator starts it, over the database by its URL."""
    port = free_port()
    variables = {
        "AGENT_MEMORY_API_ENABLED": "true",
        "AGENT_MEMORY_RECONSOLIDATION_ENABLED": "true",
        "AGENT_MEMORY_EVIDENCE_ENABLED": "true",
        "AGENT_MEMORY_DATABASE_URL": database.url,
        "AGENT_MEMORY_DATA_DIR": str(database.data_directory),
        "AGENT_MEMORY_POOL_SIZE": str(PEER_CONNECTIONS),
        "AGENT_MEMORY_METRICS_PORT": "0",
        "AGENT_MEMORY_RATE_LIMIT_COST_PER_MINUTE": str(COST_PER_MINUTE),
    }
    command = (sys.executable, "-m", "gateway", "serve", "--port", str(port))
    with running_server(
        GATEWAY_NAME, command, port=port, directory=ROOT, log=logs / "gateway.log", variables=variables
    ) as server:
        yield Contender(
            name=GATEWAY_NAME,
            server=server,
            dialect=GATEWAY,
            headers=lambda principal: {"authorization": f"Bearer {token(principal)}"},
        )


@contextmanager
def running_peer(name: str, database: Database, installation: Installation | None, logs: Path) -> Iterator[Contender]:
    """A peer over the same database, as the role of the peers."""
    port = free_port()
    variables = {"PORT": str(port), "CONNECTIONS": str(PEER_CONNECTIONS), "TENANT": TENANT}
    command: tuple[str | Path, ...]
    if name == "strawberry":
        application = "scripts.benchmarking.peers.strawberry_app:app"
        command = (sys.executable, "-m", "uvicorn", application, "--port", str(port), "--no-access-log")
        variables |= {"DATABASE_URL": database.peer_url}
        directory = ROOT
    else:
        assert installation is not None
        command = (installation.node, f"{name}.mjs")
        variables |= {"NODE_ENV": "production", "GRAPHILE_ENV": "production", **database.peer_variables}
        directory = installation.folder
    with running_server(
        name, command, port=port, directory=directory, log=logs / f"{name}.log", variables=variables
    ) as server:
        if name == "postgraphile":
            yield Contender(
                name=name,
                server=server,
                dialect=POSTGRAPHILE,
                headers=lambda _: {},
                variables=lambda principal: {"tenant": TENANT, "principal": str(principal)},
            )
        else:
            yield Contender(
                name=name,
                server=server,
                dialect=GATEWAY,
                headers=lambda principal: {"x-principal": str(principal)},
            )
