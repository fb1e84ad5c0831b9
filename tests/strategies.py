"""The one home of generated data: a small world of beliefs, and the queries that are asked of it.

Small on purpose: few ids, positions, subjects and moments, so that ties, links, boundaries and filters that meet
something are common. Owners are those of OWNERS; a suite that shares a database moves them into a tenant of its own.
"""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

from store.domain.encodings import ATTRIBUTES, AttributeMember, Codec, ConstantMember, RowShape
from store.domain.lexical import TextQuery
from store.domain.memories import MemoryRecord
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
from tests.factories import NOW, OTHER_SESSION, SESSION, identifier, memory, owner

WORLDS_MAX = max(20, settings().max_examples // 4)
"""Examples of a property that asks many questions of each world."""
OWNERS = (owner(), owner("bo"), owner(tenant="inland"))
# Chosen mostly, so that most questions meet something: the first owner, no end, the highest ceiling.
_OWNERS_WEIGHED = (*[OWNERS[0]] * 4, *OWNERS[1:])
_CEILINGS_WEIGHED = (*Sensitivity, *[Sensitivity.RESTRICTED] * 3)
IDS = tuple(identifier(number) for number in range(1, 13))
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


@st.composite
def memories(draw: st.DrawFn) -> MemoryRecord:
    """A valid belief of one of the OWNERS, with links that may lead to nothing."""
    id = draw(st.sampled_from(IDS))
    others = st.sampled_from([other for other in IDS if other != id])
    subject = draw(st.sampled_from(SUBJECTS))
    shown = subject if person_key(subject) is None else draw(st.sampled_from(SHOWN_NAMES))
    status = draw(st.sampled_from(sorted(STORED_STATUSES)) | st.just(MemoryStatus.ACTIVE))
    ends = st.sampled_from(ENDS)
    is_superseded = status is MemoryStatus.SUPERSEDED
    return memory(
        draw(statements()),
        subject=subject,
        status=status,
        id=id,
        owner=draw(st.sampled_from(_OWNERS_WEIGHED)),
        display_subject=shown,
        belief_type=draw(st.sampled_from(BeliefType)),
        polarity=draw(st.sampled_from(Polarity)),
        portability=draw(st.sampled_from(Portability)),
        authority=draw(st.sampled_from(Authority)),
        sensitivity=draw(st.sampled_from(Sensitivity)),
        confidence=draw(st.sampled_from(CONFIDENCES)),
        flagged_for_review=draw(st.booleans()),
        conflicts_with=tuple(sorted(draw(st.frozensets(others, max_size=3)))),
        superseded_by=draw(st.none() | others) if is_superseded else None,
        source_session_id=draw(st.sampled_from(SESSIONS)),
        valid_from=VALID_FROM,
        valid_to=draw(ends if is_superseded else st.none() | ends),
        expires_at=draw(st.none() | ends),
        created_at=draw(st.sampled_from(CREATIONS)),
        **draw(st.fixed_dictionaries({}, optional=SELDOM_SET)),
        store_position=draw(st.sampled_from(POSITIONS)),
    )


def worlds() -> st.SearchStrategy[list[MemoryRecord]]:
    """Eight to thirty beliefs of several owners; one id may stand with each of them, and positions may be equal."""
    return st.lists(memories(), min_size=8, max_size=30, unique_by=lambda record: (record.owner, record.id))


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


def keysets() -> st.SearchStrategy[Keyset]:
    """A place in the order, at a row or between rows, or at either end of all positions."""
    positions = st.sampled_from((0, *POSITIONS, POSITIONS[-1] + 1, POSITION_MAX))
    return st.builds(Keyset, position=positions, id=st.sampled_from(IDS))


def memory_browse_queries() -> st.SearchStrategy[MemoryBrowseQuery]:
    """A page of any filter, direction and place, small enough that most walks have a next one."""
    return st.builds(
        MemoryBrowseQuery,
        filter=memory_filters(),
        limit=st.sampled_from((1, 2, 3, 5, 50)),
        keyset=st.none() | keysets(),
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
