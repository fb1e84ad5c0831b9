"""An identifier is text until it is parsed here; text that is no canonical UUID matches nothing."""

import re
from uuid import UUID

_CANONICAL = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.ASCII)


def parse_identifier(text: str) -> UUID | None:
    """The UUID of a canonical spelling, upper case allowed; None for anything else.

    Source: belief store decisions, Reading.
    """
    lowered = text.lower()
    return UUID(lowered) if _CANONICAL.fullmatch(lowered) else None
