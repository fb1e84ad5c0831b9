"""Bodies are read up to a size and for a time, and never further."""

import asyncio
from collections.abc import Iterator

import pytest
from starlette.requests import Request
from starlette.types import Message, Receive

from gateway.http.bodies import BODY_BYTES_MAX, read_body
from gateway.http.errors import TransportError

CHUNK = b"x" * 65_536
WAIT_SECONDS = 20


def posting(receive: Receive) -> Request:
    return Request({"type": "http", "method": "POST", "headers": [], "path": "/"}, receive)


def arriving(*messages: Message) -> Receive:
    """A body whose messages have all arrived; after them nothing ever comes."""
    left: Iterator[Message] = iter(messages)

    async def receive() -> Message:
        for message in left:
            return message
        await asyncio.Event().wait()
        raise AssertionError("waited for ever")

    return receive


def chunk(body: bytes, *, more_body: bool) -> Message:
    return {"type": "http.request", "body": body, "more_body": more_body}


async def test_a_body_is_put_together() -> None:
    receive = arriving(chunk(b"{", more_body=True), chunk(b"}", more_body=False))
    assert b"{}" == await read_body(posting(receive))


async def test_a_body_of_the_largest_size_is_taken_and_one_byte_more_is_not() -> None:
    largest = b"x" * BODY_BYTES_MAX
    assert largest == await read_body(posting(arriving(chunk(largest, more_body=False))))
    with pytest.raises(TransportError) as raised:
        await read_body(posting(arriving(chunk(largest, more_body=True), chunk(b"x", more_body=False))))
    assert "payload_too_large" == raised.value.code


async def test_a_body_without_end_is_refused_while_it_is_read() -> None:
    read = 0

    async def receive() -> Message:
        nonlocal read
        read += len(CHUNK)
        return chunk(CHUNK, more_body=True)

    with pytest.raises(TransportError) as raised:
        await read_body(posting(receive))
    assert "payload_too_large" == raised.value.code
    assert {"connection": "close"} == raised.value.headers
    assert BODY_BYTES_MAX + len(CHUNK) == read


@pytest.mark.parametrize("messages", [(), (chunk(b"{", more_body=True),)])
async def test_a_body_that_does_not_come_to_its_end_is_waited_for_no_longer(messages: tuple[Message, ...]) -> None:
    with pytest.raises(TransportError) as raised:
        # Without the bound it would wait for ever, and this test with it.
        async with asyncio.timeout(WAIT_SECONDS):
            await read_body(posting(arriving(*messages)), wait_seconds=0.01)
    assert "request_timeout" == raised.value.code
    assert {"connection": "close"} == raised.value.headers


async def test_a_client_that_leaves_in_the_middle_is_no_failure_of_ours() -> None:
    receive = arriving(chunk(b"{", more_body=True), {"type": "http.disconnect"})
    with pytest.raises(TransportError) as raised:
        await read_body(posting(receive))
    assert "request_timeout" == raised.value.code
