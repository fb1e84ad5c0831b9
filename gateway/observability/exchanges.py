"""Each HTTP exchange in the log and in the metrics: the route's template, never the target.

Source: belief store decisions, Metrics.
"""

import logging

from gateway.observability.metrics import GatewayMetrics

_log = logging.getLogger(__name__)


class ExchangeReports:
    """Writes one line for each exchange, and counts it."""

    def __init__(self, metrics: GatewayMetrics) -> None:
        """Count in these metrics."""
        self._metrics = metrics

    def record(self, route: str, method: str, status: int, seconds: float) -> None:
        """One exchange: the template of its route, its method, the status answered, how long it took."""
        self._metrics.exchange(route, method, status, seconds)
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
