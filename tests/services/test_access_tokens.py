"""Bearer tokens: what they open, for how long, and what is kept of them."""

from datetime import timedelta
from uuid import uuid4

import pytest

from gateway.service.errors import MalformedRequest
from gateway.service.tokens import REMEMBERED_SECONDS, TokenService
from store.domain.tokens import AccessToken, token_hash
from store.domain.vocabulary import AccessScope
from store.ports.store import Store
from tests.services.deployment import ADA, Clock


class Tokens:
    """A token service with clocks that stand."""

    def __init__(self, store: Store) -> None:
        self.clock = Clock()
        self.seconds = 0.0
        self.failures = 0
        self.service = TokenService(
            store, clock=self.clock, new_id=uuid4, monotonic=lambda: self.seconds, on_last_use_failure=self.fail
        )

    def fail(self) -> None:
        self.failures += 1

    async def create(self, **changes: object) -> tuple[AccessToken, str]:
        wish = {"scopes": ["memory.read"], "label": "laptop", "expires_at": None} | changes
        return await self.service.create(ADA, **wish)  # type: ignore[arg-type]  # by name


@pytest.fixture
def tokens(store: Store) -> Tokens:
    return Tokens(store)


async def test_a_token_opens_what_it_was_made_for(tokens: Tokens) -> None:
    token, secret = await tokens.create(scopes=["memory.read", "structured.read"])

    principal = await tokens.service.resolve(secret)

    assert principal is not None
    assert principal.owner == ADA
    assert principal.scopes == {AccessScope.MEMORY_READ, AccessScope.STRUCTURED_READ}
    assert token.token_hash == token_hash(secret)
    assert len(secret) == 43


@pytest.mark.parametrize("secret", ["", "nonsense", "é", "\ud800", "x" * 10_000])
async def test_another_text_opens_nothing(tokens: Tokens, secret: str) -> None:
    assert await tokens.service.resolve(secret) is None


async def test_a_revocation_holds_within_a_second(tokens: Tokens) -> None:
    token, secret = await tokens.create()
    assert await tokens.service.resolve(secret) is not None

    assert await tokens.service.revoke(token.id)

    tokens.seconds += REMEMBERED_SECONDS
    assert await tokens.service.resolve(secret) is None
    assert not await tokens.service.revoke(token.id)
    assert not await tokens.service.revoke(uuid4())


async def test_a_miss_is_never_remembered(tokens: Tokens, store: Store) -> None:
    other = Tokens(store)
    token, secret = await tokens.create()
    await tokens.service.revoke(token.id)
    assert await other.service.resolve(secret) is None
    _, fresh = await tokens.create()

    assert await other.service.resolve(fresh) is not None


async def test_a_token_expires_at_its_moment_even_while_it_is_remembered(tokens: Tokens) -> None:
    _, secret = await tokens.create(expires_at=tokens.clock.now + timedelta(minutes=1))
    assert await tokens.service.resolve(secret) is not None

    tokens.clock.advance(timedelta(minutes=1))

    assert await tokens.service.resolve(secret) is None


async def test_the_last_use_is_written_at_most_hourly(tokens: Tokens, store: Store) -> None:
    _, secret = await tokens.create()
    first = tokens.clock.now
    for minutes in (0, 30, 29):
        tokens.clock.advance(timedelta(minutes=minutes))
        assert await tokens.service.resolve(secret) is not None
    await tokens.service.close()
    assert [token.last_used_at for token in await tokens.service.list()] == [first]

    tokens.clock.advance(timedelta(minutes=1))
    await tokens.service.resolve(secret)
    await tokens.service.close()

    assert [token.last_used_at for token in await tokens.service.list()] == [first + timedelta(hours=1)]


@pytest.mark.parametrize(
    ("changes", "parameter"),
    [
        ({"scopes": ["memory.everything"]}, "scopes"),
        ({"scopes": []}, "scopes"),
        ({"label": ""}, "label"),
        ({"label": "x" * 129}, "label"),
        ({"expires_at": Clock().now}, "expires_at"),
    ],
)
async def test_a_token_out_of_bounds_is_not_made(tokens: Tokens, changes: dict[str, object], parameter: str) -> None:
    with pytest.raises(MalformedRequest) as refusal:
        await tokens.create(**changes)

    assert refusal.value.parameter == parameter
    assert await tokens.service.list() == []


async def test_every_scope_can_be_granted(tokens: Tokens) -> None:
    _, secret = await tokens.create(scopes=[scope.value for scope in AccessScope])

    principal = await tokens.service.resolve(secret)

    assert principal is not None
    assert principal.scopes == frozenset(AccessScope)
