"""A moment is text until it is parsed here: a full date and time of RFC 3339 with its offset, and nothing looser."""

import re
from datetime import UTC, datetime

# Upper-case letters; hours and minutes of an offset in their ranges; as many digits of a second as are stored.
_RFC_3339 = re.compile(
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)",
    re.ASCII,
)


def parse_time(text: str) -> datetime | None:
    """The moment in UTC; None for any other spelling, for a day or a time that is none, and beyond years 1 to 9999.

    A leap second is none of the moments that are stored, so it is not taken either.
    """
    if not _RFC_3339.fullmatch(text):
        return None
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
