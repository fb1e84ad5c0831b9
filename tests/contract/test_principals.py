"""The principals of a tenant, a page at a time: those of whom anything is stored, and nobody of another tenant."""

import pytest

from store.domain.owners import WHOLE_STORE
from store.domain.vocabulary import EventKind
from store.ports.store import Store, Transaction
from tests.factories import NOW, SESSION, memory, owner, receipt, tombstone
from tests.worlds import ask, keep

NAMES = sorted(["ada", "Ada", "ä", "bo", "海", "🛶", "z" * 256, " "])


async def principals(store: Store, tenant: str, *, after: str | None = None, limit: int = 100) -> list[str]:
    return await ask(store, lambda snapshot: snapshot.journal.principals(tenant, after=after, limit=limit))


@pytest.fixture
async def peopled(store: Store) -> Store:
    """A store with beliefs of everybody, and of some other things too."""
    await keep(store, *(memory(owner=owner(name)) for name in NAMES), memory(owner=owner("mole", tenant="harbou")))
    await keep(store, *(memory(owner=owner(name, tenant="harbour2")) for name in ("a", "zz")))

    async def work(transaction: Transaction) -> None:
        for each in (owner("ada"), owner("only an event"), WHOLE_STORE):
            await transaction.journal.append(
                each, EventKind.OPERATOR_ACCESS, session_id=SESSION, memory_id=None, at=NOW, payload={}
            )
        await transaction.journal.add_receipt(receipt("key", owner=owner("only a receipt")))
        await transaction.journal.add_tombstone(tombstone(bytes(32), owner=owner("only a tombstone")))

    await store.transact(work)
    return store


async def test_they_are_those_of_the_tenant_by_code_point_each_once(peopled: Store) -> None:
    others = ["only a receipt", "only a tombstone", "only an event"]
    assert sorted([*NAMES, *others]) == await principals(peopled, "harbour")
    assert (["mole"], ["a", "zz"], []) == (
        await principals(peopled, "harbou"),
        await principals(peopled, "harbour2"),
        await principals(peopled, "harbo"),
    )
    # What belongs to the store itself is nobody's.
    assert [] == await principals(peopled, WHOLE_STORE.tenant)


@pytest.mark.parametrize("limit", [1, 2, 5])
async def test_they_are_walked_page_by_page(peopled: Store, limit: int) -> None:
    everybody = await principals(peopled, "harbour")
    walked: list[str] = []
    while page := await principals(peopled, "harbour", after=walked[-1] if walked else None, limit=limit):
        assert len(page) <= limit
        walked += page
    assert everybody == walked
    assert everybody[2:] == await principals(peopled, "harbour", after=everybody[1])
    assert [name for name in everybody if name > "b"] == await principals(peopled, "harbour", after="b")
