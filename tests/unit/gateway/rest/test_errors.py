"""Exceptions become envelopes in one place, and what is not foreseen tells nothing of itself."""

import json
import logging

import pytest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateway.http.head import HeadMiddleware
from gateway.rest.errors import PARAMETER_NAMES, FailureMiddleware
from gateway.service.errors import MalformedRequest


async def answered(app: ASGIApp) -> list[Message]:
    """What an application sends for one request."""
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    await app({"type": "http", "method": "GET", "path": "/", "headers": [], "request_id": "one"}, receive, send)
    return sent


@pytest.mark.parametrize(("neutral", "shown"), [*PARAMETER_NAMES.items(), ("subject", "subject")])
async def test_a_parameter_has_its_rest_name(neutral: str, shown: str) -> None:
    async def refuse(scope: Scope, receive: Receive, send: Send) -> None:
        raise MalformedRequest(neutral, "must be sound")

    start, body = await answered(FailureMiddleware(refuse))

    assert 400 == start["status"]
    assert {
        "code": "malformed_request",
        "message": f"{shown} must be sound",
        "details": {},
        "request_id": "one",
    } == json.loads(body["body"])["error"]


async def test_an_answer_that_has_begun_is_not_followed_by_another(caplog: pytest.LogCaptureFixture) -> None:
    async def break_off(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise RuntimeError("secret words")

    with caplog.at_level(logging.DEBUG):
        sent = await answered(FailureMiddleware(break_off))

    assert ["http.response.start"] == [message["type"] for message in sent]
    assert "RuntimeError" in caplog.text
    assert "secret words" not in caplog.text


async def test_what_is_no_http_passes_through() -> None:
    seen: list[str] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(scope["type"])
        raise LookupError

    async def unused() -> Message:
        raise AssertionError

    async def dropped(message: Message) -> None:
        raise AssertionError

    for wrapped in (FailureMiddleware(app), HeadMiddleware(app)):
        with pytest.raises(LookupError):
            await wrapped({"type": "lifespan"}, unused, dropped)
    assert ["lifespan", "lifespan"] == seen
