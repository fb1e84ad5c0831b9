"""The benchmark's own PostgreSQL: the product's embedded server with its settings, migrated, in a folder of its own.

The gateway connects as the role that migrated, with the settings that the migration gave it. The peers connect as a
role of their own with PostgreSQL's defaults, and read the tables that it may read.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from gateway.service.environment import system_clock
from gateway.service.keys import open_keyring
from scripts.benchmarking.data import owner
from scripts.benchmarking.loading import connected
from scripts.benchmarking.processes import Usage, usage_of
from store.domain.keyring import Keyring
from store.domain.lexical import LEXICAL_VERSION
from store.domain.tokens import AccessToken, token_hash
from store.domain.vocabulary import AccessScope
from store.ports.store import StoreFact, Transaction
from store.postgres.embedded.configuration import PORT
from store.postgres.embedded.server import EmbeddedServer
from store.postgres.migrating import migrate
from store.postgres.store import PostgresStore

PEER_ROLE = "peer"
PEER_CONNECTIONS = 8
NAME = "beliefs"

# An array is the cheapest way from a number to a word. The view shows what the ceiling SENSITIVE shows of live beliefs,
# so that PostGraphile needs no plug-in and no variables for it.
_PEERS = f"""
create role {PEER_ROLE} login;
grant select on beliefs to {PEER_ROLE};
create schema peers;
create view peers.memories as
select tenant_id, principal_id, store_position, id, display_subject as subject, statement,
    ('{{fact,preference,relationship,user_model_attr,procedure_pointer}}'::text[])[belief_type + 1] as belief_type,
    ('{{provisional,active}}'::text[])[status] as status, polarity, scope, claim_kind, derivation, longevity,
    portability, authority, ('{{public,internal,sensitive}}'::text[])[sensitivity + 1] as sensitivity, confidence,
    corroboration_count, flagged_for_review, conflicts_with, superseded_by, source_session_id, source_event_ids,
    formation_run_id, consolidation_policy_version, origin_scopes, valid_from, valid_to, expires_at, last_evidence_at,
    last_used_at, last_reinforced_at, created_at, updated_at
from beliefs where store_position > 0 and sensitivity <= 2 and status in (1, 2) and ends_at > now();
comment on view peers.memories is E'@primaryKey id\\n@behavior +orderBy +filterBy';
comment on column peers.memories.tenant_id is '@behavior +filterBy';
comment on column peers.memories.principal_id is '@behavior +filterBy';
comment on column peers.memories.store_position is '@behavior +orderBy';
grant usage on schema peers to {PEER_ROLE};
grant select on peers.memories to {PEER_ROLE};
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Database:
    """A server that runs, and the one database in it. `url` is the gateway's; `keyring` hashes its statements."""

    url: str
    socket_directory: Path
    data_directory: Path
    keyring: Keyring
    server: EmbeddedServer

    @property
    def peer_url(self) -> str:
        """The SQLAlchemy URL of the peers."""
        return self.url.replace("://postgres@", f"://{PEER_ROLE}@")

    @property
    def peer_variables(self) -> dict[str, str]:
        """The same for a client of PostgreSQL's own variables."""
        return {"PGHOST": str(self.socket_directory), "PGPORT": str(PORT), "PGUSER": PEER_ROLE, "PGDATABASE": NAME}

    def usage(self) -> Usage:
        """What all its processes have used, those of closed connections included."""
        assert self.server.pid is not None
        return usage_of(self.server.pid)


@contextmanager
def running_database(folder: Path) -> Iterator[EmbeddedServer]:
    """A PostgreSQL in this folder, with a database without tables; durable, as an acknowledged write must be."""
    with EmbeddedServer(folder / "postgres") as server:
        server.create_database(NAME)
        yield server


async def prepared(server: EmbeddedServer, folder: Path) -> Database:
    """Migrate the database, make the key that its statements are hashed with, and let the peers in."""
    url = server.url(NAME)
    await migrate(url)
    data_directory = folder / "gateway"
    data_directory.mkdir()
    store = PostgresStore(url)
    try:
        keyring = await open_keyring(store, data_directory / "key")

        async def claim(transaction: Transaction) -> None:
            await transaction.facts.claim(StoreFact.LEXICAL_VERSION, LEXICAL_VERSION)

        await store.transact(claim)
    finally:
        await store.close()
    async with connected(url) as connection:
        await connection.execute(_PEERS)
    return Database(
        url=url,
        socket_directory=server.socket_directory,
        data_directory=data_directory,
        keyring=keyring,
        server=server,
    )


def token(principal: int) -> str:
    """The secret of a principal's token: it opens this database alone, on this machine alone."""
    return f"bench-token-of-principal-{principal:08}"


async def add_tokens(database: Database, principals: Sequence[int]) -> None:
    """A token for each principal, for reading and writing."""
    store = PostgresStore(database.url)
    try:

        async def add(transaction: Transaction) -> None:
            for principal in principals:
                await transaction.tokens.add(
                    AccessToken(
                        id=uuid4(),
                        token_hash=token_hash(token(principal)),
                        owner=owner(principal),
                        scopes=frozenset({AccessScope.MEMORY_READ, AccessScope.MEMORY_WRITE}),
                        label="benchmark",
                        created_at=system_clock(),
                        expires_at=None,
                        revoked_at=None,
                        last_used_at=None,
                    )
                )

        await store.transact(add)
    finally:
        await store.close()
