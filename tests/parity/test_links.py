"""Links between beliefs: seen where both ends are, absent where one is not."""

from store.domain.vocabulary import MemoryStatus, Sensitivity
from tests.factories import identifier, memory, owner
from tests.parity.clients import Transport

ADA = owner()
HIDDEN, SHOWN, LINKED = identifier(1), identifier(2), identifier(3)


async def test_conflicts_are_shown_sorted_as_far_as_the_ceiling_allows(transport: Transport) -> None:
    await transport.gateway.keep(
        memory("Two", id=SHOWN, conflicts_with=(LINKED,)),
        memory("One", id=HIDDEN, conflicts_with=(LINKED,), sensitivity=Sensitivity.RESTRICTED),
        memory("Three", id=LINKED, conflicts_with=(HIDDEN, SHOWN)),
    )
    secret = await transport.gateway.secret(ADA)

    below = await transport.read(secret, str(LINKED), {"ceiling": "sensitive"})
    above = await transport.read(secret, str(LINKED), {"ceiling": "restricted"})

    assert [str(SHOWN)] == below.row["conflicts_with"]
    assert [str(HIDDEN), str(SHOWN)] == above.row["conflicts_with"]
    page = await transport.browse(secret, {"ceiling": "sensitive"})
    assert [str(LINKED), str(SHOWN)] == page.ids
    assert below.row == page.rows[0]


async def test_a_successor_is_named_where_it_can_be_seen(transport: Transport) -> None:
    await transport.gateway.keep(
        memory("Old", id=LINKED, status=MemoryStatus.SUPERSEDED, superseded_by=HIDDEN),
        memory("New", id=HIDDEN, sensitivity=Sensitivity.SENSITIVE),
    )
    secret = await transport.gateway.secret(ADA)

    assert (await transport.read(secret, str(LINKED), {"ceiling": "internal"})).row["superseded_by"] is None
    assert str(HIDDEN) == (await transport.read(secret, str(LINKED), {"ceiling": "sensitive"})).row["superseded_by"]


async def test_a_deleted_belief_leaves_no_link_behind(transport: Transport) -> None:
    await transport.gateway.keep(
        memory("Deleted", id=HIDDEN, conflicts_with=(LINKED,)),
        memory("Kept", id=LINKED, conflicts_with=(HIDDEN,)),
    )
    secret = await transport.gateway.secret(ADA)

    await transport.delete(secret, str(HIDDEN), {"ceiling": "public", "idempotency_key": "k"})

    assert [] == (await transport.read(secret, str(LINKED), {"ceiling": "public"})).row["conflicts_with"]
