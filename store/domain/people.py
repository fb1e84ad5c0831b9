"""People a person's beliefs are about: the key in a subject, the name that is shown.

Identity, formation and export use the raw key; views show the name. Source: belief store decisions, People.
"""

from dataclasses import dataclass

from store.domain.owners import Owner

PERSON_PREFIX = "person:"
UNNAMED_PERSON = "Unnamed person"
PERSON_NAME_LENGTH_MAX = 512
PERSON_KEY_LENGTH_MAX = 512 - len(PERSON_PREFIX)


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """The name behind `person:<key>` for one owner."""

    owner: Owner
    key: str
    name: str


def person_key(subject: str) -> str | None:
    """The key of a subject of the form `person:<key>`, else None."""
    key = subject.removeprefix(PERSON_PREFIX)
    return key if key and key != subject else None


def display_subject(subject: str, person: Person | None) -> str:
    """What a view shows as the subject: the person's name, or the subject itself."""
    if person_key(subject) is None:
        return subject
    return UNNAMED_PERSON if person is None else person.name
