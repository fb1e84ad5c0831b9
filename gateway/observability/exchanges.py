"""Each HTTP exchange in the log, the metrics and the traces: the route's template, never the target.

Source: belief store decisions, Metrics.
"""

import logging
from contextlib import AbstractContextManager, nullcontext

from gateway.observability.metrics import GatewayMetrics
from gateway.observability.traces import Traces

_log = logging.getLogger(__name__)


class ExchangeReports:
    """Writes one line for each exchange, counts it, and traces it."""

    def __init__(self, metrics: GatewayMetrics, traces: Traces | None = None) -> None:
        """Count in these metrics; without `traces` nothing is traced."""
        self._metrics = metrics
        self._traces = traces

    def under_way(self) -> AbstractContextManager[None]:
        """The span of one exchange, its record included."""
        return nullcontext() if self._traces is None else self._traces.exchange()

    def record(self, route: str, method: str, status: int, seconds: float, *, operation: str) -> None:
        """One exchange: the template of its route, its method, the status answered, how long it took."""
        self._metrics.exchange(route, method, status, seconds, operation=operation)
        if self._traces is not None:
            self._traces.describe_exchange(route, method, status, operation=operation)
        _log.info(
            "exchange",
            extra={"route": route, "method": method, "status": status, "duration_ms": round(seconds * 1000, 3)},
        )

    def not_mounted(self, surface: str) -> None:
        """One request for a surface that this deployment does not mount."""
        self._metrics.not_mounted(surface)

    def limit_exceeded(self, limit: str) -> None:
        """One request refused for its size, by the name of the limit."""
        self._metrics.limit_exceeded(limit)

    def rate_limited(self, limit: str) -> None:
        """One request refused for `cost` or `failed_authentications` within the window."""
        self._metrics.rate_limited(limit)

    def rate_limits_failed(self) -> None:
        """One failure of the storage in which the rate limits are counted."""
        self._metrics.rate_limits_failed()
