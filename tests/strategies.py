"""The one home of generated data: a small world of beliefs, and the queries that are asked of it.

Small on purpose: few ids, positions, subjects and moments, so that ties, links, boundaries and filters that meet
something are common. Owners are those of OWNERS; a suite that shares a database moves them into a tenant of its own.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from hypothesis import settings
from hypothesis import strategies as st

from store.domain.derived import Clause, DerivedRecord, PinnedSource
from store.domain.encodings import ATTRIBUTES, AttributeMember, Codec, ConstantMember, RowShape
from store.domain.lexical import TextQuery
from store.domain.memories import MemoryRecord
from store.domain.owners import Owner
from store.domain.people import PERSON_PREFIX, UNNAMED_PERSON, person_key
from store.domain.vocabulary import (
    STORED_STATUSES,
    Authority,
    BeliefType,
    MemoryStatus,
    Polarity,
    Portability,
    Sensitivity,
)
from store.ports.memories import Direction, Keyset, MemoryBrowseQuery, MemoryFilter
from tests.factories import NOW, OTHER_SESSION, SESSION, derived, identifier, memory, owner

WORLDS_MAX = max(20, settings().max_examples // 4)
"""Examples of a property that asks many questions of each world."""
OWNERS = (owner(), owner("bo"), owner(tenant="inland"))
# Chosen mostly, so that most questions meet something: the first owner, no end, the highest ceiling.
_OWNERS_WEIGHED = (*[OWNERS[0]] * 4, *OWNERS[1:])
_CEILINGS_WEIGHED = (*Sensitivity, *[Sensitivity.RESTRICTED] * 3)
IDS = tuple(identifier(number) for number in range(1, 13))
DERIVED_IDS = tuple(identifier(number) for number in range(21, 31))
ABSENT_ID = identifier(20)
"""Of neither a belief nor a derived record."""
POSITIONS = range(1, 16)
POSITION_MAX = 2**63 - 1
SESSIONS = (SESSION, OTHER_SESSION)
MICROSECOND = timedelta(microseconds=1)
VALID_FROM = NOW - timedelta(days=365)

ENDS = (NOW - timedelta(days=2), NOW - MICROSECOND, NOW, NOW + MICROSECOND, NOW + timedelta(days=2))
MOMENTS = (NOW - MICROSECOND, NOW, NOW + MICROSECOND)
CREATIONS = (
    NOW,
    datetime(2026, 1, 1, tzinfo=UTC),
    datetime(2025, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
    datetime(2024, 2, 29, 12, tzinfo=UTC),
)
CONFIDENCES = tuple(map(Decimal, ("0", "0.001", "0.199", "0.2", "0.399", "0.4", "0.6", "0.8", "0.999", "1")))

SUBJECTS = ("Ada", "ADA", "Straße", "STRASSE", "İstanbul", "Kai Øst", "person:kai", "person:Kai", "person:")
SHOWN_NAMES = (UNNAMED_PERSON, "Kai Øst", "海")
PHRASES = (
    "drinks tea and/or maté",
    "e-mails user+tag@example.com",
    "reads https://example.com/a, node.js and covid-19 news",
    "wohnt in der Straße",
    "STRASSE 7",
    "東京に住んでいます",
    "GPT-4を使う",
    "don’t don't O'Brien",
    "foo_bar 'baz' \\ \"qux\" & | ! :* <->",
    "cafe\u0301 ½ ₂",
    "👍🏽 👨‍👩‍👧 ❤️",
    "...",
    "ΟΔΥΣΣΕΎΣ μέγας",
    "ไทย ลาว",
    "%_ $1 :tenant {} [] \t\n",
)
QUERY_TEXTS = (
    *PHRASES,
    "tea",
    "e-mail",
    "example.com",
    "strasse",
    "straße",
    "東京",
    "京に",
    "京",
    "gpt-4",
    "don",
    "café",
    "kai",
    "øst",
    "unnamed",
    "ada news",
    "nothing-of-the-kind",
)


def statements() -> st.SearchStrategy[str]:
    """One to three tricky phrases, or any well-formed text."""
    return st.one_of(
        st.lists(st.sampled_from(PHRASES), min_size=1, max_size=3).map(" ".join),
        st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=40),
    )


def times() -> st.SearchStrategy[datetime]:
    """Any moment that a belief can hold."""
    return st.datetimes(timezones=st.just(UTC))


SELDOM_SET: dict[str, st.SearchStrategy[Any]] = {  # each of its own type: MemoryRecord has the fields by name
    "formation_run_id": st.uuids(),
    "consolidation_policy_version": st.sampled_from(("policy-3", 'é "3" \\')),
    "last_used_at": times(),
    "last_reinforced_at": times(),
    "updated_at": times(),
    "corroboration_count": st.integers(1, 2**30),
    "source_event_ids": st.lists(st.integers(1, 2**31 - 1), min_size=1, max_size=4).map(tuple),
    "origin_scopes": st.lists(st.sampled_from((*PHRASES, "work")), min_size=1, max_size=3).map(tuple),
}
"""Fields that decide nothing, which are left at what `memory` gives them now and then."""


# Made once: to make and check a strategy takes longer than to draw from it.
_IDS = st.sampled_from(IDS)
_OTHER_IDS = {id: st.sampled_from([other for other in IDS if other != id]) for id in IDS}
_CONFLICTS = {id: st.frozensets(others, max_size=3) for id, others in _OTHER_IDS.items()}
_SUCCESSORS = {id: st.none() | others for id, others in _OTHER_IDS.items()}
_SUBJECTS = st.sampled_from(SUBJECTS)
_SHOWN_NAMES = st.sampled_from(SHOWN_NAMES)
_STATUSES = st.sampled_from(sorted(STORED_STATUSES)) | st.just(MemoryStatus.ACTIVE)
_STATEMENTS = statements()
_ENDS = st.sampled_from(ENDS)
_ENDS_OR_NONE = st.none() | _ENDS
_DRAWN: dict[str, st.SearchStrategy[Any]] = {  # each of its own type: MemoryRecord has the fields by name
    "owner": st.sampled_from(_OWNERS_WEIGHED),
    "belief_type": st.sampled_from(BeliefType),
    "polarity": st.sampled_from(Polarity),
    "portability": st.sampled_from(Portability),
    "authority": st.sampled_from(Authority),
    "sensitivity": st.sampled_from(Sensitivity),
    "confidence": st.sampled_from(CONFIDENCES),
    "flagged_for_review": st.booleans(),
    "source_session_id": st.sampled_from(SESSIONS),
    "created_at": st.sampled_from(CREATIONS),
    "store_position": st.sampled_from(POSITIONS),
}
_SELDOM_SET = st.fixed_dictionaries({}, optional=SELDOM_SET)


@st.composite
def memories(draw: st.DrawFn) -> MemoryRecord:
    """A valid belief of one of the OWNERS, with links that may lead to nothing."""
    id = draw(_IDS)
    subject = draw(_SUBJECTS)
    status = draw(_STATUSES)
    is_superseded = status is MemoryStatus.SUPERSEDED
    return memory(
        draw(_STATEMENTS),
        subject=subject,
        status=status,
        id=id,
        display_subject=subject if person_key(subject) is None else draw(_SHOWN_NAMES),
        conflicts_with=tuple(sorted(draw(_CONFLICTS[id]))),
        superseded_by=draw(_SUCCESSORS[id]) if is_superseded else None,
        valid_from=VALID_FROM,
        valid_to=draw(_ENDS if is_superseded else _ENDS_OR_NONE),
        expires_at=draw(_ENDS_OR_NONE),
        **{name: draw(strategy) for name, strategy in _DRAWN.items()},
        **draw(_SELDOM_SET),
    )


_MEMORIES = memories()


def worlds(count_max: int = 30) -> st.SearchStrategy[list[MemoryRecord]]:
    """Eight beliefs or more of several owners; one id may stand with each of them, and positions may be equal."""
    return st.lists(_MEMORIES, min_size=8, max_size=count_max, unique_by=lambda record: (record.owner, record.id))


_PHRASES = st.sampled_from(PHRASES)
_REVISIONS = st.sampled_from((*[1] * 12, 2))
"""Of a pinned source: one that it has not, now and then."""
_DRAWN_OF_DERIVED: dict[str, st.SearchStrategy[Any]] = {  # each of its own type: DerivedRecord has the fields by name
    "belief_types": st.frozensets(st.sampled_from(BeliefType), min_size=1).map(sorted).map(tuple),
    "session_ids": st.frozensets(st.sampled_from(SESSIONS), min_size=1).map(sorted).map(tuple),
    **{name: _DRAWN[name] for name in ("sensitivity", "portability", "authority", "confidence", "flagged_for_review")},
    "expires_at": st.none() | st.none() | _ENDS,
    "created_at": _DRAWN["created_at"],
    "store_position": _DRAWN["store_position"],
}


@st.composite
def derived_records(draw: st.DrawFn, id: UUID, within_reach: Sequence[MemoryRecord | DerivedRecord]) -> DerivedRecord:
    """A valid summary over a few records within reach, mostly pinned as they are, some of them omitted."""
    found = draw(st.lists(st.sampled_from(within_reach), min_size=1, max_size=3, unique_by=lambda source: source.id))
    pinned = sorted((replace(each, revision=draw(_REVISIONS)) for each in found), key=lambda source: source.id)
    said = pinned[: draw(st.integers(1, len(pinned)))]
    subject = draw(_SUBJECTS)
    shown = subject if person_key(subject) is None else draw(_SHOWN_NAMES)
    statement = draw(_PHRASES)
    return derived(
        *pinned,
        id=id,
        subject=subject,
        display_subject=shown,
        clauses=(Clause(text=statement, source_ids=tuple(source.id for source in said)),),
        sources=tuple(PinnedSource(id=each.id, revision=each.revision, omitted=each not in said) for each in pinned),
        valid_from=VALID_FROM,
        **{name: draw(strategy) for name, strategy in _DRAWN_OF_DERIVED.items()},
    )


@st.composite
def derived_worlds(draw: st.DrawFn) -> tuple[list[MemoryRecord], list[DerivedRecord]]:
    """Beliefs, and up to ten records that rest on those of their owner, on each other, or on one that is not there."""
    beliefs = draw(worlds(12))
    within_reach: dict[Owner, list[MemoryRecord | DerivedRecord]] = {}
    for belief in beliefs:
        absent = memory(id=ABSENT_ID, owner=belief.owner)
        within_reach.setdefault(belief.owner, [absent]).append(belief)
    records: list[DerivedRecord] = []
    for id in draw(st.lists(st.sampled_from(DERIVED_IDS), min_size=4, unique=True)):
        of = draw(st.sampled_from([owner for owner in _OWNERS_WEIGHED if owner in within_reach]))
        records.append(draw(derived_records(id, within_reach[of])))
        within_reach[of].append(records[-1])
    return beliefs, records


def subjects_asked() -> st.SearchStrategy[str]:
    """A subject as a filter holds it: lower-cased, by key or as shown."""
    return st.sampled_from(sorted({subject.lower() for subject in (*SUBJECTS, *SHOWN_NAMES, PERSON_PREFIX + "absent")}))


def confidences_asked() -> st.SearchStrategy[Decimal]:
    """A confidence that a belief has, or one finer than any belief's, as the shortest decimal of a float."""
    return st.sampled_from(CONFIDENCES) | st.floats(0, 1).map(repr).map(Decimal)


def moments_of_formation_asked() -> st.SearchStrategy[datetime]:
    """The moment at which a belief was formed, a microsecond beside it, or any other one, the first and last too."""
    beside = [moment + step for moment in CREATIONS for step in (-MICROSECOND, timedelta(0), MICROSECOND)]
    ends = (datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC))
    return st.sampled_from((*beside, *ends)) | times()


FILTERS: dict[str, st.SearchStrategy[Any]] = {  # each of its own type: MemoryFilter has the fields by name
    "statuses": st.frozensets(st.sampled_from(MemoryStatus), min_size=1) | st.just(frozenset(MemoryStatus)),
    "belief_types": st.frozensets(st.sampled_from(BeliefType), min_size=1),
    "sensitivities": st.frozensets(st.sampled_from(Sensitivity), min_size=1),
    "subject": subjects_asked(),
    "session_id": st.sampled_from((*SESSIONS, IDS[0])),
    "text": st.lists(st.sampled_from(QUERY_TEXTS), min_size=1, max_size=4).map(" ".join).map(TextQuery.parse),
    "flagged": st.booleans(),
    "confidence_min": confidences_asked(),
    "confidence_max": confidences_asked(),
    "formed_after": moments_of_formation_asked(),
    "formed_before": moments_of_formation_asked(),
}


@st.composite
def memory_filters(draw: st.DrawFn) -> MemoryFilter:
    """A filter of at most two kinds, so that most select something, asked a moment before, at or after NOW."""
    plain = MemoryFilter(
        owner=draw(st.sampled_from(_OWNERS_WEIGHED)),
        ceiling=draw(st.sampled_from(_CEILINGS_WEIGHED)),
        now=draw(st.sampled_from(MOMENTS)),
    )
    kinds = draw(st.frozensets(st.sampled_from(sorted(FILTERS)), max_size=2))
    return replace(plain, **{kind: draw(FILTERS[kind]) for kind in sorted(kinds)})


def keysets(ids: Sequence[UUID] = IDS) -> st.SearchStrategy[Keyset]:
    """A place in the order, at a row or between rows, or at either end of all positions."""
    positions = st.sampled_from((0, *POSITIONS, POSITIONS[-1] + 1, POSITION_MAX))
    return st.builds(Keyset, position=positions, id=st.sampled_from(ids))


def memory_browse_queries(ids: Sequence[UUID] = IDS) -> st.SearchStrategy[MemoryBrowseQuery]:
    """A page of any filter, direction and place, small enough that most walks have a next one."""
    return st.builds(
        MemoryBrowseQuery,
        filter=memory_filters(),
        limit=st.sampled_from((1, 2, 3, 5, 50)),
        keyset=st.none() | keysets(ids),
        direction=st.sampled_from(Direction),
        with_opposite=st.booleans(),
    )


_KEYS = tuple(f"key_{letter}" for letter in "abcdefgh")


@st.composite
def row_shapes(draw: st.DrawFn) -> RowShape:
    """Any members under the keys of transports, or some attributes under keys of the caller's own."""
    spelling = draw(st.sampled_from((Codec.WORD, Codec.NAME)))
    usual = {attribute: spelling if codec is Codec.WORD else codec for attribute, codec in ATTRIBUTES.items()}
    everything = [AttributeMember(attribute, attribute, codec) for attribute, codec in usual.items()]
    if draw(st.booleans()):
        return RowShape(*draw(st.permutations(everything)))
    keys = draw(st.lists(st.sampled_from(_KEYS), unique=True, max_size=len(_KEYS)))
    constant = st.builds(ConstantMember, st.none(), st.just("Memory"))
    chosen = draw(st.lists(st.sampled_from(everything) | constant, min_size=len(keys), max_size=len(keys)))
    return RowShape(*(replace(member, key=key) for member, key in zip(chosen, keys, strict=True)))
