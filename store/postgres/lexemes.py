"""Lexemes as PostgreSQL keeps them: prefixed by whose they are and how private.

Without the prefix the search of one owner would read the postings of all, and its time would tell of them.
Source: The store on PostgreSQL, Text; Text search: one tokenizer, PostgreSQL's index.
"""

import hashlib
from collections.abc import Collection

from store.domain.keyring import length_prefixed
from store.domain.lexical import TextQuery, record_lexemes
from store.domain.memories import MemoryRecord
from store.domain.owners import Owner
from store.domain.vocabulary import Sensitivity
from store.postgres.codes import SENSITIVITY_CODES

_MATCHES_NOTHING = "'-'"
"""A query that no row answers: every lexeme that is stored begins with a hexadecimal digit."""


def search_prefix(owner: Owner, sensitivity: Sensitivity) -> str:
    """What every lexeme of an owner's rows of one sensitivity begins with."""
    digest = hashlib.sha256(length_prefixed(owner.tenant.encode(), owner.principal.encode())).hexdigest()
    return f"{digest[:8]}{SENSITIVITY_CODES[sensitivity]}"


def stored_lexemes(record: MemoryRecord) -> list[str]:
    """The lexemes of a row, for array_to_tsvector."""
    prefix = search_prefix(record.owner, record.sensitivity)
    found = record_lexemes(subject=record.subject, display_subject=record.display_subject, statement=record.statement)
    return sorted(prefix + lexeme for lexeme in found)


def search_query(owner: Owner, sensitivities: Collection[Sensitivity], query: TextQuery) -> str:
    """The text of the tsquery that finds an owner's rows of these sensitivities: all lexemes of at least one term."""
    prefixes = sorted(search_prefix(owner, sensitivity) for sensitivity in sensitivities)
    terms = [
        "(" + " & ".join(_quoted(prefix + lexeme) for lexeme in sorted(term)) + ")"
        for prefix in prefixes
        for term in query.terms
    ]
    return " | ".join(terms) or _MATCHES_NOTHING


def _quoted(lexeme: str) -> str:
    return "'" + lexeme.replace("\\", "\\\\").replace("'", "''") + "'"
