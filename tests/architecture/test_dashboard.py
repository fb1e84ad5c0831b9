"""The dashboard asks for metrics that exist, by labels that they have, and leaves none of ours out."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from prometheus_client.metrics import MetricWrapperBase

from gateway.observability.metrics import GatewayMetrics
from tests.architecture.tracked import text_of

DASHBOARD = Path("scripts/grafana/belief-gateway.json")
SUFFIXES = {"counter": ("_total",), "gauge": ("",), "histogram": ("_bucket", "_count", "_sum")}
NAME = re.compile(r"\b(?:belief_gateway|process)_\w+")
MATCHED = re.compile(r"(\w+)\{([^}]*)\}")
GROUPED = re.compile(r"\bby \(([^)]*)\)")
OF_THE_SCRAPE = {"instance", "le"}
"""Labels that Prometheus and its histograms add."""


def series() -> dict[str, str]:
    """Every series by its name, and the metric it belongs to."""
    families = list(GatewayMetrics().registry.collect())
    return {f"{family.name}{suffix}": family.name for family in families for suffix in SUFFIXES[family.type]}


def labels() -> dict[str, set[str]]:
    """The labels of each metric of ours."""
    collectors = GatewayMetrics().registry._collector_to_names
    return {each._name: set(each._labelnames) for each in collectors if isinstance(each, MetricWrapperBase)}


def dashboard() -> Any:  # Any: JSON
    return json.loads(text_of(DASHBOARD))


def expressions() -> Iterator[str]:
    """What the panels ask for, and where their variables come from."""
    for panel in dashboard()["panels"]:
        for target in panel.get("targets", ()):
            yield target["expr"]
    for variable in dashboard()["templating"]["list"]:
        if variable["type"] == "query":
            yield variable["query"]["query"]


def test_every_expression_names_metrics_that_exist() -> None:
    known = series().keys() | set(series().values())
    assert [] == [name for expression in expressions() for name in NAME.findall(expression) if name not in known]
    assert all(NAME.search(expression) for expression in expressions())


def test_every_metric_of_ours_is_shown() -> None:
    shown = {series().get(name) for expression in expressions() for name in NAME.findall(expression)}
    assert set() == {name for name in series().values() if not name.startswith("process_")} - shown


def test_every_label_is_one_of_the_metric() -> None:
    known = labels()
    for expression in expressions():
        asked: set[str] = set()
        for name, matchers in MATCHED.findall(expression):
            own = known.get(series()[name], set()) | OF_THE_SCRAPE
            asked |= own
            assert set(re.findall(r"(\w+)\s*=", matchers)) <= own, expression
        for group in GROUPED.findall(expression):
            assert {label.strip() for label in group.split(",")} <= asked, expression


def test_every_panel_has_its_own_number_and_place() -> None:
    panels = dashboard()["panels"]
    assert len(panels) == len({panel["id"] for panel in panels})
    assert len(panels) == len({(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in panels})
