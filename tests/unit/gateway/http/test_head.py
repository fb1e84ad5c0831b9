"""A HEAD is answered as its GET is, without the body, whatever server stands before the application."""

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Message

from gateway.http.head import HeadMiddleware


async def show(_: Request) -> Response:
    return Response("shown")


async def answered(method: str) -> tuple[dict[bytes, bytes], bytes]:
    """The headers and the body that the application sends, past every client and server that would drop one."""
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request"}

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {"type": "http", "method": method, "path": "/", "headers": [], "query_string": b""}
    await HeadMiddleware(Starlette(routes=[Route("/", show)]))(scope, receive, send)
    start, *bodies = sent
    return dict(start["headers"]), b"".join(message["body"] for message in bodies)


@pytest.mark.parametrize(("method", "body"), [("GET", b"shown"), ("HEAD", b"")])
async def test_a_head_has_the_headers_of_its_get_and_no_body(method: str, body: bytes) -> None:
    headers, content = await answered(method)
    assert (b"5", body) == (headers[b"content-length"], content)
