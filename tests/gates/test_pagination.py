"""Gate 4: keyset paging neither skips nor repeats while beliefs come and go."""

from collections import Counter

import pytest

from tests.factories import memory, owner
from tests.parity.clients import Transport

BROKEN_CURSORS = ["!", "e30", "e30=", "null", "eyJwIjoxfQ", "W10"]


@pytest.mark.gate("gate.memory.read_api_pagination")
async def test_keyset_paging_neither_skips_nor_repeats(transport: Transport) -> None:
    kept = await transport.gateway.keep(*(memory(f"Statement {number}") for number in range(13)))
    newest_first = [str(record.id) for record in kept[::-1]]
    secret = await transport.gateway.secret(owner())
    walked: list[str] = []
    gone: set[str] = set()
    come: set[str] = set()
    arguments: dict[str, object] = {"ceiling": "public", "limit": 2}

    async def retire(id: str) -> None:
        write = {"ceiling": "public", "outcome": "untrue", "idempotency_key": f"retire-{id}"}
        assert (await transport.review(secret, id, write)).code is None
        gone.add(id)

    while True:
        page = await transport.browse(secret, arguments)
        assert page == await transport.browse(secret, arguments)
        walked += page.ids
        if page.next_cursor is None:
            break
        assert 2 == len(page.rows)
        arguments["cursor"] = page.next_cursor
        # One that was met and one that is still to come are retired; a new one is written.
        await retire(page.ids[0])
        ahead = [id for id in newest_first if id not in gone and id not in walked]
        if len(ahead) > 2:
            await retire(ahead[1])
        [new] = await transport.gateway.keep(memory(f"Written after {len(walked)}"))
        come.add(str(new.id))

    met = Counter(walked)
    assert {1} == set(met.values())
    assert set(newest_first) - gone <= set(met)
    assert not come & set(met)
    # What the walk met in the order of the list, it met in that order.
    assert [id for id in newest_first if id in met] == walked
    head = await transport.browse(secret, {"ceiling": "public", "limit": len(come)})
    assert come == set(head.ids)
    for cursor in BROKEN_CURSORS:
        refused = await transport.browse(secret, {"ceiling": "public", "cursor": cursor})
        assert ("malformed_request", True) == (refused.code, transport.spelled("cursor") in refused.message)
