"""JSON bodies: their declared type, their size, and the time they may take.

Source: belief store decisions, Errors.
"""

import asyncio

from starlette.requests import ClientDisconnect, Request

from gateway.http.errors import TransportError
from gateway.service.errors import ErrorCode

BODY_BYTES_MAX = 1_048_576
BODY_WAIT_SECONDS = 10.0


def require_json(request: Request) -> None:
    """Raise unsupported_media_type unless the body is declared as JSON, in UTF-8 where a charset is named."""
    # Of two headers another server may heed the other one: they count as the list that they stand for, which is none.
    declared = ", ".join(request.headers.getlist("content-type")).lower()
    media_type, *parameters = (part.strip() for part in declared.split(";"))
    charsets = {part.replace(" ", "") for part in parameters if part}
    if media_type != "application/json" or not charsets <= {"charset=utf-8", 'charset="utf-8"'}:
        raise TransportError(ErrorCode.UNSUPPORTED_MEDIA_TYPE, "the content type must be application/json, in UTF-8")


async def read_body(
    request: Request, *, wait_seconds: float = BODY_WAIT_SECONDS, bytes_max: int = BODY_BYTES_MAX
) -> bytes:
    """The bytes of the body.

    Raises payload_too_large beyond 1 MiB or what else is given, request_timeout for one that takes longer.
    """
    try:
        async with asyncio.timeout(wait_seconds):
            return await _read(request, bytes_max)
    except TimeoutError:
        raise TransportError(
            ErrorCode.REQUEST_TIMEOUT, "the body took too long to arrive", {"connection": "close"}
        ) from None
    except ClientDisconnect:
        raise TransportError(ErrorCode.REQUEST_TIMEOUT, "the body did not arrive") from None


async def _read(request: Request, bytes_max: int) -> bytes:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > bytes_max:
            raise TransportError(
                ErrorCode.PAYLOAD_TOO_LARGE,
                f"the body must not exceed {bytes_max} bytes",
                {"connection": "close"},
            )
    return bytes(body)
