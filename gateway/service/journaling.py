"""Entries of the journal about what operators do, each in the transaction of the act or before it.

An act upon one owner stands in that owner's journal, one upon the whole store under an owner that no principal can be.
A payload holds words, ids and counts, never text.
Source: belief store decisions, Review and delete (events).
"""

from datetime import datetime

from store.domain.journal import NO_SESSION
from store.domain.owners import WHOLE_STORE, Owner
from store.domain.vocabulary import EventKind
from store.ports.store import Transaction


async def journal_act(
    transaction: Transaction,
    *,
    now: datetime,
    action: str,
    owner: Owner = WHOLE_STORE,
    **details: str | int | bool | None,
) -> None:
    """Append an operator's act: its name, and what belongs to it."""
    await transaction.journal.append(
        owner,
        EventKind.OPERATOR_ACCESS,
        session_id=NO_SESSION,
        memory_id=None,
        at=now,
        payload={"action": action, **details},
    )
