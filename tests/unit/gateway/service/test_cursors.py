"""Cursors: one spelling of each keyset, and nothing else."""

import base64
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.service.cursors import (
    CURSOR_POSITION_MAX,
    CursorOutOfRange,
    MalformedCursor,
    decode_cursor,
    encode_cursor,
)
from store.ports.memories import Keyset
from tests.factories import identifier

ID = str(identifier(1))


def written(content: str) -> str:
    return base64.urlsafe_b64encode(content.encode("utf-8", "surrogatepass")).rstrip(b"=").decode()


@given(position=st.integers(0, CURSOR_POSITION_MAX), id=st.uuids())
def test_what_is_emitted_is_accepted(position: int, id: UUID) -> None:
    cursor = encode_cursor(position, id)

    assert decode_cursor(cursor) == Keyset(position=position, id=id)
    assert not set(cursor) - set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")


def test_the_form_is_compact_json() -> None:
    cursor = encode_cursor(7, identifier(1))

    assert base64.urlsafe_b64decode(cursor + "==") == f'{{"p":7,"i":"{ID}"}}'.encode()


@pytest.mark.parametrize(
    "cursor",
    [
        "",
        "!",
        "nonsense",
        "é",
        written("null"),
        written("[]"),
        written("{}"),
        written(f'{{"p":7,"i":"{ID}","x":1}}'),
        written(f'{{"i":"{ID}","p":7}}'),
        written(f'{{"p":7, "i":"{ID}"}}'),
        written(f'{{"p":"7","i":"{ID}"}}'),
        written(f'{{"p":7.0,"i":"{ID}"}}'),
        written(f'{{"p":07,"i":"{ID}"}}'),
        written(f'{{"p":-1,"i":"{ID}"}}'),
        written(f'{{"p":true,"i":"{ID}"}}'),
        written('{"p":7,"i":"nonsense"}'),
        written('{"p":7,"i":"000000000000-4000-8000-0000-00000001----"}'),
        written(f'{{"p":7,"i":"{str(UUID(int=2**128 - 1)).upper()}"}}'),
        written(f'{{"p":7,"i":"{ID}"}}') + "=",
        written(f'{{"p":7,"i":"{ID}"}}') + "AAAA",
        written(f'{{"p":7,"i":"{ID}"}}\n'),
        written("\ud800"),
        "A" * 100_000,
    ],
)
def test_another_spelling_is_refused(cursor: str) -> None:
    with pytest.raises(MalformedCursor):
        decode_cursor(cursor)


@pytest.mark.parametrize("position", [CURSOR_POSITION_MAX + 1, 10**19 - 1])
def test_a_position_beyond_the_sequence_is_out_of_range(position: int) -> None:
    with pytest.raises(CursorOutOfRange):
        decode_cursor(written(f'{{"p":{position},"i":"{ID}"}}'))


@given(st.text())
def test_no_text_breaks_the_decoder(text: str) -> None:
    try:
        keyset = decode_cursor(text)
    except MalformedCursor:
        return
    assert encode_cursor(keyset.position, keyset.id) == text
