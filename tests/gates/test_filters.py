"""Gate 5: every filter selects the documented set."""

import itertools
from collections.abc import Callable, Mapping
from datetime import timedelta
from decimal import Decimal

import pytest

from store.domain.lexical import lexical_query_terms, lexical_text_matches, record_lexemes
from store.domain.memories import MemoryRecord
from store.domain.vocabulary import LIVE_STATUSES, BeliefType, MemoryStatus
from tests.factories import NOW, OTHER_SESSION, SESSION, memory, owner
from tests.parity.clients import GraphQLTransport, Transport

STATEMENTS = (
    "Keeps a rowing boat",
    "Wohnt in der Straße 7",
    "東京に住んでいます",
    "reads node.js, e-mails and tea/coffee",
)
TEXTS = (
    "rowing",
    "BOAT straße",
    "strasse",
    "東京",
    "node.js",
    "e-mail",
    "tea",
    "coffee nothing",
    "a",
    "...",
    "ada",
    "7",
)
THIRD_DAY = NOW + timedelta(days=3)
Predicate = Callable[[MemoryRecord], bool]


def has_text(text: str) -> Predicate:
    """The shared lexical rule, applied directly."""
    terms = lexical_query_terms(text)
    return lambda record: lexical_text_matches(
        record_lexemes(subject=record.subject, display_subject=record.display_subject, statement=record.statement),
        terms,
    )


FILTERS: Mapping[str, list[tuple[object, Predicate]]] = {
    "status": [
        (["retired"], lambda record: record.status is MemoryStatus.RETIRED),
        (["active", "superseded"], lambda record: record.status in (MemoryStatus.ACTIVE, MemoryStatus.SUPERSEDED)),
        (["candidate"], lambda _: False),
    ],
    "belief_type": [
        (["fact"], lambda record: record.belief_type is BeliefType.FACT),
        (["fact", "preference"], lambda _: True),
    ],
    "subject": [
        ("ADA", lambda record: record.subject == "Ada"),
        ("straße", lambda record: record.subject == "STRAßE"),
    ],
    "session_id": [(str(SESSION), lambda record: record.source_session_id == SESSION)],
    "flagged": [
        (True, lambda record: record.flagged_for_review),
        (False, lambda record: not record.flagged_for_review),
    ],
    "text": [(text, has_text(text)) for text in TEXTS],
}
GRAPHQL_FILTERS: Mapping[str, list[tuple[object, Predicate]]] = {
    "confidence_min": [
        (0.3, lambda record: record.confidence >= Decimal("0.3")),
        (0.1 + 0.2, lambda record: record.confidence > Decimal("0.3")),
    ],
    "confidence_max": [(0.7, lambda record: record.confidence <= Decimal("0.7"))],
    "formed_after": [(f"{NOW:%Y-%m-%dT%H:%M:%S}Z", lambda record: record.created_at >= NOW)],
    "formed_before": [
        (f"{NOW + timedelta(days=3, hours=1):%Y-%m-%dT%H:%M:%S}+01:00", lambda record: record.created_at < THIRD_DAY)
    ],
}
"""Those that REST has no parameters for."""


def corpus() -> list[MemoryRecord]:
    """Beliefs in which every value that a filter asks for meets others."""
    choices = itertools.product(
        (MemoryStatus.ACTIVE, MemoryStatus.PROVISIONAL, MemoryStatus.RETIRED, MemoryStatus.SUPERSEDED),
        (BeliefType.FACT, BeliefType.PREFERENCE),
        STATEMENTS,
    )
    return [
        memory(
            statement,
            subject=("Ada", "STRAßE")[number % 2],
            status=status,
            belief_type=belief_type,
            source_session_id=(SESSION, OTHER_SESSION)[number // 2 % 2],
            flagged_for_review=number % 3 == 0,
            confidence=Decimal(number % 11) / 10,
            created_at=NOW + timedelta(days=number % 7 - 2),
        )
        for number, (status, belief_type, statement) in enumerate(choices)
    ]


@pytest.mark.gate("gate.memory.read_api_filters")
async def test_every_filter_selects_the_documented_set_and_composes(transport: Transport) -> None:
    kept = (await transport.gateway.keep(*corpus()))[::-1]
    secret = await transport.gateway.secret(owner())
    filters = {**FILTERS, **(GRAPHQL_FILTERS if isinstance(transport, GraphQLTransport) else {})}
    named = [[(name, value, rule) for value, rule in values] for name, values in filters.items()]
    asked = [
        [],
        *([each] for values in named for each in values),
        *(
            [first, second]
            for one, two in itertools.combinations(named, 2)
            for first, second in itertools.product(one[:2], two[:2])
        ),
        [values[0] for values in named],
    ]

    for combination in asked:
        rules = [rule for _, _, rule in combination]
        if "status" not in {name for name, _, _ in combination}:
            rules.append(lambda record: record.status in LIVE_STATUSES)
        expected = [str(record.id) for record in kept if all(rule(record) for rule in rules)]
        arguments = {name: value for name, value, _ in combination}
        answer = await transport.browse(secret, {"ceiling": "public", "limit": 200, **arguments})
        assert expected == answer.ids, arguments
