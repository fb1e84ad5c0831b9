"""GraphQL over HTTP: what a request asks, and in which media type it is answered.

Members beside those that are known are ignored, as the protocol has it; so are query parameters of a POST.
A document is given by its text, by the hash of it as `documentId`, or by the hash in the extension that Apollo's
clients write.
Source: GraphQL over HTTP, with its appendix on persisted documents; belief store decisions, Errors (the order of
failures).
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import Response

from gateway.graphql.documents import hash_of
from gateway.graphql.validation import check_text
from gateway.http.accepting import accepted_weights
from gateway.http.bodies import read_body, require_json
from gateway.service.errors import MalformedRequest
from gateway.service.strict_json import parse_object

JSON = "application/json"
GRAPHQL_RESPONSE = "application/graphql-response+json"

COST_HEADER = "X-Query-Cost"
"""With the value 1, the answer tells in `extensions.cost` what it cost."""
QUERY_PARAMETERS_MAX = 64

_MEMBERS = ("query", "documentId", "operationName", "variables", "extensions")
_CHECKED = frozenset({"query", "operationName", "variables"})
"""Members whose text is judged where they are taken."""
_HASH = re.compile(r"[0-9a-f]{64}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphQLRequest:
    """What is asked, taken strictly."""

    query: str | None
    """The text of the document; None where its hash is given alone."""
    identifier: str | None
    """The SHA-256 of its text in hexadecimal, if it was given."""
    operation_name: str | None
    variables: Mapping[str, Any]  # Any: JSON


async def read_content(request: Request) -> bytes | None:
    """The body of a POST; None for a GET. Raises TransportError for its type and its size."""
    # A GET needs no type. One that declares another is what a form on a foreign page can send.
    if request.method == "POST" or "content-type" in request.headers:
        require_json(request)
    return await read_body(request) if request.method == "POST" else None


def parse_request(request: Request, content: bytes | None) -> GraphQLRequest:
    """The request whose content was read. Raises MalformedRequest."""
    members = _parameters(request) if content is None else parse_object("body", content)
    operation_name = members.get("operationName")
    if operation_name is not None and not isinstance(operation_name, str):
        raise MalformedRequest("operationName", "must be a string")
    for name in ("variables", "extensions"):
        if members.get(name) is not None and not isinstance(members[name], dict):
            raise MalformedRequest(name, "must be a JSON object")
    identifier = _identifier(members)
    query = members.get("query")
    if not isinstance(query, str) and not (query is None and identifier is not None):
        raise MalformedRequest("query", "must be given as a string")
    check_text("query", query)
    if query is not None and identifier not in {None, hash_of(query)}:
        raise MalformedRequest("query", "must be the text of the hash that is given with it")
    check_text("operationName", operation_name)
    variables = members.get("variables") or {}
    for name, value in variables.items():
        check_text("variables", name)
        check_text(f"${name}" if name.isidentifier() and len(name) <= 64 else "variables", value)
    # What is ignored is a caller's text too, and refused alike.
    for name in members.keys() - _CHECKED:
        check_text("body", name)
        check_text(name if name in _MEMBERS else "body", members[name])
    return GraphQLRequest(query=query, identifier=identifier, operation_name=operation_name, variables=variables)


def asks_for_cost(request: Request) -> bool:
    """Whether the answer is to tell its cost. Raises MalformedRequest for another value of the header than 1 or 0."""
    given = request.headers.getlist(COST_HEADER)
    if given in ([], ["0"]):
        return False
    if given != ["1"]:
        raise MalformedRequest(COST_HEADER, "must be 1 or 0")
    return True


def _identifier(members: Mapping[str, Any]) -> str | None:  # Any: JSON
    """The hash of the document, in whichever way it is given. Raises MalformedRequest for what is no hash."""
    given = members.get("documentId")
    found = None if given is None else _hash("documentId", given, prefix="sha256:")
    extension = (members.get("extensions") or {}).get("persistedQuery")
    if extension is None:
        return found
    if not isinstance(extension, dict) or extension.get("version") != 1:
        raise MalformedRequest("extensions.persistedQuery", "must be an object with the version 1")
    other = _hash("extensions.persistedQuery.sha256Hash", extension.get("sha256Hash"))
    if found not in {None, other}:
        raise MalformedRequest("documentId", "must be the same as extensions.persistedQuery.sha256Hash")
    return other


def _hash(name: str, value: Any, *, prefix: str = "") -> str:  # Any: JSON
    digits = value.removeprefix(prefix) if isinstance(value, str) and value.startswith(prefix) else ""
    if not _HASH.fullmatch(digits):
        raise MalformedRequest(name, f"must be {prefix and f'{prefix!r} and '}64 digits of lower-case hexadecimal")
    return digits


def _parameters(request: Request) -> dict[str, Any]:  # Any: JSON
    """The members of a GET. An empty one, other than the query, is absent."""
    try:
        pairs = parse_qsl(
            request.scope["query_string"].decode("utf-8"),
            keep_blank_values=True,
            errors="strict",
            max_num_fields=QUERY_PARAMETERS_MAX,
        )
    except ValueError:
        raise MalformedRequest(
            "query string", f"must be UTF-8 and hold at most {QUERY_PARAMETERS_MAX} parameters"
        ) from None
    members: dict[str, Any] = {}
    for name, value in pairs:
        if name not in _MEMBERS:
            check_text("query string", name)
            check_text("query string", value)
            continue
        if name in members:
            raise MalformedRequest(name, "must not be given twice")
        members[name] = value
    for name in ("operationName", "variables", "extensions"):
        if members.get(name) == "":
            members[name] = None
    for name in ("variables", "extensions"):
        if members.get(name) not in {None, "null"}:
            members[name] = parse_object(name, members[name])
        else:
            members[name] = None
    return members


def negotiated_media_type(request: Request) -> str:
    """The media type of the answer: that of GraphQL where it is asked for by name, at least as gladly as JSON."""
    weights = accepted_weights(request, (JSON, GRAPHQL_RESPONSE))
    wanted = weights.get(GRAPHQL_RESPONSE, 0.0)
    return GRAPHQL_RESPONSE if wanted > 0 and wanted >= weights.get(JSON, 0.0) else JSON


def respond(
    payload: Mapping[str, Any],  # Any: JSON
    *,
    status: int,
    media_type: str,
    headers: Mapping[str, str],
) -> Response:
    """A response with a body of the media type, private to the caller."""
    return respond_encoded(encoded(payload), status=status, media_type=media_type, headers=headers)


def encoded(payload: Mapping[str, Any]) -> bytes:  # Any: JSON
    """A payload as it is written: compact, with escapes only where needed."""
    return json.dumps(payload, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode("utf-8")


def respond_encoded(content: bytes, *, status: int, media_type: str, headers: Mapping[str, str]) -> Response:
    """The same response, of a payload that is written already."""
    return Response(
        content,
        status_code=status,
        headers={
            "content-type": f"{media_type}; charset=utf-8",
            "cache-control": "private, no-store",
            "vary": "Accept, Authorization",
            **headers,
        },
    )
