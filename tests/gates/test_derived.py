"""The hard gates as derived records keep them: their ceiling, their projection, the routes, the switch."""

import itertools
import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from gateway.rest.openapi import openapi_document
from gateway.views.derived import ClauseView, DerivedContentView, DerivedSourceView, DerivedView, derived_view
from store.domain.derived import DerivedRecord
from store.domain.memories import MemoryRecord
from store.domain.vocabulary import Portability, ReviewOutcome, Sensitivity, within
from store.ports.store import Store
from tests.factories import derived, identifier, memory, owner
from tests.gates.test_ceiling import whole
from tests.gates.test_routes import DOCUMENTED, SERVER_PATHS, Counted, mounted
from tests.gateways import serving
from tests.parity.clients import DERIVED_FIELDS, GraphQLTransport, Row, Transport
from tests.parity.derived import gateway as gateway  # noqa: PLC0414 - a fixture is found by its name here
from tests.worlds import keep, keep_derived

EXPOSED = {
    *("id", "record_kind", "revision", "status", "flagged_for_review"),
    *("created_at", "updated_at", "content", "sources"),
}
EXPOSED_CONTENT = {
    *("subject", "statement", "clauses", "belief_types", "scope", "portability"),
    *("sensitivity", "authority", "confidence"),
    *("last_evidence_at", "valid_from", "expires_at"),
}
EXPOSED_CLAUSE, EXPOSED_SOURCE = {"text", "source_ids"}, {"id", "revision", "omitted"}
WITHHELD = {
    "tenant_id": "tenant-that-is-withheld",
    "principal_id": "principal-that-is-withheld",
    "store_position": "8070605040",
    "method": "method-that-is-withheld",
    "method_revision": "revision-that-is-withheld",
    "evidence_ref": "reference-that-is-withheld",
    "session_ids": str(identifier(987_654_321)),
}
"""Each withheld field with a value that occurs nowhere else."""

_tenants = itertools.count(1)


# The store of the fixture serves all examples: each has a tenant of its own.
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    sensitivities=st.lists(st.sampled_from(Sensitivity), min_size=1, max_size=5),
    ceiling=st.sampled_from(Sensitivity),
    limit=st.integers(1, 7),
)
async def test_nothing_above_the_ceiling_is_returned_or_distinguishable(
    transport: Transport, sensitivities: list[Sensitivity], ceiling: Sensitivity, limit: int
) -> None:
    asking = owner(tenant=f"tenant of derived records {next(_tenants)}")
    secret = await transport.gateway.secret(asking)
    beliefs = await transport.gateway.keep(
        *(memory(f"Statement {number}", owner=asking) for number in range(len(sensitivities)))
    )
    # One is above its source, one rests on the other.
    made: list[DerivedRecord] = []
    for belief, sensitivity in zip(beliefs, sensitivities, strict=True):
        summary = derived(belief, statement=belief.statement, sensitivity=sensitivity)
        made += [summary, derived(summary, belief, statement=belief.statement)]
    kept: list[MemoryRecord | DerivedRecord] = [*beliefs, *await transport.gateway.keep_derived(*made)]
    visible = [record for record in kept[::-1] if within(record.sensitivity, ceiling)]

    walked: list[str] = []
    page_count = 0
    place: dict[str, object] = {"ceiling": ceiling, "limit": limit}
    while True:
        page = await transport.browse_items(secret, place)
        walked += page.ids
        page_count += 1
        if page.next_cursor is None:
            break
        place["cursor"] = page.next_cursor

    assert [str(record.id) for record in visible] == walked
    assert max(1, math.ceil(len(visible) / limit)) == page_count
    nothing = await everything_told(transport, secret, str(identifier(404)), ceiling)
    for record in kept:
        if isinstance(record, DerivedRecord) and record not in visible:
            assert nothing == await everything_told(transport, secret, str(record.id), ceiling)
        elif isinstance(record, DerivedRecord):
            assert (await transport.read_derived(secret, str(record.id), {"ceiling": ceiling})).code is None


async def everything_told(transport: Transport, secret: str, id: str, ceiling: Sensitivity) -> list[object]:
    """The whole answers to all that can be asked of one id."""
    write = {"ceiling": ceiling, "idempotency_key": "key"}
    return [
        whole(await transport.read_derived(secret, id, {"ceiling": ceiling})),
        *[whole(await transport.review(secret, id, {**write, "outcome": outcome})) for outcome in ReviewOutcome],
        whole(await transport.delete(secret, id, write)),
    ]


async def test_the_projection_is_exactly_the_exposure_list(transport: Transport) -> None:
    asking = owner(WITHHELD["principal_id"], tenant=WITHHELD["tenant_id"])
    belief = memory("Rows at dawn", owner=asking)
    record = derived(
        belief,
        statement="Rows at dawn",
        store_position=int(WITHHELD["store_position"]),
        method=WITHHELD["method"],
        method_revision=WITHHELD["method_revision"],
        evidence_ref=WITHHELD["evidence_ref"],
        session_ids=(identifier(987_654_321),),
        portability=Portability.LOCAL,
    )
    await keep(transport.gateway.store, belief)
    await keep_derived(transport.gateway.store, record)
    secret = await transport.gateway.secret(asking)
    key = {"ceiling": "public", "idempotency_key": "key", "outcome": "not_here"}
    id = str(record.id)

    shown = [
        await transport.browse_items(secret, {"ceiling": "public", "limit": 1}),
        await transport.read_derived(secret, id, {"ceiling": "public"}),
        # On a local record it changes nothing, so the position stays the one that is searched for.
        await transport.review(secret, id, key),
        await transport.review(secret, id, key),
    ]

    for answer in shown:
        check_exposure(answer.row)
        everything = answer.response.text + str(answer.response.headers)
        assert not [name for name, value in WITHHELD.items() if value in everything]
        assert not [name for name in WITHHELD if f'"{name}"' in answer.response.text]
    check_exposure(derived_view(record).model_dump())
    assert len(EXPOSED | EXPOSED_CONTENT) + len(EXPOSED_CLAUSE) + len(EXPOSED_SOURCE) == len(
        DERIVED_FIELDS.replace("{", "").replace("}", "").split()
    )
    views: dict[type[BaseModel], set[str]] = {
        DerivedView: EXPOSED,
        DerivedContentView: EXPOSED_CONTENT,
        ClauseView: EXPOSED_CLAUSE,
        DerivedSourceView: EXPOSED_SOURCE,
    }
    for view, exposed in views.items():
        assert exposed == set(view.model_fields)
    for name in WITHHELD:
        with pytest.raises(ValidationError):
            DerivedView.model_validate({**derived_view(record).model_dump(), name: 1})


def check_exposure(row: Row) -> None:
    """A derived record as it is shown has these members, and no others."""
    assert EXPOSED == set(row)
    assert EXPOSED_CONTENT == set(row["content"])
    assert [EXPOSED_CLAUSE] == [set(clause) for clause in row["content"]["clauses"]]
    assert [EXPOSED_SOURCE] == [set(source) for source in row["sources"]]


async def test_derived_records_bring_no_route(transport: Transport) -> None:
    assert set(DOCUMENTED) | {("GET", path) for path in SERVER_PATHS - {"/graphql"}} == mounted(transport.gateway)
    paths = openapi_document(memory=True, derived=True, version="1")["paths"]
    assert {path for _, path in DOCUMENTED} == set(paths) - SERVER_PATHS


@pytest.mark.parametrize(("memory", "derived", "surface"), [(True, False, "derived"), (False, True, "derived")])
async def test_without_the_switch_nothing_of_derived_records_is_there(
    store: Store, memory: bool, derived: bool, surface: str
) -> None:
    counted = Counted()
    async with serving(store, memory=memory, derived=derived, exchanges=counted) as gateway:
        graphql, secret = GraphQLTransport(gateway), await gateway.secret(owner())
        refused = [
            await graphql.browse_items(secret, {"ceiling": "public"}),
            await graphql.read_derived(secret, str(identifier(404)), {"ceiling": "public"}),
        ]
        told = await graphql.query(secret, "{ gateway { surfaces } __schema { queryType { fields { name } } } }")
        async with gateway.client() as client:
            document = (await client.get("/openapi.json")).text

    assert ["malformed_request"] * 2 == [answer.code for answer in refused]
    assert [surface] * 2 == counted.surfaces
    assert (["MEMORIES"] if memory else []) == told["data"]["gateway"]["surfaces"]
    fields = {field["name"] for field in told["data"]["__schema"]["queryType"]["fields"]}
    assert not {"memoryItems", "derivedMemory"} & fields
    assert "Derived" not in document


async def test_with_the_switch_the_surface_is_told_of(transport: Transport) -> None:
    graphql = GraphQLTransport(transport.gateway)
    told = await graphql.query(await transport.gateway.secret(owner()), "{ gateway { surfaces } }")
    assert ["MEMORIES", "DERIVED_MEMORIES"] == told["data"]["gateway"]["surfaces"]
