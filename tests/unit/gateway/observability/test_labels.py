"""No label of a metric, and nothing in a span, holds what a caller sent; the names of trusted operations are shown."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from gateway.graphql.documents import TrustedDocuments, hash_of
from gateway.http.exchanges import METHODS, NO_OPERATION, NO_ROUTE, OTHER_METHOD, OTHER_OPERATION
from gateway.http.policy import Policy
from gateway.http.rate_limits import RateLimits
from gateway.http.rate_windows import ProcessStorage
from gateway.observability.exchanges import ExchangeReports
from gateway.observability.metrics import GatewayMetrics
from gateway.observability.open_telemetry import OpenTelemetryTraces
from gateway.observability.traced_store import TracedStore
from gateway.rest.operations import MEMORY_OPERATIONS
from gateway.service.errors import ErrorCode
from gateway.web.browser import MemoryBrowser
from gateway.web.pages import Pages
from store.domain.vocabulary import Sensitivity
from store.inmemory.store import InMemoryStore
from tests.factories import memory, owner
from tests.gateways import Gateway, serving

WORD = "quixzorble"
"""Stands in everything that a caller can send, and in the belief itself."""
TRUSTED = "query TrustedPage { memories(ceiling: RESTRICTED) { nodes { id subject statement } } }"
FIXED_ROUTES = {"/graphql", "/livez", "/readyz", "/openapi.json", "/", "/browser/{release}/{name}"}
ROUTES = {operation.path for operation in MEMORY_OPERATIONS} | FIXED_ROUTES
CLOSED: Mapping[tuple[str, str], set[str]] = {
    ("operations", "operation"): {"list", "detail", "overview", "review", "delete"},
    ("operations", "outcome"): {"ok", *ErrorCode},
    ("operations", "ceiling"): set(Sensitivity),
    ("pages", "kind"): {"first", "continued"},
    ("text_queries", "lexemes"): {"some", "none"},
    ("cursor_rejections", "reason"): {"malformed", "out_of_range"},
    ("not_mounted_requests", "surface"): {"memory", "derived", "evidence"},
    ("http_exchange_seconds", "route"): ROUTES | {NO_ROUTE},
    ("http_exchange_seconds", "method"): {*METHODS, OTHER_METHOD},
    ("http_exchange_seconds", "status"): set(map(str, range(100, 600))),
    ("http_exchange_seconds", "operation"): {NO_OPERATION, OTHER_OPERATION, "TrustedPage"},
    ("graphql_documents", "kind"): {"known", "new"},
    ("limits_exceeded", "limit"): {"aliases"},
    ("rate_limited", "limit"): {"cost", "failed_authentications"},
}
"""Every value of every label that a request can touch."""


@dataclass(frozen=True)
class Watched:
    """A gateway that is counted and traced."""

    gateway: Gateway
    metrics: GatewayMetrics
    exporter: InMemorySpanExporter

    async def ask(self, method: str, target: str, **more: Any) -> httpx.Response:  # Any: as the client takes it
        """One request with a token, and with the word wherever a header may hold it."""
        headers = {
            "authorization": f"Bearer {await self.gateway.secret(owner())}",
            "x-request-id": WORD,
            "user-agent": WORD,
            "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "tracestate": f"{WORD}={WORD}",
            "baggage": f"{WORD}={WORD}",
        }
        async with self.gateway.client() as client:
            return await client.request(method, target, headers=headers | more.pop("headers", {}), **more)

    def values(self, metric: str, label: str) -> set[str]:
        """The values of a label that were counted."""
        families = [family for family in self.metrics.registry.collect() if family.name == f"belief_gateway_{metric}"]
        return {sample.labels[label] for family in families for sample in family.samples}

    def spans(self) -> list[ReadableSpan]:
        """The spans that ended, the innermost first."""
        return list(self.exporter.get_finished_spans())


async def watched(*, memory_surface: bool = True) -> AsyncIterator[Watched]:
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    traces = OpenTelemetryTraces(provider)
    metrics = GatewayMetrics()
    reports = ExchangeReports(metrics, traces)
    limits = RateLimits(
        ProcessStorage(), cost_per_minute=1_000_000, failed_authentications_per_minute=1, reports=reports
    )
    async with serving(
        TracedStore(InMemoryStore(), traces),
        memory=memory_surface,
        exchanges=reports,
        measures=metrics,
        count_document=metrics.document,
        trusted=TrustedDocuments({hash_of(TRUSTED): TRUSTED} if memory_surface else {}),
        policy=Policy(rate_limits=limits),
        pages=Pages(browser=MemoryBrowser()),
    ) as gateway:
        yield Watched(gateway, metrics, exporter)
        await limits.close()
    traces.close()


@pytest.fixture
async def on() -> AsyncIterator[Watched]:
    """With the memory surface, and a belief that holds the word."""
    async for each in watched():
        await each.gateway.keep(memory(f"The {WORD} sleeps", subject=WORD, flagged_for_review=True))
        each.exporter.clear()
        yield each


@pytest.fixture
async def off() -> AsyncIterator[Watched]:
    """Without the memory surface."""
    async for each in watched(memory_surface=False):
        yield each


async def provoke(on: Watched) -> None:
    """Send the word in every place, in requests that succeed and in requests that fail."""
    page = await on.ask("GET", f"/v1/memories?ceiling=restricted&text={WORD}&subject={WORD}")
    [item] = page.json()["items"]
    one = f"/v1/memories/{item['id']}"
    await on.ask("GET", "/v1/memories?ceiling=public&text=...")
    await on.ask("GET", f"/v1/memories?ceiling=public&cursor={WORD}")
    await on.ask("GET", f"/v1/memories?ceiling={WORD}&{WORD}={WORD}")
    await on.ask("GET", f"{one}?ceiling=restricted")
    await on.ask("GET", f"/v1/memories/{WORD}?ceiling=public")
    await on.ask("GET", f"/{WORD}?{WORD}={WORD}")
    await on.ask("GET", f"/?{WORD}={WORD}")
    await on.ask("GET", f"/browser/{WORD}/{WORD}/{WORD}.js")
    await on.ask(WORD.upper(), "/v1/memories")
    review = {"headers": {"idempotency-key": WORD}, "json": {"outcome": "dismiss"}}
    await on.ask("POST", f"{one}/review?ceiling=restricted", **review)
    await on.ask("POST", f"{one}/review?ceiling=restricted", **review | {"json": {"outcome": WORD}})
    await on.ask("DELETE", f"/v1/memories/{WORD}?ceiling=restricted", headers={"idempotency-key": f"{WORD}2"})
    for content in (
        {"query": f'query {WORD} {{ memories(ceiling: RESTRICTED, text: "{WORD}") {{ nodes {{ statement }} }} }}'},
        {"query": f"query {WORD} {{ {WORD}: viewer {{ scopes }} }}", "operationName": WORD},
        {"query": f"{{ {WORD} }}"},
        {"query": WORD},
        {"query": "{ " + " ".join(f"{WORD}{number}: viewer {{ scopes }}" for number in range(101)) + " }"},
        {"query": "query ($c: Sensitivity!) { memories(ceiling: $c) { totalCount } }", "variables": {"c": WORD}},
        {"documentId": f"sha256:{hash_of(TRUSTED)}", "operationName": WORD},
        {"documentId": f"sha256:{hash_of(WORD)}"},
        {"query": TRUSTED},
        {"query": TRUSTED.replace("TrustedPage", WORD)},
        {"documentId": f"sha256:{hash_of(TRUSTED)}"},
    ):
        await on.ask("POST", "/graphql", json=content)
    for _ in range(2):
        await on.ask("GET", "/v1/memories?ceiling=public", headers={"authorization": f"Bearer {WORD}"})
    await on.ask("DELETE", f"{one}?ceiling=restricted", headers={"idempotency-key": f"{WORD}3"})


async def test_no_label_comes_from_a_caller(on: Watched, off: Watched) -> None:
    await provoke(on)
    await off.ask("GET", f"/v1/memories/{WORD}?ceiling=public")
    seen = {key: on.values(*key) | off.values(*key) for key in CLOSED}

    assert {} == {key: values - CLOSED[key] for key, values in seen.items() if not values <= CLOSED[key]}
    assert [] == [key for key, values in seen.items() if not values]
    every = {
        value.lower()
        for each in (on, off)
        for family in each.metrics.registry.collect()
        for sample in family.samples
        for value in sample.labels.values()
    }
    assert [] == [value for value in every if WORD in value]


async def test_only_a_trusted_operation_is_named(on: Watched) -> None:
    await provoke(on)
    assert {NO_OPERATION, OTHER_OPERATION, "TrustedPage"} == on.values("http_exchange_seconds", "operation")
    count = on.metrics.registry.get_sample_value(
        "belief_gateway_http_exchange_seconds_count",
        {"route": "/graphql", "method": "POST", "status": "200", "operation": "TrustedPage"},
    )
    # Once by its text, once by its hash.
    assert 2 == count


async def test_nothing_in_a_span_comes_from_a_caller(on: Watched) -> None:
    await provoke(on)
    spans = on.spans()
    names = {span.name for span in spans}

    assert {"GET /v1/memories", "POST /graphql", "GET none", "OTHER /v1/memories"} <= names
    assert {"store memories.browse_encoded", "store memories.find", "store transact", "store tokens.find"} <= names
    allowed = {
        "http.request.method": METHODS | {OTHER_METHOD},
        "http.route": ROUTES | {NO_ROUTE},
        "http.response.status_code": set(range(100, 600)),
        "graphql.operation.name": {NO_OPERATION, OTHER_OPERATION, "TrustedPage"},
        "db.operation.name": {name.removeprefix("store ") for name in names if name.startswith("store ")},
    }
    for span in spans:
        attributes = dict(span.attributes or {})
        attributes.pop("error.type", None)
        assert [] == [name for name, value in attributes.items() if value not in allowed[name]]
        assert WORD not in span.to_json().lower()
        assert ((), ()) == (span.events, span.links)
        assert None is span.status.description


async def test_what_the_store_is_asked_is_a_part_of_the_exchange(on: Watched) -> None:
    await on.ask("GET", "/v1/memories?ceiling=restricted")
    *inner, exchange = on.spans()

    # A caller's own trace is not taken over.
    assert None is exchange.parent
    assert exchange.context is not None
    assert {exchange.context.trace_id} == {span.context.trace_id for span in inner if span.context is not None}
    assert [] == [span.name for span in inner if span.parent is None]
    assert "store memories.browse_encoded" in {span.name for span in inner}


async def test_what_happens_beside_the_exchanges_is_not_traced(on: Watched) -> None:
    await on.gateway.store.check()
    assert [] == on.spans()


async def test_a_failure_is_marked_without_its_message() -> None:
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    traces = OpenTelemetryTraces(provider)
    with pytest.raises(LookupError), traces.exchange():  # noqa: PT012 # the failure passes both
        traces.describe_exchange("/graphql", "POST", 500, operation=OTHER_OPERATION)
        with traces.store_operation("memories.find"):
            raise LookupError(WORD)

    for span in exporter.get_finished_spans():
        assert StatusCode.ERROR is span.status.status_code
        assert "LookupError" == (span.attributes or {})["error.type"]
        assert WORD not in span.to_json()
