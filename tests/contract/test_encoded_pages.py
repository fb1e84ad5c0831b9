"""Pages as JSON: the bytes of each codec, and that they are those of the page of records."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from uuid import UUID

import pytest

from store.domain.encodings import ATTRIBUTES, AttributeMember, Codec, ConstantMember, RowShape
from store.domain.memories import STATEMENT_LENGTH_MAX, MemoryRecord
from store.domain.vocabulary import MemoryStatus, Sensitivity
from store.ports.memories import Direction, EncodedPage, MemoryBrowseQuery, encoded_page
from store.ports.store import Store
from tests.factories import NOW, identifier, memory, owner
from tests.worlds import ask, browse, everything, keep, keyset_of

ADA = owner()
WHOLE = RowShape(*(AttributeMember(attribute, attribute, codec) for attribute, codec in ATTRIBUTES.items()))
NAMED = RowShape(
    *(
        AttributeMember(attribute, attribute, Codec.NAME if codec is Codec.WORD else codec)
        for attribute, codec in ATTRIBUTES.items()
    ),
    ConstantMember("__typename", "Memory"),
)
TIMES_ASKED = 4
"""Often enough for a shape to recur, so that every way to write it has its turn."""


async def encoded(store: Store, query: MemoryBrowseQuery, shape: RowShape) -> EncodedPage:
    """The page as JSON, which is the same however often it is asked for."""
    pages = [
        await ask(store, lambda snapshot: snapshot.memories.browse_encoded(query, shape)) for _ in range(TIMES_ASKED)
    ]
    assert pages == [pages[0]] * TIMES_ASKED
    return pages[0]


async def written(store: Store, attribute: str, *records: MemoryRecord, codec: Codec | None = None) -> list[str]:
    """What stands for an attribute of each record, the newest first."""
    await keep(store, *records)
    shape = RowShape(AttributeMember("it", attribute, codec or ATTRIBUTES[attribute]))
    query = MemoryBrowseQuery(filter=replace(everything(ADA), statuses=frozenset(MemoryStatus)), limit=200)
    page = await encoded(store, query, shape)
    return [row.content.decode().removeprefix('{"it":').removesuffix("}") for row in page.rows]


async def test_a_row_is_one_compact_object_in_the_order_of_the_shape(store: Store) -> None:
    await keep(store, memory("Rows", id=identifier(7), store_position=5))
    shape = RowShape(
        AttributeMember("statement", "statement", Codec.TEXT),
        ConstantMember("__typename", "Memory"),
        AttributeMember("id", "id", Codec.IDENTIFIER),
        AttributeMember("again", "id", Codec.IDENTIFIER),
    )

    [row] = (await encoded(store, MemoryBrowseQuery(filter=everything(ADA), limit=2), shape)).rows

    assert (5, identifier(7)) == (row.position, row.id)
    assert (
        f'{{"statement":"Rows","__typename":"Memory","id":"{identifier(7)}","again":"{identifier(7)}"}}'.encode()
        == row.content
    )


async def test_a_shape_without_members_is_an_empty_object(store: Store) -> None:
    await keep(store, memory())

    [row] = (await encoded(store, MemoryBrowseQuery(filter=everything(ADA), limit=2), RowShape())).rows

    assert b"{}" == row.content


async def test_a_shape_may_hold_more_members_than_one_call_takes(store: Store) -> None:
    await keep(store, memory(confidence=Decimal("0.25")))
    shape = RowShape(*(AttributeMember(f"c{number}", "confidence", Codec.THOUSANDTHS) for number in range(300)))

    [row] = (await encoded(store, MemoryBrowseQuery(filter=everything(ADA), limit=2), shape)).rows

    assert {f"c{number}": 0.25 for number in range(300)} == json.loads(row.content)


async def test_every_confidence_has_one_to_three_decimals(store: Store) -> None:
    records = [memory(confidence=Decimal(number).scaleb(-3)) for number in range(0, 1_001, 7)]
    records += [memory(confidence=Decimal(text)) for text in ("0", "0.1", "0.25", "1")]

    found = await written(store, "confidence", *records)

    assert [repr(float(record.confidence)) for record in reversed(records)] == found
    assert ["1.0", "0.25", "0.1", "0.0"] == found[:4]


async def test_a_time_has_six_digits_in_every_year(store: Store) -> None:
    years = (1, 9, 10, 99, 100, 987, 1000, 1582, 1969, 2026, 9999)
    moments = [datetime(year, 2, 3, 4, 5, 6, microsecond, UTC) for year in years for microsecond in (0, 1, 999_990)]
    moments += [datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)]

    found = await written(store, "created_at", *(memory(created_at=moment) for moment in moments))

    expected = [f'"{moment.replace(tzinfo=None).isoformat(timespec="microseconds")}Z"' for moment in moments]
    assert expected[::-1] == found


@pytest.mark.parametrize(("codec", "expected"), [(Codec.WORD, '"expired"'), (Codec.NAME, '"EXPIRED"')])
async def test_a_status_is_the_effective_one(store: Store, codec: Codec, expected: str) -> None:
    run_out = memory(expires_at=NOW)
    live = memory(expires_at=NOW + timedelta(microseconds=1))

    found = await written(store, "status", run_out, live, codec=codec)

    assert [expected.replace("expired", "active").replace("EXPIRED", "ACTIVE"), expected] == found


async def test_links_are_those_that_the_ceiling_shows(store: Store) -> None:
    public, hidden = memory(id=identifier(2)), memory(id=identifier(1), sensitivity=Sensitivity.RESTRICTED)
    linked = memory(id=identifier(3), conflicts_with=(hidden.id, public.id))
    alone = memory(id=identifier(4), conflicts_with=(hidden.id,))
    replaced = [
        memory(status=MemoryStatus.SUPERSEDED, superseded_by=successor.id, id=identifier(number))
        for number, successor in ((5, public), (6, hidden))
    ]
    await keep(store, public, hidden, linked, alone, *replaced)
    shape = RowShape(
        AttributeMember("links", "conflicts_with", Codec.IDENTIFIERS),
        AttributeMember("successor", "superseded_by", Codec.IDENTIFIER),
    )
    below = replace(everything(ADA, ceiling=Sensitivity.INTERNAL), statuses=frozenset(MemoryStatus))

    page = await encoded(store, MemoryBrowseQuery(filter=below, limit=10), shape)

    found = {row.id: json.loads(row.content) for row in page.rows}
    assert hidden.id not in found
    assert {"links": [str(public.id)], "successor": None} == found[linked.id]
    assert {"links": [], "successor": None} == found[alone.id]
    assert [str(public.id), None] == [found[record.id]["successor"] for record in replaced]
    assert not any(str(hidden.id).encode() in row.content for row in page.rows)


async def test_every_character_is_written_alike(store: Store) -> None:
    characters = [chr(point) for point in range(1, 0x110000) if not 0xD800 <= point <= 0xDFFF]
    texts = [
        "".join(characters[start : start + STATEMENT_LENGTH_MAX])
        for start in range(0, len(characters), STATEMENT_LENGTH_MAX)
    ]

    found = await written(store, "statement", *(memory(text) for text in texts))

    assert [json.dumps(text, ensure_ascii=False) for text in reversed(texts)] == found


async def test_what_is_absent_is_null(store: Store) -> None:
    record = memory(last_evidence_at=None)
    await keep(store, record)

    [row] = (await encoded(store, MemoryBrowseQuery(filter=everything(ADA), limit=1), WHOLE)).rows

    absent = {name for name, value in json.loads(row.content).items() if value is None}
    assert {name for name in ATTRIBUTES if getattr(record, name) is None} == absent


@pytest.mark.parametrize("shape", [WHOLE, NAMED], ids=["words", "names"])
@pytest.mark.parametrize("direction", Direction)
async def test_a_page_is_that_of_the_records(store: Store, direction: Direction, shape: RowShape) -> None:
    records = [memory(f"Belief {number}", formation_run_id=UUID(int=number)) for number in range(5)]
    await keep(store, *records)
    asked = MemoryBrowseQuery(filter=everything(ADA), limit=2, direction=direction, with_opposite=True)
    far = keyset_of(records[0] if direction is Direction.FORWARD else records[-1])

    for query in (asked, replace(asked, keyset=keyset_of(records[2])), replace(asked, keyset=far)):
        assert encoded_page(await browse(store, query), shape, NOW) == await encoded(store, query, shape)


@pytest.mark.parametrize(
    "members",
    [
        (ConstantMember("it's", "Memory"),),
        (ConstantMember("name", "Me:mory"),),
        (ConstantMember("a", "A"), ConstantMember("a", "B")),
        (AttributeMember("id", "id", Codec.TEXT),),
        (AttributeMember("revision", "revision", Codec.INTEGER),),
        (AttributeMember("statement", "statement", Codec.NAME),),
    ],
)
def test_a_shape_that_can_not_be_written_is_refused(members: tuple[AttributeMember | ConstantMember, ...]) -> None:
    with pytest.raises(ValueError, match=r"names|written"):
        RowShape(*members)
