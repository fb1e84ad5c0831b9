"""Gates 6 and 7: exactly the documented routes, and a flag that is a real switch."""

from collections.abc import AsyncIterator

import pytest
from starlette.routing import Route

from gateway.graphql.schema import build_schema
from gateway.http.exchanges import NoExchanges
from gateway.rest.operations import MEMORY_OPERATIONS
from gateway.rest.resources import Resource
from gateway.service.errors import MalformedRequest
from store.domain.vocabulary import AccessScope
from store.ports.store import Store
from tests.factories import memory, owner
from tests.gateways import Gateway, serving
from tests.parity.clients import GraphQLTransport

READ, WRITE = AccessScope.MEMORY_READ, AccessScope.MEMORY_WRITE
DOCUMENTED = {
    ("GET", "/v1/memories"): READ,
    ("GET", "/v1/memories/{memory_id}"): READ,
    ("DELETE", "/v1/memories/{memory_id}"): WRITE,
    ("POST", "/v1/memories/{memory_id}/review"): WRITE,
}
SERVER_PATHS = {"/livez", "/readyz", "/openapi.json", "/graphql"}


def mounted(gateway: Gateway) -> set[tuple[str, str]]:
    """Every method and path that REST's routes answer, HEAD aside, which is its GET."""
    found = set()
    for route in gateway.app.routes:
        assert isinstance(route, Route), "a mount could hide further routes"
        if route.path != "/graphql":
            assert isinstance(route.endpoint, Resource)
            found |= {(method, route.path) for method in route.endpoint.handlers if method != "HEAD"}
    return found


@pytest.mark.gate("gate.memory.read_api_read_only")
async def test_exactly_the_documented_routes_are_exposed(gateway: Gateway) -> None:
    [kept] = await gateway.keep(memory())
    server = {("GET", path) for path in SERVER_PATHS - {"/graphql"}}
    async with gateway.client() as client:
        document = (await client.get("/openapi.json")).json()

        assert set(DOCUMENTED) | server == mounted(gateway)
        assert DOCUMENTED == {(operation.method, operation.path): operation.scope for operation in MEMORY_OPERATIONS}
        assert set(DOCUMENTED) == {
            (method.upper(), path)
            for path, methods in document["paths"].items()
            for method in methods
            if path not in SERVER_PATHS
        }
        for (method, path), scope in DOCUMENTED.items():
            described = document["paths"][path][method.lower()]
            required = {(each["in"], each["name"]) for each in described["parameters"] if each["required"]}
            assert [{"bearer": [scope.value]}] == described["security"]
            assert ("query", "ceiling") in required
            assert (("header", "Idempotency-Key") in required) == (scope is WRITE)

            async def answer(
                scopes: set[AccessScope],
                *,
                ceiling: str = "?ceiling=public",
                keys: int = 1,
                method: str = method,
                path: str = path,
            ) -> tuple[int, str]:
                headers = [("authorization", f"Bearer {await gateway.secret(owner(), scopes)}")]
                headers += [("idempotency-key", "key")] * keys
                body = {"outcome": "dismiss"} if method == "POST" else None
                target = path.replace("{memory_id}", str(kept.id)) + ceiling
                response = await client.request(method, target, headers=headers, json=body)
                return response.status_code, "" if response.is_success else response.json()["error"]["message"]

            # Exactly the scope: all others together open nothing, and it alone is enough for what is not there.
            assert (403, f"the scope {scope.value} is required") == await answer(set(AccessScope) - {scope})
            assert (400, "ceiling is required") == await answer({scope}, ceiling="")
            if scope is WRITE:
                assert (400, "Idempotency-Key is required") == await answer({scope}, keys=0)
                assert (400, "Idempotency-Key must be given once") == await answer({scope}, keys=2)
            else:
                assert 200 == (await answer({scope}))[0]

    schema = build_schema(memory=True, derived=True, evidence=True)._schema
    assert schema.mutation_type is not None
    assert schema.query_type is not None
    assert {"reviewMemory", "deleteMemory"} == set(schema.mutation_type.fields)
    for field in schema.mutation_type.fields.values():
        input_fields = field.args["input"].type.of_type.fields
        assert ("Sensitivity!", "String!") == (
            str(input_fields["ceiling"].type),
            str(input_fields["idempotencyKey"].type),
        )
    for name, field in schema.query_type.fields.items():
        assert name in {"viewer", "gateway"} or str(field.args["ceiling"].type) == "Sensitivity!"


class Counted(NoExchanges):
    """Counts the requests for what is not mounted."""

    def __init__(self) -> None:
        self.surfaces: list[str] = []

    def record(self, route: str, method: str, status: int, seconds: float, *, operation: str) -> None:
        """Exchanges themselves are not this test's matter."""

    def not_mounted(self, surface: str) -> None:
        """One request."""
        self.surfaces.append(surface)


@pytest.fixture
def counted() -> Counted:
    return Counted()


@pytest.fixture
async def without_memories(store: Store, counted: Counted) -> AsyncIterator[Gateway]:
    """A gateway with the memory surface off."""
    async with serving(store, memory=False, exchanges=counted) as gateway:
        yield gateway


@pytest.mark.gate("gate.memory.read_api_flag_absent")
async def test_without_the_flag_nothing_of_the_surface_is_there(without_memories: Gateway, counted: Counted) -> None:
    gateway = without_memories
    [kept] = await gateway.keep(memory("Keeps a heliotrope"))
    secret = await gateway.secret(owner(), {READ, WRITE})
    headers = {"authorization": f"Bearer {secret}", "idempotency-key": "key"}

    assert {("GET", path) for path in SERVER_PATHS - {"/graphql"}} == mounted(gateway)
    async with gateway.client() as client:
        for method, path in DOCUMENTED:
            target = path.replace("{memory_id}", str(kept.id)) + "?ceiling=public"
            for credentials in (headers, {}):
                refused = await client.request(method, target, headers=credentials)
                assert (404, "not_found") == (refused.status_code, refused.json()["error"]["code"])
        assert ["memory"] * 8 == counted.surfaces
        assert (await client.get("/v1/memoriesx")).status_code == 404
        assert 8 == len(counted.surfaces)
        document = (await client.get("/openapi.json")).json()
    assert {"/livez", "/readyz", "/openapi.json"} == set(document["paths"])
    assert not [name for name in document["components"]["schemas"] if "Memory" in name]

    graphql = GraphQLTransport(gateway)
    for refused_query in (
        await graphql.browse(secret, {"ceiling": "public"}),
        await graphql.read(secret, str(kept.id), {"ceiling": "public"}),
        await graphql.delete(secret, str(kept.id), {"ceiling": "public", "idempotency_key": "key"}),
    ):
        assert "malformed_request" == refused_query.code
        assert "heliotrope" not in refused_query.response.text
    assert 11 == len(counted.surfaces)
    told = await graphql.query(secret, "{ viewer { scopes } gateway { surfaces } __schema { mutationType { name } } }")
    # The scope stays in the vocabulary: a grant of it is recognised, one of an unknown scope is not.
    assert {
        "viewer": {"scopes": ["MEMORY_READ", "MEMORY_WRITE"]},
        "gateway": {"surfaces": []},
        "__schema": {"mutationType": None},
    } == told["data"]
    with pytest.raises(MalformedRequest):
        await gateway.tokens.create(owner(), scopes=["memory.browse"], label="test", expires_at=None)
