"""What a store remembers about itself: claimed once, replaced only where the expected value stands."""

import asyncio

from store.ports.store import Store, StoreFact
from tests.worlds import ask


async def claim(store: Store, value: str) -> str:
    return await store.transact(lambda transaction: transaction.facts.claim(StoreFact.KEY_ID, value))


async def replace(store: Store, *, expected: str, value: str) -> bool:
    return await store.transact(
        lambda transaction: transaction.facts.replace(StoreFact.KEY_ID, expected=expected, value=value)
    )


async def found(store: Store) -> str | None:
    return await ask(store, lambda snapshot: snapshot.facts.find(StoreFact.KEY_ID))


async def test_a_fact_that_was_never_written_is_not_replaced(store: Store) -> None:
    assert not await replace(store, expected="a", value="b")

    assert await found(store) is None


async def test_a_fact_is_replaced_where_the_expected_value_stands(store: Store) -> None:
    assert "a" == await claim(store, "a") == await claim(store, "b")

    assert not await replace(store, expected="b", value="c")
    assert await replace(store, expected="a", value="c")

    assert "c" == await found(store)


async def test_of_two_who_expect_the_same_one_replaces_it(store: Store) -> None:
    await claim(store, "a")

    assert [False, True] == sorted(await asyncio.gather(*(replace(store, expected="a", value=each) for each in "bc")))
