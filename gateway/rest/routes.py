"""The four memory routes: parse, call, render.

Source: Memory read API, The routes and Writes.
"""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gateway.http.admission import Admission
from gateway.http.bodies import read_body, require_json
from gateway.rest.operations import BROWSE, DELETE, MEMORIES_PATH, MEMORY_PATH, READ, REVIEW, REVIEW_PATH
from gateway.rest.parameters import (
    decoded,
    parse_ceiling,
    parse_idempotency_key,
    parse_outcome,
    parse_paging,
    parse_query,
    parse_selection,
)
from gateway.rest.rendering import empty_response, encoded_page_response, json_response, page_response
from gateway.rest.resources import Resource
from gateway.service.costs import MEMORY, MEMORY_SHOWN, STATEMENT, WRITE, fetch_cost, page_size
from gateway.service.memories import PublicMemoryService
from gateway.service.memory_requests import MemoryDelete, MemoryPaging, MemoryReview, MemorySelection, check_text
from gateway.views.memory_rows import WHOLE_ROW


def memory_routes(*, memories: PublicMemoryService, admission: Admission, encoded_pages: bool = True) -> list[Route]:
    """Everything under /v1/memories, and nothing else; `encoded_pages`: lists leave the store as JSON."""
    handlers = _MemoryHandlers(memories, admission, encoded_pages=encoded_pages)
    resources = {
        MEMORIES_PATH: Resource({BROWSE.method: handlers.browse}),
        MEMORY_PATH: Resource({READ.method: handlers.read, DELETE.method: handlers.delete}),
        REVIEW_PATH: Resource({REVIEW.method: handlers.review}),
    }
    return [Route(path, resource, name=path) for path, resource in resources.items()]


class _MemoryHandlers:
    """One method an operation."""

    def __init__(self, memories: PublicMemoryService, admission: Admission, *, encoded_pages: bool) -> None:
        self._memories = memories
        self._admission = admission
        self._encoded_pages = encoded_pages

    async def browse(self, request: Request) -> Response:
        admitted = await self._admission.admit(request)
        values = parse_query(request.scope["query_string"], BROWSE.parameters)
        selection = parse_selection(values)
        paging = parse_paging(values)
        await admitted.charge(_page_cost(selection, paging))
        async with self._memories.reading(single=selection.text is None) as reading:
            if self._encoded_pages:
                encoded = await reading.browse_encoded(admitted.principal, selection, paging, WHOLE_ROW)
                return encoded_page_response(encoded)
            page = await reading.browse(admitted.principal, selection, paging)
        return page_response(page)

    async def read(self, request: Request) -> Response:
        admitted = await self._admission.admit(request)
        id = _memory_id(request)
        values = parse_query(request.scope["query_string"], READ.parameters)
        ceiling = parse_ceiling(values)
        await admitted.charge(STATEMENT + MEMORY_SHOWN)
        async with self._memories.reading(single=True) as reading:
            view = await reading.read(admitted.principal, id, ceiling)
        return json_response(view)

    async def delete(self, request: Request) -> Response:
        admitted = await self._admission.admit(request)
        id = _memory_id(request)
        values = parse_query(request.scope["query_string"], DELETE.parameters)
        command = MemoryDelete(
            id=id,
            ceiling=parse_ceiling(values),
            idempotency_key=parse_idempotency_key(request.headers),
        )
        await admitted.charge(WRITE)
        await self._memories.delete(admitted.principal, command)
        return empty_response()

    async def review(self, request: Request) -> Response:
        admitted = await self._admission.admit(request)
        require_json(request)
        content = await read_body(request)
        id = _memory_id(request)
        values = parse_query(request.scope["query_string"], REVIEW.parameters)
        command = MemoryReview(
            id=id,
            ceiling=parse_ceiling(values),
            outcome=parse_outcome(content),
            idempotency_key=parse_idempotency_key(request.headers),
        )
        await admitted.charge(WRITE + MEMORY_SHOWN)
        view = await self._memories.review(admitted.principal, command)
        return json_response(view)


def _page_cost(selection: MemorySelection, paging: MemoryPaging) -> int:
    size = page_size(paging.first)
    searches_text = selection.text is not None and bool(selection.text.strip())
    return fetch_cost(size, searches_text=searches_text) + size * (MEMORY_SHOWN - MEMORY)


def _memory_id(request: Request) -> str:
    """The identifier in the path, as it was written: the service judges it.

    Raises MalformedRequest where the path is no UTF-8 or holds U+0000.
    """
    # The server has decoded the path already, replacing what is no UTF-8: the raw one tells.
    decoded("memory_id", request.scope["raw_path"])
    id: str = request.path_params["memory_id"]
    check_text(name="id", value=id)
    return id
