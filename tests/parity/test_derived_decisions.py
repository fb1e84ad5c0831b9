"""Derived records as they are decided on: reviewed, deleted, and withheld or retired with what they rest on."""

from datetime import timedelta
from typing import Any

import pytest

from store.domain.vocabulary import MemoryStatus, Portability
from tests.factories import NOW, derived, memory
from tests.parity.clients import Row, Transport
from tests.parity.derived import ADA, CEILING, delete, ids, items, pair_and_summary, review, shown
from tests.parity.derived import gateway as gateway  # noqa: PLC0414 - a fixture is found by its name here

WIRE_NOW = "2026-06-15T12:00:00.000000Z"


@pytest.mark.parametrize(
    ("given", "outcome", "changed"),
    [
        ({"flagged_for_review": True}, "dismiss", {"flagged_for_review": False, "updated_at": WIRE_NOW}),
        ({}, "not_here", {"revision": 2, "updated_at": WIRE_NOW}),
        (
            {"flagged_for_review": True},
            "untrue",
            {"revision": 2, "updated_at": WIRE_NOW, "status": "retired", "content": None, "sources": []},
        ),
        ({}, "dismiss", {}),
        ({"portability": Portability.LOCAL}, "not_here", {}),
    ],
)
async def test_an_outcome_changes_what_it_says_and_no_source(
    transport: Transport, given: dict[str, Any], outcome: str, changed: Row
) -> None:
    boat, dawn, summary = await pair_and_summary(transport.gateway, **given)
    before = (await shown(transport, summary)).row
    secret = await transport.gateway.secret(ADA)
    beliefs = await transport.browse(secret, CEILING)
    expected = {**before, **changed}
    if outcome == "not_here" and changed:
        expected["content"] = {**before["content"], "portability": "local"}

    answer = await review(transport, summary, outcome)

    assert expected == answer.row
    assert answer.row == (await shown(transport, summary)).row
    assert beliefs == await transport.browse(secret, CEILING)
    assert ids(*([] if outcome == "untrue" else [summary]), dawn, boat) == await items(transport)


async def test_a_repeated_review_applies_once_and_shows_the_record_as_it_stands(transport: Transport) -> None:
    _, _, summary = await pair_and_summary(transport.gateway, flagged_for_review=True)

    first = await review(transport, summary, "not_here", key="one")
    await review(transport, summary, "dismiss", key="two")

    assert {**first.row, "flagged_for_review": False} == (await review(transport, summary, "not_here", key="one")).row
    assert "conflict" == (await review(transport, summary, "untrue", key="one")).code
    assert "conflict" == (await delete(transport, summary, key="one")).code


async def test_a_deleted_derived_record_is_gone_and_its_sources_are_not(transport: Transport) -> None:
    boat, dawn, summary = await pair_and_summary(transport.gateway)

    answer = await delete(transport, summary)

    assert (None, ()) == (answer.code, answer.rows)
    assert answer == await delete(transport, summary)
    assert "not_found" == (await shown(transport, summary)).code
    assert "not_found" == (await delete(transport, summary, key="another")).code
    assert "not_found" == (await review(transport, summary, "dismiss", key="third")).code
    assert ids(dawn, boat) == await items(transport)


async def test_a_belief_is_reviewed_and_deleted_as_ever(transport: Transport) -> None:
    [boat] = await transport.gateway.keep(memory("Keeps a rowing boat", flagged_for_review=True))

    assert (await review(transport, boat, "dismiss")).row["flagged_for_review"] is False
    assert (await delete(transport, boat, key="another")).code is None
    assert [] == await items(transport)


@pytest.mark.parametrize("change", ["not_here", "untrue", "end"])
async def test_a_source_that_is_not_as_it_was_withholds_all_that_rests_on_it(transport: Transport, change: str) -> None:
    boat, dawn, summary = await pair_and_summary(transport.gateway, expires_at=NOW + timedelta(hours=1))
    [above] = await transport.gateway.keep_derived(
        derived(summary, statement="Rows at dawn", expires_at=NOW + timedelta(hours=1))
    )
    assert ids(above, summary) == (await items(transport))[:2]

    if change == "end":
        transport.gateway.clock.advance(timedelta(hours=1))
    else:
        assert (await review(transport, boat, change, key="of-the-source")).code is None

    left = await items(transport, status=[status.value for status in MemoryStatus])
    assert set(ids(boat, dawn)) == set(left)
    for number, withheld in enumerate((summary, above)):
        answers = [
            await shown(transport, withheld),
            await review(transport, withheld, "dismiss", key=f"review-{number}"),
            await delete(transport, withheld, key=f"delete-{number}"),
        ]
        assert ["not_found"] * 3 == [answer.code for answer in answers]


async def test_a_source_that_is_deleted_takes_the_content_of_all_that_rests_on_it(transport: Transport) -> None:
    boat, dawn, summary = await pair_and_summary(transport.gateway)
    [above] = await transport.gateway.keep_derived(derived(summary, statement="Keeps a rowing boat"))

    await delete(transport, boat)

    assert ids(dawn) == await items(transport)
    for shell in (summary, above):
        answer = await shown(transport, shell)
        assert ("retired", None, []) == tuple(answer.row[name] for name in ("status", "content", "sources"))
        assert "boat" not in answer.response.text
    assert (await delete(transport, summary, key="of-the-shell")).code is None
    assert "not_found" == (await shown(transport, summary)).code
