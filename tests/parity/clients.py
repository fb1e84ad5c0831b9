"""One driver for each transport. What they are asked and what they answer is spelled as REST spells it."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import quote, urlencode

import httpx

from gateway.views.memories import MemoryView
from tests.gateways import Gateway

Row = dict[str, Any]  # Any: JSON
Arguments = Mapping[str, object]

ENUMERATED = frozenset(
    {
        "authority",
        "belief_type",
        "claim_kind",
        "derivation",
        "longevity",
        "polarity",
        "portability",
        "sensitivity",
        "status",
    }
)
"""Fields whose values GraphQL spells in upper case."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a client learns: rows (one for a detail or a review, none for a delete), or a code and its message."""

    rows: tuple[Row, ...] = ()
    next_cursor: str | None = None
    code: str | None = None
    message: str = field(default="", compare=False)
    response: httpx.Response = field(compare=False)

    @property
    def ids(self) -> list[str]:
        """The identifiers of the rows, in their order."""
        return [row["id"] for row in self.rows]

    @property
    def row(self) -> Row:
        """The one row of a success."""
        assert self.code is None, self.message
        [row] = self.rows
        return row


class Transport(Protocol):
    """A client of one transport. `secret` None sends no credential; an argument that is absent is not sent."""

    gateway: Gateway

    def spelled(self, parameter: str) -> str:
        """The transport's own name of a parameter, as its messages name it."""
        ...

    async def browse(self, secret: str | None, arguments: Arguments) -> Answer:
        """Ask for a page."""
        ...

    async def read(self, secret: str | None, id: str, arguments: Arguments) -> Answer:
        """Ask for one belief."""
        ...

    async def review(self, secret: str | None, id: str, arguments: Arguments) -> Answer:
        """Review one belief: `ceiling`, `outcome`, `idempotency_key`."""
        ...

    async def delete(self, secret: str | None, id: str, arguments: Arguments) -> Answer:
        """Delete one belief: `ceiling`, `idempotency_key`."""
        ...


def _authorization(secret: str | None) -> dict[str, str]:
    return {} if secret is None else {"authorization": f"Bearer {secret}"}


@dataclass(frozen=True, slots=True)
class RestTransport:
    """Speaks to /v1/memories."""

    gateway: Gateway

    def spelled(self, parameter: str) -> str:
        """REST's names are the names of the suite, the header's aside."""
        return {"idempotency_key": "Idempotency-Key", "id": "memory_id"}.get(parameter, parameter)

    async def browse(self, secret: str | None, arguments: Arguments) -> Answer:
        """GET the list."""
        return await self._ask("GET", "", secret, arguments)

    async def read(self, secret: str | None, id: str, arguments: Arguments) -> Answer:
        """GET the belief."""
        return await self._ask("GET", f"/{quote(id, safe='')}", secret, arguments)

    async def review(self, secret: str | None, id: str, arguments: Arguments) -> Answer:
        """POST the outcome."""
        query = {name: value for name, value in arguments.items() if name != "outcome"}
        body = {"outcome": arguments["outcome"]} if "outcome" in arguments else {}
        return await self._ask("POST", f"/{quote(id, safe='')}/review", secret, query, body)

    async def delete(self, secret: str | None, id: str, arguments: Arguments) -> Answer:
        """DELETE the belief."""
        return await self._ask("DELETE", f"/{quote(id, safe='')}", secret, arguments)

    async def _ask(
        self, method: str, path: str, secret: str | None, arguments: Arguments, body: Arguments | None = None
    ) -> Answer:
        headers = _authorization(secret)
        query = dict(arguments)
        if "idempotency_key" in query:
            headers["idempotency-key"] = str(query.pop("idempotency_key"))
        target = f"/v1/memories{path}"
        if query:
            target += f"?{urlencode([(name, text) for name, value in query.items() for text in _texts(value)])}"
        async with self.gateway.client() as client:
            response = await client.request(method, target, headers=headers, json=body)
        if not response.is_success:
            error = response.json()["error"]
            return Answer(code=error["code"], message=error["message"], response=response)
        if response.status_code == 204:
            return Answer(response=response)
        content = response.json()
        if "items" in content:
            return Answer(rows=tuple(content["items"]), next_cursor=content["next_cursor"], response=response)
        return Answer(rows=(content,), response=response)


def _texts(value: object) -> list[str]:
    """The values of a parameter as a query string holds them."""
    if isinstance(value, list | tuple):
        return [text for item in value for text in _texts(item)]
    return [json.dumps(value) if isinstance(value, bool) else str(value)]


MEMORY_FIELDS = " ".join(re.sub(r"_([a-z])", lambda match: match[1].upper(), name) for name in MemoryView.model_fields)
ARGUMENTS: Mapping[str, tuple[str, str]] = {
    "ceiling": ("ceiling", "Sensitivity!"),
    "limit": ("first", "Int"),
    "cursor": ("after", "String"),
    "status": ("statuses", "[MemoryStatus!]"),
    "belief_type": ("beliefTypes", "[BeliefType!]"),
    "subject": ("subject", "String"),
    "session_id": ("sessionId", "ID"),
    "text": ("text", "String"),
    "flagged": ("flagged", "Boolean"),
    "confidence_min": ("confidenceMin", "Float"),
    "confidence_max": ("confidenceMax", "Float"),
    "formed_after": ("formedAfter", "DateTime"),
    "formed_before": ("formedBefore", "DateTime"),
    "id": ("id", "ID!"),
    "outcome": ("outcome", "ReviewOutcome!"),
    "idempotency_key": ("idempotencyKey", "String!"),
}
"""GraphQL's name and type of each parameter; any other is sent as it is, a String, to be refused."""


@dataclass(frozen=True, slots=True)
class GraphQLTransport:
    """Speaks to /graphql, with every argument in a variable."""

    gateway: Gateway

    def spelled(self, parameter: str) -> str:
        """GraphQL's name of the argument."""
        return ARGUMENTS.get(parameter, (parameter, ""))[0]

    async def browse(self, secret: str | None, arguments: Arguments) -> Answer:
        """Query memories."""
        selection = f"{{ nodes {{ {MEMORY_FIELDS} }} pageInfo {{ hasNextPage endCursor }} }}"
        data, answer = await self._ask(secret, "query", "memories(%s)", arguments, selection)
        if data is None:
            return answer
        page = data["pageInfo"]
        return Answer(
            rows=tuple(map(_row, data["nodes"])),
            next_cursor=page["endCursor"] if page["hasNextPage"] else None,
            response=answer.response,
        )

    async def read(self, secret: str | None, id: str, arguments: Arguments) -> Answer:
        """Query memory."""
        data, answer = await self._ask(secret, "query", "memory(%s)", {"id": id, **arguments}, f"{{ {MEMORY_FIELDS} }}")
        return answer if data is None else Answer(rows=(_row(data),), response=answer.response)

    async def review(self, secret: str | None, id: str, arguments: Arguments) -> Answer:
        """Mutate by reviewMemory."""
        selection = f"{{ memory {{ {MEMORY_FIELDS} }} }}"
        data, answer = await self._ask(
            secret, "mutation", "reviewMemory(input: {%s})", {"id": id, **arguments}, selection
        )
        return answer if data is None else Answer(rows=(_row(data["memory"]),), response=answer.response)

    async def delete(self, secret: str | None, id: str, arguments: Arguments) -> Answer:
        """Mutate by deleteMemory."""
        data, answer = await self._ask(
            secret, "mutation", "deleteMemory(input: {%s})", {"id": id, **arguments}, "{ deletedId }"
        )
        if data is not None:
            assert id.lower() == data["deletedId"]
        return answer

    async def query(self, secret: str | None, document: str) -> Row:
        """The whole JSON that answers a document: for what GraphQL alone can be asked."""
        response = await self._post(secret, {"query": document})
        answered: Row = response.json()
        return answered

    async def _ask(
        self, secret: str | None, kind: str, field: str, arguments: Arguments, selection: str
    ) -> tuple[Row | None, Answer]:
        """The value of one root field, or None and the answer that tells why."""
        names = {name: ARGUMENTS.get(name, (name, "String")) for name in arguments}
        declared = ", ".join(f"${name}: {type}" for name, type in names.values())
        given = field % ", ".join(f"{name}: ${name}" for name, _ in names.values())
        document = f"{kind}{f'({declared})' if declared else ''} {{ answer: {given.replace('()', '')} {selection} }}"
        variables = {names[name][0]: _graphql_value(name, value) for name, value in arguments.items()}
        response = await self._post(secret, {"query": document, "variables": variables})
        answered = response.json()
        if "errors" in answered:
            [error, *_] = answered["errors"]
            assert not (answered.get("data") or {}).get("answer")
            return None, Answer(code=error["extensions"]["code"], message=error["message"], response=response)
        return answered["data"]["answer"], Answer(response=response)

    async def _post(self, secret: str | None, body: Arguments) -> httpx.Response:
        async with self.gateway.client() as client:
            return await client.post("/graphql", headers=_authorization(secret), json=body)


def _graphql_value(name: str, value: object) -> object:
    if name in ("status", "belief_type"):
        return [str(item).upper() for item in value] if isinstance(value, list | tuple) else str(value).upper()
    return str(value).upper() if name in ("ceiling", "outcome") else value


def _row(node: Row) -> Row:
    """A node as REST would show it."""
    named = {re.sub(r"[A-Z]", lambda match: f"_{match[0].lower()}", name): value for name, value in node.items()}
    return {name: value.lower() if name in ENUMERATED else value for name, value in named.items()}
