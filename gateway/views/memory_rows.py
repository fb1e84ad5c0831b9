"""The fields of MemoryView as members of a store's row, so that encoded pages have the one exposure list.

A view shows a record's attribute of the same name, the subject aside, which it shows as people know it.
"""

from collections.abc import Mapping

from gateway.views.memories import MemoryView
from store.domain.encodings import ATTRIBUTES, AttributeMember, Codec, RowShape

_ATTRIBUTES: Mapping[str, str] = {name: name for name in MemoryView.model_fields} | {"subject": "display_subject"}


def shown_member(key: str, field: str, *, names: bool = False) -> AttributeMember:
    """A field of the view under a key; `names`: members of enumerations are written in upper case."""
    attribute = _ATTRIBUTES[field]
    codec = ATTRIBUTES[attribute]
    return AttributeMember(key, attribute, Codec.NAME if names and codec is Codec.WORD else codec)


WHOLE_ROW = RowShape(*(shown_member(field, field) for field in MemoryView.model_fields))
"""Every field under its own name, as REST shows it."""
