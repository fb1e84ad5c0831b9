"""What is counted, under which names, and that labels come from closed lists."""

from httpx import ASGITransport, AsyncClient

from gateway.http.exchanges import Exchanges
from gateway.observability.exchanges import ExchangeReports
from gateway.observability.metrics import GatewayMetrics, metrics_application
from gateway.service.environment import Measures
from store.domain.vocabulary import Sensitivity


def value(metrics: GatewayMetrics, name: str, **labels: str) -> float | None:
    return metrics.registry.get_sample_value(f"belief_gateway_{name}", labels)


def test_operations_are_counted_by_outcome_and_declared_ceiling() -> None:
    metrics = GatewayMetrics()
    measures: Measures = metrics
    measures.operation("list", outcome="ok", ceiling=Sensitivity.PUBLIC)
    assert 1 == value(metrics, "operations_total", operation="list", outcome="ok", ceiling="public")


def test_pages_are_counted_and_measured() -> None:
    metrics = GatewayMetrics()
    metrics.page(size=50, continued=False)
    metrics.page(size=3, continued=True)
    assert (1, 1) == (value(metrics, "pages_total", kind="first"), value(metrics, "pages_total", kind="continued"))
    assert (2, 53) == (value(metrics, "page_size_count"), value(metrics, "page_size_sum"))


def test_text_queries_and_cursor_rejections_are_counted() -> None:
    metrics = GatewayMetrics()
    metrics.text_query(has_lexemes=False)
    metrics.cursor_rejected(reason="malformed")
    assert 1 == value(metrics, "text_queries_total", lexemes="none")
    assert 1 == value(metrics, "cursor_rejections_total", reason="malformed")


def test_documents_are_counted_as_known_or_new() -> None:
    metrics = GatewayMetrics()
    for known in (False, True, True):
        metrics.document(known)
    assert 1 == value(metrics, "graphql_documents_total", kind="new")
    assert 2 == value(metrics, "graphql_documents_total", kind="known")


def test_exchanges_are_counted_by_template() -> None:
    metrics = GatewayMetrics()
    exchanges: Exchanges = ExchangeReports(metrics)
    exchanges.record("/v1/memories", "GET", 200, 0.5, operation="none")
    exchanges.not_mounted("memory")
    labels = {"route": "/v1/memories", "method": "GET", "status": "200", "operation": "none"}
    assert 1 == value(metrics, "http_exchange_seconds_count", **labels)
    assert 1 == value(metrics, "not_mounted_requests_total", surface="memory")


def test_a_sensitivity_without_beliefs_is_zero() -> None:
    metrics = GatewayMetrics()
    metrics.stored({"internal": 4})
    metrics.stored({"public": 3})
    assert {"public": 3, "internal": 0, "sensitive": 0, "restricted": 0} == {
        sensitivity.value: value(metrics, "stored_beliefs", sensitivity=sensitivity.value)
        for sensitivity in Sensitivity
    }


def test_failures_beside_the_requests_are_counted() -> None:
    metrics = GatewayMetrics()
    metrics.last_use_failed()
    metrics.background_failed("sweep")
    metrics.swept(expired=2, receipts=1)
    assert 1 == value(metrics, "last_use_failures_total")
    assert 1 == value(metrics, "background_failures_total", task="sweep")
    assert 2 == value(metrics, "swept_total", kind="expired")


async def test_the_metrics_are_shown_at_one_path() -> None:
    transport = ASGITransport(app=metrics_application(GatewayMetrics()))
    async with AsyncClient(transport=transport, base_url="http://metrics") as client:
        shown = await client.get("/metrics")
        missing = await client.get("/")
    assert shown.headers["content-type"].startswith("text/plain; version=")
    assert "belief_gateway_last_use_failures_total 0.0" in shown.text
    assert 404 == missing.status_code
