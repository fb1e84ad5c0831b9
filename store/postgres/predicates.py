"""The predicate that stands in every query: whose rows these are, and up to which ceiling.

Source: belief store decisions, The predicate.
"""

from sqlalchemy import ColumnElement, Table, and_

from store.domain.owners import Owner
from store.domain.vocabulary import Sensitivity
from store.postgres.codes import SENSITIVITY_CODES


def owned(alias: str) -> str:
    """Rows of the owner, as SQL over :tenant and :principal."""
    return f"{alias}.tenant_id = :tenant and {alias}.principal_id = :principal"


def visible(alias: str) -> str:
    """Rows of the owner at or below the ceiling, as SQL over :tenant, :principal and :ceiling."""
    return f"{owned(alias)} and {alias}.sensitivity <= :ceiling"


def owner_parameters(owner: Owner) -> dict[str, object]:
    """The parameters of `owned`."""
    return {"tenant": owner.tenant, "principal": owner.principal}


def visible_parameters(owner: Owner, ceiling: Sensitivity) -> dict[str, object]:
    """The parameters of `visible`."""
    return {**owner_parameters(owner), "ceiling": SENSITIVITY_CODES[ceiling]}


def is_owned(table: Table, owner: Owner) -> ColumnElement[bool]:
    """Rows of the owner in any table, as a Core expression."""
    return and_(table.c.tenant_id == owner.tenant, table.c.principal_id == owner.principal)
