"""Whose memories these are: all that the store knows of a principal."""

from dataclasses import dataclass

OWNER_NAME_LENGTH_MAX = 256
"""Characters of a tenant or a principal id."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Owner:
    """A tenant and a principal id within it. Two owners never see each other's rows."""

    tenant: str
    principal: str


WHOLE_STORE = Owner(tenant="", principal="")
"""Who owns what belongs to the store itself, such as an operator's act upon all of it: no principal can be this one."""
