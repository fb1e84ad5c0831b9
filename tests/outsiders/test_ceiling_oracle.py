"""An id that is absent, another's, above the ceiling or withheld is one and the same to whoever asks or watches.

The answer is the same to the byte; the same statements are sent, in the same number and to the same end; the log and
the metrics say the same. An id that is no UUID has the same answer, log and metrics. Of the statements only those are
sent that do not look for the record: the store is never asked for what it can't hold. All of it holds with derived
records served and without them, whether an id is a belief's or a derived record's.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from urllib.parse import quote
from uuid import UUID

import httpx
import pytest

from gateway.graphql.exchange import COST_HEADER
from gateway.observability.exchanges import ExchangeReports
from gateway.observability.metrics import GatewayMetrics
from store.domain.vocabulary import MemoryStatus, ReviewOutcome, Sensitivity
from store.ports.store import Store
from tests.factories import NOW, derived, identifier, memory, owner
from tests.gateways import serving
from tests.outsiders.watching import Traces, watching
from tests.worlds import keep, keep_derived

pytestmark = pytest.mark.postgres

ABSENT, FOREIGN, ELSEWHERE, ABOVE, VISIBLE, BENEATH, BARE = (identifier(number) for number in range(1, 8))
DERIVED_FOREIGN, DERIVED_ELSEWHERE, DERIVED_ABOVE, DERIVED_OF_ABOVE, WITHHELD, ENDED, DERIVED = (
    identifier(number) for number in range(11, 18)
)
HIDDEN = (
    *(FOREIGN, ELSEWHERE, ABOVE),
    *(DERIVED_FOREIGN, DERIVED_ELSEWHERE, DERIVED_ABOVE, DERIVED_OF_ABOVE, WITHHELD, ENDED),
)
MALFORMED = ("x", "00000000-0000-4000-8000-00000000000", "00000000000040008000000000000003", "é" * 36, "%", "null", " ")

Ask = Callable[[httpx.AsyncClient, str, str], Awaitable[httpx.Response]]
"""Ask with a client for an id, under a key."""


def over_rest(method: str, path: str = "", **body: str) -> Ask:
    """A REST operation under the ceiling `internal`."""

    async def ask(client: httpx.AsyncClient, id: str, key: str) -> httpx.Response:
        target = f"/v1/memories/{quote(id, safe='')}{path}?ceiling=internal"
        return await client.request(method, target, headers={"idempotency-key": key}, json=body or None)

    return ask


def over_graphql(document: str) -> Ask:
    """A GraphQL document of one root field, under the same ceiling, with its cost told."""

    async def ask(client: httpx.AsyncClient, id: str, key: str) -> httpx.Response:
        body = {"query": document, "variables": {"id": id} | ({"key": key} if "$key" in document else {})}
        return await client.post("/graphql", json=body, headers={COST_HEADER: "1"})

    return ask


READ = (
    "query($id: ID!) { memory(id: $id, ceiling: INTERNAL) "
    "{ id statement conflictsWith supersedes { id } conflictsWithMemories { id } supersededByMemory { id } } }"
)
READ_DERIVED = (
    "query($id: ID!) { derivedMemory(id: $id, ceiling: INTERNAL) { id content { statement } sources { id revision } } }"
)
REVIEW = (
    "mutation($id: ID!, $key: String!) { reviewMemory(input: {id: $id, ceiling: INTERNAL, outcome: %s, "
    "idempotencyKey: $key}) { memory { id statement } derivedMemory { id content { statement } } } }"
)
DELETE = (
    "mutation($id: ID!, $key: String!) { deleteMemory(input: "
    "{id: $id, ceiling: INTERNAL, idempotencyKey: $key}) { deletedId } }"
)
OPERATIONS: Mapping[str, Ask] = {
    "rest read": over_rest("GET"),
    **{f"rest {each.value}": over_rest("POST", "/review", outcome=each.value) for each in ReviewOutcome},
    "rest delete": over_rest("DELETE"),
    "graphql read": over_graphql(READ),
    **{f"graphql {each.value}": over_graphql(REVIEW % each.name) for each in ReviewOutcome},
    "graphql delete": over_graphql(DELETE),
}
DERIVED_OPERATIONS: Mapping[str, Ask] = {
    **{name: ask for name, ask in OPERATIONS.items() if name != "graphql read"},
    "graphql read derived": over_graphql(READ_DERIVED),
}
ALL_OPERATIONS: Mapping[str, Ask] = {**OPERATIONS, **DERIVED_OPERATIONS}


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """A client of a gateway over PostgreSQL that is watched."""

    client: httpx.AsyncClient
    metrics: GatewayMetrics

    async def ask(self, ask: Ask, id: str, key: str) -> tuple[tuple[int, bytes, list[tuple[bytes, bytes]]], Traces]:
        """The whole answer and what it left behind."""
        with watching(self.metrics) as traces:
            response = await ask(self.client, id, key)
        return (response.status_code, response.content, response.headers.raw), traces


async def fill(store: Store) -> None:
    """Keep a belief and a derived record of each kind."""
    restricted = Sensitivity.RESTRICTED
    visible = memory("Sails", id=VISIBLE, conflicts_with=(ABOVE,))
    above = memory("Never sails", id=ABOVE, sensitivity=restricted, conflicts_with=(VISIBLE, BENEATH))
    foreign = memory("Sails", id=FOREIGN, owner=owner("bo"))
    elsewhere = memory("Sails", id=ELSEWHERE, owner=owner(tenant="inland"))
    await keep(
        store,
        visible,
        above,
        memory("Rows", id=BENEATH, status=MemoryStatus.SUPERSEDED, superseded_by=ABOVE, conflicts_with=(ABOVE,)),
        memory("Rows", id=BARE, status=MemoryStatus.SUPERSEDED),
        foreign,
        elsewhere,
    )
    await keep_derived(
        store,
        derived(visible, statement="Sails", id=DERIVED),
        derived(foreign, statement="Sails", id=DERIVED_FOREIGN),
        derived(elsewhere, statement="Sails", id=DERIVED_ELSEWHERE),
        derived(visible, statement="Sails at night", id=DERIVED_ABOVE, sensitivity=restricted),
        derived(above, visible, statement="Never sails", id=DERIVED_OF_ABOVE),
        derived(replace(visible, revision=2), statement="Sails by day", id=WITHHELD),
        derived(visible, statement="Sails at noon", id=ENDED, expires_at=NOW),
    )


@asynccontextmanager
async def watched_gateway(store: Store, *, with_derived: bool) -> AsyncIterator[Watched]:
    """A gateway that is asked once before, so that it has met its token."""
    metrics = GatewayMetrics()
    async with serving(store, exchanges=ExchangeReports(metrics), measures=metrics, derived=with_derived) as gateway:
        await fill(store)
        async with gateway.client() as client:
            secret = await gateway.secret(owner())
            client.headers.update({"authorization": f"Bearer {secret}", "x-request-id": "asked"})
            await client.get("/v1/memories?ceiling=public")
            yield Watched(client=client, metrics=metrics)


@pytest.fixture
async def watched(postgres_store: Store) -> AsyncIterator[Watched]:
    """A gateway that serves derived records too."""
    async with watched_gateway(postgres_store, with_derived=True) as watched:
        yield watched


@pytest.mark.parametrize("name", OPERATIONS)
async def test_without_derived_records_what_is_hidden_is_absent(postgres_store: Store, name: str) -> None:
    async with watched_gateway(postgres_store, with_derived=False) as watched:
        await check_that_hidden_is_absent(watched, OPERATIONS[name])


@pytest.mark.parametrize("name", ALL_OPERATIONS)
async def test_what_is_hidden_is_absent_to_whoever_asks_and_to_whoever_watches(watched: Watched, name: str) -> None:
    await check_that_hidden_is_absent(watched, ALL_OPERATIONS[name])


async def check_that_hidden_is_absent(watched: Watched, ask: Ask) -> None:
    """One operation of every id that is hidden answers and leaves behind what that of an absent one does."""
    absent, left_by_absent = await watched.ask(ask, str(ABSENT), "absent")

    assert b"not_found" in absent[1]
    assert any(
        table in each.statement for table in ("beliefs", "receipts", "derived") for each in left_by_absent.statements
    )
    assert "exchange" in [line["event"] for line in left_by_absent.lines]
    assert 1 in left_by_absent.counts.values()
    for number, id in enumerate(HIDDEN):
        assert (absent, left_by_absent) == await watched.ask(ask, str(id), f"hidden-{number}")
        assert (absent, left_by_absent) == await watched.ask(ask, str(id).upper(), f"upper-{number}")
    for number, text in enumerate(MALFORMED):
        answer, left = await watched.ask(ask, text, f"malformed-{number}")
        assert absent == answer
        assert (left_by_absent.lines, left_by_absent.counts) == (left.lines, left.counts)
        assert not [
            each
            for each in left.statements
            if any(word in each.statement.lower() for word in ("beliefs", "derived", "insert"))
        ]


@pytest.mark.parametrize(
    ("id", "operations"), [(VISIBLE, OPERATIONS), (DERIVED, DERIVED_OPERATIONS)], ids=["belief", "derived record"]
)
async def test_what_is_visible_is_told_from_it(watched: Watched, id: UUID, operations: Mapping[str, Ask]) -> None:
    """The oracle would prove nothing if every id were absent to it."""
    for number, ask in enumerate(operations.values()):
        (_, content, _), _ = await watched.ask(ask, str(id), f"visible-{number}")
        if b"not_found" in content:
            break
    else:
        pytest.fail("the deletion deleted nothing")
    assert number > list(operations).index("rest delete")


async def test_links_to_what_is_hidden_are_no_links_to_whoever_asks_and_to_whoever_watches(watched: Watched) -> None:
    linked, left_by_linked = await watched.ask(OPERATIONS["graphql read"], str(BENEATH), "-")
    bare, left_by_bare = await watched.ask(OPERATIONS["graphql read"], str(BARE), "-")

    assert b'"statement":"Rows"' in linked[1]
    assert bare == (linked[0], linked[1].replace(str(BENEATH).encode(), str(BARE).encode()), linked[2])
    assert left_by_bare == left_by_linked
