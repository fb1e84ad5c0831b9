"""Traces by OpenTelemetry: loaded only where they are asked for, since its packages are an extra.

The exporter, the sampler, the batches and the resource are configured by OpenTelemetry's own variables; the protocol is
OTLP over HTTP.
Source: OpenTelemetry, Environment variable specification; Semantic conventions for HTTP spans.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, OTELResourceDetector, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, get_current_span

from gateway.observability.traces import Traces

TRACES_CLOSING_SECONDS = 2.0
"""How long the end waits for a collector to take the last spans; those that it did not take are lost."""
_NAME = "belief-gateway"
_SERVER_FAILURE = 500


def exporting_provider(version: str) -> TracerProvider:
    """A provider whose spans go where the environment says; `service.name` is ours unless it names another."""
    own = Resource({SERVICE_NAME: _NAME, SERVICE_VERSION: version})
    # Closed by us: its own hook at the end of the process would wait for a collector that is gone.
    provider = TracerProvider(resource=own.merge(OTELResourceDetector().detect()), shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider


class OpenTelemetryTraces(Traces):
    """Spans of one provider, which it closes."""

    def __init__(self, provider: TracerProvider) -> None:
        """Trace by this provider, and by no global one."""
        self._provider = provider
        self._tracer = provider.get_tracer(_NAME)

    @contextmanager
    def exchange(self) -> Iterator[None]:
        """The span of one HTTP exchange, which `describe_exchange` names before it ends."""
        with self._span("exchange", SpanKind.SERVER):
            yield

    def describe_exchange(self, route: str, method: str, status: int, *, operation: str) -> None:
        """Say of the exchange under way what it was: the template of its route, never the target."""
        span = get_current_span()
        span.update_name(f"{method} {route}")
        span.set_attributes(
            {
                "http.request.method": method,
                "http.route": route,
                "http.response.status_code": status,
                "graphql.operation.name": operation,
            }
        )
        if status >= _SERVER_FAILURE:
            span.set_status(Status(StatusCode.ERROR))

    @contextmanager
    def store_operation(self, name: str) -> Iterator[None]:
        """The span of one operation on the store, within an exchange; outside of one there is none."""
        if not get_current_span().is_recording():
            yield
            return
        with self._span(f"store {name}", SpanKind.CLIENT) as span:
            span.set_attribute("db.operation.name", name)
            yield

    def close(self) -> None:
        """Send what was not sent, within seconds."""
        sending = threading.Thread(target=self._provider.shutdown, name="traces", daemon=True)
        sending.start()
        sending.join(TRACES_CLOSING_SECONDS)

    @contextmanager
    def _span(self, name: str, kind: SpanKind) -> Iterator[Span]:
        """A span that is marked where it failed, by the type of the failure alone: a message may quote values."""
        with self._tracer.start_as_current_span(
            name, kind=kind, record_exception=False, set_status_on_exception=False
        ) as span:
            try:
                yield span
            except BaseException as error:
                span.set_attribute("error.type", type(error).__qualname__)
                span.set_status(Status(StatusCode.ERROR))
                raise
