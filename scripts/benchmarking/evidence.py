"""The gateway alone: what a graph of evidence costs beside the detail of one belief, by its nodes, wide and deep.

Wide: every root rests on fifteen beliefs. Deep: every root is the last of eight records that follow on each other, each
of which rests on the one before it and on beliefs of its own.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TypeAlias
from uuid import UUID

from gateway.service.deriving import DerivationService
from gateway.service.environment import Environment
from scripts.benchmarking.contenders import Contender
from scripts.benchmarking.data import TENANT, owner
from scripts.benchmarking.database import Database
from scripts.benchmarking.loading import connected
from scripts.benchmarking.probing import SHOWN, Question
from scripts.benchmarking.shapes import CEILING, LARGE
from store.domain.derived import ANCESTRY_DEPTH_MAX, SOURCES_MAX, RecordKind
from store.domain.deriving import DerivationClause, DerivationProposal
from store.postgres.store import PostgresStore

ROWS_OF_PRINCIPAL = 10_000
"""Of the principal whose beliefs are summed up."""
_NODES = (16, 128, 256)
_GROUP = "evidence"
_DETAIL = f"query Detail($id: ID!) {{ memory(id: $id, ceiling: {CEILING}) {{ {' '.join(LARGE.fields)} }} }}"
_GRAPH = f"""query Graph($roots: [ID!]!) {{
    evidenceGraph(ceiling: {CEILING}, rootIds: $roots, maxDepth: {ANCESTRY_DEPTH_MAX}, nodeLimit: {max(_NODES)}) {{
        roots {{ recordId status }} coverage {{ complete stopReasons }}
        nodes {{
            depth revision
            record {{ id ... on Memory {{ statement }} ... on DerivedMemory {{ content {{ statement }} }} }}
        }}
        edges {{ source {{ recordId revision }} target {{ recordId revision }} relation }}
    }}
}}"""

Belief: TypeAlias = tuple[UUID, str]


async def evidence_questions(contender: Contender, database: Database, principal: int) -> list[Question]:
    """Derive records of one principal, and what is asked of them; the first question is the detail of a belief."""
    beliefs = iter(await _beliefs_of_one_scope(database, principal))
    detail = contender.ask(_DETAIL, principal, {"id": str(next(beliefs)[0])})
    asked = [Question(group=_GROUP, label="one belief", request=detail)]
    store = PostgresStore(database.url)
    try:
        deriving = DerivationService(store, Environment(keyring=database.keyring))
        for nodes in _NODES:
            wide = [await _derived(deriving, principal, beliefs, SOURCES_MAX - 1) for _ in range(nodes // SOURCES_MAX)]
            asked.append(_question(contender, principal, f"{nodes} nodes, wide", wide))
            # A record and its beliefs on each step; all that one root rests on has a bound of its own.
            step = min(nodes // ANCESTRY_DEPTH_MAX, 8)
            roots = nodes // (step * ANCESTRY_DEPTH_MAX)
            deep = [await _chained(deriving, principal, beliefs, step - 1) for _ in range(roots)]
            asked.append(_question(contender, principal, f"{nodes} nodes, deep", deep))
    finally:
        await store.close()
    return asked


def _question(contender: Contender, principal: int, label: str, roots: Sequence[UUID]) -> Question:
    request = contender.ask(_GRAPH, principal, {"roots": [str(root) for root in roots]})
    return Question(group=_GROUP, label=label, request=request)


async def _chained(deriving: DerivationService, principal: int, beliefs: Iterator[Belief], count: int) -> UUID:
    """The last of the records that follow on each other, each with so many beliefs of its own."""
    last: UUID | None = None
    for _ in range(ANCESTRY_DEPTH_MAX):
        last = await _derived(deriving, principal, beliefs, count, also=last)
    assert last is not None, "there is a step"
    return last


async def _derived(
    deriving: DerivationService, principal: int, beliefs: Iterator[Belief], count: int, *, also: UUID | None = None
) -> UUID:
    """A summary that repeats the first of so many further beliefs, and rests on all of them."""
    sources = list(islice(beliefs, count))
    id, statement = sources[0]
    result = await deriving.derive(
        owner(principal),
        DerivationProposal(
            record_kind=RecordKind.SUMMARY,
            subject="what was noted",
            clauses=(DerivationClause(text=statement, source_ids=(id,)),),
            source_ids=(*(source for source, _ in sources), *([] if also is None else [also])),
            method="benchmark",
            method_revision="1",
            evidence_ref="scripts/bench",
        ),
    )
    assert result.id is not None, "nothing is forbidden here"
    return result.id


async def _beliefs_of_one_scope(database: Database, principal: int) -> list[Belief]:
    """(id, statement) of what may be summed up together, each statement once, by position."""
    async with connected(database.url) as connection:
        rows = await connection.fetch(
            f"""select id, statement from (
                select distinct on (statement_hash) id, statement, store_position from beliefs
                where tenant_id = $1 and principal_id = $2 and store_position > 0 and {SHOWN}
                    and polarity = 'assert' and scope = 'conversation'
                order by statement_hash, store_position
            ) told order by store_position""",
            TENANT,
            str(principal),
        )
    return [(row["id"], row["statement"]) for row in rows]
