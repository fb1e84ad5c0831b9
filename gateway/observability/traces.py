"""What is traced: a span for each HTTP exchange, and one within it for each operation on the store.

A span carries names from closed lists alone: the route's template, the method, the status, the name of a trusted
GraphQL operation, the name of an operation on the store. No variable, text or identifier is in any attribute, and a
failure is marked without its message. A trace begins here: a caller's own trace context is not believed, since it could
say which requests are traced, and carries words of the caller's.

Traces need the extra `otel` and the standard variable OTEL_EXPORTER_OTLP_ENDPOINT; without either nothing is traced,
and the packages are not even loaded.
Source: belief store decisions, Metrics (no statement, subject or identifier in any label).
"""

import logging
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from importlib.util import find_spec
from typing import Protocol

ENDPOINT_VARIABLE = "OTEL_EXPORTER_OTLP_ENDPOINT"
"""The standard variable that turns traces on, and says where they go."""

_PACKAGES = ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http")

_log = logging.getLogger(__name__)


class Traces(Protocol):
    """Where spans are reported."""

    def exchange(self) -> AbstractContextManager[None]:
        """The span of one HTTP exchange, which `describe_exchange` names before it ends."""
        ...

    def describe_exchange(self, route: str, method: str, status: int, *, operation: str) -> None:
        """Say of the exchange under way what it was: the template of its route, never the target."""
        ...

    def store_operation(self, name: str) -> AbstractContextManager[None]:
        """The span of one operation on the store, within an exchange; outside of one there is none."""
        ...

    def close(self) -> None:
        """Send what was not sent, within seconds."""
        ...


@contextmanager
def tracing(environment: Mapping[str, str], *, version: str) -> Iterator[Traces | None]:
    """The traces of this environment, closed at the end; None where none are asked for, or without the extra."""
    traces = _opened(environment, version)
    try:
        yield traces
    finally:
        if traces is not None:
            traces.close()


def _opened(environment: Mapping[str, str], version: str) -> Traces | None:
    if not environment.get(ENDPOINT_VARIABLE):
        return None
    if not all(_is_installed(package) for package in _PACKAGES):
        _log.warning("traces are asked for and not written: they need `belief-gateway[otel]`")
        return None
    # Here and not above: the packages are an extra.
    from gateway.observability.open_telemetry import OpenTelemetryTraces, exporting_provider  # noqa: PLC0415

    return OpenTelemetryTraces(exporting_provider(version))


def _is_installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:
        return False
