"""The four memory routes: parse, call, render.

Source: Memory read API, The routes and Writes.
"""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gateway.http.admission import Admission
from gateway.http.bodies import read_body, require_json
from gateway.rest.operations import (
    BROWSE,
    BROWSE_WITH_DERIVED,
    DELETE,
    MEMORIES_PATH,
    MEMORY_PATH,
    READ,
    REVIEW,
    REVIEW_PATH,
)
from gateway.rest.parameters import (
    decoded,
    parse_ceiling,
    parse_idempotency_key,
    parse_include_derived,
    parse_outcome,
    parse_paging,
    parse_query,
    parse_selection,
)
from gateway.rest.rendering import (
    empty_response,
    encoded_page_response,
    item_page_response,
    json_response,
    page_response,
)
from gateway.rest.resources import Resource
from gateway.service.costs import (
    DERIVED_SHOWN,
    MEMORY,
    MEMORY_SHOWN,
    STATEMENT,
    WRITE,
    fetch_cost,
    fetch_items_cost,
    page_size,
)
from gateway.service.memories import PublicMemoryService
from gateway.service.memory_requests import MemoryDelete, MemoryPaging, MemoryReview, MemorySelection, check_text
from gateway.views.memory_rows import WHOLE_ROW


def memory_routes(
    *, memories: PublicMemoryService, admission: Admission, encoded_pages: bool = True, derived: bool = False
) -> list[Route]:
    """Everything under /v1/memories, and nothing else.

    `encoded_pages`: lists of beliefs leave the store as JSON. `derived`: derived records are served too.
    """
    handlers = _MemoryHandlers(memories, admission, encoded_pages=encoded_pages, derived=derived)
    resources = {
        MEMORIES_PATH: Resource({BROWSE.method: handlers.browse}),
        MEMORY_PATH: Resource({READ.method: handlers.read, DELETE.method: handlers.delete}),
        REVIEW_PATH: Resource({REVIEW.method: handlers.review}),
    }
    return [Route(path, resource, name=path) for path, resource in resources.items()]


class _MemoryHandlers:
    """One method an operation."""

    def __init__(
        self, memories: PublicMemoryService, admission: Admission, *, encoded_pages: bool, derived: bool
    ) -> None:
        self._memories = memories
        self._admission = admission
        self._encoded_pages = encoded_pages
        self._derived = derived
        self._browse = BROWSE_WITH_DERIVED if derived else BROWSE

    async def browse(self, request: Request) -> Response:
        admitted = await self._admission.admit(request)
        values = parse_query(request.scope["query_string"], self._browse.parameters)
        with_derived = parse_include_derived(values, served=self._derived)
        selection = parse_selection(values)
        paging = parse_paging(values)
        await admitted.charge(_page_cost(selection, paging, with_derived=with_derived))
        if with_derived:
            async with self._memories.reading_items() as items:
                return item_page_response(await items.browse(admitted.principal, selection, paging))
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
        if self._derived:
            await admitted.charge(2 * STATEMENT + DERIVED_SHOWN)
            async with self._memories.reading_items() as items:
                return json_response(await items.read(admitted.principal, id, ceiling))
        await admitted.charge(STATEMENT + MEMORY_SHOWN)
        async with self._memories.reading(single=True) as reading:
            return json_response(await reading.read(admitted.principal, id, ceiling))

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
        await admitted.charge(WRITE + (DERIVED_SHOWN if self._derived else MEMORY_SHOWN))
        view = await self._memories.review(admitted.principal, command)
        return json_response(view)


def _page_cost(selection: MemorySelection, paging: MemoryPaging, *, with_derived: bool) -> int:
    size = page_size(paging.first)
    searches_text = selection.text is not None and bool(selection.text.strip())
    if with_derived:
        return fetch_items_cost(size, searches_text=searches_text) + size * (DERIVED_SHOWN - MEMORY)
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
