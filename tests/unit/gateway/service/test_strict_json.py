"""JSON is taken strictly: one object within bounds, or a refusal that names what was given."""

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.service.errors import MalformedRequest
from gateway.service.strict_json import JSON_DEPTH_MAX, parse_object


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"null", "object"),
        (b"5", "object"),
        (b"true", "object"),
        (b'"x"', "object"),
        (b"[]", "object"),
        (b"", "valid JSON"),
        (b"{", "valid JSON"),
        (b"{'a':1}", "valid JSON"),
        (b'{"a":1}x', "valid JSON"),
        (b"\xef\xbb\xbf{}", "valid JSON"),
        ('{"a":1}'.encode("utf-16"), "UTF-8"),
        (b'{"a":"\xe9"}', "UTF-8"),
        (b'{"a":1,"a":1}', "twice"),
        (b'{"a":{"b":1,"b":2}}', "twice"),
        (b'{"a":NaN}', "finite"),
        (b'{"a":-Infinity}', "finite"),
        (b'{"a":1e999}', "finite"),
        (b'{"a":' + b"9" * 65 + b"}", "digits"),
        (b"[" * 5_000, "deeper"),
        (b'{"a":' * 5_000, "deeper"),
    ],
)
def test_what_is_no_sound_object_is_refused(content: bytes, reason: str) -> None:
    with pytest.raises(MalformedRequest, match=reason) as refusal:
        parse_object("body", content)

    assert refusal.value.parameter == "body"


def test_brackets_within_a_string_do_not_nest() -> None:
    text = json.dumps({"a": '[{"' * 100 + "\\"})

    assert parse_object("body", text) == json.loads(text)


def test_the_deepest_nesting_is_taken() -> None:
    nested = "[" * (JSON_DEPTH_MAX - 1) + "]" * (JSON_DEPTH_MAX - 1)

    assert parse_object("body", f'{{"a":{nested}}}') == {"a": json.loads(nested)}


def test_fractions_can_be_kept_exact() -> None:
    assert parse_object("line", b'{"a":0.1}', parse_float=Decimal) == {"a": Decimal("0.1")}


@given(
    st.dictionaries(
        st.text(),
        st.recursive(
            st.none()
            | st.booleans()
            | st.integers(-(10**60), 10**60)
            | st.text()
            | st.floats(allow_nan=False, allow_infinity=False),
            lambda children: st.lists(children) | st.dictionaries(st.text(), children),
            max_leaves=10,
        ),
    )
)
def test_a_sound_object_is_taken_as_it_is(value: dict[str, object]) -> None:
    assert parse_object("body", json.dumps(value).encode()) == value
