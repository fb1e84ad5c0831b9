"""Bodies: confidence with one to three decimals, times with six digits, words in lower case."""

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.rest.rendering import empty_response, json_response, page_response
from gateway.service.memory_reading import MemoryEdge, MemoryPage
from gateway.views.memories import memory_view
from store.domain.memories import MemoryRecord
from store.domain.vocabulary import MemoryStatus
from tests.factories import NOW, identifier, memory
from tests.strategies import memories


@pytest.mark.parametrize(
    ("confidence", "written"),
    [
        ("0", "0.0"),
        ("1", "1.0"),
        ("0.5", "0.5"),
        ("0.50", "0.5"),
        ("0.25", "0.25"),
        ("0.001", "0.001"),
        ("0.999", "0.999"),
    ],
)
def test_a_confidence_has_one_to_three_decimals(confidence: str, written: str) -> None:
    body = bytes(json_response(memory_view(memory(confidence=Decimal(confidence)), NOW)).body)

    assert f'"confidence":{written},'.encode() in body


@given(st.integers(0, 1000))
def test_every_confidence_is_written_shortly(thousandths: int) -> None:
    body = bytes(json_response(memory_view(memory(confidence=Decimal(thousandths).scaleb(-3)), NOW)).body)

    written = body.split(b'"confidence":')[1].split(b",")[0].decode()
    assert Decimal(thousandths) / 1000 == Decimal(written)
    assert 1 <= len(written.partition(".")[2]) <= 3


@pytest.mark.parametrize(
    ("moment", "written"),
    [
        (datetime(2026, 1, 2, tzinfo=UTC), "2026-01-02T00:00:00.000000Z"),
        (datetime(987, 1, 2, 3, 4, 5, 60, tzinfo=UTC), "0987-01-02T03:04:05.000060Z"),
        (NOW - timedelta(microseconds=1), "2026-06-15T11:59:59.999999Z"),
    ],
)
def test_a_time_has_six_digits(moment: datetime, written: str) -> None:
    shown = json.loads(bytes(json_response(memory_view(memory(created_at=moment), NOW)).body))

    assert written == shown["created_at"]


@given(memories())
def test_a_body_is_the_view_as_json(record: MemoryRecord) -> None:
    view = memory_view(record, NOW)

    assert view.model_dump(mode="json") == json.loads(bytes(json_response(view).body))


def test_a_page_holds_its_items_and_the_next_cursor() -> None:
    record = memory("Ein Straßenname in 東京", id=identifier(1), status=MemoryStatus.RETIRED)
    edge = MemoryEdge(cursor="here", node=memory_view(record, NOW))
    page = MemoryPage(edges=(edge,), has_next_page=True, has_previous_page=None)
    last = MemoryPage(edges=(), has_next_page=False, has_previous_page=None)

    shown = json.loads(bytes(page_response(page).body))

    assert ("here", ["retired"]) == (shown["next_cursor"], [item["status"] for item in shown["items"]])
    assert "東京".encode() in bytes(page_response(page).body)
    assert b'{"items":[],"next_cursor":null}' == page_response(last).body


def test_no_cache_keeps_an_answer() -> None:
    assert "private, no-store" == empty_response({"allow": "GET"}).headers["cache-control"]
