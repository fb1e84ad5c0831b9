"""Traces are off unless they are asked for, and the gateway does without their packages."""

import subprocess
import sys

from opentelemetry.sdk.trace import TracerProvider

from gateway.observability.open_telemetry import exporting_provider
from gateway.observability.traces import ENDPOINT_VARIABLE, tracing
from tests.architecture.tracked import ROOT

WITHOUT = """
import sys
sys.modules["opentelemetry"] = None
import gateway.__main__
from gateway.observability.traces import tracing
with tracing({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"}, version="1") as traces:
    assert traces is None
"""


def test_nothing_is_traced_unless_it_is_asked_for() -> None:
    for environment in ({}, {ENDPOINT_VARIABLE: ""}):
        with tracing(environment, version="1.2.3") as traces:
            assert traces is None


def test_traces_are_opened_where_they_are_asked_for() -> None:
    with tracing({ENDPOINT_VARIABLE: "http://127.0.0.1:9"}, version="1.2.3") as traces:
        assert traces is not None


def test_the_gateway_does_without_the_packages() -> None:
    finished = subprocess.run(
        [sys.executable, "-c", WITHOUT], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60
    )
    assert (0, "") == (finished.returncode, finished.stdout)
    assert "belief-gateway[otel]" in finished.stderr


def test_a_span_tells_which_program_it_is_from() -> None:
    provider: TracerProvider = exporting_provider("1.2.3")
    attributes = provider.resource.attributes
    provider.shutdown()
    assert ("belief-gateway", "1.2.3") == (attributes["service.name"], attributes["service.version"])
