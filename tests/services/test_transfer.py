"""Import and export: lines in, lines out, and the same store at the end."""

import io
import json
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from gateway.service import exporting
from gateway.service.importing import BATCH_LINES, ImportReport
from store.domain.formation import FormationOutcome
from store.domain.vocabulary import (
    EventKind,
    MemoryStatus,
    Polarity,
    ReviewOutcome,
    Sensitivity,
)
from store.inmemory.store import InMemoryStore
from store.ports.errors import StoreUnavailable
from tests.factories import OTHER_SESSION, SESSION, candidate, identifier, memory, owner
from tests.services.deployment import ADA, Deployment

DEMO = Path(__file__).parents[2] / "gateway" / "demo" / "beliefs.jsonl"


def line(kind: str = "belief", **fields: Any) -> dict[str, Any]:
    """A line of Ada's; a belief is a candidate unless it is given an id."""
    head = {"version": 1, "kind": kind, "tenant": ADA.tenant, "principal": ADA.principal}
    if kind == "belief":
        head |= {
            "subject": "Ada",
            "statement": "Keeps bees",
            "belief_type": "fact",
            "scope": "conversation",
            "sensitivity": "public",
            "source_session_id": str(SESSION),
            "source_event_ids": [1],
        }
    return head | fields


def written(*lines: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in lines)


async def take(deployment: Deployment, content: bytes, *, file_hash: str | None = None) -> ImportReport:
    return await deployment.imports.run(io.BytesIO(content), file_hash=file_hash)


async def exported(deployment: Deployment) -> list[dict[str, Any]]:
    return [each async for each in deployment.exports.lines()]


async def lively(deployment: Deployment) -> None:
    """A store with everything in it that an export knows."""
    await take(deployment, written(line("person", key="kai", name="Kai Øst")))
    gone = await deployment.formed(candidate("Smokes"))
    bees = await deployment.formed(candidate("Keeps bees", subject="person:kai"))
    await deployment.formed(candidate("Keeps bees", subject="person:kai", polarity=Polarity.RETRACT))
    old = await deployment.formed(candidate("Lives in Bremen", sensitivity=Sensitivity.SENSITIVE))
    await deployment.formed(candidate("Lives in Kiel", supersedes=old, sensitivity=Sensitivity.SENSITIVE))
    await deployment.formed(candidate("Sails", source_event_ids=(4, 2)))
    await deployment.formed(candidate("Sails", source_session_id=uuid4(), source_event_ids=(9,)))
    await deployment.formed(candidate("Is away", expires_at=deployment.clock.now + timedelta(minutes=1)))
    await deployment.review(bees, ReviewOutcome.DISMISS)
    await deployment.review(old, ReviewOutcome.UNTRUE)
    await deployment.delete(gone)
    await deployment.formed(candidate("Keeps bees"), of=owner("bo"))


async def test_a_round_trip_gives_the_same_store(deployment: Deployment) -> None:
    await lively(deployment)
    lines = await exported(deployment)
    other = await Deployment(InMemoryStore()).prepare()

    report = await take(other, written(*lines))

    assert (report.refused, report.errors) == (0, [])
    assert await exported(other) == lines
    assert {each["kind"] for each in lines} == {"person", "tombstone", "rejection", "belief", "event", "receipt"}
    assert (await other.form(candidate("smokes"))).outcome is FormationOutcome.BLOCKED
    again = await take(other, written(*lines))
    assert all(outcome.endswith("skipped") for outcome in again.counts)


async def test_a_second_import_changes_nothing(deployment: Deployment) -> None:
    content = DEMO.read_bytes()
    first = await take(deployment, content)
    before = await exported(deployment)

    second = await take(deployment, content)

    assert first.refused == 0
    assert first.counts["restored"] == second.counts["skipped"] == 318
    assert await exported(deployment) == before


async def test_restored_beliefs_stand_in_the_order_of_the_file(deployment: Deployment) -> None:
    await take(deployment, DEMO.read_bytes())
    wanted = [each["id"] for each in map(json.loads, DEMO.read_text().splitlines()) if each["kind"] == "belief"]

    found = [each["id"] for each in await exported(deployment) if each["kind"] == "belief"]

    by_owner: dict[str, str] = {each["id"]: each["principal"] for each in await exported(deployment) if "id" in each}
    assert [id for id in wanted if by_owner[id] == "mara"] == [id for id in found if by_owner[id] == "mara"]


async def test_candidates_are_formed_and_formed_once(deployment: Deployment) -> None:
    content = written(line(), line(source_event_ids=[2]), line(statement="Sails", status="candidate"))

    assert (await take(deployment, content)).counts == {"formed": 2, "reinforced": 1}
    assert (await take(deployment, content)).counts == {"unchanged": 3}


async def test_what_was_deleted_is_not_restored(deployment: Deployment) -> None:
    await lively(deployment)
    lines = await exported(deployment)
    bees = [each["id"] for each in lines if each.get("statement") == "Keeps bees" and each["principal"] == "ada"]
    await deployment.delete(identifier(int(bees[0][-12:], 16)))

    report = await take(deployment, written(*lines))

    assert report.counts["blocked"] == len(bees) == 2
    assert not [each for each in await exported(deployment) if each.get("id") in bees]


async def test_a_rejected_belief_is_restored_only_where_it_is_not_live(deployment: Deployment) -> None:
    id = await deployment.formed(candidate("Keeps bees"))
    await deployment.review(id, ReviewOutcome.UNTRUE)
    [belief] = [each for each in await exported(deployment) if each["kind"] == "belief"]
    retired, live = belief | {"id": str(uuid4())}, belief | {"id": str(uuid4()), "status": "active", "valid_to": None}

    report = await take(deployment, written(retired, live))

    assert report.counts == {"restored": 1, "blocked": 1}


async def test_a_candidate_that_has_run_out_is_formed_once(deployment: Deployment) -> None:
    content = written(line(expires_at="2020-01-01T00:00:00Z", created_at="2019-01-01T00:00:00Z"))

    assert (await take(deployment, content)).counts == {"formed": 1}
    assert (await take(deployment, content)).counts == {"unchanged": 1}


async def test_a_tombstone_erases_what_stands(deployment: Deployment) -> None:
    await deployment.formed(candidate("Keeps bees"))
    await deployment.formed(candidate("Keeps bees", sensitivity=Sensitivity.RESTRICTED))
    tombstone = line(
        "tombstone",
        statement_hash=deployment.keyring.statement_hash(ADA, "keeps BEES").hex(),
        key_id=deployment.keyring.current.id,
        created_at="2026-01-01T00:00:00.000000Z",
    )

    assert (await take(deployment, written(tombstone))).counts == {"tombstone_restored": 1}

    assert [each["kind"] for each in await exported(deployment) if each["kind"] == "belief"] == []
    kinds = [event.kind for event in await deployment.events()]
    assert kinds.count(EventKind.DELETED) == 2


async def test_links_appear_once_both_ends_are_there(deployment: Deployment) -> None:
    await deployment.formed(candidate("Drinks tea"))
    await deployment.formed(candidate("Drinks coffee", contradicts=(identifier(1),)))
    first, second = [each for each in await exported(deployment) if each["kind"] == "belief"]
    other = await Deployment(InMemoryStore()).prepare()

    await take(other, written(first))
    assert (await other.get(identifier(1))).conflicts_with == ()
    await take(other, written(second))

    assert (await other.get(identifier(1))).conflicts_with == (identifier(2),)
    assert (await other.get(identifier(2))).conflicts_with == (identifier(1),)


def receipt_line(key: str) -> dict[str, Any]:
    return line(
        "receipt",
        key=key,
        receipt_kind="memory.delete_completed",
        request_hash="0" * 64,
        memory_id=str(uuid4()),
        created_at="2026-01-01T00:00:00Z",
    )


def event_line(payload: dict[str, Any]) -> dict[str, Any]:
    return line(
        "event",
        session_id=str(SESSION),
        number=1,
        event_kind="memory.reviewed",
        memory_id=None,
        occurred_at="2026-01-01T00:00:00Z",
        payload=payload,
    )


async def test_an_event_never_takes_the_place_of_another(deployment: Deployment) -> None:
    """A journal that was begun elsewhere counts from 1 too: the same numbers stand for other events."""
    await deployment.formed(candidate("Sails"))
    [standing] = await deployment.events()
    same = next(each for each in await exported(deployment) if each["kind"] == "event")
    foreign = event_line({"outcome": "dismiss"})
    content = written(
        same,
        foreign | {"number": standing.number},
        foreign | {"number": standing.number + 1_000},
        foreign | {"number": standing.number + 1_000, "payload": {"outcome": "untrue"}},
        foreign | {"number": standing.number, "session_id": str(OTHER_SESSION)},
    )

    first = await take(deployment, content)
    again = await take(deployment, content)
    await deployment.formed(candidate("Keeps bees"))

    reason = "number is taken by another event of that session, which stays"
    assert [(2, reason), (4, reason)] == first.errors == again.errors
    assert {"event_skipped": 1, "event_restored": 2} == first.counts
    assert {"event_skipped": 3} == again.counts
    own = [event for event in await deployment.events() if event.session_id == SESSION]
    assert [standing.number, standing.number + 1_000] == [event.number for event in own[:2]]
    assert standing == own[0]
    assert own[2].number > standing.number + 1_000


def belief_line(evidence: list[list[Any]]) -> dict[str, Any]:
    """The line of a stored belief that holds this evidence."""
    record = exporting.belief_line(memory(evidence_count=len(evidence)), ())
    return record | {"evidence": evidence}


REFUSED = [
    (b"{", "line must be valid JSON"),
    (b"[]", "line must be a JSON object"),
    (b"\xff", "line must be UTF-8"),
    (written(line("wish")), "kind must be one of"),
    (written(line(version=2)), "version must be 1"),
    (written(line(statement="")), "statement must have 1 to 8192"),
    (written(line(statement="a\x00b")), "line must hold neither"),
    (written(line(statement=5)), "statement"),
    (written(line(colour="red")), "colour is not a field"),
    (written(line(source_event_ids=[])), "source_event_ids"),
    (written(line(source_event_ids=["1"])), "source_event_ids"),
    (written(line(valid_from="2026-01-01T00:00:00")), "valid_from must be a time of the years 1 to 9999 with its zone"),
    (written(line(valid_from="20260101")), "valid_from must be a time of the years 1 to 9999 with its zone"),
    (written(line(valid_from="0001-01-01T00:00:00+14:00")), "valid_from must be a time of the years"),
    (written(line(valid_to="9999-12-31T23:59:59-14:00")), "valid_to must be a time of the years"),
    (written(line(corroboration_count=2**31 - 1)), "corroboration_count must be from 1 to"),
    (written(line(sensitivity="secret")), "sensitivity"),
    (written(line(confidence=1.5)), "confidence must be a number from 0 to 1"),
    (written(line(confidence="0.5")), "confidence must be a number"),
    (written(line(supersedes=str(uuid4()))), "supersedes must name another"),
    (written(line(id="nonsense")), "id must be a canonical UUID"),
    (written(line(id=str(uuid4()))), "is required"),
    (written(line(tenant="")), "tenant"),
    (written(line("person", key="kai", name="person:kai")), "name must not start with"),
    (written(receipt_line(key="k" * 201)), "key must be 1 to 200"),
    (written(receipt_line(key="two words")), "key must be 1 to 200"),
    (written(event_line(payload={"note": "Keeps bees"})), "payload"),
    (written(event_line(payload={"count": 2**70})), "payload"),
    (written(belief_line(evidence=[[str(SESSION), 1], [str(OTHER_SESSION), 2**31]])), "evidence must hold"),
    (written(belief_line(evidence=[[str(SESSION), 1], [str(OTHER_SESSION), 0]])), "evidence must hold"),
    (
        written(belief_line(evidence=[[str(SESSION), 1], *([str(OTHER_SESSION), each] for each in range(1, 1_001))])),
        "evidence must hold at most 1000",
    ),
    (
        written(line("tombstone", statement_hash="0" * 64, key_id="unknown", created_at="2026-01-01T00:00:00Z")),
        "key_id must name a key",
    ),
]


@pytest.mark.parametrize(("content", "reason"), REFUSED)
async def test_a_refused_line_is_named_by_number_and_leaves_nothing(
    deployment: Deployment, content: bytes, reason: str
) -> None:
    good = written(line(statement="Sails"))

    report = await take(deployment, good + content.rstrip(b"\n") + b"\n" + written(line(statement="Swims")))

    assert report.refused == 1
    [(number, message)] = report.errors
    assert number == 2
    assert reason in message
    statements = {each["statement"] for each in await exported(deployment) if each["kind"] == "belief"}
    assert statements == {"Sails", "Swims"}


@pytest.mark.parametrize(
    ("spelling", "confidence"), [("0e-99999", 0), ("0e99999", 0), ("-0.0", 0), ("0.5" + "0" * 3_000, 0.5), ("1e0", 1)]
)
async def test_a_number_is_taken_however_it_is_spelled(
    deployment: Deployment, spelling: str, confidence: float
) -> None:
    content = written(line()).replace(b"{", f'{{"confidence": {spelling}, '.encode(), 1)

    assert (await take(deployment, content)).counts == {"formed": 1}

    assert str((await deployment.get(identifier(1))).confidence + 0) in {str(confidence), f"{confidence:.3f}"}


async def test_blank_lines_are_no_records(deployment: Deployment) -> None:
    assert (await take(deployment, b"\n  \n" + written(line()))).counts == {"formed": 1}


class Interrupted(io.BytesIO):
    """A file whose reading ends at a line, as a killed process would."""

    def __init__(self, content: bytes, *, lines: int) -> None:
        super().__init__(content)
        self.left = lines

    def __iter__(self) -> Iterator[bytes]:
        for content in io.BytesIO(self.getvalue()[self.tell() :]):
            if self.left == 0:
                raise StoreUnavailable
            self.left -= 1
            yield content


async def test_an_interrupted_import_goes_on_where_it_ended(deployment: Deployment) -> None:
    lines = [line(statement=f"Fact {number}") for number in range(2 * BATCH_LINES + 50)]
    lines[-1]["sensitivity"] = "secret"
    content = written(*lines)

    with pytest.raises(StoreUnavailable):
        await deployment.imports.run(Interrupted(content, lines=BATCH_LINES + 10), file_hash="a" * 64)
    report = await take(deployment, content, file_hash="a" * 64)

    assert report.resumed_at == len(written(*lines[:BATCH_LINES]))
    assert report.counts == {"formed": BATCH_LINES + 49}
    assert [number for number, _ in report.errors] == [len(lines)]
    assert (await take(deployment, content, file_hash="a" * 64)).counts == {"unchanged": 2 * BATCH_LINES + 49}


async def test_the_demo_holds_what_people_meet(deployment: Deployment) -> None:
    await take(deployment, DEMO.read_bytes())

    beliefs = [each for each in await exported(deployment) if each["kind"] == "belief"]

    assert Counter(each["principal"] for each in beliefs) == {"mara": 157, "tomas": 102, "yuki": 59}
    assert {each["status"] for each in beliefs} == set(MemoryStatus) - {MemoryStatus.CANDIDATE}
