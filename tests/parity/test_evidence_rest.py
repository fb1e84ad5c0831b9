"""Evidence in the words of HTTP: bodies, headers and their order, the routes of administrators, the served contract."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import httpx
import pytest
from openapi_schema_validator import OAS31Validator
from sqlalchemy import make_url, text
from sqlalchemy.ext.asyncio import create_async_engine

from gateway.rest.evidence_operations import COMPANY_GRAPH_PATH, GRAPH_BODY_BYTES_MAX, GRAPH_PATH, WORKSPACES_PATH
from gateway.service.evidence import CONCURRENT_GRAPHS_MAX
from store.domain.owners import Owner
from store.domain.vocabulary import AccessScope, EventKind
from store.ports.store import Store
from store.postgres.store import PostgresStore
from tests.factories import identifier, owner
from tests.gateways import FULL, READ, Gateway, serving
from tests.parity.evidence_clients import SCOPE, GraphQLEvidence, RestEvidence
from tests.services.evidence import WatchedStore, keep_world, layered

ONE, FIVE = identifier(1), identifier(5)
ADMIN = frozenset({AccessScope.MEMORY_ADMIN})
ADA, WARDEN, BO, MOLE = owner(), owner("warden"), owner("bo"), owner("mole", tenant="inland")
QUERY: Mapping[str, Any] = {"root_record_ids": [str(FIVE)], "ceiling": "public"}


@dataclass(frozen=True, slots=True)
class Asking:
    """Requests of one principal after the other, each answer of which must be as the served document says."""

    gateway: Gateway
    client: httpx.AsyncClient
    document: dict[str, Any]  # Any: JSON

    async def ask(
        self, method: str, path: str, *, of: Owner = WARDEN, scopes: frozenset[AccessScope] = ADMIN, **more: Any
    ) -> httpx.Response:
        """One request; `more` as the client takes it."""
        headers = {"authorization": f"Bearer {await self.gateway.secret(of, scopes)}", **more.pop("headers", {})}
        response = await self.client.request(method, path, headers=headers, **more)
        self.check(method, path, response)
        return response

    async def graph(self, body: Any = None, *, of: Owner = ADA, **more: Any) -> httpx.Response:
        """One's own graph; Any: JSON, and as the client takes it."""
        sent = {"contract_version": 1, "scope": SCOPE, "query": QUERY} if body is None else body
        return await self.ask("POST", GRAPH_PATH, of=of, scopes=FULL, json=sent, **more)

    async def company_graph(self, workspace_id: str, *, of: Owner = WARDEN, **query: object) -> httpx.Response:
        """The graph of a workspace."""
        body = {"contract_version": 1, "workspace_id": workspace_id, "query": {**QUERY, **query}}
        return await self.ask("POST", COMPANY_GRAPH_PATH, of=of, json=body)

    async def workspaces(self, *, of: Owner = WARDEN) -> dict[str, str]:
        """The ids of the workspaces of a company by their agents."""
        page = (await self.ask("GET", WORKSPACES_PATH, of=of)).json()
        return {each["scope"]["agent_id"]: each["workspace_id"] for each in page["items"]}

    def check(self, method: str, path: str, response: httpx.Response) -> None:
        """The answer is documented, its headers and its body with it."""
        documented = self.document["paths"][path.partition("?")[0]][method.lower()]["responses"]
        described = documented[str(response.status_code)]
        required = {name.lower() for name, header in described["headers"].items() if header["required"]}
        assert required <= response.headers.keys()
        assert "private, no-store" == response.headers["cache-control"]
        schema = described["content"]["application/json"]["schema"]
        OAS31Validator({**schema, "components": self.document["components"]}).validate(response.json())


@pytest.fixture
async def gateway(store: Store) -> AsyncIterator[Gateway]:
    """A gateway with everything on, over the same records of three principals."""
    async with serving(store, derived=True, evidence=True) as gateway:
        for each in (owner(), BO, MOLE):
            await keep_world(store, *layered(), owner=each)
        yield gateway


@pytest.fixture
async def asking(gateway: Gateway) -> AsyncIterator[Asking]:
    async with gateway.client() as client:
        yield Asking(gateway, client, (await client.get("/openapi.json")).json())


def code(response: httpx.Response) -> tuple[int, str]:
    """The status and the code of a failure."""
    return response.status_code, response.json()["error"]["code"]


def own(**changes: object) -> dict[str, Any]:  # Any: JSON
    """The body of a request for one's own evidence, with other members."""
    return {"contract_version": 1, "scope": SCOPE, "query": QUERY, **changes}


def without(members: Mapping[str, Any], name: str) -> dict[str, Any]:  # Any: JSON
    """The members but one."""
    return {each: value for each, value in members.items() if each != name}


MALFORMED: dict[str, tuple[object, str]] = {
    "no object": ([], "the body must be a JSON object"),
    "no version": (without(own(), "contract_version"), "contract_version is required in the body"),
    "another version": (own(contract_version=2), "contract_version must be 1"),
    "a boolean for a version": (own(contract_version=True), "contract_version must be 1"),
    "a text for a version": (own(contract_version="1"), "contract_version must be 1"),
    "no scope": (without(own(), "scope"), "scope is required in the body"),
    "a scope that is none": (own(scope=None), "scope must be a JSON object"),
    "half a scope": (own(scope=without(SCOPE, "mission_id")), "mission_id is required in scope"),
    "a scope with more": (own(scope={**SCOPE, "tenant": "inland"}), "tenant is not a member of scope"),
    "a number for an agent": (own(scope={**SCOPE, "agent_id": 1}), "agent_id must be a string"),
    "a null in an agent": (own(scope={**SCOPE, "agent_id": "\0"}), "agent_id must hold neither U+0000 nor"),
    "no visibility": (own(scope={**SCOPE, "visibility": None}), "visibility must be a string"),
    "no query": (without(own(), "query"), "query is required in the body"),
    "a member more": (own(mode="fast"), "mode is not a member of the body"),
    "an odd member more": (own(**{"a b": 1}), "a parameter is not a member of the body"),
    "no roots": (own(query=without(QUERY, "root_record_ids")), "root_record_ids is required in query"),
    "no list": (own(query={**QUERY, "root_record_ids": str(ONE)}), "root_record_ids must be a list of UUIDs"),
    "no texts": (own(query={**QUERY, "root_record_ids": [1]}), "root_record_ids must be a list of UUIDs"),
    "an empty list": (own(query={**QUERY, "root_record_ids": []}), "root_record_ids must not be empty"),
    "no UUID": (own(query={**QUERY, "root_record_ids": ["\0"]}), "root_record_ids must hold UUIDs in their canonical"),
    "twice": (own(query={**QUERY, "root_record_ids": [str(ONE)] * 2}), "root_record_ids must not name a record twice"),
    "no ceiling": (own(query=without(QUERY, "ceiling")), "ceiling is required in query"),
    "no such ceiling": (own(query={**QUERY, "ceiling": "PUBLIC"}), "ceiling must be one of public, internal,"),
    "a null for a depth": (own(query={**QUERY, "max_depth": None}), "max_depth must be an integer"),
    "half a step": (own(query={**QUERY, "max_depth": 0.5}), "max_depth must be an integer"),
    "too deep": (own(query={**QUERY, "max_depth": 9}), "max_depth must be from 0 to 8"),
    "too many": (own(query={**QUERY, "node_limit": 257}), "node_limit must be from 1 to 256"),
    "no look-up": (own(query={**QUERY, "node_limit": 0}), "node_limit must be from 1 to 256"),
    "a weight": (own(query={**QUERY, "weight": 1}), "weight is not a member of query"),
}


async def test_whatever_is_malformed_is_named(asking: Asking) -> None:
    for case, (body, message) in MALFORMED.items():
        refused = await asking.graph(body)
        assert (400, "malformed_request") == code(refused), case
        assert refused.json()["error"]["message"].startswith(message), case
    stray = await asking.ask("POST", f"{GRAPH_PATH}?ceiling=public", of=owner(), scopes=READ, json=own())
    assert "ceiling is not a parameter of this operation" == stray.json()["error"]["message"]


async def test_a_graph_is_answered_with_its_scope(asking: Asking) -> None:
    for agent in (None, "ada"):
        scope = {**SCOPE, "agent_id": agent}
        answer = (await asking.graph(own(scope=scope))).json()
        assert (1, scope) == (answer["contract_version"], answer["scope"])
        assert [5, 5] == [len(answer["graph"][part]) for part in ("nodes", "edges")]
        sizes = [
            len(json.dumps(node["record"], ensure_ascii=False, separators=(",", ":")).encode())
            for node in answer["graph"]["nodes"]
        ]
        assert sum(sizes) == answer["graph"]["coverage"]["record_bytes"]


@pytest.mark.parametrize(
    "scope",
    [
        {"agent_id": "bo"},
        {"agent_id": ""},
        {"project_id": "project"},
        {"mission_id": "mission"},
        {"visibility": "shared"},
        {"visibility": "PRIVATE"},
    ],
)
async def test_no_scope_but_ones_own_is_taken(asking: Asking, scope: dict[str, object]) -> None:
    denied = await asking.graph(own(scope={**SCOPE, **scope}))
    assert (403, "authorization_error") == code(denied)
    # It is denied before the rules are looked at, and after the types.
    assert (403, "authorization_error") == code(
        await asking.graph(own(scope={**SCOPE, **scope}, query={**QUERY, "node_limit": 0}))
    )
    assert (400, "malformed_request") == code(
        await asking.graph(own(scope={**SCOPE, **scope}, query={**QUERY, "ceiling": None}))
    )


async def test_the_exchange_is_judged_before_its_types(asking: Asking) -> None:
    text, large = {"content-type": "text/plain"}, b" " * (GRAPH_BODY_BYTES_MAX + 1)
    json_type = {"content-type": "application/json"}
    for path, scopes in ((GRAPH_PATH, READ), (COMPANY_GRAPH_PATH, ADMIN)):
        anonymous = await asking.client.post(path, content=large, headers=text)
        asking.check("POST", path, anonymous)
        assert (401, "authentication_error") == code(anonymous)
        asked = [
            await asking.ask("POST", path, scopes=scopes, content=content, headers=headers)
            for content, headers in ((large, text), (large, json_type), (large[:-1], json_type))
        ]
        assert [(415, "unsupported_media_type"), (413, "payload_too_large"), (400, "malformed_request")] == list(
            map(code, asked)
        )
        assert "the body must not exceed 65536 bytes" == asked[1].json()["error"]["message"]
        denied = await asking.ask("POST", path, scopes=frozenset({AccessScope.MEMORY_WRITE}), json=[])
        assert (400, "malformed_request") == code(denied)


async def test_a_method_is_judged_before_the_credential(asking: Asking) -> None:
    for path, allowed in (
        (GRAPH_PATH, "POST, OPTIONS"),
        (COMPANY_GRAPH_PATH, "POST, OPTIONS"),
        (WORKSPACES_PATH, "GET, HEAD, OPTIONS"),
    ):
        options, wrong = await asking.client.options(path), await asking.client.delete(path)
        assert (204, allowed) == (options.status_code, options.headers["allow"])
        assert ((405, "method_not_allowed"), allowed) == (code(wrong), wrong.headers["allow"])


async def test_an_administrator_reads_within_the_company_alone(asking: Asking) -> None:
    ids = await asking.workspaces()
    foreign = await asking.workspaces(of=owner("warden", tenant="inland"))
    found = await asking.company_graph(ids["bo"], root_record_ids=[str(FIVE), str(identifier(99))])

    assert {"ada", "bo", "warden"} == ids.keys()
    assert {"mole", "warden"} == foreign.keys()
    answer = found.json()
    assert ids["bo"] == answer["workspace"]["workspace_id"]
    assert ["included", "unavailable"] == [root["status"] for root in answer["graph"]["roots"]]
    refused = [await asking.company_graph(id) for id in (foreign["mole"], "0" * 64, "mole")]
    assert [(404, "record_not_found")] * 3 == list(map(code, refused))
    assert 1 == len({each.json()["error"]["message"] for each in refused})
    assert "inland" not in "".join(each.text for each in (found, *refused))
    # The administrator's own authority opens nobody's memory on the route of agents, and the other way round.
    own_route = await asking.ask("POST", GRAPH_PATH, scopes=ADMIN, json=own())
    admin_route = await asking.ask("GET", WORKSPACES_PATH, of=owner(), scopes=FULL)
    assert [(403, "authorization_error")] * 2 == [code(own_route), code(admin_route)]


async def test_a_workspace_outlives_the_keys_of_its_principal(asking: Asking) -> None:
    gateway = asking.gateway
    token, secret = await gateway.tokens.create(owner(), scopes=FULL, label="old", expires_at=None)
    await gateway.tokens.revoke(token.id)
    refused = await asking.client.post(GRAPH_PATH, json=own(), headers={"authorization": f"Bearer {secret}"})
    seen = await asking.company_graph((await asking.workspaces())["ada"])

    assert (401, "authentication_error") == code(refused)
    assert "included" == seen.json()["graph"]["roots"][0]["status"]


async def test_what_an_administrator_reads_is_journaled_before_it_is_read(asking: Asking) -> None:
    workspaces = await asking.workspaces()
    await asking.company_graph(workspaces["ada"])
    async with asking.gateway.store.snapshot() as snapshot:
        events = [event async for event in snapshot.journal.events(owner())]
    acts = [event.payload for event in events if event.kind is EventKind.OPERATOR_ACCESS]
    assert [{"action": "company_graph", "by": workspaces["warden"], "found": True}] == acts


async def test_the_directory_takes_a_limit_and_its_own_cursors(asking: Asking) -> None:
    first = (await asking.ask("GET", f"{WORKSPACES_PATH}?limit=2")).json()
    second = (await asking.ask("GET", f"{WORKSPACES_PATH}?limit=1000&cursor={first['next_cursor']}")).json()
    agents = [each["scope"]["agent_id"] for each in (*first["items"], *second["items"])]

    assert (["ada", "bo", "warden"], None) == (agents, second["next_cursor"])
    for query, message in {
        "limit=0": "limit must be a positive integer",
        "limit=x": "limit must be a positive integer",
        "cursor=x": "cursor is not a cursor of this server",
        "cursor=": "cursor must not be empty",
        "tenant=inland": "tenant is not a parameter of this operation",
    }.items():
        refused = await asking.ask("GET", f"{WORKSPACES_PATH}?{query}")
        assert (400, message) == (refused.status_code, refused.json()["error"]["message"])


@pytest.mark.postgres
async def test_a_broken_record_ends_the_request_on_both_transports(
    postgres_store: PostgresStore, database_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with serving(postgres_store, derived=True, evidence=True) as gateway, gateway.client() as client:
        await keep_world(postgres_store, *layered())
        await _execute(database_url, f"delete from beliefs where id = '{ONE}'")
        asking = Asking(gateway, client, (await client.get("/openapi.json")).json())
        failed = await asking.graph()
        secret = await gateway.secret(owner(), READ)
        others = [
            await kind(gateway).read(secret, [FIVE], ceiling="public") for kind in (RestEvidence, GraphQLEvidence)
        ]

    assert (500, "storage_inconsistency") == code(failed)
    assert {"storage_inconsistency"} == {each.code for each in others}
    assert {"what is stored contradicts itself"} == {each.message for each in others}
    assert {None} == {each.graph for each in others}
    assert "a source is not there" in caplog.text
    assert str(ONE) not in caplog.text


async def _execute(database_url: str, statement: str) -> None:
    engine = create_async_engine(make_url(database_url))
    async with engine.begin() as connection:
        await connection.execute(text(statement))
    await engine.dispose()


async def test_a_busy_server_answers_as_documented(store: Store) -> None:
    reached, opened = asyncio.Semaphore(0), asyncio.Event()

    async def after(operation: str) -> None:
        if operation == "closure":
            reached.release()
            await opened.wait()

    async with serving(WatchedStore(store, after), evidence=True) as gateway, gateway.client() as client:
        await keep_world(store, *layered())
        asking = Asking(gateway, client, (await client.get("/openapi.json")).json())
        workspace = (await asking.workspaces())["ada"]
        under_way = [asyncio.create_task(asking.graph()) for _ in range(CONCURRENT_GRAPHS_MAX)]
        for _ in under_way:
            await reached.acquire()
        # The slots are shared, and whoever may not read is told so all the same.
        refused = [await asking.graph(of=BO), await asking.company_graph(workspace)]
        denied = await asking.ask("POST", GRAPH_PATH, json=own())
        opened.set()
        served = await asyncio.gather(*under_way)

    assert [(503, "retrieval_busy")] * 2 == list(map(code, refused))
    assert (403, "authorization_error") == code(denied)
    assert {200} == {each.status_code for each in served}


async def test_an_identifier_may_be_spelled_in_upper_case(asking: Asking) -> None:
    upper = await asking.graph(own(query={**QUERY, "root_record_ids": [str(UUID(int=FIVE.int)).upper()]}))
    assert [{"record_id": str(FIVE), "status": "included"}] == upper.json()["graph"]["roots"]
