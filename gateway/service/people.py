"""People: giving a key its name, and writing the name into the rows that show it.

A rename never touches updated_at, position or revision; a read meanwhile may find either name. Whoever writes a name,
or a belief that shows it, holds the lock of the person: no belief is formed under a name that is being replaced.
Source: belief store decisions, People.
"""

import hashlib
from functools import partial

from gateway.service.errors import MalformedRequest
from gateway.service.guards import hold_lexical_version
from store.domain.keyring import length_prefixed
from store.domain.memories import InvalidRecord, check_text
from store.domain.owners import Owner
from store.domain.people import (
    PERSON_KEY_LENGTH_MAX,
    PERSON_NAME_LENGTH_MAX,
    PERSON_PREFIX,
    Person,
    display_subject,
    person_key,
)
from store.ports.store import Store, Transaction

RENAME_BATCH = 500


def check_person(person: Person) -> None:
    """Raise MalformedRequest for a key or name out of bounds, or a name that reads like a key."""
    try:
        check_text("key", person.key, PERSON_KEY_LENGTH_MAX)
        check_text("name", person.name, PERSON_NAME_LENGTH_MAX)
    except InvalidRecord as error:
        raise MalformedRequest(error.field, error.reason) from error
    if person.name.lower().startswith(PERSON_PREFIX):
        raise MalformedRequest("name", f"must not start with {PERSON_PREFIX}")


class PeopleService:
    """Names of the people that beliefs are about."""

    def __init__(self, store: Store) -> None:
        """Write to a store."""
        self._store = store

    async def name(self, person: Person) -> bool:
        """Give a person a name, in batches over the rows that show it; False if nothing changed."""
        check_person(person)
        changed = await self._store.transact(partial(_put_person, person=person))
        while await self._store.transact(partial(rename_batch, owner=person.owner, key=person.key)):
            changed = True
        return changed


def subject_locks(subject: str) -> frozenset[bytes]:
    """The lock of the person that a subject names, beside those of statements; none for another subject."""
    key = person_key(subject)
    if key is None:
        return frozenset()
    return frozenset({hashlib.sha256(length_prefixed(b"person", key.encode())).digest()})


async def find_shown_subject(transaction: Transaction, owner: Owner, subject: str) -> str:
    """The subject as views show it; the caller holds the lock of the person that it names."""
    key = person_key(subject)
    person = None if key is None else await transaction.journal.find_person(owner, key)
    return display_subject(subject, person)


async def take_person(transaction: Transaction, person: Person) -> bool:
    """Name a person and rewrite every row that shows another name, in one transaction; False if nothing changed.

    Raises MalformedRequest as PeopleService.name does, before anything is written.
    """
    check_person(person)
    changed = await _put_person(transaction, person=person)
    while await rename_batch(transaction, owner=person.owner, key=person.key):
        changed = True
    return changed


async def rename_batch(transaction: Transaction, *, owner: Owner, key: str) -> int:
    """Rewrite at most 500 beliefs, or where none is left derived records, that show another name of a person."""
    subject = f"{PERSON_PREFIX}{key}"
    await transaction.journal.lock_statements(owner, subject_locks(subject))
    await hold_lexical_version(transaction.facts)
    # Read under the lock: of two renames at once the later one stands, in every row.
    person = await transaction.journal.find_person(owner, key)
    if person is None:
        return 0
    for rows in (transaction.memories, transaction.derived):
        renamed = await rows.put_display_subject(owner, subject=subject, shown=person.name, limit=RENAME_BATCH)
        if renamed:
            return renamed
    return 0


async def _put_person(transaction: Transaction, *, person: Person) -> bool:
    await transaction.journal.lock_statements(person.owner, subject_locks(f"{PERSON_PREFIX}{person.key}"))
    return await transaction.journal.put_person(person)
