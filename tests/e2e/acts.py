"""Every command against the acts that it writes into the journal; whoever adds a command decides here.

A command that only looks at what is nobody's is exempt, with the reason. Everything else writes an event.
"""

from collections.abc import Mapping, Sequence

ACTS: Mapping[str, Sequence[str]] = {
    "migrate": ["migrate"],
    "import": ["import_begin", "import_end"],
    "memory list": ["list"],
    "memory get": ["get"],
    "memory review": ["review"],
    "memory delete": ["delete"],
    "token create": ["token_create"],
    "token list": ["token_list"],
    "token revoke": ["token_revoke"],
    "derive": ["derive_begin", "derive_end"],
    "export": ["export_begin", "export_end"],
    "sweep": ["sweep"],
    "key rotate": ["key_rotate"],
    "key activate": ["key_activate"],
    "key backup": ["key_backup"],
    "reindex": ["reindex_begin", "reindex_end"],
    "compact": ["compact"],
    "principal erase": ["erase"],
    "backup": ["backup"],
    "restore": ["restore"],
    "upgrade": ["upgrade", "upgrade_confirm"],
    "serve": ["demo_load", "token_create"],
}
"""The acts of each command, in the order in which it writes them; those of `serve` are of its demo."""

EXEMPT: Mapping[str, str] = {
    "schema": "asks no store",
    "openapi": "asks no store",
    "settings": "asks no store",
    "doctor": "reads facts of the store, and nothing of anybody's",
    "key show-id": "reads a fact of the store, and no key",
    "journal": "shows the acts themselves: ids, kinds and counts",
}
"""Commands without an event, and why."""
