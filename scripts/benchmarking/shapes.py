"""What is asked: three shapes of a page, and the bytes of each request.

The document is one and the same for every server but PostGraphile, whose schema comes from the database.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from gateway.views.memories import MemoryView

CEILING = "SENSITIVE"
"""Of the gateway's ceilings the one that the peers show without being asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """So many rows of these fields."""

    name: str
    rows: int
    fields: tuple[str, ...]


def camel_case(word: str) -> str:
    """A word of REST as GraphQL spells it."""
    first, *rest = word.split("_")
    return first + "".join(part.capitalize() for part in rest)


_ALL_FIELDS = tuple(camel_case(name) for name in MemoryView.model_fields)
SMALL = Shape(name="S", rows=50, fields=("id", "statement", "subject", "beliefType", "status", "updatedAt"))
LARGE = Shape(name="L", rows=50, fields=_ALL_FIELDS)
EXTRA_LARGE = Shape(name="XL", rows=200, fields=_ALL_FIELDS)
SHAPES = (SMALL, LARGE, EXTRA_LARGE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """How a server is asked for a page: its field, with what is always given, and whether ids have another name."""

    variables: str
    field: str
    id_field: str = "id"

    def document(self, shape: Shape) -> str:
        """The document of a page."""
        fields = " ".join(self.id_field if field == "id" else field for field in shape.fields)
        return (
            f"query Page($first: Int!, {self.variables}) {{ page: {self.field} {{ "
            f"edges {{ cursor node {{ {fields} }} }} pageInfo {{ hasNextPage endCursor }} }} }}"
        )


GATEWAY = Dialect(
    variables="$after: String",
    field=f"memories(ceiling: {CEILING}, first: $first, after: $after)",
)
POSTGRAPHILE = Dialect(
    variables="$after: Cursor, $tenant: String!, $principal: String!",
    field="allMemories(first: $first, after: $after, orderBy: [STORE_POSITION_DESC], "
    "condition: { tenantId: $tenant, principalId: $principal })",
    id_field="rowId",
)
TINY = "{ __typename }"


def post(path: str, content: Mapping[str, object], headers: Mapping[str, str]) -> bytes:
    """A request of HTTP/1.1 with a JSON body."""
    body = json.dumps(content, separators=(",", ":")).encode()
    lines = {
        "host": "127.0.0.1",
        "content-type": "application/json",
        "accept": "application/json",
        "content-length": str(len(body)),
        **headers,
    }
    return _head("POST", path, lines) + body


def get(path: str, parameters: Mapping[str, str | int], headers: Mapping[str, str]) -> bytes:
    """A request of HTTP/1.1 without a body."""
    lines = {"host": "127.0.0.1", "accept": "application/json", **headers}
    return _head("GET", f"{path}?{urlencode(parameters)}", lines)


def _head(method: str, target: str, headers: Mapping[str, str]) -> bytes:
    lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
    return "\r\n".join(lines).encode("ascii")
