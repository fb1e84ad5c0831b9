"""Bounds of confidence and formation: what they take in, on planned and plain pages, and as an overview shows them."""

from datetime import timedelta
from decimal import Decimal

import pytest

from tests.factories import NOW, memory
from tests.unit.gateway.graphql.clients import deployment

BOUNDED = """query($from: Float, $to: Float, $after: DateTime, $before: DateTime) {
  memories(ceiling: PUBLIC, confidenceMin: $from, confidenceMax: $to, formedAfter: $after, formedBefore: $before) {
    %s
  }
}"""


@pytest.mark.parametrize("members", ["nodes { statement }", "nodes { statement } totalCount"], ids=["planned", "plain"])
@pytest.mark.parametrize(
    ("bounds", "found"),
    [
        ({}, "ABC"),
        ({"from": None, "to": None, "after": None, "before": None}, "ABC"),
        ({"from": 0.3}, "BC"),
        ({"from": 0.1 + 0.2}, "C"),
        ({"to": 0.3}, "AB"),
        ({"from": 0, "to": 1}, "ABC"),
        ({"from": 0.3, "to": 0.3}, "B"),
        ({"from": -0.0, "to": 0}, ""),
        ({"after": "2026-01-02T00:00:00Z"}, "BC"),
        ({"after": "2026-01-02T00:00:00.000001Z"}, "C"),
        ({"before": "2026-01-02T01:00:00+01:00"}, "A"),
        ({"after": "2026-01-02T00:00:00Z", "before": "2026-01-03T00:00:00Z"}, "B"),
        ({"after": "2026-01-02T00:00:00Z", "to": 0.3}, "B"),
    ],
)
async def test_bounds_of_confidence_and_formation_are_in_force(
    members: str, bounds: dict[str, object], found: str
) -> None:
    start = NOW.replace(month=1, day=1, hour=0, minute=0, second=0, microsecond=0)
    records = [
        memory(name, confidence=Decimal(confidence), created_at=start + timedelta(days=day))
        for day, (name, confidence) in enumerate([("A", "0.299"), ("B", "0.300"), ("C", "0.301")])
    ]
    async with deployment(*records) as client:
        shown = (await client.data(BOUNDED % members, bounds))["memories"]
        # A planned page is asked for as often as a plain one.
        again = (await client.data(BOUNDED % members, bounds))["memories"]
    assert shown == again
    assert list(found[::-1]) == [node["statement"] for node in shown["nodes"]]
    assert len(found) == shown.get("totalCount", len(found))


async def test_what_an_overview_shows_is_what_its_own_bounds_find() -> None:
    records = [
        memory(f"Belief {thousandths}", confidence=Decimal(thousandths) / 1000, created_at=NOW - timedelta(thousandths))
        for thousandths in (0, 1, 199, 200, 201, 399, 400, 599, 600, 601, 799, 800, 999, 1000)
    ]
    asked = "{ memoryOverview(ceiling: PUBLIC) { confidenceBands { minimum maximum count } months { month count } } }"
    async with deployment(*records) as client:
        overview = (await client.data(asked))["memoryOverview"]
        bands = overview["confidenceBands"]
        for band in bands:
            to = band["maximum"] if band is bands[-1] else band["maximum"] - 0.001
            shown = await client.data(BOUNDED % "totalCount", {"from": band["minimum"], "to": to})
            assert band["count"] == shown["memories"]["totalCount"] > 0
        for each in overview["months"]:
            year, month = map(int, each["month"].split("-"))
            bounds = {
                "after": f"{year:04}-{month:02}-01T00:00:00Z",
                "before": f"{year + month // 12:04}-{month % 12 + 1:02}-01T00:00:00Z",
            }
            assert each["count"] == (await client.data(BOUNDED % "totalCount", bounds))["memories"]["totalCount"]
