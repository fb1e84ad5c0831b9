"""From views to responses. Nothing that leaves the REST transport may be kept by a cache.

Source: Memory read API, The routes (Cache-Control).
"""

from collections.abc import Mapping

from pydantic import BaseModel
from starlette.responses import Response

from gateway.rest.pages import ItemPage, Page
from gateway.service.derived_reading import MemoryItemPage
from gateway.service.memory_reading import EncodedMemoryPage, MemoryPage
from gateway.views.memories import MemoryView

NOT_KEPT: Mapping[str, str] = {"cache-control": "private, no-store"}


def json_response(body: BaseModel, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """The JSON of a model.

    A confidence is a number of at most three decimals, so its shortest spelling, which is written, has one to three.
    """
    return Response(
        body.model_dump_json(),
        status_code=status,
        headers={**NOT_KEPT, **(headers or {})},
        media_type="application/json",
    )


def page_response(page: MemoryPage) -> Response:
    """The items of a page and its next cursor."""
    # Not validated again: the views are made by the service and frozen.
    return json_response(
        Page[MemoryView].model_construct(
            items=tuple(edge.node for edge in page.edges),
            next_cursor=page.next_cursor,
        )
    )


def item_page_response(page: MemoryItemPage) -> Response:
    """The same of beliefs and derived records."""
    return json_response(
        ItemPage.model_construct(items=tuple(edge.node for edge in page.edges), next_cursor=page.next_cursor)
    )


def encoded_page_response(page: EncodedMemoryPage) -> Response:
    """The same body, of items that are JSON already."""
    cursor = page.next_cursor
    # A cursor is base64url, which needs no escape.
    end = b'],"next_cursor":null}' if cursor is None else b'],"next_cursor":"%b"}' % cursor.encode()
    return Response(
        b"".join((b'{"items":[', b",".join([row.content for row in page.rows]), end)),
        headers=NOT_KEPT,
        media_type="application/json",
    )


def empty_response(headers: Mapping[str, str] | None = None) -> Response:
    """204, which has no body."""
    return Response(status_code=204, headers={**NOT_KEPT, **(headers or {})})
