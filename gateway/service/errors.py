"""The closed vocabulary of failures that every transport speaks.

A message is public and never echoes a caller's text or another person's; `detail` is for the log alone.
Source: Memory read API, Errors; belief store decisions, Errors.
"""

from enum import StrEnum


class ErrorCode(StrEnum):
    """Every code a client may meet: five of operations, seven of the transport, three of evidence alone."""

    MALFORMED_REQUEST = "malformed_request"
    AUTHENTICATION_ERROR = "authentication_error"
    AUTHORIZATION_ERROR = "authorization_error"
    NOT_FOUND = "not_found"
    CONFLICT = "conflict"
    METHOD_NOT_ALLOWED = "method_not_allowed"
    REQUEST_TIMEOUT = "request_timeout"
    PAYLOAD_TOO_LARGE = "payload_too_large"
    UNSUPPORTED_MEDIA_TYPE = "unsupported_media_type"
    RATE_LIMITED = "rate_limited"
    UNAVAILABLE = "unavailable"
    INTERNAL_ERROR = "internal_error"
    RECORD_NOT_FOUND = "record_not_found"
    RETRIEVAL_BUSY = "retrieval_busy"
    STORAGE_INCONSISTENCY = "storage_inconsistency"


EVIDENCE_CODES = frozenset({ErrorCode.RECORD_NOT_FOUND, ErrorCode.RETRIEVAL_BUSY, ErrorCode.STORAGE_INCONSISTENCY})
"""What only reading evidence can fail with. Source: evidence graph decisions."""


class GatewayError(Exception):
    """A failure with a code and a public message."""

    code: ErrorCode

    def __init__(self, message: str, *, detail: str = "") -> None:
        """Keep the public message, and what only the log may hold."""
        super().__init__(message)
        self.message = message
        self.detail = detail


class MalformedRequest(GatewayError):
    """A parameter that can't be taken.

    `parameter` is the neutral name (`first`, `after`, `belief_types`); each transport writes its own
    name of it before the reason.
    """

    code = ErrorCode.MALFORMED_REQUEST

    def __init__(self, parameter: str, reason: str) -> None:
        """Name the parameter and say what it must be."""
        super().__init__(f"{parameter} {reason}")
        self.parameter = parameter
        self.reason = reason


class AuthenticationError(GatewayError):
    """No credential, or one that does not resolve."""

    code = ErrorCode.AUTHENTICATION_ERROR

    def __init__(self) -> None:
        """One message for every cause."""
        super().__init__("a valid bearer token is required")


class AuthorizationError(GatewayError):
    """A principal without the scope that the operation requires."""

    code = ErrorCode.AUTHORIZATION_ERROR

    def __init__(self, scope: str) -> None:
        """Name the scope, which is public knowledge."""
        super().__init__(f"the scope {scope} is required")


class NotFound(GatewayError):
    """Absent, foreign or above the ceiling: one message, no identifier, no telling which."""

    code = ErrorCode.NOT_FOUND

    def __init__(self) -> None:
        """One message for every cause."""
        super().__init__("no such memory")


class ForeignScope(GatewayError):
    """A scope object that names anything but what the caller may see of itself."""

    code = ErrorCode.AUTHORIZATION_ERROR

    def __init__(self) -> None:
        """One message for every cause: whether what it names is there is not told."""
        super().__init__("scope must name no project, no mission, yourself or no agent, and be private")


class Conflict(GatewayError):
    """A write that contradicts what was acknowledged before."""

    code = ErrorCode.CONFLICT


class Unavailable(GatewayError):
    """The operation can't be served now; trying again later may help."""

    code = ErrorCode.UNAVAILABLE


class RecordNotFound(GatewayError):
    """A workspace that is missing or another company's: one message, no telling which."""

    code = ErrorCode.RECORD_NOT_FOUND

    def __init__(self) -> None:
        """One message for every cause."""
        super().__init__("no such workspace")


class RetrievalBusy(GatewayError):
    """As many graphs are being read as may be at once; trying again later helps."""

    code = ErrorCode.RETRIEVAL_BUSY

    def __init__(self) -> None:
        """Tell nothing of who is served."""
        super().__init__("too much evidence is being read at the moment")


class StorageInconsistency(GatewayError):
    """What is stored contradicts the rules by which it was written, so that nothing of it may be shown."""

    code = ErrorCode.STORAGE_INCONSISTENCY

    def __init__(self, detail: str) -> None:
        """Tell the log which rule it is, without saying of what."""
        super().__init__("what is stored contradicts itself", detail=detail)
