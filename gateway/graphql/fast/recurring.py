"""Requests that came before with the same bytes: what their body alone decides, worked out once.

Most pages are the first one, asked for with the same document and the same variables whoever asks. Who asks, what is
left of the rate limit, and what the store holds are not decided by the body, and are looked at each time.

Only what shows a page is kept, and only where it names nobody and searches for nothing: what people look for does not
stay in memory. An entry goes with its document, whose bounds hold for it. Source: Performance, Recommended design.
"""

from collections import OrderedDict
from dataclasses import dataclass
from weakref import ref

from graphql import DocumentNode, OperationDefinitionNode

from gateway.graphql.exchange import GraphQLRequest
from gateway.graphql.fast.pages import PreparedPage

REQUESTS_MAX = 1_000
BODY_BYTES_MAX = 8_192


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedRequest:
    """A request that may be executed, at a cost in points; `page` where it shows one page that the store writes."""

    asked: GraphQLRequest
    document: DocumentNode
    operation: OperationDefinitionNode
    cost: int
    page: PreparedPage | None


@dataclass(frozen=True, slots=True)
class _Kept:
    """A request without its document, which must not outlive its bounds."""

    document: ref[DocumentNode]
    asked: GraphQLRequest
    operation: OperationDefinitionNode
    cost: int
    page: PreparedPage


class RecurringRequests:
    """The requests of one schema that may recur, by their body; what was not asked for longest is forgotten first."""

    def __init__(self) -> None:
        """Know no request."""
        self._kept: OrderedDict[bytes, _Kept] = OrderedDict()

    def find(self, body: bytes) -> PreparedRequest | None:
        """The request of this body, if it is remembered and its document is."""
        kept = self._kept.get(body)
        document = None if kept is None else kept.document()
        if kept is None or document is None:
            return None
        self._kept.move_to_end(body)
        return PreparedRequest(
            asked=kept.asked, document=document, operation=kept.operation, cost=kept.cost, page=kept.page
        )

    def remember(self, body: bytes, request: PreparedRequest) -> None:
        """Keep a request that shows a page, unless it is large or names what a person looks for."""
        page = request.page
        if page is None or len(body) > BODY_BYTES_MAX:
            return
        if page.selection.text is not None or page.selection.subject is not None:
            return
        self._kept[body] = _Kept(
            ref(request.document, lambda gone: self._forget(body, gone)),
            request.asked,
            request.operation,
            request.cost,
            page,
        )
        if len(self._kept) > REQUESTS_MAX:
            self._kept.popitem(last=False)

    def _forget(self, body: bytes, document: ref[DocumentNode]) -> None:
        kept = self._kept.get(body)
        if kept is not None and kept.document is document:
            del self._kept[body]
