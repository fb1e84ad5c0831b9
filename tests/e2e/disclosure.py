"""Looking for words where none of them may be: in the columns of a database, in a dump of it, in any text.

A word is found whatever its case, as the bytes of a binary column, and as JSON or a URL would escape it.
"""

import asyncio
import json
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Collection
from functools import cache
from urllib.parse import quote

from store.postgres.embedded.binaries import find_binaries
from tests.e2e.processes import DATABASE, Connection, Place

VIEWS = ("pg_stats", "pg_stats_ext", "pg_stats_ext_exprs", "pg_stat_activity")
"""Views that show what no table holds, or what others hold in an opaque form."""

_COLUMNS = """
    select format('%I.%I', namespace.nspname, class.relname) as place,
           class.relname as name,
           array_agg(attribute.attname::text order by attribute.attnum) as columns
    from pg_class class
    join pg_namespace namespace on namespace.oid = class.relnamespace
    join pg_attribute attribute on attribute.attrelid = class.oid
    where attribute.attnum > 0 and not attribute.attisdropped
      and (class.relkind in ('r', 'p', 'm') or class.relname = any($1))
      and namespace.nspname <> 'pg_toast'
    group by 1, 2
"""


def disclosed(text: str, words: Collection[str]) -> set[str]:
    """Which of the words stand in a text."""
    folded = text.casefold()
    return {word for word in words if any(form in folded for form in _forms(word))}


async def find_in_columns(connection: Connection, words: Collection[str]) -> dict[str, set[str]]:
    """Which columns of any table hold which of the words, as text; statistics and the system's own tables too."""
    found = {}
    for place, name, columns in await connection.fetch(_COLUMNS, VIEWS):
        selection = ", ".join(f"""string_agg("{column}"::text, ' ')""" for column in columns)
        [row] = await connection.fetch(f"select {selection} from {place}")
        for column, value in zip(columns, row, strict=True):
            if held := disclosed(value or "", words):
                found[f"{name}.{column}"] = held
    return found


async def dump(place: Place) -> str:
    """The whole database as pg_dump writes it."""
    process = await asyncio.create_subprocess_exec(
        find_binaries(None).program("pg_dump"),
        *("--host", place.postgres, "--username", "postgres", DATABASE),
        env={"LANG": "C"},
        stdin=DEVNULL,
        stdout=PIPE,
        stderr=PIPE,
    )
    output, errors = await process.communicate()
    assert 0 == process.returncode, errors
    return output.decode()


@cache
def _forms(word: str) -> set[str]:
    spellings = {word, word.lower(), word.upper(), word.casefold()}
    escaped = {form(spelling) for spelling in spellings for form in (quote, _as_json, _as_bytes)}
    return {each.casefold() for each in spellings | escaped}


def _as_json(word: str) -> str:
    return json.dumps(word).strip('"')


def _as_bytes(word: str) -> str:
    return word.encode().hex()
