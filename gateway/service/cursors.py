"""The opaque form of a keyset: base64url, without padding, over compact JSON.

There is exactly one spelling of each keyset, and nothing else decodes. Who decodes it can read the
store position: a property of the design. Source: belief store decisions, Reading (Cursor).
"""

import base64
import binascii
import re
from collections.abc import Iterable
from uuid import UUID

from gateway.service.identifiers import parse_identifier
from store.ports.memories import Keyset

CURSOR_POSITION_MAX = 2**63 - 1
CURSOR_LENGTH_MAX = 128
_CONTENT = re.compile(rb'\{"p":(0|[1-9][0-9]{0,18}),"i":"([0-9a-f-]{36})"\}')


class MalformedCursor(ValueError):
    """Not a cursor of ours."""


class CursorOutOfRange(MalformedCursor):
    """A cursor whose position no belief can have."""


def encode_cursor(position: int, id: UUID) -> str:
    """The cursor of a row."""
    return encode_cursors([(position, id)])[0].decode("ascii")


def encode_cursors(places: Iterable[tuple[int, UUID]]) -> list[bytes]:
    """The cursors of many rows, by position and id."""
    # Not urlsafe_b64encode, which takes several times as long for a page: no character of the content becomes + or /,
    # in which alone the alphabets differ.
    encoded = [binascii.b2a_base64(f'{{"p":{position},"i":"{id!s}"}}'.encode()) for position, id in places]
    return b"".join(encoded).replace(b"=", b"").split()


def decode_cursor(cursor: str) -> Keyset:
    """The keyset of a cursor; raises MalformedCursor for any text that encode_cursor can't have made."""
    if len(cursor) > CURSOR_LENGTH_MAX or not cursor.isascii():
        raise MalformedCursor
    try:
        content = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
    except binascii.Error:
        raise MalformedCursor from None
    match = _CONTENT.fullmatch(content)
    id = parse_identifier(match[2].decode()) if match else None
    if match is None or id is None:
        raise MalformedCursor
    position = int(match[1])
    if position > CURSOR_POSITION_MAX:
        raise CursorOutOfRange
    if encode_cursor(position, id) != cursor:
        raise MalformedCursor
    return Keyset(position=position, id=id)
