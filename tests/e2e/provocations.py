"""Requests that must fail, and hold a word in every place where a caller can put one."""

import asyncio
import base64
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import quote

import httpx

from tests.e2e.processes import WAIT_SECONDS, Server

LIST = "/v1/memories?ceiling=internal"
REVIEW = "/v1/memories/00000000-0000-4000-8000-000000000000/review?ceiling=internal"
MUTATION = 'mutation { deleteMemory(input: {id: "%s", ceiling: INTERNAL, idempotencyKey: "%s"}) { deletedId } }'
JSON = {"content-type": "application/json"}


@dataclass(frozen=True, slots=True)
class Provocation:
    """One request."""

    method: str
    target: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str | None = None


def provocations(word: str) -> Iterator[Provocation]:
    """Every kind of failure that a word can be the reason of, or stand beside."""
    text = quote(word)
    cursor = base64.urlsafe_b64encode(json.dumps({"p": 1, "i": word}).encode()).decode().rstrip("=")
    ascii_word = word.encode("ascii", "replace").decode().replace("?", "x")
    for target in (
        *(f"/{text}", f"/v1/{text}", f"/v1/memories/{text}?ceiling=internal", f"/v1/memories?ceiling={text}"),
        *(f"{LIST}&{text}=1", f"{LIST}&{text}", f"{LIST}&limit={text}", f"{LIST}&cursor={text}"),
        *(f"{LIST}&cursor={cursor}", f"{LIST}&status={text}", f"{LIST}&belief_type={text}", f"{LIST}&flagged={text}"),
        *(f"{LIST}&subject={text}%00", f"{LIST}&subject={text}&subject={text}", f"{LIST}&text={text * 200}"),
        f"{LIST}&text={'%20'.join(f'{text}{number}' for number in range(70))}",
    ):
        yield Provocation("GET", target)
    yield Provocation("GET", LIST, {"authorization": f"Bearer {ascii_word}"})
    yield Provocation("GET", LIST, {"authorization": ascii_word})
    yield Provocation(ascii_word.upper(), LIST)
    yield Provocation("PUT", f"/v1/memories/{text}", {"x-request-id": ascii_word * 30, "user-agent": ascii_word})
    for body in (f'{{"outcome": "{word}"}}', f'{{"{word}": 1}}', f"{word}", f'{{"outcome": "dismiss", "{word}'):
        yield Provocation("POST", REVIEW, JSON | {"idempotency-key": "unused"}, body)
    key = {"idempotency-key": ascii_word * 30}
    yield Provocation("POST", REVIEW, JSON | key, '{"outcome": "dismiss"}')
    yield Provocation("POST", REVIEW, key | {"content-type": f"text/{ascii_word}"}, word)
    yield Provocation("DELETE", f"/v1/memories/{text}?ceiling=internal", key)
    yield Provocation("GET", f"/graphql?query={text}")
    for content in graphql_bodies(word):
        yield Provocation("POST", "/graphql", JSON, content)


def graphql_bodies(word: str) -> Iterator[str]:
    """Bodies that GraphQL refuses: as JSON, while parsing, validating, coercing variables, executing."""
    ascii_word = word.encode("ascii", "replace").decode().replace("?", "x")
    yield word
    yield json.dumps([word])
    yield json.dumps({"query": 1, word: word})
    for query in (
        *(word, f"{{ {ascii_word} }}", f"query {ascii_word} {{", f'{{ memory(id: "{word}", ceiling: {ascii_word}) }}'),
        f'{{ memory(id: "{word}", ceiling: INTERNAL) {{ id }} }}',
        f'{{ memories(ceiling: INTERNAL, after: "{word}") {{ nodes {{ id }} }} }}',
        f'{{ memories(ceiling: INTERNAL, first: "{word}") {{ nodes {{ id }} }} }}',
        f'{{ memories(ceiling: INTERNAL, {ascii_word}: "{word}") {{ nodes {{ {ascii_word} }} }} }}',
        f'{{ memories(ceiling: INTERNAL, text: "{word * 200}") {{ nodes {{ id }} }} }}',
        MUTATION % (word, word * 30),
    ):
        yield json.dumps({"query": query})
    declared = "query ($first: Int, $text: String) { memories(ceiling: INTERNAL, first: $first, text: $text) "
    for variables in ({"first": word}, {"text": [word]}, {"text": f"{word}\0"}, {word: word, "first": {word: 1}}):
        yield json.dumps({"query": declared + "{ nodes { id } } }", "variables": variables})
    yield json.dumps({"query": "query a { __typename } query b { __typename }", "operationName": word})


async def provoke(server: Server, token: str, word: str) -> None:
    """Send them all, and one that is no HTTP; each is refused as the caller's fault."""
    async with server.client(token) as client:
        for each in provocations(word):
            content = None if each.body is None else each.body.encode()
            response = await client.request(each.method, each.target, headers=each.headers, content=content)
            assert _is_refused(response), (each, response.text)
    async with asyncio.timeout(WAIT_SECONDS):
        reader, writer = await asyncio.open_connection(*server.address)
        writer.write(f"{word} is no request\r\n\r\n".encode())
        answer = await reader.read()
        writer.close()
        await writer.wait_closed()
    assert answer.startswith(b"HTTP/1.1 400 ")


def _is_refused(response: httpx.Response) -> bool:
    return 400 <= response.status_code < 500 or (response.status_code == 200 and "errors" in response.json())
