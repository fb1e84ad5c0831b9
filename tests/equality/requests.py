"""Requests that ask a generated document: by which method, in which media type, whether its cost is told."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlencode

from graphql import GraphQLObjectType, GraphQLSchema

from tests.equality.choices import Choices
from tests.equality.documents import Document, written_document
from tests.equality.pairs import Answer, Side

GRAPHQL_RESPONSE = "application/graphql-response+json"
REQUEST_BYTES = 160
"""Enough for most documents; a longer one ends simply."""
_HTTP_BYTES = 4


@dataclass(frozen=True, slots=True)
class Asked:
    """A document, and how it is asked for."""

    document: Document
    method: str = "POST"
    headers: Mapping[str, str] = field(default_factory=dict)

    async def of(self, side: Side, secret: str) -> Answer:
        """What it leads to."""
        members = {
            "query": self.document.query,
            "variables": self.document.variables,
            "operationName": self.document.operation_name,
        }
        if self.method == "POST":
            headers = {"content-type": "application/json", **self.headers}
            return await side.ask("POST", "/graphql", secret, content=json.dumps(members).encode(), headers=headers)
        given = {name: value for name, value in members.items() if value}
        texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in given.items()}
        return await side.ask(self.method, f"/graphql?{urlencode(texts)}", secret, headers=self.headers)


def written_request(schema: GraphQLSchema, root: GraphQLObjectType, content: bytes) -> Asked:
    """The request that these bytes decide."""
    choices = Choices(content[:_HTTP_BYTES])
    method = choices.pick((*["POST"] * 12, "GET", "GET", "GET", "HEAD"))
    headers: dict[str, str] = {}
    if choices.happens(3):
        headers["accept"] = GRAPHQL_RESPONSE
    if choices.below(8) >= 6:
        headers["x-query-cost"] = choices.pick(("1", "1", "1", "1", "0", "2"))
    return Asked(written_document(schema, root, content[_HTTP_BYTES:]), method, headers)
