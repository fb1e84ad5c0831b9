"""Text to types: what is taken, what is refused, and which parameter a refusal names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import Headers

from gateway.rest.operations import BROWSE, BROWSE_WITH_DERIVED, READ
from gateway.rest.parameters import (
    decoded,
    parse_idempotency_key,
    parse_include_derived,
    parse_outcome,
    parse_paging,
    parse_query,
    parse_selection,
)
from gateway.service.errors import MalformedRequest
from store.domain.vocabulary import BeliefType, MemoryStatus, ReviewOutcome, Sensitivity


def parse_browse(query: bytes) -> None:
    """Take a query string of the list apart, to its types."""
    values = parse_query(query, BROWSE.parameters)
    parse_include_derived(values, served=False)
    parse_selection(values)
    parse_paging(values)


def refusal(query: bytes) -> str:
    """The message with which a query string of the list is refused."""
    with pytest.raises(MalformedRequest) as refused:
        parse_browse(query)
    return refused.value.message


def test_everything_that_is_documented_is_taken() -> None:
    values = parse_query(
        b"ceiling=sensitive&limit=007&cursor=abc&status=active&status=expired&belief_type=fact&subject=Ada+L%C3%B8v"
        b"&session_id=x&text=&flagged=false&include_derived=false",
        BROWSE.parameters,
    )

    selection = parse_selection(values)
    paging = parse_paging(values)

    assert Sensitivity.SENSITIVE is selection.ceiling
    assert {MemoryStatus.ACTIVE, MemoryStatus.EXPIRED} == selection.statuses
    assert {BeliefType.FACT} == selection.belief_types
    assert ("Ada Løv", "x", "", False) == (
        selection.subject,
        selection.session_id,
        selection.text,
        selection.flagged,
    )
    assert (7, "abc") == (paging.first, paging.after)


def test_what_is_absent_is_no_filter() -> None:
    selection = parse_selection(parse_query(b"ceiling=public", BROWSE.parameters))

    assert (None, None, None, None) == (selection.statuses, selection.subject, selection.text, selection.flagged)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (b"", "ceiling is required"),
        (b"limit=1", "ceiling is required"),
        (b"ceiling=", "ceiling must not be empty"),
        (b"ceiling", "ceiling must not be empty"),
        (b"ceiling=top", "ceiling must be one of public, internal, sensitive, restricted"),
        (b"ceiling=PUBLIC", "ceiling must be one of public, internal, sensitive, restricted"),
        (b"ceiling=public&ceiling=public", "ceiling must be given once"),
        (b"ceiling=public&limit=1&limit=1", "limit must be given once"),
        (b"ceiling=public&colour=red&colour=red", "colour must be given once"),
        (b"ceiling=public&colour=red", "colour is not a parameter of this operation"),
        (b"ceiling=public&Limit=1", "Limit is not a parameter of this operation"),
        (b"ceiling=public&%20=1", "a parameter is not a parameter of this operation"),
        (b"ceiling=public&=1", "a parameter is not a parameter of this operation"),
        (b"ceiling=public&" + b"a" * 65 + b"=1", "a parameter is not a parameter of this operation"),
        (b"ceiling=public&status=", "status must not be empty"),
        (b"ceiling=public&status=active&status=", "status must not be empty"),
        (b"ceiling=public&subject=", "subject must not be empty"),
        (b"ceiling=public&cursor=", "cursor must not be empty"),
        (b"ceiling=public&text=&text=", "text must be given once"),
        (b"ceiling=public&subject=%00", "subject must hold neither U+0000 nor a lone surrogate"),
        (b"ceiling=public&text=a%00b", "text must hold neither U+0000 nor a lone surrogate"),
        (b"ceiling=public&a%00=b", "a parameter must hold neither U+0000 nor a lone surrogate"),
        (b"ceiling=public&text=%ff", "the query string must be percent-encoded UTF-8"),
        (b"ceiling=public&text=%ED%A0%80", "the query string must be percent-encoded UTF-8"),
        (b"ceiling=public&text=%C0%80", "the query string must be percent-encoded UTF-8"),
        (b"ceiling=public&text=100%", "the query string must be percent-encoded UTF-8"),
        (b"ceiling=public&text=%zz", "the query string must be percent-encoded UTF-8"),
        (b"ceiling=public&%ff=1", "the query string must be percent-encoded UTF-8"),
    ],
)
def test_a_malformed_query_string_is_refused(query: bytes, message: str) -> None:
    assert message == refusal(query)


@pytest.mark.parametrize(
    "limit", [b"ten", b"1.0", b"1e2", b"0x10", b"+5", b"%2B5", b"5%20", b"1_000", b"%D9%A1", b"1" * 65]
)
def test_a_limit_is_plain_decimal_digits(limit: bytes) -> None:
    assert "limit must be a positive integer" == refusal(b"ceiling=public&limit=" + limit)


def test_a_limit_below_one_is_left_to_the_rules() -> None:
    values = parse_query(b"ceiling=public&limit=-1", BROWSE.parameters)

    assert -1 == parse_paging(values).first


@pytest.mark.parametrize("flagged", [b"True", b"1", b"yes", b"null", b"false%20"])
def test_a_boolean_is_true_or_false(flagged: bytes) -> None:
    assert "flagged must be true or false" == refusal(b"ceiling=public&flagged=" + flagged)


def test_derived_records_cannot_be_asked_for() -> None:
    assert "include_derived must be false: this server shows no derived records" == refusal(
        b"ceiling=public&include_derived=true"
    )
    assert "include_derived must be true or false" == refusal(b"ceiling=public&include_derived=yes")


@pytest.mark.parametrize(
    ("query", "meant"),
    [(b"", False), (b"&include_derived=false", False), (b"&include_derived=true", True)],
)
def test_derived_records_can_be_asked_for_where_they_are_served(query: bytes, meant: bool) -> None:
    values = parse_query(b"ceiling=public" + query, BROWSE_WITH_DERIVED.parameters)

    assert meant is parse_include_derived(values, served=True)
    with pytest.raises(MalformedRequest, match="include_derived must be true or false"):
        parse_include_derived({"include_derived": ["yes"]}, served=True)


def test_the_first_failure_in_the_documented_order_is_told() -> None:
    every = b"subject=&colour=red&limit=1&limit=2&text=%00"

    assert refusal(every + b"&session_id=%ff").startswith("the query string")
    assert refusal(every).startswith("text must hold")
    assert refusal(every.removesuffix(b"&text=%00")) == "ceiling is required"
    assert refusal(b"ceiling=top&subject=&colour=red&limit=1&limit=2") == "limit must be given once"
    assert refusal(b"ceiling=top&subject=&colour=red&limit=x") == "colour is not a parameter of this operation"
    assert refusal(b"ceiling=top&subject=&limit=x") == "subject must not be empty"
    assert refusal(b"ceiling=top&limit=x").startswith("ceiling must be one of")


def test_a_detail_takes_nothing_but_the_ceiling() -> None:
    with pytest.raises(MalformedRequest, match=r"^limit is not a parameter"):
        parse_query(b"ceiling=public&limit=1", READ.parameters)


@given(st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1))
def test_any_well_formed_text_arrives_as_it_was_sent(text: str) -> None:
    encoded = b"".join(b"%%%02X" % byte for byte in text.encode())

    assert [text] == parse_query(b"ceiling=public&text=" + encoded, BROWSE.parameters)["text"]
    assert text == decoded("memory_id", encoded)


@given(st.binary())
def test_any_bytes_are_parsed_or_refused(query: bytes) -> None:
    try:
        values = parse_query(query, BROWSE.parameters)
        parse_selection(values)
        parse_paging(values)
    except MalformedRequest:
        return
    assert "ceiling" in values


@pytest.mark.parametrize("outcome", ReviewOutcome)
def test_a_review_body_holds_the_outcome(outcome: ReviewOutcome) -> None:
    assert outcome is parse_outcome(f'{{"outcome": "{outcome.value}"}}'.encode())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{}", "outcome is required in the body"),
        (b'{"outcome": "changed"}', "outcome must be one of dismiss, untrue, not_here"),
        (b'{"outcome": "DISMISS"}', "outcome must be one of dismiss, untrue, not_here"),
        (b'{"outcome": null}', "outcome must be one of dismiss, untrue, not_here"),
        (b'{"outcome": ["dismiss"]}', "outcome must be one of dismiss, untrue, not_here"),
        (b'{"outcome": {"dismiss": 1}}', "outcome must be one of dismiss, untrue, not_here"),
        (b'{"outcome": "dismiss", "ceiling": "public"}', "ceiling is not a member of the body"),
        (b'{"outcome": "dismiss", "\\u0000": 1}', "a parameter is not a member of the body"),
        (b"", "the body must be valid JSON"),
        (b"[]", "the body must be a JSON object"),
        (b"null", "the body must be a JSON object"),
        (b"\xff", "the body must be UTF-8"),
    ],
)
def test_a_review_body_holds_nothing_else(content: bytes, message: str) -> None:
    with pytest.raises(MalformedRequest) as refused:
        parse_outcome(content)
    assert message == refused.value.message


def test_the_idempotency_key_is_given_exactly_once() -> None:
    once = (b"idempotency-key", b"one")

    assert "one" == parse_idempotency_key(Headers(raw=[once]))
    with pytest.raises(MalformedRequest, match=r"^Idempotency-Key is required"):
        parse_idempotency_key(Headers(raw=[]))
    with pytest.raises(MalformedRequest, match=r"^Idempotency-Key must be given once"):
        parse_idempotency_key(Headers(raw=[once, once]))
