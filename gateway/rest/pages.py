"""The shapes of REST bodies: pages, failures, the review body. The OpenAPI schemas come from them.

Source: Memory read API, GET /v1/memories; belief store decisions, Errors.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Generic, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, Discriminator, Field, RootModel, Tag

from gateway.service.errors import ErrorCode
from gateway.views.derived import DerivedView
from gateway.views.memories import MemoryView
from store.domain.vocabulary import ReviewOutcome

Item = TypeVar("Item")


class Page(BaseModel, Generic[Item]):
    """One page of a list and where the next one begins."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    items: tuple[Item, ...] = Field(description="What the page holds, in the order of the list.")
    next_cursor: str | None = Field(description="The cursor of the next page; null on the last page and only there.")


def _kind(item: Any) -> str:  # Any: a view, or the JSON of one
    """Which of the two views an item is: only the one of derived records has a record_kind."""
    return "derived" if "record_kind" in (item if isinstance(item, Mapping) else type(item).model_fields) else "belief"


AnyItem: TypeAlias = Annotated[
    Annotated[MemoryView, Tag("belief")] | Annotated[DerivedView, Tag("derived")], Discriminator(_kind)
]
"""A belief or a derived record."""


class MemoryItem(RootModel[AnyItem]):
    """A belief, or a derived record, which is told by its record_kind."""


class ItemPage(Page[AnyItem]):
    """One page of beliefs and derived records and where the next one begins."""


class ReviewBody(BaseModel):
    """What you say of a belief."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    outcome: ReviewOutcome = Field(description="How the belief stands with you.")


class Error(BaseModel):
    """Why a request failed."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    code: ErrorCode = Field(description="The kind of failure, out of a closed vocabulary.")
    message: str = Field(description="What is wrong, for people; it names the parameter where one is at fault.")
    details: Mapping[str, str] = Field(description="Empty: kept for what a kind of failure may come to add.")
    request_id: str = Field(description="The id of this exchange, as in the X-Request-Id header.")


class ErrorEnvelope(BaseModel):
    """The body of every failure."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    error: Error = Field(description="The failure.")


class Health(BaseModel):
    """That a question about this server's health is answered well."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    status: str = Field(description="Always `ok`: anything else is a failure.")
