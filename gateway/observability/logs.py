"""The log: text or JSON on standard error, with nothing of a memory's text, subject or identifier at any level.

Our own modules choose their words, and the values they add are an allow-list. Every other library's record may quote
what passed through it: a statement, a parameter, a target. So of a record that is not ours only its place is kept,
and it must be a warning at least; its text is never rendered. Of an exception, whoever logs it, the type and the
places are kept, never the message. That holds whatever level a library's logger is set to.
Source: belief store decisions, Errors and Metrics; The embedded PostgreSQL (what must not reach a log).
"""

import logging
import sys
import threading
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, TextIO

import structlog
from structlog.typing import Processor

Entry = dict[str, Any]  # Any: what a line may carry, text and numbers
_OURS = ("gateway", "store")
PLACES_MAX = 12

EXTRAS = (
    *("route", "method", "status", "duration_ms", "surface", "url", "task", "variable", "version"),
    *("expired", "receipts", "requested_port", "port", "error", "places"),
)
"""Every value that a line of ours may carry beside its words."""

_log = logging.getLogger(__name__)


def configure_logging(*, level: str, as_json: bool, request_id: Callable[[], str | None]) -> None:
    """Send every record of this process to standard error, written as this module says.

    `request_id` gives the id of the exchange under way, None outside of one. What would be printed past the log
    (warnings, exceptions that nobody caught) goes to the log too.
    """
    root = logging.getLogger()
    for name in logging.root.manager.loggerDict:
        # A library that installs a handler of its own would write past ours.
        logging.getLogger(name).handlers.clear()
    root.handlers = [log_handler(sys.stderr, as_json=as_json, request_id=request_id)]
    root.setLevel(level.upper())
    logging.captureWarnings(capture=True)
    # A handler that fails would print the record, arguments and all.
    logging.raiseExceptions = False
    sys.excepthook = _log_uncaught
    sys.unraisablehook = lambda raised: _log_uncaught(raised.exc_type, raised.exc_value, raised.exc_traceback)
    threading.excepthook = lambda raised: _log_uncaught(raised.exc_type, raised.exc_value, raised.exc_traceback)


def log_handler(stream: TextIO, *, as_json: bool, request_id: Callable[[], str | None]) -> logging.Handler:
    """The one handler of a process: what it lets through, and how it writes it."""
    handler = logging.StreamHandler(stream)
    handler.addFilter(_is_kept)
    handler.setFormatter(_LineFormatter(as_json=as_json, colored=stream.isatty(), request_id=request_id))
    return handler


def describe_exception(error: BaseException) -> str:
    """The type of an exception and where it came from, innermost last; never its message, which may quote values."""
    return f"{type(error).__qualname__} at {_places(error.__traceback__)}"


class _LineFormatter(logging.Formatter):
    """Writes one record as one line."""

    def __init__(self, *, as_json: bool, colored: bool, request_id: Callable[[], str | None]) -> None:
        super().__init__()
        self._request_id = request_id
        self._render: Processor = (
            structlog.processors.JSONRenderer(ensure_ascii=False)
            if as_json
            else structlog.dev.ConsoleRenderer(colors=colored, sort_keys=False, pad_event_to=0)
        )

    def format(self, record: logging.LogRecord) -> str:
        event: Entry = {
            "timestamp": _moment(record.created),
            "level": record.levelname.lower(),
            "logger": record.name,
            "request_id": self._request_id(),
            **(_own_words(record) if _is_ours(record) else _place_alone(record)),
        }
        if record.exc_info and record.exc_info[1] is not None:
            event |= _description(record.exc_info[0], record.exc_info[2])
        present = {name: value for name, value in event.items() if value is not None}
        return str(self._render(None, record.levelname.lower(), present))


def _moment(seconds: float) -> str:
    moment = datetime.fromtimestamp(seconds, UTC)
    return f"{moment.replace(tzinfo=None).isoformat(timespec='microseconds')}Z"


def _is_ours(record: logging.LogRecord) -> bool:
    return record.name.partition(".")[0] in _OURS


def _is_kept(record: logging.LogRecord) -> bool:
    return _is_ours(record) or record.levelno >= logging.WARNING


def _own_words(record: logging.LogRecord) -> Entry:
    return {"event": record.getMessage()} | {name: record.__dict__.get(name) for name in EXTRAS}


def _place_alone(record: logging.LogRecord) -> Entry:
    """What is kept of another library's record: its message is not even rendered."""
    place = f"{record.filename}:{record.lineno} {record.funcName}"
    return {"event": "a library reported a problem", "places": place}


def _description(kind: type[BaseException] | None, trace: TracebackType | None) -> Entry:
    return {"error": kind.__qualname__ if kind else None, "places": _places(trace)}


def _places(trace: TracebackType | None) -> str:
    frames = traceback.StackSummary.extract(traceback.walk_tb(trace), lookup_lines=False)[-PLACES_MAX:]
    places = [f"{frame.filename.rpartition('/')[2]}:{frame.lineno} {frame.name}" for frame in frames]
    return " > ".join(places) or "an unknown place"


def _log_uncaught(kind: type[BaseException], _: BaseException | None, trace: TracebackType | None) -> None:
    if not issubclass(kind, KeyboardInterrupt):
        _log.error("an exception was not caught", extra=_description(kind, trace))
