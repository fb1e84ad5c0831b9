"""Nothing of what passes through may reach the log, whatever the level and whoever logs."""

import io
import json
import logging
import warnings
from collections.abc import Iterator

import pytest

from gateway.observability.exchanges import ExchangeReports
from gateway.observability.logs import describe_exception, log_handler
from gateway.observability.metrics import GatewayMetrics

CANARY = "quetzalcoatlus"
LIBRARIES = (
    *("asyncio", "asyncpg", "sqlalchemy.engine.Engine", "sqlalchemy.pool", "strawberry.execution"),
    *("uvicorn.error", "uvicorn.access", "uvicorn.asgi", "alembic.runtime", "py.warnings"),
)


@pytest.fixture(params=["text", "json"])
def log(request: pytest.FixtureRequest) -> Iterator[io.StringIO]:
    """What is written while every logger is at debug."""
    stream = io.StringIO()
    handler = log_handler(stream, as_json=request.param == "json", request_id=lambda: "request-1")
    root = logging.getLogger()
    former, level = root.handlers, root.level
    root.handlers = [handler]
    root.setLevel(logging.DEBUG)
    # A server that another test has run has cut this one off, as ours is cut off too.
    access = logging.getLogger("uvicorn.access")
    propagated, access.propagate = access.propagate, True
    yield stream
    access.propagate = propagated
    root.handlers = former
    root.setLevel(level)


@pytest.mark.parametrize("library", LIBRARIES)
def test_no_word_of_a_library_reaches_the_log(library: str, log: io.StringIO) -> None:
    logger = logging.getLogger(library)
    for level in (logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR):
        logger.log(level, CANARY)
        logger.log(level, "parameters %r", (CANARY,), extra={"route": CANARY, "client": CANARY})
    try:
        raise ValueError(CANARY)
    except ValueError:
        logger.exception(CANARY, stack_info=True)
    assert CANARY not in log.getvalue()
    assert "ValueError" in log.getvalue()


def test_what_a_library_says_in_passing_is_not_logged(log: io.StringIO) -> None:
    logging.getLogger("sqlalchemy.engine.Engine").info("BEGIN")
    assert "" == log.getvalue()


def test_an_exception_of_ours_is_a_type_and_places(log: io.StringIO) -> None:
    try:
        raise KeyError(CANARY)
    except KeyError:
        logging.getLogger("gateway.service").exception("a sweep failed")
    assert CANARY not in log.getvalue()
    assert "KeyError" in log.getvalue()
    assert "test_an_exception_of_ours_is_a_type_and_places" in log.getvalue()


def test_a_value_that_is_not_on_the_list_is_left_out(log: io.StringIO) -> None:
    logging.getLogger("gateway.rest").info("exchange", extra={"statement": CANARY, "route": "/livez"})
    assert CANARY not in log.getvalue()
    assert "/livez" in log.getvalue()


def test_a_warning_of_python_keeps_its_text_to_itself(log: io.StringIO) -> None:
    # Where another test has left it on, pytest has taken it back since, and to ask for it again would do nothing.
    logging.captureWarnings(capture=False)
    logging.captureWarnings(capture=True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.warn(CANARY, stacklevel=1)
    finally:
        logging.captureWarnings(capture=False)
    assert "py.warnings" in log.getvalue()
    assert CANARY not in log.getvalue()


def test_an_exception_is_described_without_its_message() -> None:
    try:
        raise RuntimeError(CANARY)
    except RuntimeError as error:
        described = describe_exception(error)
    assert described.startswith("RuntimeError at test_logs.py:")
    assert CANARY not in described


def test_an_exchange_is_one_line_with_its_template() -> None:
    stream = io.StringIO()
    logger = logging.getLogger("gateway.observability.exchanges")
    handler = log_handler(stream, as_json=True, request_id=lambda: "request-1")
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        ExchangeReports(GatewayMetrics()).record("/v1/memories/{memory_id}", "GET", 200, 0.0125, operation="none")
    finally:
        logger.removeHandler(handler)
        logger.setLevel(logging.NOTSET)
    line = json.loads(stream.getvalue())
    assert {
        "request_id": "request-1",
        "event": "exchange",
        "route": "/v1/memories/{memory_id}",
        "method": "GET",
        "status": 200,
        "duration_ms": 12.5,
    }.items() <= line.items()
