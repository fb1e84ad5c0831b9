"""Which texts are moments: those of RFC 3339 with an offset, and no other."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.service.times import parse_time
from store.domain.encodings import wire_time


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-01-31T08:00:00Z", datetime(2026, 1, 31, 8, tzinfo=UTC)),
        ("2026-01-31T08:00:00.5Z", datetime(2026, 1, 31, 8, 0, 0, 500_000, tzinfo=UTC)),
        ("2026-01-31T08:00:00.000001Z", datetime(2026, 1, 31, 8, 0, 0, 1, tzinfo=UTC)),
        ("2026-01-31T08:00:00+05:30", datetime(2026, 1, 31, 2, 30, tzinfo=UTC)),
        ("2026-01-31T20:00:00-08:00", datetime(2026, 2, 1, 4, tzinfo=UTC)),
        ("2026-01-31T08:00:00-00:00", datetime(2026, 1, 31, 8, tzinfo=UTC)),
        ("2024-02-29T23:59:59+23:59", datetime(2024, 2, 29, 0, 0, 59, tzinfo=UTC)),
        ("0001-01-01T00:00:00Z", datetime(1, 1, 1, tzinfo=UTC)),
        ("9999-12-31T23:59:59.999999Z", datetime.max.replace(tzinfo=UTC)),
    ],
)
def test_a_time_with_its_offset_is_a_moment_in_utc(text: str, moment: datetime) -> None:
    assert moment == parse_time(text)
    assert UTC is getattr(parse_time(text), "tzinfo", None)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026-01-31",
        "2026-01-31T08:00:00",
        "2026-01-31 08:00:00Z",
        "2026-01-31t08:00:00z",
        "2026-01-31T08:00Z",
        "2026-01-31T08:00:00,5Z",
        "2026-01-31T08:00:00.Z",
        "2026-01-31T08:00:00.0000001Z",
        "2026-01-31T08:00:00+01",
        "2026-01-31T08:00:00+0100",
        "2026-01-31T08:00:00+01:00:00",
        "2026-01-31T08:00:00+24:00",
        "2026-01-31T08:00:00+10:75",
        "2026-01-31T08:00:00 +01:00",
        "2026-01-31T08:00:00\u221201:00",
        "2026-01-31T08:00:00Z\n",
        " 2026-01-31T08:00:00Z",
        "2026-02-29T08:00:00Z",
        "2026-13-01T08:00:00Z",
        "2026-01-31T24:00:00Z",
        "2026-12-31T23:59:60Z",
        "20260131T080000Z",
        "2026-W05-6T08:00:00Z",
        "0000-01-01T00:00:00Z",
        "10000-01-01T00:00:00Z",
        "-2026-01-31T08:00:00Z",
        "0001-01-01T00:00:00+00:01",
        "9999-12-31T23:59:59-00:01",
        "２０26-01-31T08:00:00Z",
        "1769846400",
    ],
)
def test_nothing_else_is(text: str) -> None:
    assert parse_time(text) is None


@given(st.datetimes(timezones=st.just(UTC)))
def test_what_an_answer_shows_can_be_asked_for(moment: datetime) -> None:
    assert moment == parse_time(wire_time(moment))


@given(st.text(max_size=40))
def test_any_text_is_a_moment_or_none(text: str) -> None:
    moment = parse_time(text)
    assert moment is None or moment.tzinfo is UTC
