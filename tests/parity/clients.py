"""One driver for each transport. What they are asked and what they answer is spelled as REST spells it."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from inspect import isclass
from typing import Any, Protocol, TypeGuard, get_args
from urllib.parse import quote, urlencode

import httpx
from pydantic import BaseModel
from pydantic.alias_generators import to_camel

from gateway.views.derived import DerivedView
from gateway.views.memories import MemoryView
from tests.gateways import Gateway

Row = dict[str, Any]  # Any: JSON
Arguments = Mapping[str, object]

ENUMERATED = frozenset(
    {
        "authority",
        "belief_type",
        "belief_types",
        "claim_kind",
        "derivation",
        "longevity",
        "polarity",
        "portability",
        "record_kind",
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

    async def browse_items(self, secret: str | None, arguments: Arguments) -> Answer:
        """Ask for a page of beliefs and derived records."""
        ...

    async def read(self, secret: str | None, id: str, arguments: Arguments) -> Answer:
        """Ask for one belief."""
        ...

    async def read_derived(self, secret: str | None, id: str, arguments: Arguments) -> Answer:
        """Ask for one derived record."""
        ...

    async def review(self, secret: str | None, id: str, arguments: Arguments) -> Answer:
        """Review one belief or derived record: `ceiling`, `outcome`, `idempotency_key`."""
        ...

    async def delete(self, secret: str | None, id: str, arguments: Arguments) -> Answer:
        """Delete one belief or derived record: `ceiling`, `idempotency_key`."""
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

    async def browse_items(self, secret: str | None, arguments: Arguments) -> Answer:
        """GET the list with derived records in it."""
        return await self.browse(secret, {**arguments, "include_derived": True})

    async def read(self, secret: str | None, id: str, arguments: Arguments) -> Answer:
        """GET the belief."""
        return await self._ask("GET", f"/{quote(id, safe='')}", secret, arguments)

    async def read_derived(self, secret: str | None, id: str, arguments: Arguments) -> Answer:
        """GET the derived record, which stands at the same path."""
        return await self.read(secret, id, arguments)

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


def selected(view: type[BaseModel]) -> str:
    """Everything that can be selected of a view, its nested views too."""
    parts = []
    for name, each in view.model_fields.items():
        nested = [type for type in (each.annotation, *get_args(each.annotation)) if _is_view(type)]
        parts.append(to_camel(name) + "".join(f" {{ {selected(type)} }}" for type in nested))
    return " ".join(parts)


def _is_view(type: object) -> TypeGuard[type[BaseModel]]:
    return isclass(type) and issubclass(type, BaseModel)


MEMORY_FIELDS = selected(MemoryView)
DERIVED_FIELDS = selected(DerivedView)
ITEM_FIELDS = "__typename ... on Memory {{ {} }} ... on DerivedMemory {{ {} }}".format(
    MEMORY_FIELDS, DERIVED_FIELDS.replace(" status ", " derivedStatus: status ")
)
"""Whichever it is; the two have a status each, of types that can't stand under one key."""
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
        return await self._browse(secret, "memories(%s)", arguments, MEMORY_FIELDS)

    async def browse_items(self, secret: str | None, arguments: Arguments) -> Answer:
        """Query memoryItems."""
        return await self._browse(secret, "memoryItems(%s)", arguments, ITEM_FIELDS)

    async def _browse(self, secret: str | None, field: str, arguments: Arguments, fields: str) -> Answer:
        selection = f"{{ nodes {{ {fields} }} pageInfo {{ hasNextPage endCursor }} }}"
        data, answer = await self._ask(secret, "query", field, arguments, selection)
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

    async def read_derived(self, secret: str | None, id: str, arguments: Arguments) -> Answer:
        """Query derivedMemory."""
        given = {"id": id, **arguments}
        data, answer = await self._ask(secret, "query", "derivedMemory(%s)", given, f"{{ {DERIVED_FIELDS} }}")
        return answer if data is None else Answer(rows=(_row(data),), response=answer.response)

    async def review(self, secret: str | None, id: str, arguments: Arguments) -> Answer:
        """Mutate by reviewMemory."""
        selection = f"{{ memory {{ {MEMORY_FIELDS} }} derivedMemory {{ {DERIVED_FIELDS} }} }}"
        data, answer = await self._ask(
            secret, "mutation", "reviewMemory(input: {%s})", {"id": id, **arguments}, selection
        )
        if data is None:
            return answer
        [reviewed] = [value for value in data.values() if value is not None]
        return Answer(rows=(_row(reviewed),), response=answer.response)

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
    if "derived_status" in named:
        named["status"] = named.pop("derived_status")
    return {name: _value(value, is_word=name in ENUMERATED) for name, value in named.items() if name != "__typename"}


def _value(value: Any, *, is_word: bool) -> Any:  # Any: JSON
    match value:
        case dict():
            return _row(value)
        case list():
            return [_value(item, is_word=is_word) for item in value]
        case str() if is_word:
            return value.lower()
        case _:
            return value
