"""What one request leaves behind: its statements, the lines of its log, and what it added to the metrics."""

import io
import json
import logging
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

import asyncpg
from sqlalchemy import Connection, Engine, event

from gateway.observability.logs import log_handler
from gateway.observability.metrics import GatewayMetrics

_OF_TIME = {"timestamp", "duration_ms"}


@dataclass(frozen=True, slots=True)
class Sent:
    """One statement and its parameters, as the driver was given them; or the name of the end of a transaction."""

    statement: str
    parameters: Any = field(default=None, compare=False)  # Any: as the driver takes them


@dataclass(slots=True)
class Traces:
    """What was left behind, without moments and durations. A transaction is its statements and its end.

    The look for the token, which is remembered a while, and the note of its last use are left out.
    """

    transactions: list[list[Sent]] = field(default_factory=list)
    lines: list[dict[str, Any]] = field(default_factory=list)  # Any: JSON
    counts: dict[tuple[str, str], float] = field(default_factory=dict)

    @property
    def statements(self) -> list[Sent]:
        """Every statement and every end, in their order."""
        return [sent for transaction in self.transactions for sent in transaction]


@contextmanager
def watching(metrics: GatewayMetrics) -> Iterator[Traces]:
    """Note what happens until the block is left, in every store of this process and at every level of the log."""
    traces, stream, before = Traces(), io.StringIO(), _counted(metrics)
    with ExitStack() as stack:
        stack.enter_context(_listening(traces))
        stack.enter_context(_listening_at_the_driver(traces))
        stack.enter_context(_logging_to(stream))
        yield traces
    lines = map(json.loads, stream.getvalue().splitlines())
    traces.lines = [{name: value for name, value in line.items() if name not in _OF_TIME} for line in lines]
    traces.counts = {name: value - before.get(name, 0) for name, value in _counted(metrics).items()}


@contextmanager
def _listening(traces: Traces) -> Iterator[None]:
    under_way: dict[Connection, list[Sent]] = {}

    def note(connection: Connection, _: object, statement: str, parameters: object, *__: object) -> None:
        under_way.setdefault(connection, []).append(Sent(statement, parameters))

    def ending(name: str) -> Callable[[Connection], None]:
        def end(connection: Connection) -> None:
            sent = under_way.pop(connection, [])
            if sent and not any("access_tokens" in each.statement for each in sent):
                traces.transactions.append([*sent, Sent(name)])

        return end

    listeners: dict[str, Callable[..., None]] = {name: ending(name) for name in ("commit", "rollback")}
    listeners["before_cursor_execute"] = note
    for name, listener in listeners.items():
        event.listen(Engine, name, listener)
    try:
        yield
    finally:
        for name, listener in listeners.items():
            event.remove(Engine, name, listener)


@contextmanager
def _listening_at_the_driver(traces: Traces) -> Iterator[None]:
    """Note the single reads, which go past SQLAlchemy, and are their own transaction."""
    fetch = asyncpg.Connection.fetch

    async def noted(
        connection: Any, statement: str, *parameters: object, **options: Any
    ) -> Any:  # as the driver has it
        if "access_tokens" not in statement:
            traces.transactions.append([Sent(statement, parameters), Sent("single")])
        return await fetch(connection, statement, *parameters, **options)

    with patch.object(asyncpg.Connection, "fetch", noted):
        yield


@contextmanager
def _logging_to(stream: io.StringIO) -> Iterator[None]:
    root = logging.getLogger()
    handler, level = log_handler(stream, as_json=True, request_id=lambda: None), root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        root.removeHandler(handler)
        root.setLevel(level)


def _counted(metrics: GatewayMetrics) -> dict[tuple[str, str], float]:
    """Every sample but those that hold seconds or the process's own state."""
    return {
        (sample.name, json.dumps(sample.labels, sort_keys=True)): sample.value
        for family in metrics.registry.collect()
        for sample in family.samples
        if not family.name.startswith("process_")
        and not sample.name.endswith("_created")
        and not (family.name.endswith("_seconds") and sample.name.endswith(("_sum", "_bucket")))
    }
