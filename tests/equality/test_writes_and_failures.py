"""Documents that change something, that meet a failing store, or that show too much: alike to the last error."""

import json
from collections.abc import Awaitable, Callable
from copy import deepcopy
from random import Random

import pytest
from graphql import GraphQLSchema

from gateway.graphql.schema import build_schema
from store.inmemory.store import InMemoryStore
from store.ports.errors import StoreInconsistent, StoreUnavailable
from store.ports.store import Result, Transaction
from tests.equality.beliefs import clique
from tests.equality.documents import Document
from tests.equality.pairs import Answer, Pair, paired
from tests.equality.requests import REQUEST_BYTES, Asked, written_request
from tests.factories import derived, identifier, owner
from tests.gateways import serving
from tests.strategies import DERIVED_IDS
from tests.unit.gateway.graphql.clients import ObservedStore
from tests.worlds import keep, keep_derived

SCHEMA: GraphQLSchema = build_schema(memory=True, derived=True, evidence=True)._schema
FIELDS = "id statement status flaggedForReview conflictsWith updatedAt derivation"
LINKS = f"conflictsWithMemories {{ {FIELDS} }} supersedes {{ id }} supersededByMemory {{ __typename }}"
EVERYTHING = Asked(
    Document(f"{{ memories(ceiling: RESTRICTED, first: 200) {{ totalCount nodes {{ {FIELDS} {LINKS} }} }} }}", {})
)
DERIVED = "id revision content { statement clauses { text sourceIds } } sources { id revision }"
ITEMS = (
    "memoryItems(ceiling: RESTRICTED, first: 200) { totalCount edges { cursor node { __typename flaggedForReview "
    f"... on DerivedMemory {{ status {DERIVED} }} ... on Memory {{ id statement {LINKS} }} }} }} }}"
)
EVERY_ITEM = Asked(Document(f"{{ {ITEMS} }}", {}))
REVIEW = (
    "mutation($input: ReviewMemoryInput!) { it: reviewMemory(input: $input) "
    f"{{ memory {{ {FIELDS} {LINKS} }} derivedMemory {{ status {DERIVED} }} }} }}"
)
DELETE = "mutation($input: DeleteMemoryInput!) { deleteMemory(input: $input) { __typename deletedId } }"
MUTATIONS = 60
WIDE = " ".join(f"v{number}: statement" for number in range(31))
"""Of 64 linked beliefs each, 34 beliefs show as much as is allowed."""
TOO_LARGE = b"must not show more than"


class FailingStore(ObservedStore):
    """The same with tokens in it, whose use is noted beside open snapshots."""

    async def transact(self, work: Callable[[Transaction], Awaitable[Result]]) -> Result:
        """A transaction, whatever else is open."""
        return await InMemoryStore.transact(self, work)


async def filled(store: InMemoryStore, count: int) -> str:
    """Keep so many beliefs of one owner, each linked with all the others, and what rests on some; a token of theirs."""
    async with serving(store) as gateway:
        beliefs = clique(count)
        await keep(store, *beliefs)
        await keep_derived(
            store, *(derived(*beliefs[number : number + 2], id=id) for number, id in enumerate(DERIVED_IDS[:3]))
        )
        return await gateway.secret(owner())


async def answer(pair: Pair, secret: str, asked: Asked) -> Answer:
    """The answer of the plain side, which is that of the other one."""
    expected = await asked.of(pair.plain, secret)
    assert expected == await asked.of(pair.fast, secret), asked
    return expected


def codes(answer: Answer) -> list[str]:
    """What went wrong."""
    return [error["extensions"]["code"] for error in json.loads(answer[1]).get("errors", ())]


def mutation(query: str, number: int, key: str, **more: str) -> Asked:
    """A mutation of one belief."""
    given = {"id": str(identifier(number)), "ceiling": "RESTRICTED", "idempotencyKey": key, **more}
    return Asked(Document(query, {"input": given}))


async def test_what_is_written_is_told_alike_and_leaves_the_same() -> None:
    store = InMemoryStore()
    secret = await filled(store, 6)
    asked = [
        (mutation(REVIEW, 1, "1", outcome="UNTRUE"), []),
        (mutation(REVIEW, 2, "2", outcome="DISMISS"), []),
        (mutation(REVIEW, 3, "3", outcome="NOT_HERE"), []),
        (mutation(REVIEW, 1, "1", outcome="DISMISS"), ["conflict"]),
        (mutation(DELETE, 4, "4"), []),
        (mutation(DELETE, 4, "other"), ["not_found"]),
        (mutation(DELETE, 5, ""), ["malformed_request"]),
        (mutation(REVIEW, 5, "é", outcome="UNTRUE"), ["malformed_request"]),
        (mutation(DELETE, 99, "5"), ["not_found"]),
        # Of derived records the first is withheld, since what it rests on was reviewed; so is the second.
        (mutation(REVIEW, 21, "6", outcome="DISMISS"), ["not_found"]),
        (mutation(DELETE, 22, "7"), ["not_found"]),
    ]
    async with paired(store, deepcopy(store)) as pair:
        for request, expected in asked:
            for _ in range(2):
                assert expected == codes(await answer(pair, secret, request))
            await answer(pair, secret, EVERYTHING)


async def test_what_is_written_of_derived_records_is_told_alike_and_leaves_the_same() -> None:
    store = InMemoryStore()
    secret = await filled(store, 6)
    asked = [
        (mutation(REVIEW, 21, "1", outcome="NOT_HERE"), []),
        (mutation(REVIEW, 21, "2", outcome="UNTRUE"), []),
        (mutation(REVIEW, 22, "3", outcome="DISMISS"), []),
        (mutation(DELETE, 22, "3"), ["conflict"]),
        (mutation(DELETE, 22, "4"), []),
        # It said the same, and went with it.
        (mutation(DELETE, 21, "5"), ["not_found"]),
        (mutation(REVIEW, 22, "3", outcome="DISMISS"), ["not_found"]),
        (mutation(DELETE, 24, "6"), ["not_found"]),
    ]
    async with paired(store, deepcopy(store)) as pair:
        for request, expected in asked:
            for _ in range(2):
                assert expected == codes(await answer(pair, secret, request))
            await answer(pair, secret, EVERY_ITEM)


async def test_any_mutation_is_answered_alike_and_leaves_the_same() -> None:
    assert SCHEMA.mutation_type is not None, "beliefs can be judged"
    store, random = InMemoryStore(), Random(MUTATIONS)
    secret = await filled(store, 12)
    used: set[str] = set()
    async with paired(store, deepcopy(store)) as pair:
        for _ in range(MUTATIONS):
            request = written_request(SCHEMA, SCHEMA.mutation_type, random.randbytes(REQUEST_BYTES))
            _, content, *_ = await answer(pair, secret, request)
            if b'"data"' in content:
                used |= request.document.coordinates
        await answer(pair, secret, EVERYTHING)
        await answer(pair, secret, EVERY_ITEM)
    payload = {"ReviewMemoryPayload.memory", "ReviewMemoryPayload.derivedMemory"}
    assert {"Mutation.reviewMemory", "Mutation.deleteMemory", *payload} <= used


@pytest.mark.parametrize("failure", [StoreUnavailable(), StoreInconsistent(), KeyError("unexpected")], ids=repr)
@pytest.mark.parametrize(
    "failing",
    [
        *("snapshot", "browse", "find_many", "find_superseded", "count"),
        *("derived.browse", "derived.count", "derived.find"),
    ],
)
async def test_failures_of_the_store_are_told_alike(failing: str, failure: Exception) -> None:
    store = FailingStore()
    secret = await filled(store, 4)
    links = Document(f"{{ viewer {{ scopes }} memories(ceiling: PUBLIC, first: 2) {{ nodes {{ id {LINKS} }} }} }}", {})
    page = Document("{ memories(ceiling: PUBLIC) { nodes { id } } }", {})
    one = Document(f'{{ derivedMemory(id: "{DERIVED_IDS[0]}", ceiling: PUBLIC) {{ {DERIVED} }} }}', {})
    told: list[str] = []
    async with paired(store) as pair:
        store.failure = failure
        reads = (EVERYTHING, Asked(links), Asked(page), EVERY_ITEM, Asked(one))
        for request in (*reads, mutation(REVIEW, 1, "1", outcome="DISMISS")):
            # Nothing of the token is to be read any more.
            await answer(pair, secret, Asked(Document("{ viewer { scopes } }", {})))
            store.failing = failing
            told += codes(await answer(pair, secret, request))
            store.failing = ""
    assert ("unavailable" if isinstance(failure, StoreUnavailable) else "internal_error") in told


async def test_items_that_grow_too_large_are_refused_alike() -> None:
    store = InMemoryStore()
    secret = await filled(store, 65)
    selected = f"... on Memory {{ conflictsWithMemories {{ {WIDE} }} }} ... on DerivedMemory {{ {DERIVED} }}"
    query = "{ memoryItems(ceiling: PUBLIC, first: %d) { nodes { %s } } }"
    async with paired(store) as pair:
        for first, is_refused in ((30, False), (68, True)):
            _, content, _, calls = await answer(pair, secret, Asked(Document(query % (first, selected), {})))
            assert is_refused == (TOO_LARGE in content) == (("limit_exceeded", "answer_size") in calls)


@pytest.mark.parametrize(("first", "is_refused"), [(34, False), (35, True), (65, True)])
async def test_an_answer_that_grows_too_large_is_refused_alike(first: int, is_refused: bool) -> None:
    store = InMemoryStore()
    secret = await filled(store, 65)
    query = f"{{ memories(ceiling: PUBLIC, first: {first}) {{ nodes {{ conflictsWithMemories {{ {WIDE} }} }} }} }}"
    async with paired(store) as pair:
        _, content, _, calls = await answer(pair, secret, Asked(Document(query, {})))
    assert is_refused == (TOO_LARGE in content) == (("limit_exceeded", "answer_size") in calls)


async def test_a_mutation_whose_answer_grows_too_large_is_told_alike() -> None:
    store = InMemoryStore()
    secret = await filled(store, 65)
    selected = f"memory {{ status conflictsWithMemories {{ conflictsWithMemories {{ {WIDE} }} }} }}"
    query = f"mutation($input: ReviewMemoryInput!) {{ reviewMemory(input: $input) {{ {selected} }} }}"
    async with paired(store, deepcopy(store)) as pair:
        _, content, *_ = await answer(pair, secret, mutation(query, 1, "1", outcome="UNTRUE"))
        await answer(pair, secret, Asked(Document("{ memories(ceiling: PUBLIC) { nodes { id status } } }", {})))
    assert TOO_LARGE in content
    assert b'"status":"RETIRED"' in content
