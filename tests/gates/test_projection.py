"""Gate 9: the projection is exactly the exposure list, in both directions and on every path."""

from decimal import Decimal

import pytest
from pydantic import ValidationError

from gateway.views.memories import MemoryView, memory_view
from store.domain.vocabulary import Portability
from tests.factories import NOW, identifier, memory, owner
from tests.parity.clients import MEMORY_FIELDS, Transport
from tests.worlds import keep

EXPOSED = {
    *("id", "subject", "statement", "belief_type", "status", "polarity", "scope"),
    *("claim_kind", "derivation", "longevity", "portability", "authority"),
    *("sensitivity", "confidence"),
    *("corroboration_count", "flagged_for_review", "conflicts_with"),
    *("superseded_by", "source_session_id", "source_event_ids"),
    *("formation_run_id", "consolidation_policy_version", "origin_scopes"),
    *("valid_from", "valid_to", "expires_at", "last_evidence_at", "last_used_at"),
    *("last_reinforced_at", "created_at", "updated_at"),
}
WITHHELD = {
    "tenant_id": "tenant-that-is-withheld",
    "principal_id": "principal-that-is-withheld",
    "utility": "0.987",
    "store_position": "8070605040",
    "evidence_count": "70707",
    "lifecycle_policy_version": "lifecycle-that-is-withheld",
    "revision": "60606",
}
"""Each withheld field with a value that occurs nowhere else."""


@pytest.mark.gate("gate.memory.read_api_view_projection")
async def test_the_projection_is_exactly_the_exposure_list(transport: Transport) -> None:
    asking = owner(WITHHELD["principal_id"], tenant=WITHHELD["tenant_id"])
    record = memory(
        owner=asking,
        utility=Decimal(WITHHELD["utility"]),
        evidence_count=int(WITHHELD["evidence_count"]),
        lifecycle_policy_version=WITHHELD["lifecycle_policy_version"],
        revision=int(WITHHELD["revision"]),
        store_position=int(WITHHELD["store_position"]),
        portability=Portability.LOCAL,
    )
    await keep(transport.gateway.store, record)
    secret = await transport.gateway.secret(asking)
    key = {"ceiling": "public", "idempotency_key": "key"}
    id = str(record.id)

    shown = [
        await transport.browse(secret, {"ceiling": "public"}),
        await transport.read(secret, id, {"ceiling": "public"}),
        # On a local belief it changes nothing, so the position stays the one that is searched for.
        await transport.review(secret, id, {**key, "outcome": "not_here"}),
        await transport.review(secret, id, {**key, "outcome": "not_here"}),
    ]
    errors = [
        await transport.browse(None, {"ceiling": "public"}),
        await transport.browse(secret, {}),
        await transport.browse(secret, {"ceiling": "public", "cursor": "!"}),
        await transport.read(secret, str(identifier(404)), {"ceiling": "public"}),
        await transport.delete(secret, id, key),
        await transport.browse(secret, {"ceiling": "public", "utility": "1"}),
    ]

    assert [EXPOSED] * len(shown) == [set(answer.row) for answer in shown]
    assert None not in {answer.code for answer in errors}
    for answer in (*shown, *errors):
        everything = answer.response.text + str(answer.response.headers)
        assert not [name for name, value in WITHHELD.items() if value in everything]
    for answer in (*shown, *errors[:-1]):
        assert not [name for name in WITHHELD if f'"{name}"' in answer.response.text]

    view = memory_view(record, NOW)
    assert EXPOSED == set(MemoryView.model_fields) == set(view.model_dump()) == set(view.model_dump(mode="json"))
    assert len(EXPOSED) == len(MEMORY_FIELDS.split())
    for name in WITHHELD:
        with pytest.raises(ValidationError):
            MemoryView.model_validate({**view.model_dump(), name: 1})
        assert name not in MemoryView.model_construct(**{**dict(view), name: 1}).model_dump_json()
