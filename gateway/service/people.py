"""People: giving a key its name, and writing the name into the rows that show it.

A rename never touches updated_at, position or revision; a read meanwhile may find either name.
Source: belief store decisions, People.
"""

from gateway.service.errors import MalformedRequest
from store.domain.memories import InvalidRecord, check_text
from store.domain.people import PERSON_KEY_LENGTH_MAX, PERSON_NAME_LENGTH_MAX, PERSON_PREFIX, Person
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
        changed = await self._store.transact(lambda transaction: transaction.journal.put_person(person))
        while await self._store.transact(lambda transaction: rename_batch(transaction, person)):
            changed = True
        return changed


async def rename_batch(transaction: Transaction, person: Person) -> int:
    """Rewrite at most 500 rows of the person that show another name; how many."""
    return await transaction.memories.put_display_subject(
        person.owner, subject=f"{PERSON_PREFIX}{person.key}", shown=person.name, limit=RENAME_BATCH
    )
