"""The two writes: what each outcome changes, what a delete takes with it, and what a repeated key does."""

from decimal import Decimal
from typing import Any

import pytest

from store.domain.memories import MemoryRecord
from store.domain.vocabulary import MemoryStatus, Portability, Sensitivity
from tests.factories import NOW, identifier, memory, owner
from tests.gateways import READ, WRITE
from tests.parity.clients import Answer, Row, Transport

ADA = owner()
WIRE_NOW = "2026-06-15T12:00:00.000000Z"
REJECTED = {"confidence": 0.3, "updated_at": WIRE_NOW}


async def review(transport: Transport, record: MemoryRecord, outcome: str, key: str = "key") -> Answer:
    """Review a belief as Ada."""
    return await transport.review(
        await transport.gateway.secret(ADA),
        str(record.id),
        {"ceiling": "restricted", "outcome": outcome, "idempotency_key": key},
    )


async def delete(transport: Transport, record: MemoryRecord, key: str = "key") -> Answer:
    """Delete a belief as Ada."""
    return await transport.delete(
        await transport.gateway.secret(ADA), str(record.id), {"ceiling": "restricted", "idempotency_key": key}
    )


async def shown(transport: Transport, record: MemoryRecord) -> Answer:
    """The belief as Ada reads it."""
    return await transport.read(await transport.gateway.secret(ADA), str(record.id), {"ceiling": "restricted"})


async def order(transport: Transport) -> list[str]:
    """The ids of every belief of Ada's, whatever its status, newest first."""
    statuses = [status.value for status in MemoryStatus]
    return (
        await transport.browse(await transport.gateway.secret(ADA), {"ceiling": "restricted", "status": statuses})
    ).ids


@pytest.mark.parametrize(
    ("given", "outcome", "changed"),
    [
        ({"flagged_for_review": True}, "dismiss", {"flagged_for_review": False, "updated_at": WIRE_NOW}),
        ({}, "untrue", {**REJECTED, "status": "retired", "valid_to": WIRE_NOW}),
        ({"flagged_for_review": True}, "untrue", {**REJECTED, "status": "retired", "valid_to": WIRE_NOW}),
        ({}, "not_here", {**REJECTED, "portability": "local"}),
        ({"confidence": Decimal("0.1")}, "not_here", {"confidence": 0, "portability": "local", "updated_at": WIRE_NOW}),
    ],
)
async def test_an_outcome_changes_what_it_says_and_moves_the_belief_to_the_head(
    transport: Transport, given: dict[str, Any], outcome: str, changed: Row
) -> None:
    reviewed, other = await transport.gateway.keep(memory("One", **given), memory("Two"))
    before = (await shown(transport, reviewed)).row
    assert [str(other.id), str(reviewed.id)] == await order(transport)

    answer = await review(transport, reviewed, outcome)

    assert {**before, **changed} == answer.row
    assert answer.row == (await shown(transport, reviewed)).row
    assert [str(reviewed.id), str(other.id)] == await order(transport)


@pytest.mark.parametrize(
    ("given", "outcome"),
    [
        ({}, "dismiss"),
        ({"portability": Portability.LOCAL}, "not_here"),
        ({"status": MemoryStatus.RETIRED, "valid_to": NOW}, "untrue"),
    ],
)
async def test_an_outcome_that_holds_already_changes_nothing(
    transport: Transport, given: dict[str, Any], outcome: str
) -> None:
    reviewed, other = await transport.gateway.keep(memory("One", **given), memory("Two"))
    before = (await shown(transport, reviewed)).row

    answer = await review(transport, reviewed, outcome)

    assert before == answer.row
    assert [str(other.id), str(reviewed.id)] == await order(transport)


async def test_a_deleted_belief_is_gone(transport: Transport) -> None:
    deleted, other = await transport.gateway.keep(memory("One"), memory("Two"))

    answer = await delete(transport, deleted)

    assert (None, ()) == (answer.code, answer.rows)
    assert "not_found" == (await shown(transport, deleted)).code
    assert [str(other.id)] == await order(transport)


async def test_a_delete_takes_every_row_of_the_statement_with_it_and_nobody_elses(transport: Transport) -> None:
    named, twin, above, other, foreign = await transport.gateway.keep(
        memory("Keeps a  rowing boat"),
        memory("KEEPS A ROWING BOAT", scope="elsewhere", status=MemoryStatus.RETIRED),
        memory("Keeps a rowing\u200b boat", sensitivity=Sensitivity.RESTRICTED),
        memory("Keeps a rowing boot"),
        memory("Keeps a rowing boat", owner=owner("bo")),
    )
    secret = await transport.gateway.secret(ADA)

    answer = await transport.delete(secret, str(named.id), {"ceiling": "public", "idempotency_key": "k"})

    assert answer.code is None
    assert ["not_found"] * 3 == [(await shown(transport, record)).code for record in (named, twin, above)]
    assert [str(other.id)] == await order(transport)
    bo = await transport.gateway.secret(owner("bo"))
    assert (await transport.read(bo, str(foreign.id), {"ceiling": "public"})).code is None


async def test_a_repeated_review_applies_once_and_shows_the_belief_as_it_stands(transport: Transport) -> None:
    [reviewed] = await transport.gateway.keep(memory(flagged_for_review=True))

    first = await review(transport, reviewed, "not_here", key="one")
    await review(transport, reviewed, "dismiss", key="two")
    replayed = await review(transport, reviewed, "not_here", key="one")

    assert 0.3 == first.row["confidence"]
    assert {**first.row, "flagged_for_review": False} == replayed.row


async def test_a_repeated_delete_answers_again(transport: Transport) -> None:
    [deleted] = await transport.gateway.keep(memory())

    assert await delete(transport, deleted) == await delete(transport, deleted)
    assert "not_found" == (await delete(transport, deleted, key="another")).code


async def test_a_review_replayed_after_the_belief_was_deleted_is_not_found(transport: Transport) -> None:
    [reviewed] = await transport.gateway.keep(memory(flagged_for_review=True))
    await review(transport, reviewed, "dismiss", key="one")
    await delete(transport, reviewed, key="two")

    assert "not_found" == (await review(transport, reviewed, "dismiss", key="one")).code


async def test_a_key_of_another_request_is_a_conflict(transport: Transport) -> None:
    one, two = await transport.gateway.keep(memory("One", flagged_for_review=True), memory("Two"))
    secret = await transport.gateway.secret(ADA)
    await review(transport, one, "dismiss")

    assert "conflict" == (await review(transport, one, "untrue")).code
    assert "conflict" == (await review(transport, two, "dismiss")).code
    assert "conflict" == (await delete(transport, one)).code
    lower = {"ceiling": "public", "outcome": "dismiss", "idempotency_key": "key"}
    assert "conflict" == (await transport.review(secret, str(one.id), lower)).code
    absent = {"ceiling": "restricted", "outcome": "dismiss", "idempotency_key": "key"}
    assert "conflict" == (await transport.review(secret, str(identifier()), absent)).code
    assert "conflict" == (await transport.review(secret, "no id at all", absent)).code
    assert "active" == (await shown(transport, one)).row["status"]


async def test_a_key_belongs_to_its_principal(transport: Transport) -> None:
    mine, theirs = await transport.gateway.keep(memory("One"), memory("Two", owner=owner("bo")))
    await delete(transport, mine)

    answer = await transport.delete(
        await transport.gateway.secret(owner("bo")), str(theirs.id), {"ceiling": "public", "idempotency_key": "key"}
    )

    assert answer.code is None


async def test_a_refused_write_leaves_its_key_free(transport: Transport) -> None:
    [record] = await transport.gateway.keep(memory(sensitivity=Sensitivity.SENSITIVE))
    secret = await transport.gateway.secret(ADA)

    low = {"ceiling": "internal", "idempotency_key": "key"}
    assert "not_found" == (await transport.delete(secret, str(record.id), low)).code
    assert (await delete(transport, record)).code is None


async def test_reading_and_writing_are_permissions_of_their_own(transport: Transport) -> None:
    [record] = await transport.gateway.keep(memory())
    reader = await transport.gateway.secret(ADA, READ)
    writer = await transport.gateway.secret(ADA, WRITE)
    write = {"ceiling": "public", "idempotency_key": "key"}

    assert "authorization_error" == (await transport.delete(reader, str(record.id), write)).code
    assert (
        "authorization_error" == (await transport.review(reader, str(record.id), {**write, "outcome": "dismiss"})).code
    )
    assert "authorization_error" == (await transport.browse(writer, {"ceiling": "public"})).code
    assert "authorization_error" == (await transport.read(writer, str(record.id), {"ceiling": "public"})).code
    assert (await transport.review(writer, str(record.id), {**write, "outcome": "untrue"})).code is None
