"""A stranger's identifiers in every argument, and every field looked through: three principals, a generated matrix.

Each principal asks a gateway that all three use, and one that it has for itself. Whatever it says of the others, the
two answer alike: to the letter, to the status, to the header.
"""

import itertools
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Any

import httpx
import pytest
from graphql import GraphQLInputObjectType, GraphQLSchema, get_named_type

from gateway.rest.openapi import openapi_document
from store.domain.encodings import wire_time
from store.domain.vocabulary import BeliefType, MemoryStatus, ReviewOutcome, Sensitivity
from store.inmemory.store import InMemoryStore
from store.ports.store import Store
from tests.gateways import serving
from tests.outsiders.introspected import RootField, arguments_of, fields_of, introspect, root_fields, seen_fields
from tests.outsiders.principals import PRINCIPALS, Belongings, belongings
from tests.worlds import keep, keep_derived

pytestmark = pytest.mark.postgres

ALL = [belongings(number) for number in range(len(PRINCIPALS))]

Values = Callable[[Belongings], list[object]]


def named(*values: object) -> Values:
    """Values that are nobody's."""
    return lambda _: list(values)


def members(enumeration: Any) -> list[object]:  # Any: an enumeration
    """What GraphQL calls the members."""
    return [member.name for member in enumeration]


LEVELS = named(*members(Sensitivity))
IDS: Values = lambda theirs: [theirs.ids[0], theirs.ids[-1], theirs.derived_id, str(theirs.session)]  # noqa: E731
CURSORS: Values = lambda theirs: [theirs.cursors[0], theirs.cursors[-1]]  # noqa: E731
TEXTS: Values = lambda theirs: [theirs.name.upper(), f"{theirs.name} sails"]  # noqa: E731
CONFIDENCES: Values = lambda theirs: [float(theirs.records[0].confidence)]  # noqa: E731
MOMENTS: Values = lambda theirs: [wire_time(theirs.records[0].created_at)]  # noqa: E731

OF_A_PAGE: Mapping[str, Values] = {
    "ceiling": LEVELS,
    "first": named(1, 200),
    "after": CURSORS,
    "last": named(1, 200),
    "before": CURSORS,
    "statuses": named(*([each] for each in members(MemoryStatus)), members(MemoryStatus)),
    "beliefTypes": named(*([each] for each in members(BeliefType))),
    "sensitivities": named(*([each] for each in members(Sensitivity))),
    "subject": TEXTS,
    "sessionId": IDS,
    "text": TEXTS,
    "flagged": named(True, False),
    "confidenceMin": CONFIDENCES,
    "confidenceMax": CONFIDENCES,
    "formedAfter": MOMENTS,
    "formedBefore": MOMENTS,
}
ARGUMENTS: Mapping[str, Values] = {
    **{f"Query.{page}.{name}": values for page in ("memories", "memoryItems") for name, values in OF_A_PAGE.items()},
    "Query.memory.id": IDS,
    "Query.memory.ceiling": LEVELS,
    "Query.derivedMemory.id": IDS,
    "Query.derivedMemory.ceiling": LEVELS,
    "Query.evidenceGraph.ceiling": LEVELS,
    "Query.evidenceGraph.rootIds": lambda theirs: [[id] for id in (theirs.ids[0], theirs.derived_id)],
    "Query.evidenceGraph.maxDepth": named(0, 8),
    "Query.evidenceGraph.nodeLimit": named(1, 4),
    "Query.memoryOverview.ceiling": LEVELS,
    "Mutation.reviewMemory.input": named(),
    "ReviewMemoryInput.id": IDS,
    "ReviewMemoryInput.ceiling": LEVELS,
    "ReviewMemoryInput.outcome": named(*members(ReviewOutcome)),
    "ReviewMemoryInput.idempotencyKey": lambda theirs: [f"key of {theirs.name}".replace(" ", "-")],
    "Mutation.deleteMemory.input": named(),
    "DeleteMemoryInput.id": IDS,
    "DeleteMemoryInput.ceiling": LEVELS,
    "DeleteMemoryInput.idempotencyKey": lambda theirs: [f"key of {theirs.name}".replace(" ", "-")],
}
"""What a stranger can put into each argument, given the belongings of the others. An input's members stand alone."""

FIELDS: Mapping[str, str] = {
    "Query": "viewer gateway memories memory memoryOverview memoryItems derivedMemory evidenceGraph",
    "Mutation": "reviewMemory deleteMemory",
    "Viewer": "scopes",
    "Gateway": "version surfaces",
    "MemoryConnection": "edges nodes pageInfo totalCount",
    "MemoryEdge": "cursor node",
    "MemoryItemConnection": "edges nodes pageInfo totalCount",
    "MemoryItemEdge": "cursor node",
    "MemoryItem": "id flaggedForReview createdAt updatedAt",
    "PageInfo": "hasNextPage hasPreviousPage startCursor endCursor",
    "Memory": (
        "id subject statement beliefType status polarity scope claimKind derivation longevity portability authority "
        "sensitivity confidence corroborationCount flaggedForReview conflictsWith supersededBy sourceSessionId "
        "sourceEventIds formationRunId consolidationPolicyVersion originScopes validFrom validTo expiresAt "
        "lastEvidenceAt lastUsedAt lastReinforcedAt createdAt updatedAt conflictsWithMemories supersededByMemory "
        "supersedes"
    ),
    "DerivedMemory": "id recordKind revision status flaggedForReview createdAt updatedAt content sources",
    "DerivedContent": (
        "subject statement clauses beliefTypes scope portability sensitivity authority confidence lastEvidenceAt "
        "validFrom expiresAt"
    ),
    "Clause": "text sourceIds",
    "DerivedSource": "id revision omitted",
    "EvidenceGraph": "traversalVersion evaluatedAt maxDepth nodeLimit roots coverage nodes edges",
    "EvidenceRoot": "recordId status",
    "EvidenceCoverage": "complete stopReasons recordsExamined recordBytes dependencyWork",
    "EvidenceDependencyWork": "recordsExamined bytesExamined",
    "EvidenceNode": "depth revision recordKind derivation record",
    "EvidenceDerivation": "method methodRevision evidenceRef sources",
    "EvidenceEdge": "source target relation",
    "EvidenceReference": "recordId revision",
    "MemoryOverview": "statuses beliefTypes sensitivities confidenceBands months flaggedForReview",
    "StatusCount": "status count",
    "BeliefTypeCount": "beliefType count",
    "SensitivityCount": "sensitivity count",
    "ConfidenceBandCount": "minimum maximum count",
    "MonthCount": "month count",
    "ReviewMemoryPayload": "memory derivedMemory",
    "DeleteMemoryPayload": "deletedId",
}
"""Every field that was thought of here. Each must be seen, with something in it, in an answer that is compared."""

PARAMETERS: Mapping[str, Values] = {
    "ceiling": named(*Sensitivity),
    "limit": named(1, 200),
    "cursor": CURSORS,
    "status": named(*MemoryStatus),
    "belief_type": named(*BeliefType),
    "subject": TEXTS,
    "session_id": IDS,
    "text": TEXTS,
    "flagged": named("true", "false"),
    "include_derived": named("true", "false"),
    "memory_id": IDS,
    "Idempotency-Key": ARGUMENTS["DeleteMemoryInput.idempotencyKey"],
}
"""The same for what REST takes, wherever it stands."""


class Pair:
    """A principal before the gateway that all use and before its own."""

    def __init__(self, mine: Belongings, clients: Sequence[httpx.AsyncClient]) -> None:
        """Speak through these clients, which hold the principal's credential."""
        self.mine = mine
        self.clients = clients
        self.others = [each for each in ALL if each.owner != mine.owner]

    async def ask(
        self,
        method: str,
        target: str,
        echoed: Sequence[str] = (),
        **content: Any,  # Any: what httpx takes
    ) -> httpx.Response:
        """The answer, which is the same from both gateways and tells nothing of anybody else but what it was told."""
        shared, own = [await client.request(method, target, **content) for client in self.clients]
        assert (own.status_code, own.content, own.headers) == (shared.status_code, shared.content, shared.headers)
        strange = {trace for theirs in self.others for trace in theirs.traces if trace not in echoed}
        assert set() == {trace for trace in strange if trace in shared.text}
        return shared

    async def graphql(self, body: Mapping[str, Any]) -> Any:  # Any: JSON
        # A graph names its roots, whatever becomes of them.
        roots = body["variables"].get("rootIds", ())
        return (await self.ask("POST", "/graphql", echoed=roots, json=body)).json()

    def strange(self, values: Values) -> list[object]:
        """Values of the others, each once, after one of the principal's own."""
        found = [value for whose in (self.mine, *self.others) for value in values(whose)]
        return [value for index, value in enumerate(found) if value not in found[:index]]


@pytest.fixture
async def pairs(postgres_store: Store) -> AsyncIterator[list[Pair]]:
    """Each principal before both of its gateways."""
    async with AsyncExitStack() as stack:
        shared = await stack.enter_async_context(serving(postgres_store, derived=True, evidence=True))
        await keep(postgres_store, *(record for each in ALL for record in each.records))
        await keep_derived(postgres_store, *(each.derived for each in ALL))
        made = []
        for mine in ALL:
            alone = InMemoryStore()
            own = await stack.enter_async_context(serving(alone, derived=True, evidence=True))
            await keep(alone, *mine.records)
            await keep_derived(alone, mine.derived)
            clients = [await stack.enter_async_context(gateway.client()) for gateway in (shared, own)]
            for client, gateway in zip(clients, (shared, own), strict=True):
                secret = await gateway.secret(mine.owner)
                client.headers.update({"authorization": f"Bearer {secret}", "x-request-id": "asked"})
            made.append(Pair(mine, clients))
        yield made


async def test_every_argument_and_every_field_was_thought_of(pairs: list[Pair]) -> None:
    schema = await introspect(pairs[0].clients[0])
    assert set(ARGUMENTS) == arguments_of(schema)
    assert {f"{type}.{name}" for type, names in FIELDS.items() for name in names.split()} == fields_of(schema)
    document = openapi_document(memory=True, derived=True, version="1")
    described = [operation for path in document["paths"].values() for operation in path.values()]
    assert set(PARAMETERS) == {each["name"] for operation in described for each in operation.get("parameters", ())}


def questions(pair: Pair, schema: GraphQLSchema) -> Iterator[dict[str, Any]]:
    """Each query with every value in every argument, the required ones the principal's own."""
    for path, root in root_fields(schema).items():
        if root.type != "Query":
            continue
        id = pair.mine.derived_id if root.name == "derivedMemory" else pair.mine.ids[0]
        usual = {
            "ceiling": "RESTRICTED",
            "id": id,
            "rootIds": [pair.mine.derived_id],
            # Of more, not all could be asked for at once.
            "nodeLimit": 4,
            "statuses": members(MemoryStatus),
        }
        usual = {name: value for name, value in usual.items() if name in root.field.args}
        yield root.document(usual)
        for name in root.field.args:
            for value in pair.strange(ARGUMENTS[f"{path}.{name}"]):
                yield root.document(usual | {name: value})


async def test_nobody_is_told_of_another_by_any_query(pairs: list[Pair]) -> None:
    schema = await introspect(pairs[0].clients[0])
    seen: set[str] = set()
    for pair in pairs:
        for body in questions(pair, schema):
            answer = await pair.graphql(body)
            if answer.get("data"):
                assert schema.query_type is not None
                seen |= seen_fields(schema, schema.query_type, answer["data"])
    mutations = {
        f"{type}.{name}"
        for type in ("Mutation", "ReviewMemoryPayload", "DeleteMemoryPayload")
        for name in FIELDS[type].split()
    }
    assert set() == fields_of(schema) - seen - mutations


def input_of(root: RootField) -> GraphQLInputObjectType:
    """The type of a mutation's input."""
    type = get_named_type(root.field.args["input"].type)
    assert isinstance(type, GraphQLInputObjectType)
    return type


async def everything_shown(pair: Pair, schema: GraphQLSchema) -> list[object]:
    """All that a principal is shown when it asks for its own."""
    roots = root_fields(schema)
    everything = {"ceiling": "RESTRICTED", "statuses": members(MemoryStatus)}
    derived = {"id": pair.mine.derived_id, "ceiling": "RESTRICTED"}
    return [
        *[await pair.graphql(roots[f"Query.{page}"].document(everything)) for page in ("memories", "memoryItems")],
        await pair.graphql(roots["Query.derivedMemory"].document(derived)),
        *[
            await pair.graphql(roots["Query.memory"].document({"id": id, "ceiling": "RESTRICTED"}))
            for id in pair.mine.ids
        ],
    ]


async def test_nobody_changes_what_is_anothers_by_any_mutation(pairs: list[Pair]) -> None:
    schema = await introspect(pairs[0].clients[0])
    roots = {path: root for path, root in root_fields(schema).items() if root.type == "Mutation"}
    seen: set[str] = set()
    for pair in pairs:
        before = [await everything_shown(other, schema) for other in pairs if other is not pair]
        for (path, root), id in itertools.product(roots.items(), (pair.mine.ids[3], pair.mine.derived_id)):
            input = input_of(root)
            usual = {"id": id, "ceiling": "RESTRICTED", "outcome": "NOT_HERE", "idempotencyKey": f"usual-{path}-{id}"}
            usual = {name: value for name, value in usual.items() if name in input.fields}
            for name in input.fields:
                for index, value in enumerate(pair.strange(ARGUMENTS[f"{input.name}.{name}"])):
                    if value in {*pair.mine.ids, pair.mine.derived_id}:
                        continue
                    given = usual | {"idempotencyKey": f"{path}-{name}-{index}-{id}"} | {name: value}
                    answer = await pair.graphql(root.document({"input": given}))
                    if answer.get("data"):
                        assert schema.mutation_type is not None
                        seen |= seen_fields(schema, schema.mutation_type, answer["data"])
        assert before == [await everything_shown(other, schema) for other in pairs if other is not pair]
    assert {f"Mutation.{name}" for name in FIELDS["Mutation"].split()} <= seen
    payloads = {"ReviewMemoryPayload.memory", "ReviewMemoryPayload.derivedMemory", "DeleteMemoryPayload.deletedId"}
    assert payloads <= seen


async def listed_by_rest(pair: Pair) -> bytes:
    """All that a principal is shown of its own."""
    return (await pair.ask("GET", "/v1/memories?ceiling=restricted&include_derived=true")).content


async def test_nobody_is_told_of_another_by_rest(pairs: list[Pair]) -> None:
    document = openapi_document(memory=True, derived=True, version="1")
    for pair in pairs:
        before = [await listed_by_rest(other) for other in pairs if other is not pair]
        for path, methods in document["paths"].items():
            for method, operation in methods.items():
                for parameter in operation.get("parameters", ()):
                    for index, value in enumerate(pair.strange(PARAMETERS[parameter["name"]])):
                        await ask_rest(pair, method, path, operation, parameter, value, f"{method}-{index}")
        assert before == [await listed_by_rest(other) for other in pairs if other is not pair]


async def ask_rest(
    pair: Pair,
    method: str,
    path: str,
    operation: Mapping[str, Any],
    parameter: Mapping[str, Any],
    value: object,
    key: str,
) -> None:
    """One request with an odd value of one parameter."""
    values: dict[str, object] = {
        "memory_id": pair.mine.ids[3],
        "ceiling": "restricted",
        "Idempotency-Key": f"{key}-{parameter['name']}",
    }
    values[parameter["name"]] = value
    places = {each["name"]: each["in"] for each in operation["parameters"]}
    given = {name: str(each) for name, each in values.items() if name in places}
    body: dict[str, Any] = {"json": {"outcome": "dismiss"}} if "requestBody" in operation else {}
    await pair.ask(
        method.upper(),
        path.replace("{memory_id}", given.get("memory_id", "")),
        params={name: each for name, each in given.items() if places[name] == "query"},
        headers={name: each for name, each in given.items() if places[name] == "header"},
        **body,
    )
