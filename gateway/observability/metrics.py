"""What a running gateway counts, in a registry of its own, and the application that shows it at /metrics.

Every label comes from a closed list: an operation, a code, a ceiling, a route's template, the name of an operation in
a document that the operator trusts. No statement, subject or identifier is a label, and nothing is counted that the
ceiling hides: one gauge of all stored beliefs by sensitivity, refreshed in the background, stands for that.
Source: belief store decisions, Metrics.
"""

from collections.abc import Callable, Mapping
from functools import partial

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, disable_created_metrics
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from store.domain.vocabulary import Sensitivity

_PAGE_SIZES = (0, 1, 5, 10, 25, 50, 100, 200)
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)


class GatewayMetrics:
    """The counts of one gateway: what the services report, what the exchanges report, and what the background does."""

    def __init__(self) -> None:
        """Begin at nothing."""
        # The time at which a count began, a second series beside each: nobody asks for it. A switch of the process.
        disable_created_metrics()  # type: ignore[no-untyped-call] # the library has not typed it
        self.registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        self._begin_operations(registry)
        self._begin_requests(registry)
        self._begin_background(registry)

    def _begin_operations(self, registry: CollectorRegistry) -> None:
        self._operations = Counter(
            "belief_gateway_operations",
            "Requests of an operation, by outcome (ok or the code of the failure) and declared ceiling.",
            ("operation", "outcome", "ceiling"),
            registry=registry,
        )
        self._page_size = Histogram(
            "belief_gateway_page_size", "Beliefs on a page.", buckets=_PAGE_SIZES, registry=registry
        )
        self._pages = Counter(
            "belief_gateway_pages", "Pages served: the first of a walk, or one continued.", ("kind",), registry=registry
        )
        self._text_queries = Counter(
            "belief_gateway_text_queries",
            "Queries that search text; those with no lexeme can match nothing.",
            ("lexemes",),
            registry=registry,
        )
        self._cursor_rejections = Counter(
            "belief_gateway_cursor_rejections", "Cursors that were refused.", ("reason",), registry=registry
        )

    def _begin_requests(self, registry: CollectorRegistry) -> None:
        self._not_mounted = Counter(
            "belief_gateway_not_mounted_requests",
            "Requests for a surface that this deployment does not mount.",
            ("surface",),
            registry=registry,
        )
        self._exchanges = Histogram(
            "belief_gateway_http_exchange_seconds",
            "HTTP exchanges by the route's template, method, status and trusted GraphQL operation: how many, and how "
            "long they took.",
            ("route", "method", "status", "operation"),
            buckets=_SECONDS,
            registry=registry,
        )
        self._documents = Counter(
            "belief_gateway_graphql_documents",
            "GraphQL documents that were asked for: known (parsed and checked before, or trusted) or new.",
            ("kind",),
            registry=registry,
        )
        self._limits_exceeded = Counter(
            "belief_gateway_limits_exceeded",
            "Requests refused for their size, by limit.",
            ("limit",),
            registry=registry,
        )
        self._rate_limited = Counter(
            "belief_gateway_rate_limited",
            "Requests refused for the rate of cost, or of failed authentications.",
            ("limit",),
            registry=registry,
        )
        self._rate_limit_failures = Counter(
            "belief_gateway_rate_limit_failures",
            "Failures of the storage in which rates are counted; requests then pass uncounted.",
            registry=registry,
        )

    def _begin_background(self, registry: CollectorRegistry) -> None:
        self._last_use_failures = Counter(
            "belief_gateway_last_use_failures", "Last uses of tokens that could not be written.", registry=registry
        )
        self._background_failures = Counter(
            "belief_gateway_background_failures", "Runs of a background task that failed.", ("task",), registry=registry
        )
        self._swept = Counter(
            "belief_gateway_swept", "What sweeps have written or forgotten.", ("kind",), registry=registry
        )
        self._pool_connections = Gauge(
            "belief_gateway_pool_connections",
            "Places for connections to the database: in_use by a read or a write, or free.",
            ("state",),
            registry=registry,
        )
        self._stored_beliefs = Gauge(
            "belief_gateway_stored_beliefs",
            "Stored beliefs of all principals by sensitivity, as of the last look.",
            ("sensitivity",),
            registry=registry,
        )

    def watch_pool(self, count: Callable[[], Mapping[str, int]]) -> None:
        """Show how many connections to the database are `in_use` and `free`, as `count` tells whenever it is asked."""
        for state in ("in_use", "free"):
            self._pool_connections.labels(state).set_function(partial(_counted, count, state))

    def operation(self, operation: str, *, outcome: str, ceiling: Sensitivity) -> None:
        """One request of an operation: `ok` or the code of its failure."""
        self._operations.labels(operation, outcome, ceiling.value).inc()

    def page(self, *, size: int, continued: bool) -> None:
        """One page of so many beliefs, the first of a walk or a later one."""
        self._page_size.observe(size)
        self._pages.labels("continued" if continued else "first").inc()

    def text_query(self, *, has_lexemes: bool) -> None:
        """One query that searches text, and whether it can match anything."""
        self._text_queries.labels("some" if has_lexemes else "none").inc()

    def cursor_rejected(self, *, reason: str) -> None:
        """One cursor refused as `malformed` or `out_of_range`."""
        self._cursor_rejections.labels(reason).inc()

    def exchange(self, route: str, method: str, status: int, seconds: float, *, operation: str) -> None:
        """One HTTP exchange; `route` is a template, and the operation's name that of a trusted document."""
        self._exchanges.labels(route, method, str(status), operation).observe(seconds)

    def not_mounted(self, surface: str) -> None:
        """One request for a surface that is switched off."""
        self._not_mounted.labels(surface).inc()

    def document(self, known: bool) -> None:
        """One GraphQL document that was asked for, and whether it was known."""
        self._documents.labels("known" if known else "new").inc()

    def limit_exceeded(self, limit: str) -> None:
        """One request refused for its size, by the name of the limit."""
        self._limits_exceeded.labels(limit).inc()

    def rate_limited(self, limit: str) -> None:
        """One request refused for `cost` or `failed_authentications` within the window."""
        self._rate_limited.labels(limit).inc()

    def rate_limits_failed(self) -> None:
        """One failure of the storage in which rates are counted."""
        self._rate_limit_failures.inc()

    def last_use_failed(self) -> None:
        """One last use of a token that could not be written."""
        self._last_use_failures.inc()

    def background_failed(self, task: str) -> None:
        """One run of a background task that failed."""
        self._background_failures.labels(task).inc()

    def swept(self, *, expired: int, receipts: int) -> None:
        """What one sweep did."""
        self._swept.labels("expired").inc(expired)
        self._swept.labels("receipts").inc(receipts)

    def stored(self, counts: Mapping[str, int]) -> None:
        """How many beliefs are stored by sensitivity; one that is not named has none."""
        for sensitivity in Sensitivity:
            self._stored_beliefs.labels(sensitivity.value).set(counts.get(sensitivity.value, 0))


def _counted(count: Callable[[], Mapping[str, int]], state: str) -> float:
    return count()[state]


def metrics_application(metrics: GatewayMetrics) -> Starlette:
    """An application of one route, /metrics, in the text format of Prometheus."""

    def show(_: Request) -> Response:
        # Not content of Starlette's own media type: the charset would be added twice.
        return Response(generate_latest(metrics.registry), headers={"content-type": CONTENT_TYPE_LATEST})

    return Starlette(routes=[Route("/metrics", show)])
