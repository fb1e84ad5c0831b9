"""Pages: their rows, their order, what each filter selects, and where a walk ends."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from store.domain.memories import MemoryRecord
from store.domain.vocabulary import STORED_STATUSES, BeliefType, MemoryStatus, Sensitivity
from tests.factories import NOW, OTHER_SESSION, SESSION, identifier, memory, owner
from tests.gateways import Gateway
from tests.parity.clients import GraphQLTransport, RestTransport, Transport

ADA = owner()


async def browsed(transport: Transport, **arguments: Any) -> list[str]:  # Any: a parameter of any type
    """The ids of Ada's page, under the highest ceiling unless told."""
    secret = await transport.gateway.secret(ADA)
    answer = await transport.browse(secret, {"ceiling": "restricted", **arguments})
    assert answer.code is None, answer.message
    return answer.ids


def ids(*records: MemoryRecord) -> list[str]:
    return [str(record.id) for record in records]


async def test_a_page_shows_every_field_of_the_view(transport: Transport) -> None:
    [kept] = await transport.gateway.keep(
        memory(
            "Rows at dawn",
            subject="Ada",
            confidence=Decimal("0.125"),
            sensitivity=Sensitivity.INTERNAL,
            belief_type=BeliefType.PREFERENCE,
            source_event_ids=(3, 1),
            origin_scopes=("work", "home"),
            expires_at=NOW + timedelta(microseconds=1),
            consolidation_policy_version="v1",
            formation_run_id=identifier(7),
        )
    )

    answer = await transport.browse(await transport.gateway.secret(ADA), {"ceiling": "internal"})

    assert {
        "id": str(kept.id),
        "subject": "Ada",
        "statement": "Rows at dawn",
        "belief_type": "preference",
        "status": "active",
        "polarity": "assert",
        "scope": "conversation",
        "claim_kind": "project_fact",
        "derivation": "direct",
        "longevity": "durable",
        "portability": "contextual",
        "authority": "inferred",
        "sensitivity": "internal",
        "confidence": 0.125,
        "corroboration_count": 1,
        "flagged_for_review": False,
        "conflicts_with": [],
        "superseded_by": None,
        "source_session_id": str(SESSION),
        "source_event_ids": [3, 1],
        "formation_run_id": str(identifier(7)),
        "consolidation_policy_version": "v1",
        "origin_scopes": ["work", "home"],
        "valid_from": "2026-05-16T12:00:00.000000Z",
        "valid_to": None,
        "expires_at": "2026-06-15T12:00:00.000001Z",
        "last_evidence_at": "2026-05-16T12:00:00.000000Z",
        "last_used_at": None,
        "last_reinforced_at": None,
        "created_at": "2026-05-16T12:00:00.000000Z",
        "updated_at": "2026-05-16T12:00:00.000000Z",
    } == answer.row
    assert answer.next_cursor is None


async def test_both_transports_show_the_same_first_page(gateway: Gateway) -> None:
    await gateway.keep(*(memory(f"Fact {number}", confidence=Decimal(number) / 1000) for number in range(60)))
    secret = await gateway.secret(ADA)

    rest = await RestTransport(gateway).browse(secret, {"ceiling": "public"})
    graphql = await GraphQLTransport(gateway).browse(secret, {"ceiling": "public"})

    assert rest == graphql
    assert 50 == len(rest.rows)
    assert rest.next_cursor is not None


async def test_a_walk_meets_every_belief_once_newest_first(transport: Transport) -> None:
    kept = await transport.gateway.keep(*(memory(f"Fact {number}") for number in range(7)))
    secret = await transport.gateway.secret(ADA)

    walked: list[str] = []
    sizes: list[int] = []
    arguments: dict[str, object] = {"ceiling": "public", "limit": 3}
    while True:
        answer = await transport.browse(secret, arguments)
        assert answer == await transport.browse(secret, arguments)
        walked += answer.ids
        sizes.append(len(answer.rows))
        if answer.next_cursor is None:
            break
        arguments["cursor"] = answer.next_cursor

    assert ids(*kept[::-1]) == walked
    assert [3, 3, 1] == sizes


async def test_a_page_that_ends_with_the_last_belief_is_the_last_one(transport: Transport) -> None:
    await transport.gateway.keep(memory(), memory("Another"))

    answer = await transport.browse(await transport.gateway.secret(ADA), {"ceiling": "public", "limit": 2})

    assert (2, None) == (len(answer.rows), answer.next_cursor)


@pytest.mark.parametrize(("limit", "size"), [(None, 50), (1, 1), (200, 200), (201, 200), (100_000, 200)])
async def test_a_limit_is_clamped(transport: Transport, limit: int | None, size: int) -> None:
    await transport.gateway.keep(*(memory(f"Fact {number}") for number in range(203)))

    assert size == len(await browsed(transport, **({} if limit is None else {"limit": limit})))


async def test_the_live_set_is_the_default(transport: Transport) -> None:
    kept = {
        status: (await transport.gateway.keep(memory(f"Is {status}", status=status)))[0]
        for status in sorted(STORED_STATUSES)
    }

    assert {str(kept[status].id) for status in (MemoryStatus.ACTIVE, MemoryStatus.PROVISIONAL)} == set(
        await browsed(transport)
    )


@pytest.mark.parametrize("status", MemoryStatus)
async def test_a_status_selects_its_own(transport: Transport, status: MemoryStatus) -> None:
    kept = await transport.gateway.keep(
        *(memory(f"Is {each}", status=each) for each in sorted(STORED_STATUSES)),
    )

    assert ids(*(record for record in kept if record.status is status)) == await browsed(transport, status=[status])


async def test_values_of_one_filter_unite_and_filters_intersect(transport: Transport) -> None:
    kept = await transport.gateway.keep(
        memory("One", belief_type=BeliefType.FACT, status=MemoryStatus.RETIRED),
        memory("Two", belief_type=BeliefType.PREFERENCE, status=MemoryStatus.RETIRED),
        memory("Three", belief_type=BeliefType.RELATIONSHIP, status=MemoryStatus.RETIRED),
        memory("Four", belief_type=BeliefType.FACT, status=MemoryStatus.ACTIVE),
    )
    one, two, _, four = kept

    assert ids(two, one) == await browsed(transport, status=["retired"], belief_type=["fact", "preference"])
    assert ids(four, one) == await browsed(transport, status=["active", "retired"], belief_type=["fact"])
    # A value given twice is the value.
    assert ids(four) == await browsed(transport, belief_type=["fact", "fact"])


async def test_a_subject_is_found_whatever_its_case(transport: Transport) -> None:
    [sharp, _, _] = await transport.gateway.keep(
        memory("One", subject="Straße 7"), memory("Two", subject="STRASSE 7"), memory("Three", subject="Straße 77")
    )

    assert ids(sharp) == await browsed(transport, subject="STRAßE 7")
    assert [] == await browsed(transport, subject="Straße")


async def test_a_person_is_found_by_name_and_by_key(transport: Transport) -> None:
    [kai] = await transport.gateway.keep(memory(subject="person:kai", display_subject="Kai Øst"))

    assert ids(kai) == await browsed(transport, subject="kai øst")
    assert ids(kai) == await browsed(transport, subject="Person:KAI")
    assert [] == await browsed(transport, subject="person:kai øst")


async def test_a_session_selects_what_it_formed(transport: Transport) -> None:
    [here, _] = await transport.gateway.keep(memory("One"), memory("Two", source_session_id=OTHER_SESSION))

    assert ids(here) == await browsed(transport, session_id=str(SESSION))
    assert ids(here) == await browsed(transport, session_id=str(SESSION).upper())
    assert [] == await browsed(transport, session_id="no session at all")
    assert [] == await browsed(transport, session_id=f"{{{SESSION}}}")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("rowing", {"Keeps a rowing boat"}),
        ("ROWING harbour", {"Keeps a rowing boat", "Lives by the harbour"}),
        ("row", set()),
        ("ada", {"Keeps a rowing boat", "Lives by the harbour"}),
        ("...", set()),
        ("", {"Keeps a rowing boat", "Lives by the harbour"}),
        (" \t", {"Keeps a rowing boat", "Lives by the harbour"}),
    ],
)
async def test_a_text_is_searched_in_subject_and_statement(transport: Transport, text: str, found: set[str]) -> None:
    kept = await transport.gateway.keep(memory("Keeps a rowing boat"), memory("Lives by the harbour"))

    expected = {str(record.id) for record in kept if record.statement in found}
    assert expected == set(await browsed(transport, text=text))


@pytest.mark.parametrize(("flagged", "found"), [(True, [0]), (False, [1])])
async def test_the_flag_selects_the_review_queue_or_everything_else(
    transport: Transport, flagged: bool, found: list[int]
) -> None:
    kept = await transport.gateway.keep(memory("One", flagged_for_review=True), memory("Two"))

    assert ids(*(kept[index] for index in found)) == await browsed(transport, flagged=flagged)


async def test_what_has_run_out_is_expired_before_any_sweep(transport: Transport) -> None:
    gone, ended, stays = await transport.gateway.keep(
        memory("One", expires_at=NOW),
        memory("Two", status=MemoryStatus.PROVISIONAL, valid_to=NOW - timedelta(microseconds=1)),
        memory("Three", expires_at=NOW + timedelta(microseconds=1)),
    )

    assert ids(stays) == await browsed(transport)
    assert ids(ended, gone) == await browsed(transport, status=["expired"])
    assert [] == await browsed(transport, status=["provisional"])
    secret = await transport.gateway.secret(ADA)
    assert "expired" == (await transport.read(secret, str(gone.id), {"ceiling": "public"})).row["status"]

    transport.gateway.clock.advance(timedelta(microseconds=1))

    assert ids(stays, ended, gone) == await browsed(transport, status=["expired"])


@pytest.mark.parametrize("ceiling", Sensitivity)
async def test_a_ceiling_shows_itself_and_what_lies_below(transport: Transport, ceiling: Sensitivity) -> None:
    kept = await transport.gateway.keep(*(memory(f"Is {each}", sensitivity=each) for each in Sensitivity))
    visible = kept[: list(Sensitivity).index(ceiling) + 1]

    assert ids(*visible[::-1]) == await browsed(transport, ceiling=ceiling)
