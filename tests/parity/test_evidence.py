"""Evidence over both transports: the same graph, the same refusals, in the same order."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from gateway.http.exchanges import NoExchanges
from gateway.service.evidence import CONCURRENT_GRAPHS_MAX
from store.domain.vocabulary import AccessScope, Sensitivity
from store.inmemory.store import InMemoryStore
from store.ports.store import Store
from tests.factories import NOW, derived, identifier, memory, owner
from tests.gateways import READ, Gateway, serving
from tests.parity.evidence_clients import GRAPH, QUERY, EvidenceClient, GraphQLEvidence, RestEvidence
from tests.services.evidence import WatchedStore, keep_world, layered
from tests.worlds import keep, keep_derived

ONE, TWO, THREE, FOUR, FIVE = map(identifier, range(1, 6))
INCLUDED, UNAVAILABLE, NOT_EXAMINED = "included", "unavailable", "not_examined"
BO = owner("bo")
WAIT_SECONDS = 10


@pytest.fixture
async def gateway(store: Store) -> AsyncIterator[Gateway]:
    """A gateway with everything on, over the records of `layered` and one that is private."""
    async with serving(store, derived=True, evidence=True) as gateway:
        await keep_world(store, *layered(), memory("Sails", id=identifier(6), sensitivity=Sensitivity.SENSITIVE))
        yield gateway


@pytest.fixture(params=[RestEvidence, GraphQLEvidence], ids=["rest", "graphql"])
def client(request: pytest.FixtureRequest, gateway: Gateway) -> EvidenceClient:
    """A client of each transport."""
    made: EvidenceClient = request.param(gateway)
    return made


@pytest.mark.parametrize(
    ("roots", "arguments"),
    [
        ([FIVE], {}),
        ([FIVE, identifier(6), identifier(99)], {"max_depth": 1}),
        ([TWO, FOUR], {"node_limit": 1}),
        ([identifier(99)], {"max_depth": 0, "node_limit": 256}),
    ],
)
async def test_both_transports_show_the_same_graph(
    gateway: Gateway, roots: list[object], arguments: dict[str, object]
) -> None:
    secret = await gateway.secret(owner(), READ)
    rest, graphql = [
        await client.read(secret, roots, ceiling="internal", **arguments)
        for client in (RestEvidence(gateway), GraphQLEvidence(gateway))
    ]
    assert rest == graphql
    assert "private, no-store" == rest.response.headers["cache-control"] == graphql.response.headers["cache-control"]


async def test_a_graph_tells_its_order_its_edges_and_its_coverage(gateway: Gateway, client: EvidenceClient) -> None:
    secret = await gateway.secret(owner(), READ)
    whole = await client.read(secret, [FIVE], ceiling="public")
    cut = await client.read(secret, [FIVE, TWO], ceiling="public", max_depth=1, node_limit=3)

    assert list(map(str, (FIVE, THREE, FOUR, ONE, TWO))) == whole.ids
    assert [0, 1, 1, 2, 2] == [node["depth"] for node in whole.shown["nodes"]]
    assert ("derived_ancestry_v1", 4, 128) == tuple(
        whole.shown[name] for name in ("traversal_version", "max_depth", "node_limit")
    )
    first = whole.shown["edges"][0]
    assert {
        "source": {"record_id": str(FIVE), "revision": 1},
        "target": {"record_id": str(THREE), "revision": 1},
        "relation": "derived_from",
    } == first
    coverage = whole.shown["coverage"]
    assert (True, [], 5, 4) == (
        coverage["complete"],
        coverage["stop_reasons"],
        coverage["records_examined"],
        coverage["dependency_work"]["records_examined"],
    )
    assert list(map(str, (FIVE, TWO, THREE))) == cut.ids
    assert [(str(FIVE), str(THREE))] == [
        (edge["source"]["record_id"], edge["target"]["record_id"]) for edge in cut.shown["edges"]
    ]
    assert (False, ["depth_limit", "node_limit"]) == (
        cut.shown["coverage"]["complete"],
        cut.shown["coverage"]["stop_reasons"],
    )


async def test_another_principal_and_another_company_see_nothing_of_it(
    gateway: Gateway, client: EvidenceClient
) -> None:
    for stranger in (BO, owner(tenant="inland")):
        seen = await client.read(await gateway.secret(stranger, READ), [FIVE, ONE], ceiling="restricted")
        missing = await client.read(await gateway.secret(stranger, READ), [FIVE, ONE], ceiling="restricted")
        assert ([UNAVAILABLE, UNAVAILABLE], []) == (seen.statuses, seen.ids)
        assert seen == missing


async def test_what_has_run_out_is_unavailable_at_once(gateway: Gateway, client: EvidenceClient) -> None:
    end = NOW + timedelta(hours=1)
    one = memory("Rents a boat", id=identifier(30), expires_at=end)
    await keep_world(gateway.store, one, derived(one, id=identifier(31), statement="Rents a boat", expires_at=end))
    secret = await gateway.secret(owner(), READ)

    before = await client.read(secret, [identifier(31)], ceiling="public")
    gateway.clock.advance(timedelta(hours=1))
    after = await client.read(secret, [identifier(31)], ceiling="public")
    assert ([INCLUDED], [UNAVAILABLE]) == (before.statuses, after.statuses)


REFUSALS: dict[str, tuple[list[object], dict[str, object], str]] = {
    "no roots": ([], {}, "must not be empty"),
    "no uuid": (["ada"], {}, "must hold UUIDs in their canonical form"),
    "twice": ([ONE, str(ONE).upper()], {}, "must not name a record twice"),
    "too many": ([identifier(number) for number in range(17)], {}, "must hold at most 16 identifiers"),
    "too deep": ([ONE], {"max_depth": 9}, "must be from 0 to 8"),
    "no look-up": ([ONE], {"node_limit": 0}, "must be from 1 to 256"),
}


@pytest.mark.parametrize("case", REFUSALS)
async def test_a_malformed_request_names_what_is_wrong(gateway: Gateway, client: EvidenceClient, case: str) -> None:
    roots, arguments, reason = REFUSALS[case]
    refused = await client.read(await gateway.secret(owner(), READ), roots, ceiling="public", **arguments)
    names = {"rootIds", "root_record_ids", "maxDepth", "max_depth", "nodeLimit", "node_limit"}
    name, _, rest = refused.message.partition(" ")
    assert ("malformed_request", reason, True) == (refused.code, rest, name in names)


async def test_failures_come_in_the_order_of_all_others(gateway: Gateway, client: EvidenceClient) -> None:
    writer = await gateway.secret(owner(), set(AccessScope) - READ)
    assert "authentication_error" == (await client.read(None, [], ceiling="public")).code
    assert "authentication_error" == (await client.read("no token", [], ceiling="public")).code
    assert "malformed_request" == (await client.read(writer, ["ada"], ceiling="public")).code
    denied = await client.read(writer, [ONE], ceiling="public", node_limit=0)
    assert ("authorization_error", "the scope memory.read is required") == (denied.code, denied.message)


async def test_a_revoked_key_opens_nothing(gateway: Gateway, client: EvidenceClient) -> None:
    token, secret = await gateway.tokens.create(owner(), scopes=READ, label="old", expires_at=None)
    await gateway.tokens.revoke(token.id)
    assert "authentication_error" == (await client.read(secret, [ONE], ceiling="public")).code


@pytest.mark.parametrize("kind", [RestEvidence, GraphQLEvidence], ids=["rest", "graphql"])
async def test_a_busy_server_says_so_before_it_reads(store: Store, kind: type[RestEvidence | GraphQLEvidence]) -> None:
    reached, opened = asyncio.Semaphore(0), asyncio.Event()

    async def after(operation: str) -> None:
        if operation == "closure":
            reached.release()
            await opened.wait()

    async with serving(WatchedStore(store, after), derived=True, evidence=True) as gateway:
        await keep_world(store, *layered())
        secret, client = await gateway.secret(owner(), READ), kind(gateway)
        under_way = [
            asyncio.create_task(client.read(secret, [FIVE], ceiling="public")) for _ in range(CONCURRENT_GRAPHS_MAX)
        ]
        for _ in under_way:
            await reached.acquire()
        # One that is let in would wait for ever.
        async with asyncio.timeout(WAIT_SECONDS):
            refused = await client.read(secret, [FIVE], ceiling="public")
        assert reached.locked()
        opened.set()
        served = await asyncio.gather(*under_way)
        again = await client.read(secret, [FIVE], ceiling="public")

    assert (503, "retrieval_busy", "1") == (
        refused.response.status_code,
        refused.code,
        refused.response.headers["retry-after"],
    )
    assert [[INCLUDED]] * (CONCURRENT_GRAPHS_MAX + 1) == [each.statuses for each in (*served, again)]


async def test_a_node_leads_on_within_the_same_query(gateway: Gateway) -> None:
    await keep_world(
        gateway.store,
        memory("Rows", id=identifier(40), conflicts_with=(identifier(41), identifier(42))),
        memory("Rows never", id=identifier(41), conflicts_with=(identifier(40),)),
        memory(
            "Rows at night", id=identifier(42), sensitivity=Sensitivity.RESTRICTED, conflicts_with=(identifier(40),)
        ),
    )
    query = f"""{{
        evidenceGraph(rootIds: ["{identifier(40)}"], ceiling: SENSITIVE) {{
          nodes {{ record {{ id ... on Memory {{ conflictsWithMemories {{ statement }} }} }} }}
        }}
        memory(id: "{identifier(40)}", ceiling: PUBLIC) {{ statement }}
    }}"""
    async with gateway.client() as client:
        client.headers["authorization"] = f"Bearer {await gateway.secret(owner(), READ)}"
        answer = (await client.post("/graphql", json={"query": query})).json()
    linked = [{"statement": "Rows never"}]
    assert {
        "data": {
            "evidenceGraph": {"nodes": [{"record": {"id": str(identifier(40)), "conflictsWithMemories": linked}}]},
            "memory": {"statement": "Rows"},
        }
    } == answer


class Counted(NoExchanges):
    """Counts the requests for what is not mounted."""

    def __init__(self) -> None:
        self.surfaces: list[str] = []

    def not_mounted(self, surface: str) -> None:
        """One request."""
        self.surfaces.append(surface)


@pytest.mark.parametrize("memory", [True, False])
async def test_without_the_flag_nothing_of_the_surface_is_there(store: Store, memory: bool) -> None:
    counted = Counted()
    async with serving(store, memory=memory, derived=True, exchanges=counted) as gateway, gateway.client() as client:
        client.headers["authorization"] = f"Bearer {await gateway.secret(owner(), frozenset(AccessScope))}"
        for method, path in (
            ("POST", GRAPH),
            ("GET", "/api/v1/company/memory/workspaces"),
            ("POST", "/api/v1/company/memory/graph"),
        ):
            refused = await client.request(method, path, json={})
            assert (404, "not_found") == (refused.status_code, refused.json()["error"]["code"])
        told = (await client.post("/graphql", json={"query": "{ evidenceGraph { nodes { depth } } }"})).json()
        whole = (await client.get("/openapi.json")).text
    assert "malformed_request" == told["errors"][0]["extensions"]["code"]
    assert "unknown" in told["errors"][0]["message"] or "evidenceGraph" in told["errors"][0]["message"]
    assert ["evidence"] * 4 == counted.surfaces
    assert "/api/" not in whole
    assert not [word for word in ("record_not_found", "retrieval_busy", "storage_inconsistency") if word in whole]


async def test_the_cost_of_a_graph_follows_its_limit(gateway: Gateway) -> None:
    async def cost(**variables: object) -> int:
        asked = {"roots": [str(ONE)], "ceiling": "PUBLIC", **variables}
        async with gateway.client() as client:
            answer = await client.post(
                "/graphql",
                json={"query": QUERY, "variables": asked},
                headers={"authorization": f"Bearer {await gateway.secret(owner(), READ)}", "x-query-cost": "1"},
            )
        requested: int = answer.json()["extensions"]["cost"]["requested"]
        return requested

    assert await cost() == await cost(limit=None) == await cost(limit=128)
    assert await cost(limit=1) < await cost(limit=128) < await cost(limit=256) == await cost(limit=256, depth=0)


@pytest.mark.parametrize("kind", [RestEvidence, GraphQLEvidence], ids=["rest", "graphql"])
async def test_the_largest_graph_is_shown_whole(kind: type[RestEvidence | GraphQLEvidence]) -> None:
    shared = [memory(id=identifier(number)) for number in range(1, 17)]
    middle = [derived(*shared, id=identifier(100 + number)) for number in range(224)]
    roots = [derived(*middle[place::16], *shared[:2], id=identifier(900 + place)) for place in range(16)]
    # How it is read is compared elsewhere; here it is how much may be shown.
    store = InMemoryStore()
    async with serving(store, evidence=True) as gateway:
        await keep(store, *shared)
        await keep_derived(store, *middle, *roots)
        secret = await gateway.secret(owner(), READ)
        graph = await kind(gateway).read(secret, [root.id for root in roots], ceiling="public", node_limit=256)
    assert (256, 240 * 16, True) == (
        len(graph.shown["nodes"]),
        len(graph.shown["edges"]),
        graph.shown["coverage"]["complete"],
    )
