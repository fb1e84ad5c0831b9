"""Invented beliefs, any number of them, the same ones every time.

A belief is made from its principal's number and its own number alone. The rows are what formation would have written:
the record's own rules, the store's own columns, hashes and lexemes. Positions rise as rows are made, and the rows of
principals of one group take turns, as they would when they are written over months.

Known shares of a principal's statements hold a known word, so that a text query of each frequency can be asked.
Links stand only between beliefs that every ceiling from SENSITIVE on shows: so a peer that shows links as they are
stored answers the same.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from uuid import UUID

from store.domain.keyring import Keyring
from store.domain.memories import MemoryRecord
from store.domain.owners import Owner
from store.domain.vocabulary import (
    Authority,
    BeliefType,
    ClaimKind,
    Derivation,
    Longevity,
    MemoryStatus,
    Polarity,
    Portability,
    Sensitivity,
)
from store.postgres.lexemes import stored_lexemes
from store.postgres.rows import stored_values

TENANT = "bench"
_BEGAN_AT = datetime(2025, 1, 1, tzinfo=UTC)
_STEP = timedelta(seconds=23, microseconds=456_789)
_FAR = datetime(2099, 12, 31, tzinfo=UTC)

WORDS = {"harbour": (5, 2), "lighthouse": (100, 1), "sextant": (1_000, 1), "astrolabe": (10_000, 1)}
"""A word of statements: of so many beliefs of a principal, the first ones hold it: 40 %, 1 %, 0.1 % and 0.01 %."""
ABSENT_WORD = "zeppelin"
LINKED = 40
"""Of so many beliefs the first two contradict each other."""

_PEOPLE = ("Ines", "Tomasz", "Ayaka", "Luís", "Zoë", "Emre", "Nadia", "Olu", "Søren", "Mireille")
_SUBJECTS = (
    "sailing",
    "the garden",
    "work",
    "cooking",
    "music",
    "travel",
    "the house",
    "languages",
    "running",
    "books",
)
_VERBS = ("prefers", "keeps", "plans", "avoids", "repairs", "collects", "compares", "describes", "trusts", "mentions")
_KINDS = ("quiet", "wooden", "northern", "early", "narrow", "patient", "ordinary", "borrowed", "salted", "unfinished")
_THINGS = ("boats", "letters", "mornings", "recipes", "maps", "bicycles", "winters", "pianos", "kitchens", "gardens")
_REASONS = (
    "because the weather",
    "since the last visit",
    "while the workshop",
    "although the schedule",
    "when the day",
)
_ENDINGS = ("turned mild again", "seemed much too long", "was still being built", "asked for a change", "began early")
_SCOPES = ("conversation", "calendar", "mail", "workshop")

_STATUSES = (
    *(MemoryStatus.ACTIVE,) * 14,
    *(MemoryStatus.PROVISIONAL,) * 3,
    MemoryStatus.SUPERSEDED,
    MemoryStatus.EXPIRED,
    MemoryStatus.RETIRED,
)
_SENSITIVITIES = (
    *(Sensitivity.PUBLIC,) * 8,
    *(Sensitivity.INTERNAL,) * 7,
    *(Sensitivity.SENSITIVE,) * 3,
    *(Sensitivity.RESTRICTED,) * 2,
)
_TYPES, _CLAIMS = tuple(BeliefType), tuple(ClaimKind)
_LONGEVITIES, _PORTABILITIES, _AUTHORITIES = tuple(Longevity), tuple(Portability), tuple(Authority)
_MASK = 2**64 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Principals whose rows take turns: so many each, from a number on, at positions from the first one on.

    A principal's name is its number: a client that can make up numbers alone can name one. Links stay in a group.
    """

    principals: Sequence[int]
    rows: int
    first_position: int
    first_number: int = 0

    def __post_init__(self) -> None:
        assert self.first_number % LINKED == 0, "what contradicts each other stands in one group"

    @property
    def count(self) -> int:
        """Rows of the whole group."""
        return len(self.principals) * self.rows


def owner(principal: int) -> Owner:
    """The owner of a number."""
    return Owner(tenant=TENANT, principal=str(principal))


def records(group: Group) -> Iterator[MemoryRecord]:
    """The beliefs of a group by ascending position."""
    seeds = {principal: f"{principal}/{group.first_number}" for principal in group.principals}
    sources = [(principal, random.Random(seed)) for principal, seed in seeds.items()]  # noqa: S311 # nothing secret
    position = group.first_position
    last = group.first_number + group.rows - 1
    for number in range(group.first_number, last + 1):
        for principal, source in sources:
            yield _record(principal, number, position, source, is_last=number == last)
            position += 1


def row_values(record: MemoryRecord, keyring: Keyring) -> dict[str, object]:
    """Every column of a belief's row but the generated one; `search` as PostgreSQL writes a tsvector."""
    values = stored_values(record, keyring.statement_hash(record.owner, record.statement))
    # No lexeme of these statements holds a quote or a backslash: the words of _statement are letters and digits.
    values["search"] = "'" + "' '".join(stored_lexemes(record)) + "'"
    return values


def identifier(principal: int, number: int) -> UUID:
    """The id of a belief: it looks random, and is known from both numbers."""
    high = (principal * 0x9E3779B97F4A7C15 + number * 0xC2B2AE3D27D4EB4F) & _MASK
    low = (number * 0xBF58476D1CE4E5B9 + principal * 0x94D049BB133111EB) & _MASK
    return UUID(int=high << 64 | low, version=4)


def _record(principal: int, number: int, position: int, source: random.Random, *, is_last: bool) -> MemoryRecord:
    pick = source.choice
    linked = number % LINKED < 2 and not (number % LINKED == 0 and is_last)
    status = MemoryStatus.ACTIVE if linked or is_last else pick(_STATUSES)
    formed_at = _BEGAN_AT + number * _STEP
    updated_at = formed_at + timedelta(hours=source.randrange(1, 500))
    superseded = status is MemoryStatus.SUPERSEDED
    subject = pick(_SUBJECTS)
    return MemoryRecord(
        id=identifier(principal, number),
        owner=owner(principal),
        subject=subject,
        display_subject=subject,
        statement=_statement(principal, number, source),
        belief_type=pick(_TYPES),
        status=status,
        polarity=Polarity.ASSERT if source.random() < 0.95 else Polarity.RETRACT,
        scope=pick(_SCOPES),
        claim_kind=pick(_CLAIMS),
        derivation=Derivation.DIRECT if source.random() < 0.8 else Derivation.HYPOTHESIS,
        longevity=pick(_LONGEVITIES),
        portability=pick(_PORTABILITIES),
        authority=pick(_AUTHORITIES),
        sensitivity=Sensitivity.INTERNAL if linked else pick(_SENSITIVITIES),
        confidence=Decimal(source.randrange(200, 1000)).scaleb(-3),
        utility=Decimal(source.randrange(-500, 500)).scaleb(-3),
        corroboration_count=source.randrange(1, 6),
        evidence_count=1,
        flagged_for_review=source.random() < 0.03,
        conflicts_with=(identifier(principal, number ^ 1),) if linked else (),
        superseded_by=identifier(principal, number + 1) if superseded else None,
        source_session_id=identifier(principal, -1 - number // 25),
        source_event_ids=(number % 25 + 1,),
        formation_run_id=identifier(principal, -1_000_000_000 - number // 100),
        consolidation_policy_version="2025-03",
        lifecycle_policy_version=None,
        origin_scopes=(pick(_SCOPES),),
        valid_from=formed_at,
        valid_to=updated_at if superseded else None,
        expires_at=updated_at if status is MemoryStatus.EXPIRED else _FAR if number % 10 == 9 else None,
        last_evidence_at=updated_at,
        last_used_at=updated_at if number % 3 else None,
        last_reinforced_at=updated_at if number % 4 else None,
        created_at=formed_at,
        updated_at=updated_at,
        store_position=position,
        revision=1,
    )


def _statement(principal: int, number: int, source: random.Random) -> str:
    pick = source.choice
    words = [word for word, (of, first) in WORDS.items() if number % of < first]
    place = f" near the {' and the '.join(words)}" if words else ""
    return (
        f"{pick(_PEOPLE)} {pick(_VERBS)} {pick(_KINDS)} {pick(_THINGS)}{place} {pick(_REASONS)} {pick(_ENDINGS)}, "
        f"as noted in entry {principal}/{number}"
    )
