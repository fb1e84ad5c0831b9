"""GraphQL over HTTP: what a request asks, and in which media type it is answered.

Members beside the four that are known are ignored, as the protocol has it; so are query parameters of a POST.
Source: GraphQL over HTTP; belief store decisions, Errors (the order of failures).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import Response

from gateway.graphql.validation import check_text
from gateway.http.bodies import read_body, require_json
from gateway.service.errors import MalformedRequest
from gateway.service.strict_json import parse_object

JSON = "application/json"
GRAPHQL_RESPONSE = "application/graphql-response+json"

QUERY_PARAMETERS_MAX = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphQLRequest:
    """What is asked, taken strictly."""

    query: str
    operation_name: str | None
    variables: Mapping[str, Any]  # Any: JSON


async def read_request(request: Request) -> GraphQLRequest:
    """The request of a GET or a POST. Raises TransportError for type and size, MalformedRequest for the rest."""
    if request.method == "POST":
        require_json(request)
        members = parse_object("body", await read_body(request))
    else:
        # A GET needs no type. One that declares another is what a form on a foreign page can send.
        if "content-type" in request.headers:
            require_json(request)
        members = _parameters(request)
    query = members.get("query")
    if not isinstance(query, str):
        raise MalformedRequest("query", "must be given as a string")
    operation_name = members.get("operationName")
    if operation_name is not None and not isinstance(operation_name, str):
        raise MalformedRequest("operationName", "must be a string")
    for name in ("variables", "extensions"):
        if members.get(name) is not None and not isinstance(members[name], dict):
            raise MalformedRequest(name, "must be a JSON object")
    check_text("query", query)
    variables = members.get("variables") or {}
    for name, value in variables.items():
        check_text("variables", name)
        check_text(f"${name}" if name.isidentifier() and len(name) <= 64 else "variables", value)
    return GraphQLRequest(query=query, operation_name=operation_name, variables=variables)


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
        if name not in {"query", "operationName", "variables", "extensions"}:
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
    weights = {JSON: 0.0, GRAPHQL_RESPONSE: 0.0}
    for accepted in ",".join(request.headers.getlist("accept")).lower().split(","):
        media_type, *parameters = (part.strip() for part in accepted.split(";"))
        if media_type in weights:
            weights[media_type] = _weight(parameters)
    wanted = weights[GRAPHQL_RESPONSE]
    return GRAPHQL_RESPONSE if wanted > 0 and wanted >= weights[JSON] else JSON


def _weight(parameters: list[str]) -> float:
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip() == "q":
            try:
                return float(value)
            except ValueError:
                return 0.0
    return 1.0


def respond(
    payload: Mapping[str, Any],
    *,
    status: int,
    media_type: str,
    headers: Mapping[str, str],  # Any: JSON
) -> Response:
    """A response with a body of the media type, private to the caller."""
    return Response(
        json.dumps(payload, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode("utf-8"),
        status_code=status,
        headers={
            "content-type": f"{media_type}; charset=utf-8",
            "cache-control": "private, no-store",
            "vary": "Accept, Authorization",
            **headers,
        },
    )
