"""Rows into tables by COPY, several processes at once, with the indexes made anew afterwards.

The indexes are dropped and made from PostgreSQL's own description of them, so that they are the migration's, whatever
that makes. Afterwards the tables are vacuumed and analyzed, as those of a database are that has been up for a while.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import asynccontextmanager
from datetime import datetime
from decimal import Decimal
from itertools import islice
from multiprocessing import get_context
from types import NoneType
from typing import Any, TypeAlias
from uuid import UUID

import asyncpg

from scripts.benchmarking.data import Group, records, row_values
from store.domain.keyring import Keyring

GROUP_ROWS_MAX = 20_000
"""Rows that one COPY writes."""
_BATCH_ROWS = 500
_ESCAPES = str.maketrans({"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"})
_EVIDENCE = """
insert into belief_evidence (tenant_id, principal_id, memory_id, session_id, number, ordinal)
select tenant_id, principal_id, id, source_session_id, source_event_ids[1], 1 from beliefs where store_position >= $1
"""

Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record]"


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[Connection]:
    """A connection to the database of a SQLAlchemy URL."""
    connection = await asyncpg.connect(url.replace("+asyncpg", ""))
    try:
        await connection.execute("set statement_timeout = 0")
        yield connection
    finally:
        await connection.close()


def groups_of(principals: Sequence[int], *, rows: int, first_position: int) -> list[Group]:
    """Groups of principals with so many rows each, every group small enough for one COPY."""
    share = min(rows, GROUP_ROWS_MAX)
    size = max(1, GROUP_ROWS_MAX // rows)
    groups: list[Group] = []
    for start in range(0, len(principals), size):
        for first_number in range(0, rows, share):
            group = Group(
                principals=principals[start : start + size],
                rows=min(share, rows - first_number),
                first_position=first_position,
                first_number=first_number,
            )
            groups.append(group)
            first_position += group.count
    return groups


async def load(url: str, groups: Sequence[Group], keyring: Keyring) -> None:
    """Add the rows of all groups, and let the sequence of positions rise above them."""
    async with connected(url) as connection:
        definitions = await _drop_indexes(connection)
    if len(groups) == 1:
        await _copy_group(url, groups[0], keyring)
    else:
        # Not forked: a copy of this process would hold its locks and descriptors.
        with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
            loop = asyncio.get_running_loop()
            await asyncio.gather(*(loop.run_in_executor(pool, copy_group, url, group, keyring) for group in groups))
    async with connected(url) as connection:
        await connection.execute("set maintenance_work_mem = '512MB'")
        await connection.execute(_EVIDENCE, min(group.first_position for group in groups))
        for definition in definitions:
            await connection.execute(definition)
        last = max(group.first_position + group.count for group in groups)
        await connection.execute(
            f"select setval('belief_positions', greatest({last}, last_value)) from belief_positions"
        )
        for table in ("beliefs", "belief_evidence"):
            await connection.execute(f"vacuum (analyze) {table}")
        await connection.execute("checkpoint")


def copy_group(url: str, group: Group, keyring: Keyring) -> None:
    """Write the rows of one group; the work of one process."""
    asyncio.run(_copy_group(url, group, keyring))


async def _copy_group(url: str, group: Group, keyring: Keyring) -> None:
    rows = (row_values(record, keyring) for record in records(group))
    batch = list(islice(rows, _BATCH_ROWS))
    columns = list(batch[0])

    async def lines() -> AsyncIterator[bytes]:
        part = batch
        while part:
            yield "".join(copy_line(row.values()) for row in part).encode()
            part = list(islice(rows, _BATCH_ROWS))

    async with connected(url) as connection:
        await connection.copy_to_table("beliefs", source=lines(), columns=columns, format="text")


def copy_line(values: Iterable[object]) -> str:
    """A row as COPY reads it in its text format."""
    return "\t".join([_TEXTS.get(type(value), _word)(value) for value in values]) + "\n"


def _word(value: str) -> str:
    # Nearly all are plain, and asking so is a tenth of the work.
    return value if value.isprintable() and "\\" not in value else value.translate(_ESCAPES)


def _list(value: Any) -> str:  # Any: as the table below
    elements = [str(element).replace("\\", "\\\\").replace('"', '\\"') for element in value]
    return _word('{"' + '","'.join(elements) + '"}' if elements else "{}")


_TEXTS: Mapping[type, Callable[[Any], str]] = {  # Any: each takes values of its type
    NoneType: lambda _: "\\N",
    str: _word,
    bool: lambda value: "t" if value else "f",
    int: str,
    Decimal: str,
    UUID: str,
    datetime: str,
    bytes: lambda value: "\\\\x" + value.hex(),
    list: _list,
}


async def _drop_indexes(connection: Connection) -> list[str]:
    """Drop every index of beliefs that is no key: the statements that make them again."""
    indexes = await connection.fetch(
        """select index.relname as name, pg_get_indexdef(index.oid) as definition from pg_index
        join pg_class index on index.oid = pg_index.indexrelid
        where pg_index.indrelid = 'beliefs'::regclass and not pg_index.indisprimary"""
    )
    for index in indexes:
        await connection.execute(f"drop index {index['name']}")
    return [index["definition"] for index in indexes]
