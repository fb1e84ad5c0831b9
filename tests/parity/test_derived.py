"""Derived records as they are read: among beliefs on a page, by themselves, and switched off."""

from datetime import timedelta
from decimal import Decimal

import pytest

from store.domain.derived import DerivedRecord, PinnedSource, RecordKind
from store.domain.memories import MemoryRecord
from store.domain.vocabulary import Authority, BeliefType, Portability, Sensitivity
from store.ports.store import Store
from tests.factories import NOW, OTHER_SESSION, SESSION, derived, identifier, memory, owner
from tests.gateways import READ, WRITE, Gateway, serving
from tests.parity.clients import GraphQLTransport, RestTransport, Transport
from tests.parity.derived import ADA, CEILING, delete, ids, items, pair_and_summary, review, shown
from tests.parity.derived import gateway as gateway  # noqa: PLC0414 - a fixture is found by its name here


async def test_a_derived_record_shows_every_field_of_its_view(transport: Transport) -> None:
    said, left_out = await transport.gateway.keep(
        memory("Rows at dawn", revision=3), memory("Rows", sensitivity=Sensitivity.INTERNAL)
    )
    record = derived(
        said,
        statement="Rows at dawn",
        record_kind=RecordKind.SUMMARY,
        revision=2,
        flagged_for_review=True,
        sensitivity=Sensitivity.INTERNAL,
        portability=Portability.LOCAL,
        belief_types=(BeliefType.FACT, BeliefType.PREFERENCE),
        authority=Authority.AFFIRMED,
        confidence=Decimal("0.125"),
        last_evidence_at=None,
        expires_at=NOW + timedelta(microseconds=1),
        sources=tuple(
            PinnedSource(id=source.id, revision=source.revision, omitted=source is left_out)
            for source in sorted((said, left_out), key=lambda source: source.id)
        ),
    )
    [kept] = await transport.gateway.keep_derived(record)
    secret = await transport.gateway.secret(ADA)

    detail = await transport.read_derived(secret, str(kept.id), {"ceiling": "internal"})
    page = await transport.browse_items(secret, {"ceiling": "internal", "limit": 1})

    assert {
        "id": str(kept.id),
        "record_kind": "summary",
        "revision": 2,
        "status": "active",
        "flagged_for_review": True,
        "created_at": "2026-05-16T12:00:00.000000Z",
        "updated_at": "2026-05-16T12:00:00.000000Z",
        "content": {
            "subject": "Ada",
            "statement": "Rows at dawn",
            "clauses": [{"text": "Rows at dawn", "source_ids": [str(said.id)]}],
            "belief_types": ["fact", "preference"],
            "scope": "conversation",
            "portability": "local",
            "sensitivity": "internal",
            "authority": "affirmed",
            "confidence": 0.125,
            "last_evidence_at": None,
            "valid_from": "2026-05-16T12:00:00.000000Z",
            "expires_at": "2026-06-15T12:00:00.000001Z",
        },
        "sources": [
            {"id": str(said.id), "revision": 3, "omitted": False},
            {"id": str(left_out.id), "revision": 1, "omitted": True},
        ],
    } == detail.row
    assert detail.row == page.row


async def test_both_transports_show_the_same_page_of_both(gateway: Gateway) -> None:
    await pair_and_summary(gateway)
    secret = await gateway.secret(ADA)

    rest = await RestTransport(gateway).browse_items(secret, CEILING)

    assert rest == await GraphQLTransport(gateway).browse_items(secret, CEILING)
    assert 3 == len(rest.rows)


async def test_a_page_holds_both_in_one_order_and_a_walk_meets_each_once(transport: Transport) -> None:
    gateway = transport.gateway
    kept: list[MemoryRecord | DerivedRecord] = []
    for number in range(4):
        [belief] = await gateway.keep(memory(f"Fact {number}"))
        kept += [belief, *await gateway.keep_derived(derived(belief, statement=f"Fact {number}"))]
    secret = await gateway.secret(ADA)

    for limit in (1, 3, 8):
        walked: list[str] = []
        arguments: dict[str, object] = {**CEILING, "limit": limit}
        while True:
            answer = await transport.browse_items(secret, arguments)
            walked += answer.ids
            if answer.next_cursor is None:
                break
            assert limit == len(answer.rows)
            arguments["cursor"] = answer.next_cursor
        assert ids(*kept[::-1]) == walked


async def test_beliefs_are_the_same_beside_derived_records_and_without_them(transport: Transport) -> None:
    boat, dawn, summary = await pair_and_summary(transport.gateway)
    secret = await transport.gateway.secret(ADA)

    alone = await transport.browse(secret, CEILING)
    both = await transport.browse_items(secret, CEILING)

    assert ids(summary, dawn, boat) == both.ids
    assert alone.rows == both.rows[1:]


async def test_a_derived_record_is_of_the_kinds_of_its_sources(transport: Transport) -> None:
    boat, _, summary = await pair_and_summary(
        transport.gateway,
        subject="Straße 7",
        belief_types=(BeliefType.PREFERENCE, BeliefType.RELATIONSHIP),
        session_ids=(OTHER_SESSION,),
        flagged_for_review=True,
    )

    for found in (
        {"status": ["active"]},
        {"status": ["active", "retired"]},
        {"belief_type": ["relationship", "procedure_pointer"]},
        {"session_id": str(OTHER_SESSION)},
        {"subject": "straße 7"},
        {"text": "straße nothing-of-the-kind"},
        {"text": "dawn", "flagged": True},
        {"flagged": True},
    ):
        assert ids(summary) == [id for id in await items(transport, **found) if id == str(summary.id)], found
    for missed in (
        {"status": ["provisional", "retired", "expired", "superseded"]},
        {"belief_type": ["fact"]},
        {"session_id": str(SESSION)},
        {"session_id": "no session at all"},
        {"subject": "ada"},
        {"text": "heliotrope"},
        {"flagged": False},
    ):
        assert str(summary.id) not in await items(transport, **missed), missed
    assert ids(boat) == await items(transport, text="boat", flagged=False)


async def test_what_was_left_out_is_not_searched(transport: Transport) -> None:
    said, left_out = await transport.gateway.keep(memory("Rows at dawn"), memory("Keeps a heliotrope"))
    sources = [PinnedSource(id=each.id, revision=1, omitted=each is left_out) for each in (said, left_out)]
    sources.sort(key=lambda source: source.id)
    [summary] = await transport.gateway.keep_derived(derived(said, statement="Rows at dawn", sources=tuple(sources)))

    assert ids(left_out) == await items(transport, text="heliotrope")
    assert ids(summary, said) == await items(transport, text="dawn")


@pytest.mark.parametrize("ceiling", Sensitivity)
async def test_a_ceiling_shows_itself_and_what_lies_below(transport: Transport, ceiling: Sensitivity) -> None:
    levels = list(Sensitivity)
    kept = await transport.gateway.keep(*(memory(f"Is {level}", sensitivity=level) for level in levels))
    summaries = await transport.gateway.keep_derived(*(derived(each, statement=each.statement) for each in kept))
    visible = levels.index(ceiling) + 1

    assert ids(*summaries[:visible][::-1], *kept[:visible][::-1]) == await items(transport, ceiling=ceiling)
    for level, summary in zip(levels, summaries, strict=True):
        expected = None if levels.index(level) < visible else "not_found"
        assert expected == (await shown(transport, summary, ceiling=ceiling)).code


async def test_anothers_derived_record_is_not_found(transport: Transport) -> None:
    bo = owner("bo")
    [boat] = await transport.gateway.keep(memory("Keeps a rowing boat", owner=bo))
    [summary] = await transport.gateway.keep_derived(derived(boat, statement="Keeps a rowing boat"))
    absent = derived(boat, statement="Keeps a rowing boat", id=identifier(404))

    for record in (summary, absent):
        answers = [
            await shown(transport, record),
            await review(transport, record, "untrue"),
            await delete(transport, record),
        ]
        assert ["not_found"] * 3 == [answer.code for answer in answers]
    assert [] == await items(transport)
    theirs = await transport.read_derived(await transport.gateway.secret(bo), str(summary.id), CEILING)
    assert "active" == theirs.row["status"]


async def test_scopes_are_required_as_of_beliefs(transport: Transport) -> None:
    _, _, summary = await pair_and_summary(transport.gateway)
    writer = await transport.gateway.secret(ADA, WRITE)
    reader = await transport.gateway.secret(ADA, READ)
    write = {**CEILING, "idempotency_key": "key"}

    assert "authorization_error" == (await transport.browse_items(writer, CEILING)).code
    assert "authorization_error" == (await transport.read_derived(writer, str(summary.id), CEILING)).code
    assert "authorization_error" == (await transport.delete(reader, str(summary.id), write)).code
    assert (await transport.review(writer, str(summary.id), {**write, "outcome": "untrue"})).code is None


@pytest.mark.parametrize(
    ("parameter", "value"),
    [("limit", 0), ("status", ["gone"]), ("cursor", "!"), ("subject", ""), ("text", "a" * 1_025), ("colour", "red")],
)
async def test_a_malformed_filter_is_refused_by_name(transport: Transport, parameter: str, value: object) -> None:
    secret = await transport.gateway.secret(ADA)

    answer = await transport.browse_items(secret, {**CEILING, parameter: value})

    assert "malformed_request" == answer.code
    assert transport.spelled(parameter) in answer.message


async def test_without_the_surface_derived_records_are_absent(store: Store, transport: Transport) -> None:
    _, _, summary = await pair_and_summary(transport.gateway)
    async with serving(store) as plain:
        off = RestTransport(plain) if isinstance(transport, RestTransport) else GraphQLTransport(plain)
        secret = await plain.secret(ADA)
        write = {**CEILING, "idempotency_key": "key"}

        assert "malformed_request" == (await off.browse_items(secret, CEILING)).code
        assert "not_found" == (await off.read(secret, str(summary.id), CEILING)).code
        assert "not_found" == (await off.review(secret, str(summary.id), {**write, "outcome": "untrue"})).code
        assert "not_found" == (await off.delete(secret, str(summary.id), write)).code
    assert "active" == (await shown(transport, summary)).row["status"]


async def test_a_list_of_beliefs_is_the_same_to_the_byte_with_the_surface_and_without(
    store: Store, gateway: Gateway
) -> None:
    boat, _, summary = await pair_and_summary(gateway)
    paths = (
        "?ceiling=public",
        "?ceiling=public&include_derived=false",
        "?ceiling=public&limit=1",
        f"/{boat.id}?ceiling=public",
    )
    async with serving(store) as plain, gateway.client() as with_surface, plain.client() as without:
        for client, its in ((with_surface, gateway), (without, plain)):
            client.headers.update({"authorization": f"Bearer {await its.secret(ADA)}", "x-request-id": "same"})
        for path in paths:
            on, off = [await client.get(f"/v1/memories{path}") for client in (with_surface, without)]
            assert (off.status_code, off.content, off.headers) == (on.status_code, on.content, on.headers)
        listed = await without.get("/v1/memories?ceiling=public")
        both = await with_surface.get("/v1/memories?ceiling=public&include_derived=true")
    rows = listed.content.removeprefix(b'{"items":[').removesuffix(b'],"next_cursor":null}')
    assert both.content.endswith(b"," + rows + b'],"next_cursor":null}')
    assert str(summary.id).encode() in both.content


async def test_each_kind_has_a_field_of_its_own_in_graphql(gateway: Gateway) -> None:
    boat, _, summary = await pair_and_summary(gateway)
    secret, graphql = await gateway.secret(ADA), GraphQLTransport(gateway)

    assert "not_found" == (await graphql.read(secret, str(summary.id), CEILING)).code
    assert "not_found" == (await graphql.read_derived(secret, str(boat.id), CEILING)).code


async def test_rest_tells_a_derived_record_by_its_kind(gateway: Gateway) -> None:
    boat, dawn, summary = await pair_and_summary(gateway)
    secret, rest = await gateway.secret(ADA), RestTransport(gateway)

    page = await rest.browse_items(secret, CEILING)

    assert {str(summary.id): "summary"} == {row["id"]: row["record_kind"] for row in page.rows if "record_kind" in row}
    for belief in (boat, dawn):
        assert "record_kind" not in (await rest.read(secret, str(belief.id), CEILING)).row
