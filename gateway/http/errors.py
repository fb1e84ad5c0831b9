"""The one table from failures to codes, messages, status numbers and headers.

REST and GraphQL write their own bodies from it. Anything unknown is an internal error whose text stays in
the program. Source: belief store decisions, Errors.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field

from gateway.service.errors import ErrorCode, GatewayError, MalformedRequest, StorageInconsistency
from store.ports.errors import StoreError, StoreUnavailable

RETRY_AFTER_SECONDS = 1

_log = logging.getLogger(__name__)

STATUSES: Mapping[ErrorCode, int] = {
    ErrorCode.MALFORMED_REQUEST: 400,
    ErrorCode.AUTHENTICATION_ERROR: 401,
    ErrorCode.AUTHORIZATION_ERROR: 403,
    ErrorCode.NOT_FOUND: 404,
    ErrorCode.METHOD_NOT_ALLOWED: 405,
    ErrorCode.REQUEST_TIMEOUT: 408,
    ErrorCode.CONFLICT: 409,
    ErrorCode.PAYLOAD_TOO_LARGE: 413,
    ErrorCode.UNSUPPORTED_MEDIA_TYPE: 415,
    ErrorCode.RATE_LIMITED: 429,
    ErrorCode.INTERNAL_ERROR: 500,
    ErrorCode.UNAVAILABLE: 503,
    ErrorCode.RECORD_NOT_FOUND: 404,
    ErrorCode.STORAGE_INCONSISTENCY: 500,
    ErrorCode.RETRIEVAL_BUSY: 503,
}


class TransportError(GatewayError):
    """A failure of the exchange itself, before any operation."""

    def __init__(self, code: ErrorCode, message: str, headers: Mapping[str, str] | None = None) -> None:
        """Give the code, the public message and the headers that go with it."""
        super().__init__(message)
        self.code = code
        self.headers = dict(headers or {})


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A failure as a transport shows it."""

    code: ErrorCode
    message: str
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def status(self) -> int:
        """The HTTP status number of the code."""
        return STATUSES[self.code]


def failure_of(error: BaseException, names: Mapping[str, str]) -> Failure:
    """The failure that an exception stands for; `names` gives the transport's own names of parameters.

    An unknown exception is logged without its text, which may hold a caller's or a person's words.
    """
    match error:
        case MalformedRequest():
            name = names.get(error.parameter, error.parameter)
            return Failure(code=error.code, message=f"{name} {error.reason}")
        case GatewayError():
            if isinstance(error, StorageInconsistency):
                _log.error("the store contradicts itself: %s", error.detail)
            return Failure(code=error.code, message=error.message, headers=_headers(error))
        case StoreUnavailable():
            # Its words are ours: a SQLSTATE at most.
            _log.warning("the store could not answer: %s", error)
            return Failure(
                code=ErrorCode.UNAVAILABLE,
                message="the store is not available at the moment",
                headers={"retry-after": str(RETRY_AFTER_SECONDS)},
            )
        case StoreError():
            _log.error("the store contradicts itself: %s", type(error).__name__)
        case _:
            _log.error("unexpected failure: %s at %s", type(error).__name__, _place(error))
    return Failure(code=ErrorCode.INTERNAL_ERROR, message="an internal error occurred")


def _headers(error: GatewayError) -> Mapping[str, str]:
    if isinstance(error, TransportError):
        return error.headers
    if error.code is ErrorCode.AUTHENTICATION_ERROR:
        return {"www-authenticate": "Bearer"}
    if error.code in {ErrorCode.UNAVAILABLE, ErrorCode.RETRIEVAL_BUSY}:
        return {"retry-after": str(RETRY_AFTER_SECONDS)}
    return {}


def _place(error: BaseException) -> str:
    """Where an exception came from: files, lines and functions, innermost last, no values."""
    frames = []
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        frames.append(f"{code.co_filename.rpartition('/')[2]}:{trace.tb_lineno} {code.co_name}")
        trace = trace.tb_next
    return " > ".join(frames[-8:]) or "an unknown place"
