"""Large worlds in PostgreSQL, and the plans by which they are read.

The lexemes of a row: `every`; `frequent` in two rows of five; `hundredth<n>` and `thousandth<n>`; `one<i>`; `oldest` in
the oldest tenth.
"""

import itertools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import asyncpg
from sqlalchemy.dialects.postgresql.asyncpg import dialect
from sqlalchemy.sql.elements import TextClause

from store.domain.owners import Owner
from store.domain.vocabulary import Sensitivity
from store.ports.memories import MemoryBrowseQuery, MemoryFilter
from store.postgres.browsing import count_statement, page_parameters, page_shape, page_statement
from store.postgres.classes import filter_parameters, shape_of
from store.postgres.codes import subject_key
from store.postgres.lexemes import search_prefix
from tests.factories import NOW

_names = itertools.count(1)

Node = Mapping[str, Any]  # Any: a node of EXPLAIN's JSON


def large_owner(name: str) -> Owner:
    """A principal of a world."""
    return Owner(tenant="large", principal=name)


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Rows of one owner by SQL over their number `i`, the newest last."""

    name: str
    rows: int
    sensitivity: str = "i % 4"
    status: str = "case when i % 10 < 7 then 2 when i % 10 = 7 then 1 else 3 + i % 3 end"
    expires_at: str = "null::timestamptz"
    flagged: str = "i % 20 = 0"

    @property
    def owner(self) -> Owner:
        """Whose rows they are."""
        return large_owner(self.name)


_INSERT = """
insert into beliefs (
    tenant_id, principal_id, id, subject, subject_key, display_subject, display_subject_key, statement, statement_hash,
    search, belief_type, status, polarity, scope, claim_kind, derivation, longevity, portability, authority,
    sensitivity, confidence, utility, corroboration_count, evidence_count, flagged_for_review, conflicts_with,
    source_session_id, source_event_ids, origin_scopes, valid_from, valid_to, expires_at, created_at, updated_at,
    store_position, revision
)
select $1::text, $2::text, md5($2 || i)::uuid, 'Subject ' || subject, keys[subject + 1],
    'Subject ' || subject, keys[subject + 1],
    'Statement ' || i || repeat(' of some length', 8), sha256(convert_to($2 || i, 'UTF8')),
    array_to_tsvector(array[
        prefixes[sensitivity + 1] || 'every', prefixes[sensitivity + 1] || 'hundredth' || i % 100,
        prefixes[sensitivity + 1] || 'thousandth' || i % 1000, prefixes[sensitivity + 1] || 'one' || i
    ] || case when i % 5 < 2 then array[prefixes[sensitivity + 1] || 'frequent'] else '{{}}' end
      || case when i <= rows / 10 then array[prefixes[sensitivity + 1] || 'oldest'] else '{{}}' end),
    i % 5, status, 'assert', 'conversation', 'project_fact', 'direct', 'durable', 'contextual', 'inferred',
    sensitivity, 0.5, 0, 1, 1, {flagged}, '{{}}',
    ('5e551000-0000-4000-8000-' || lpad((i % 500)::text, 12, '0'))::uuid, '{{1}}', '{{conversation}}',
    formed, case when status = 3 then formed end, {expires_at}, formed, formed, nextval('belief_positions'), 1
from (select i, {rows} as rows, i % 200 as subject, ({sensitivity})::smallint as sensitivity,
    ({status})::smallint as status, $3::text[] as prefixes, $4::bytea[] as keys,
    $5::timestamptz as formed
    from generate_series(1, {rows}) i) numbered
order by i
"""


async def fill(connection: "asyncpg.Connection[asyncpg.Record]", world: World) -> None:
    """Insert a world's rows."""
    statement = _INSERT.format(
        rows=world.rows,
        sensitivity=world.sensitivity,
        status=world.status,
        expires_at=world.expires_at,
        flagged=world.flagged,
    )
    await connection.execute(
        statement,
        world.owner.tenant,
        world.owner.principal,
        [search_prefix(world.owner, sensitivity) for sensitivity in Sensitivity],
        [subject_key(f"Subject {number}") for number in range(200)],
        NOW - timedelta(days=30),
    )


def _literal(value: object) -> str:
    """A value as SQL writes it."""
    match value:
        case None:
            return "null"
        case bool() | int() | Decimal():
            return str(value).lower()
        case bytes():
            return f"'\\x{value.hex()}'"
        case list():
            elements = ",".join(
                f'"{element.hex()}"' if isinstance(element, bytes) else str(element) for element in value
            )
            return "'{" + elements + "}'"
        case datetime() | UUID() | str():
            return "'" + str(value).replace("'", "''") + "'"
    raise AssertionError(f"no literal of {type(value).__name__}")


@dataclass(frozen=True, slots=True)
class Plan:
    """A statement's plan as it ran, planned for any values."""

    root: Node

    def nodes(self) -> Iterator[Node]:
        """Every node."""
        waiting = [self.root]
        while waiting:
            node = waiting.pop()
            yield node
            waiting += node.get("Plans", [])

    @property
    def buffers(self) -> int:
        """Pages that were read, from memory or not."""
        return int(self.root["Shared Hit Blocks"] + self.root["Shared Read Blocks"])

    @property
    def rows_removed(self) -> int:
        """Rows that a filter threw away after they were read."""
        return sum(
            node.get(kind, 0) * node["Actual Loops"]
            for node in self.nodes()
            for kind in ("Rows Removed by Filter", "Rows Removed by Index Recheck", "Rows Removed by Join Filter")
        )

    @property
    def rows_sorted(self) -> int:
        """Rows that went into the largest sort."""
        return max(
            (
                int(node["Plans"][0]["Actual Rows"] * node["Plans"][0]["Actual Loops"])
                for node in self.nodes()
                if "Sort" in node["Node Type"]
            ),
            default=0,
        )

    @property
    def indexes(self) -> frozenset[str]:
        """The indexes that were read."""
        return frozenset(
            node["Index Name"] for node in self.nodes() if "Index Name" in node and node["Actual Loops"] > 0
        )

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of nodes that ran."""
        return frozenset(node["Node Type"] for node in self.nodes() if node["Actual Loops"] > 0)


async def prepare(
    connection: "asyncpg.Connection[asyncpg.Record]", statement: TextClause, parameters: Mapping[str, object]
) -> str:
    """Prepare a statement as the store's sessions do; the text that executes it with these parameters."""
    compiled = statement.compile(dialect=dialect())  # type: ignore[no-untyped-call]  # the dialect's own constructor
    name = f"explained_{next(_names)}"
    await connection.execute(f"prepare {name} as {compiled.string}")
    return f"execute {name}({', '.join(_literal(parameters[parameter]) for parameter in compiled.positiontup or ())})"


async def explain(connection: "asyncpg.Connection[asyncpg.Record]", execution: str) -> Plan:
    """Run a prepared statement, and tell how it ran."""
    answer = await connection.fetchval(f"explain (analyze, buffers, format json) {execution}")
    return Plan(json.loads(answer)[0]["Plan"])


def page(query: MemoryBrowseQuery) -> tuple[TextClause, dict[str, object]]:
    """The statement of a page, and its parameters."""
    return page_statement(page_shape(query)), {**filter_parameters(query.filter), **page_parameters(query)}


def counting(filter: MemoryFilter) -> tuple[TextClause, dict[str, object]]:
    """The statement of a count, and its parameters."""
    return count_statement(shape_of(filter)), filter_parameters(filter)
