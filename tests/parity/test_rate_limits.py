"""Rate limits stand at the same place in the order of failures on both transports, and show themselves alike."""

from collections.abc import AsyncIterator

import pytest

from gateway.graphql.cost import COST_MAX
from gateway.graphql.exchange import COST_HEADER
from gateway.http.exchanges import NoExchanges
from gateway.http.policy import Policy
from gateway.http.rate_limits import RateLimits
from gateway.http.rate_windows import ProcessStorage
from gateway.service.costs import MEMORY_SHOWN, STATEMENT, TEXT_SEARCH, WRITE
from store.domain.vocabulary import Sensitivity
from store.inmemory.store import InMemoryStore
from tests.factories import identifier, memory, owner
from tests.gateways import FULL, READ, Gateway, serving
from tests.parity.clients import Answer, GraphQLTransport, RestTransport, Transport

ADA = owner()
ABSENT = str(identifier(404))
COST = 3_000
HEADERS = ("ratelimit-limit", "ratelimit-remaining", "ratelimit-reset")


@pytest.fixture
async def gateway() -> AsyncIterator[Gateway]:
    """A gateway that lets little in."""
    limits = RateLimits(
        ProcessStorage(), cost_per_minute=COST, failed_authentications_per_minute=3, reports=NoExchanges()
    )
    async with serving(InMemoryStore(), policy=Policy(rate_limits=limits)) as gateway:
        yield gateway


def remaining(answer: Answer) -> int:
    return int(answer.response.headers["ratelimit-remaining"])


async def exhaust(transport: Transport, secret: str) -> Answer:
    """Read until it is refused."""
    for _ in range(COST):
        answer = await transport.read(secret, ABSENT, {"ceiling": "public"})
        if answer.code != "not_found":
            return answer
    raise AssertionError("never refused")


async def test_an_answer_shows_what_is_left(transport: Transport) -> None:
    secret = await transport.gateway.secret(ADA)
    first = await transport.read(secret, ABSENT, {"ceiling": "public"})
    second = await transport.read(secret, ABSENT, {"ceiling": "public"})
    assert str(COST) == first.response.headers["ratelimit-limit"]
    assert 0 < int(first.response.headers["ratelimit-reset"]) <= 60
    # The field that GraphQL asks beside the belief's own is one value.
    assert STATEMENT + MEMORY_SHOWN <= remaining(first) - remaining(second) <= STATEMENT + MEMORY_SHOWN + 1


async def test_beyond_the_limit_a_principal_is_refused_until_the_window_ends(transport: Transport) -> None:
    secret = await transport.gateway.secret(ADA)
    refused = await exhaust(transport, secret)
    assert ("rate_limited", 429) == (refused.code, refused.response.status_code)
    assert f"more than {COST} points of cost within a minute" in refused.message
    assert 0 < int(refused.response.headers["retry-after"]) <= 60
    assert set(HEADERS) <= set(refused.response.headers)


async def test_all_tokens_of_a_principal_share_and_other_principals_do_not(transport: Transport) -> None:
    await exhaust(transport, await transport.gateway.secret(ADA))
    other = await exhaust(transport, await transport.gateway.secret(ADA, [*FULL][:1]))
    assert "rate_limited" == other.code
    bo = await transport.gateway.secret(owner("bo"))
    assert (await transport.browse(bo, {"ceiling": "public", "limit": 1})).code is None


async def test_a_search_costs_more_than_a_page_and_a_write_its_own(transport: Transport) -> None:
    secret = await transport.gateway.secret(ADA)
    assert (await transport.browse(secret, {"ceiling": "public"})).code is None
    # It is too dear for what is left, which is not spent by asking.
    assert TEXT_SEARCH > COST
    assert "rate_limited" == (await transport.browse(secret, {"ceiling": "public", "text": "boat"})).code
    bo = await transport.gateway.secret(owner("bo"))
    write = {"ceiling": "public", "idempotency_key": "key"}
    before = await transport.read(bo, ABSENT, {"ceiling": "public"})
    after = await transport.delete(bo, ABSENT, write)
    assert WRITE <= remaining(before) - remaining(after) <= WRITE + 2


async def test_it_comes_after_the_credential_and_before_everything_else(transport: Transport) -> None:
    secret = await transport.gateway.secret(ADA)
    await exhaust(transport, secret)
    spent = [await transport.browse(secret, {"ceiling": "public", "limit": 1}) for _ in range(200)]
    assert "rate_limited" == spent[-1].code
    # Refused before anything is known of its cost, and told what is left all the same.
    assert set(HEADERS) | {"retry-after"} <= set(spent[-1].response.headers)
    assert 0 == remaining(spent[-1])
    assert "authentication_error" == (await transport.browse("wrong", {"ceiling": "public"})).code
    for arguments in ({"ceiling": "top"}, {"ceiling": "public", "limit": 0}, {"ceiling": "public", "colour": "red"}):
        assert "rate_limited" == (await transport.browse(secret, arguments)).code
    reader = await transport.gateway.secret(ADA, READ)
    assert "rate_limited" == (await transport.delete(reader, ABSENT, {"ceiling": "public"})).code


async def test_too_many_failed_authentications_are_refused_and_a_valid_token_never_is(transport: Transport) -> None:
    codes = [(await transport.browse("wrong", {"ceiling": "public"})).code for _ in range(4)]
    assert [*["authentication_error"] * 3, "rate_limited"] == codes
    refused = await transport.browse(None, {"ceiling": "public"})
    assert ("rate_limited", 429) == (refused.code, refused.response.status_code)
    assert "failed authentications" in refused.message
    assert set(HEADERS) | {"retry-after"} <= set(refused.response.headers)
    secret = await transport.gateway.secret(ADA)
    assert (await transport.browse(secret, {"ceiling": "public"})).code is None


async def test_the_cost_that_is_told_agrees_with_the_headers(gateway: Gateway) -> None:
    headers = {"authorization": f"Bearer {await gateway.secret(ADA)}", COST_HEADER: "1"}
    left = COST
    async with gateway.client() as client:
        # A page of plain values, and an operation that is executed field by field.
        for query in ("{ memories(ceiling: PUBLIC, first: 1) { nodes { id } } }", "{ viewer { scopes } }"):
            answer = await client.post("/graphql", json={"query": query}, headers=headers)
            cost = answer.json()["extensions"]["cost"]
            left -= cost["requested"]
            assert {"requested": cost["requested"], "maximum": COST_MAX, "remaining": left} == cost
            assert str(left) == answer.headers["ratelimit-remaining"]


async def test_both_transports_draw_on_one_allowance(gateway: Gateway) -> None:
    secret = await gateway.secret(ADA)
    rest, graphql = RestTransport(gateway), GraphQLTransport(gateway)
    before = await rest.read(secret, ABSENT, {"ceiling": "public"})
    after = await graphql.read(secret, ABSENT, {"ceiling": "public"})
    assert 0 < remaining(before) - remaining(after) <= STATEMENT + MEMORY_SHOWN + 1


async def test_what_is_charged_tells_nothing_of_what_is_hidden(transport: Transport) -> None:
    kept = await transport.gateway.keep(
        memory("One", sensitivity=Sensitivity.RESTRICTED), memory("Two", owner=owner("bo"))
    )
    secret = await transport.gateway.secret(ADA)
    answers = [
        await transport.read(secret, str(id), {"ceiling": "public"}) for id in (ABSENT, *(each.id for each in kept))
    ]
    left = [remaining(answer) for answer in answers]
    assert 1 == len({left[0] - left[1], left[1] - left[2]})
