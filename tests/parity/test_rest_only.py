"""What REST says in the words of HTTP: methods, paths, headers, bodies, and the order in which they are judged."""

import asyncio
from collections.abc import AsyncIterator

import httpx
import pytest

from gateway.http.bodies import BODY_BYTES_MAX
from gateway.http.exchanges import NoExchanges
from store.domain.memories import MemoryRecord
from store.ports.store import Store
from tests.factories import memory, owner
from tests.gateways import READ, Gateway, serving

PATHS = {
    "/v1/memories": "GET, HEAD, OPTIONS",
    "/v1/memories/{id}": "GET, HEAD, DELETE, OPTIONS",
    "/v1/memories/{id}/review": "POST, OPTIONS",
    "/livez": "GET, HEAD, OPTIONS",
    "/readyz": "GET, HEAD, OPTIONS",
    "/openapi.json": "GET, HEAD, OPTIONS",
}
NO_PATHS = [
    "/",
    "/v1",
    "/v1/memories/",
    "/v1/memories%0A",
    "/v1/memories//review",
    "/v1/memories/a/b",
    "/v1/memories/a/review/",
    "/v1/memories/a/review%0A",
    "/V1/memories",
    "/v1/mem%00ories",
    "/livez/",
    "/livez%0A",
    "/graphql/",
    "/graphql%0A",
]


@pytest.fixture
async def client(gateway: Gateway) -> AsyncIterator[httpx.AsyncClient]:
    """A client with a full token of Ada's."""
    async with gateway.client() as client:
        client.headers["authorization"] = f"Bearer {await gateway.secret(owner())}"
        yield client


@pytest.fixture
async def kept(gateway: Gateway) -> MemoryRecord:
    """One belief of Ada's."""
    [record] = await gateway.keep(memory(flagged_for_review=True))
    return record


def code(response: httpx.Response) -> tuple[int, str]:
    """The status and the code of a failure."""
    return response.status_code, response.json()["error"]["code"]


@pytest.mark.parametrize("path", NO_PATHS)
async def test_a_path_has_one_spelling(gateway: Gateway, path: str) -> None:
    async with gateway.client() as client:
        for method in ("GET", "POST", "OPTIONS"):
            response = await client.request(method, path)
            assert (404, "not_found") == code(response)
            assert response.headers["x-request-id"] == response.json()["error"]["request_id"]
            assert "private, no-store" == response.headers["cache-control"]


@pytest.mark.parametrize("path", PATHS)
async def test_a_method_is_judged_before_the_credential(gateway: Gateway, path: str) -> None:
    async with gateway.client() as client:
        options = await client.options(path)
        wrong = [await client.request(method, path) for method in ("PUT", "PATCH", "TRACE", "BREW")]

    assert (204, PATHS[path], b"") == (options.status_code, options.headers["allow"], options.content)
    for response in wrong:
        assert ((405, "method_not_allowed"), PATHS[path]) == (code(response), response.headers["allow"])


async def test_head_counts_as_its_get(client: httpx.AsyncClient, kept: MemoryRecord) -> None:
    client.headers["x-request-id"] = "the-same"
    for path in (
        "/v1/memories?ceiling=public",
        f"/v1/memories/{kept.id}?ceiling=public",
        "/v1/memories",
        "/v1/memories/none?ceiling=public",
        "/openapi.json",
        "/nowhere",
    ):
        got, head = await client.get(path), await client.head(path)
        assert (got.status_code, got.headers, b"") == (head.status_code, head.headers, head.content)
        assert len(got.content) == int(head.headers["content-length"]) > 0


async def test_a_callers_request_id_is_taken_over_where_it_is_sound(client: httpx.AsyncClient) -> None:
    sound = await client.get("/v1/memories", headers={"x-request-id": "~" * 128})
    unsound = await client.get("/v1/memories", headers={"x-request-id": "two words"})

    assert "~" * 128 == sound.headers["x-request-id"] == sound.json()["error"]["request_id"]
    assert "two words" != unsound.headers["x-request-id"] == unsound.json()["error"]["request_id"]


async def test_an_answer_is_private_json(client: httpx.AsyncClient, kept: MemoryRecord) -> None:
    listed = await client.get("/v1/memories?ceiling=public")
    deleted = await client.delete(f"/v1/memories/{kept.id}?ceiling=public", headers={"idempotency-key": "key"})

    assert ("application/json", "private, no-store") == (
        listed.headers["content-type"],
        listed.headers["cache-control"],
    )
    assert b'"confidence":0.5,' in listed.content
    assert {"items", "next_cursor"} == set(listed.json())
    assert (204, b"", "private, no-store") == (deleted.status_code, deleted.content, deleted.headers["cache-control"])
    assert "content-type" not in deleted.headers


@pytest.mark.parametrize("id", ["a%00b", "%00", "%ff", "%C0%80", "%ED%A0%80", "%zz"])
async def test_a_path_is_utf8_without_null(client: httpx.AsyncClient, id: str) -> None:
    for method, path in (("GET", ""), ("DELETE", ""), ("POST", "/review")):
        response = await client.request(
            method,
            f"/v1/memories/{id}{path}?ceiling=public",
            headers={"idempotency-key": "k"},
            json={"outcome": "dismiss"},
        )
        assert (400, "malformed_request") == code(response)
        assert response.json()["error"]["message"].startswith("memory_id must")


async def test_an_identifier_may_be_upper_case_or_percent_encoded(
    client: httpx.AsyncClient, kept: MemoryRecord
) -> None:
    encoded = "".join(f"%{ord(letter):02x}" for letter in str(kept.id))
    for id in (str(kept.id).upper(), encoded):
        assert str(kept.id) == (await client.get(f"/v1/memories/{id}?ceiling=public")).json()["id"]


async def test_derived_records_may_be_declined_and_not_asked_for(client: httpx.AsyncClient, kept: MemoryRecord) -> None:
    plain = await client.get("/v1/memories?ceiling=public")
    declined = await client.get("/v1/memories?ceiling=public&include_derived=false")
    asked = await client.get("/v1/memories?ceiling=public&include_derived=true")

    assert plain.content == declined.content
    assert (400, "malformed_request") == code(asked)


async def review(client: httpx.AsyncClient, kept: MemoryRecord, content: bytes, **headers: str) -> httpx.Response:
    """POST a body as it is."""
    sent = {"content-type": "application/json", "idempotency-key": "key"}
    sent |= {name.replace("_", "-"): value for name, value in headers.items()}
    return await client.post(f"/v1/memories/{kept.id}/review?ceiling=public", content=content, headers=sent)


async def test_a_review_body_is_json_of_bounded_size(client: httpx.AsyncClient, kept: MemoryRecord) -> None:
    sound = b'{"outcome":"dismiss"}'

    for media_type in ("text/plain", "application/jsonx", "application/json; charset=latin-1", ""):
        assert (415, "unsupported_media_type") == code(await review(client, kept, sound, content_type=media_type))
    assert (413, "payload_too_large") == code(await review(client, kept, sound + b" " * BODY_BYTES_MAX))
    assert (400, "malformed_request") == code(await review(client, kept, b"\xff"))
    assert (400, "malformed_request") == code(await review(client, kept, b"[" * 100_000))
    assert (400, "malformed_request") == code(await review(client, kept, b'{"outcome":"dismiss","outcome":"untrue"}'))
    padded = sound + b" " * (BODY_BYTES_MAX - len(sound))
    assert 200 == (await review(client, kept, padded, content_type='Application/JSON; charset="UTF-8"')).status_code


async def test_the_exchange_is_judged_before_its_types(
    gateway: Gateway, client: httpx.AsyncClient, kept: MemoryRecord
) -> None:
    large = b" " * (BODY_BYTES_MAX + 1)
    target = f"/v1/memories/{kept.id}/review?ceiling=top"
    text = {"content-type": "text/plain"}
    json = {"content-type": "application/json"}

    assert (401, "authentication_error") == code(
        await client.post(target, content=large, headers={**text, "authorization": "Basic x"})
    )
    assert (415, "unsupported_media_type") == code(await client.post(target, content=large, headers=text))
    assert (413, "payload_too_large") == code(await client.post(target, content=large, headers=json))
    assert (400, "malformed_request") == code(await client.post(target, content=b"{}", headers=json))
    client.headers["authorization"] = f"Bearer {await gateway.secret(owner(), READ)}"
    assert (415, "unsupported_media_type") == code(await client.post(target, content=b"{}", headers=text))
    sound = await review(client, kept, b'{"outcome":"dismiss"}')
    assert (403, "authorization_error") == code(sound)


async def test_two_requests_with_one_key_apply_once_and_answer_alike(
    client: httpx.AsyncClient, kept: MemoryRecord
) -> None:
    answers = await asyncio.gather(*(review(client, kept, b'{"outcome":"not_here"}') for _ in range(4)))

    assert {200} == {answer.status_code for answer in answers}
    assert 1 == len({answer.content for answer in answers})
    assert 0.3 == answers[0].json()["confidence"]


class Recorded(NoExchanges):
    """Keeps what is told of exchanges."""

    def __init__(self) -> None:
        self.exchanges: list[tuple[str, str, int]] = []

    def record(self, route: str, method: str, status: int, seconds: float, *, operation: str) -> None:
        """One exchange."""
        assert seconds >= 0
        self.exchanges.append((route, method, status))

    def not_mounted(self, surface: str) -> None:
        """Everything is mounted here."""
        raise AssertionError(surface)


async def test_an_exchange_is_told_by_its_template(store: Store) -> None:
    recorded = Recorded()
    async with serving(store, exchanges=recorded) as gateway, gateway.client() as client:
        client.headers["authorization"] = f"Bearer {await gateway.secret(owner())}"
        await client.get("/v1/memories?ceiling=public&text=heliotrope")
        await client.get("/v1/memories/heliotrope?ceiling=public")
        await client.request("HELIOTROPE", "/v1/memories/heliotrope/review")
        await client.get("/heliotrope")
        await client.post("/graphql", json={"query": "{ gateway { version } }"})

    assert [
        ("/v1/memories", "GET", 200),
        ("/v1/memories/{memory_id}", "GET", 404),
        ("/v1/memories/{memory_id}/review", "OTHER", 405),
        ("none", "GET", 404),
        ("/graphql", "POST", 200),
    ] == recorded.exchanges
