"""Access tokens: found by hash before a tenant is known, listed, revoked, touched."""

from dataclasses import replace
from datetime import timedelta

import pytest

from store.domain.tokens import AccessToken
from store.ports.errors import StoreInconsistent
from store.ports.store import Store, Transaction
from tests.factories import NOW, identifier, owner, token
from tests.worlds import ask

ADA = owner()
BO = owner("bo")
ABROAD = owner(tenant="inland")


async def add(store: Store, *tokens: AccessToken) -> None:
    async def work(transaction: Transaction) -> None:
        for each in tokens:
            await transaction.tokens.add(each)

    await store.transact(work)


async def find(store: Store, token_hash: bytes) -> AccessToken | None:
    return await ask(store, lambda snapshot: snapshot.tokens.find(token_hash))


async def test_a_token_is_found_by_its_hash_valid_or_not(store: Store) -> None:
    valid = token("first", owner=ADA)
    ended = replace(token("second", owner=BO), expires_at=NOW, last_used_at=NOW, scopes=frozenset())
    await add(store, valid, ended)

    assert [valid, ended, None] == [await find(store, each) for each in (valid.token_hash, ended.token_hash, bytes(32))]


@pytest.mark.parametrize("taken", ["id", "token_hash"])
async def test_an_id_and_a_hash_stand_for_one_token(store: Store, taken: str) -> None:
    first, second = token("first", owner=ADA), token("second", owner=BO)
    await add(store, first)
    twin = replace(second, id=first.id) if taken == "id" else replace(second, token_hash=first.token_hash)

    with pytest.raises(StoreInconsistent):
        await add(store, twin)


async def test_tokens_are_listed_by_creation_and_narrowed_where_it_is_asked(store: Store) -> None:
    third = token("third", owner=ADA, created_at=NOW + timedelta(microseconds=1))
    first = token("first", owner=BO, created_at=NOW - timedelta(days=1))
    second = token("second", owner=ABROAD)
    await add(store, third, first, second)

    async def listed(tenant: str | None, principal: str | None) -> list[AccessToken]:
        return list(await ask(store, lambda snapshot: snapshot.tokens.list(tenant=tenant, principal=principal)))

    assert [first, second, third] == await listed(None, None)
    assert [first, third] == await listed("harbour", None)
    assert [second, third] == await listed(None, "ada")
    assert [third] == await listed("harbour", "ada")
    assert [] == await listed("nowhere", None)


async def test_a_token_is_revoked_once(store: Store) -> None:
    revoked, kept = token("first", owner=ADA), token("second", owner=ADA)
    await add(store, revoked, kept)

    async def work(transaction: Transaction) -> list[bool]:
        tokens = transaction.tokens
        return [
            await tokens.revoke(revoked.id, at=NOW),
            await tokens.revoke(revoked.id, at=NOW + timedelta(days=1)),
            await tokens.revoke(identifier(9), at=NOW),
        ]

    assert [True, False, False] == await store.transact(work)
    assert replace(revoked, revoked_at=NOW) == await find(store, revoked.token_hash)
    assert kept == await find(store, kept.token_hash)


async def test_every_token_of_one_owner_is_revoked_together(store: Store) -> None:
    earlier = replace(token("first", owner=ADA), revoked_at=NOW - timedelta(days=1))
    standing, foreign, abroad = token("second", owner=ADA), token("third", owner=BO), token("fourth", owner=ABROAD)
    await add(store, earlier, standing, foreign, abroad)

    assert [1, 0] == [
        await store.transact(lambda transaction: transaction.tokens.revoke_all(ADA, at=NOW)) for _ in range(2)
    ]
    assert [earlier, replace(standing, revoked_at=NOW), foreign, abroad] == [
        await find(store, each.token_hash) for each in (earlier, standing, foreign, abroad)
    ]


async def test_the_last_use_is_written_where_there_is_a_token(store: Store) -> None:
    used = token("first", owner=ADA)
    await add(store, used)

    async def work(transaction: Transaction) -> None:
        await transaction.tokens.touch(used.id, at=NOW)
        await transaction.tokens.touch(identifier(9), at=NOW)

    await store.transact(work)

    assert replace(used, last_used_at=NOW) == await find(store, used.token_hash)
