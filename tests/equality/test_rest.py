"""REST lists: whatever is asked, both ways to make a page answer the same bytes and report the same."""

from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.service.cursors import encode_cursor
from store.domain.derived import DerivedRecord
from store.domain.memories import MemoryRecord
from store.domain.owners import Owner
from store.domain.vocabulary import AccessScope, BeliefType, MemoryStatus, Sensitivity
from tests.equality.pairs import Pair
from tests.factories import memory, owner
from tests.gateways import FULL, WRITE
from tests.strategies import IDS, OWNERS, POSITIONS, QUERY_TEXTS, SESSIONS, SUBJECTS, WORLDS_MAX, derived_worlds

TIMES_ASKED = 3
"""Until the shape of a row recurs, in the first example."""


def cursors() -> st.SearchStrategy[str]:
    """A place in the order, or what is no cursor."""
    places = st.builds(encode_cursor, st.sampled_from((0, *POSITIONS, 2**63 - 1)), st.sampled_from(IDS))
    return places | st.sampled_from(("", "x", "eyJwIjoxfQ", encode_cursor(2**63, UUID(int=1))))


PARAMETERS: dict[str, st.SearchStrategy[Any]] = {  # Any: each of its own type
    "limit": st.sampled_from((1, 2, 3, 5, 50, 200, 1_000, 0, -1, "many")),
    "cursor": cursors(),
    "status": st.sampled_from(MemoryStatus) | st.just("absent"),
    "belief_type": st.sampled_from(BeliefType),
    "subject": st.sampled_from((*SUBJECTS, "kai øst")),
    "session_id": st.sampled_from((*map(str, SESSIONS), "none")),
    "text": st.sampled_from((*QUERY_TEXTS, "", " ", "w " * 600)),
    "flagged": st.sampled_from(("true", "false", "maybe")),
    "include_derived": st.sampled_from(("true", "true", "false", "maybe")),
}


@st.composite
def requests(draw: st.DrawFn) -> tuple[Owner, frozenset[AccessScope], str]:
    """Who asks, with which scopes, and the query string."""
    ceilings = (*Sensitivity, *[Sensitivity.RESTRICTED] * 3, "unknown")
    parameters: list[tuple[str, object]] = [("ceiling", draw(st.sampled_from(ceilings)))]
    kinds = draw(st.lists(st.sampled_from(sorted(PARAMETERS)), max_size=3))
    parameters += [(kind, draw(PARAMETERS[kind])) for kind in kinds]
    who = draw(st.sampled_from((*[OWNERS[0]] * 4, *OWNERS[1:])))
    return who, draw(st.sampled_from((*[FULL] * 9, WRITE))), urlencode(parameters)


# The fixture is one store for all examples on purpose: a world is told from another by its tenants.
@settings(max_examples=WORLDS_MAX, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(world=derived_worlds(), asked=st.lists(requests(), min_size=1, max_size=12))
async def test_any_list_is_answered_alike(
    pair: Pair,
    world: tuple[list[MemoryRecord], list[DerivedRecord]],
    asked: list[tuple[Owner, frozenset[AccessScope], str]],
) -> None:
    number = await pair.keep(*world)

    for who, scopes, query in asked:
        secret = await pair.secret(who, number, scopes)
        expected = await pair.plain.ask("GET", f"/v1/memories?{query}", secret)
        for _ in range(TIMES_ASKED):
            assert expected == await pair.fast.ask("GET", f"/v1/memories?{query}", secret)


async def test_a_walk_goes_over_the_same_pages(pair: Pair) -> None:
    number = await pair.keep([memory(f"Belief {n}") for n in range(7)])
    secret = await pair.secret(owner(), number)
    path = "/v1/memories?ceiling=restricted&limit=2"

    for method in ("GET", "HEAD"):
        assert await pair.plain.ask(method, path, secret) == await pair.fast.ask(method, path, secret)
    cursors = [path]
    while cursors[-1]:
        expected = await pair.plain.ask("GET", cursors[-1], secret)
        assert expected == await pair.fast.ask("GET", cursors[-1], secret)
        cursor = expected[1].split(b'"next_cursor":')[1].strip(b'"}').decode()
        cursors.append("" if cursor == "null" else f"{path}&cursor={cursor}")
    assert 5 == len(cursors)
