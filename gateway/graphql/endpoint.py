"""The endpoint /graphql: authentication, the exchange, execution, and failures turned into answers.

Three kinds of failure. Of the exchange (method, credentials, type, size, members of the request): its own status
whatever is accepted. Of the document (syntax, rules, variables, operation): 400 in the media type of GraphQL, and
200 in plain JSON, where clients expect to find it in the body. Of a field: null and an error at its path, with 200;
except that a query which the store could not answer is 503 as a whole, since an answer with holes could be taken
for one without beliefs, and that one whose answer would grow too large is refused as a document is. A mutation
always tells what was applied.
Source: GraphQL over HTTP; belief store decisions, Errors.
"""

from collections.abc import Callable, Mapping
from typing import Any

from graphql import (
    DocumentNode,
    ExecutionResult,
    OperationDefinitionNode,
    OperationType,
    execute,
)
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from gateway.graphql.context import Exchange
from gateway.graphql.cost import COST_MAX, Pricing
from gateway.graphql.documents import NO_TRUSTED_DOCUMENTS, CountDocument, Documents, TrustedDocuments
from gateway.graphql.errors import (
    NAMES,
    DocumentError,
    Label,
    SurfaceOff,
    field_error_body,
    field_failure,
    request_error_body,
)
from gateway.graphql.exchange import (
    GRAPHQL_RESPONSE,
    GraphQLRequest,
    asks_for_cost,
    encoded,
    negotiated_media_type,
    parse_request,
    read_content,
    respond,
    respond_encoded,
)
from gateway.graphql.fast.pages import FastPages
from gateway.graphql.fast.recurring import PreparedRequest, RecurringRequests
from gateway.graphql.introspection import only_introspects
from gateway.graphql.limits import LimitExceeded
from gateway.graphql.schema import SHOWN_SURFACES, build_schema, root_fields
from gateway.graphql.unmounted import UnmountedFields
from gateway.graphql.validation import check_variables, select_operation
from gateway.http.admission import Admission, Admitted
from gateway.http.errors import TransportError, failure_of
from gateway.http.exchanges import (
    DERIVED_SURFACE,
    EVIDENCE_SURFACE,
    MEMORY_SURFACE,
    OTHER_OPERATION,
    Exchanges,
    NoExchanges,
    note_operation,
)
from gateway.http.presence import deadline_of
from gateway.service.errors import (
    AuthenticationError,
    ErrorCode,
    GatewayError,
    MalformedRequest,
    RetrievalBusy,
    Unavailable,
)
from gateway.service.evidence import EvidenceService
from gateway.service.memories import PublicMemoryService
from gateway.setting_values import Introspection

PATH = "/graphql"
ERRORS_MAX = 100
"""Failed fields that an answer lists; of one cause there may be as many as there are beliefs."""
ALLOWED = "GET, HEAD, POST, OPTIONS"
_WHOLE: Mapping[ErrorCode, Callable[[str], GatewayError]] = {
    ErrorCode.UNAVAILABLE: Unavailable,
    ErrorCode.RETRIEVAL_BUSY: lambda _: RetrievalBusy(),
}
"""Failures of one field that are those of the whole query, and how they are raised with the field's message."""


class GraphQLEndpoint:
    """One deployment's GraphQL: an ASGI application for a single path."""

    def __init__(  # noqa: PLR0913 # everything that a deployment decides
        self,
        *,
        memories: PublicMemoryService | None,
        admission: Admission,
        version: str,
        trusted: TrustedDocuments,
        count_document: CountDocument,
        introspection: Introspection,
        reports: Exchanges,
        encoded_pages: bool,
        derived: bool,
        evidence: EvidenceService | None,
    ) -> None:
        """Serve the memory surface where `memories` is given, with it derived records and evidence where they are.

        Raises InvalidManifest.
        """
        self._memories = memories
        self._evidence = evidence
        self._admission = admission
        self._version = version
        self._introspection = introspection
        self._reports = reports
        self._tells_names = introspection is not Introspection.OFF
        has_memory = memories is not None
        surfaces = {
            MEMORY_SURFACE: has_memory,
            DERIVED_SURFACE: has_memory and derived,
            EVIDENCE_SURFACE: has_memory and evidence is not None,
        }
        self._surfaces = [SHOWN_SURFACES[name] for name, is_on in surfaces.items() if is_on]
        self._schema = build_schema(
            memory=has_memory, derived=derived, evidence=evidence is not None, projected=encoded_pages
        )
        self._documents = Documents(
            self._schema._schema,
            trusted,
            count_document,
            introspection=self._tells_names,
            unmounted=UnmountedFields({name: root_fields(name) for name, is_on in surfaces.items() if not is_on}),
        )
        self._pricing = Pricing(self._schema._schema)
        self._pages = FastPages(self._schema._schema) if encoded_pages and memories is not None else None
        self._recurring = RecurringRequests()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        note_operation(scope, OTHER_OPERATION)
        request = Request(scope, receive)
        response = await self._answer(request)
        await response(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        """The answer, whatever happens: the one place where failures of a request become responses."""
        if request.method == "OPTIONS":
            return Response(status_code=204, headers={"allow": ALLOWED})
        media_type = negotiated_media_type(request)
        try:
            return await self._serve(request, media_type)
        except Exception as error:  # noqa: BLE001 # what is not known is logged and masked by failure_of
            if isinstance(error, LimitExceeded):
                self._reports.limit_exceeded(error.limit)
            if isinstance(error, SurfaceOff):
                self._reports.not_mounted(error.surface)
            failure = failure_of(error, NAMES)
            in_body = isinstance(error, DocumentError) and media_type != GRAPHQL_RESPONSE
            return respond(
                {"errors": [request_error_body(error, failure)]},
                status=200 if in_body else failure.status,
                media_type=media_type,
                headers=failure.headers,
            )

    async def _serve(self, request: Request, media_type: str) -> Response:
        if request.method not in {"GET", "HEAD", "POST"}:
            raise TransportError(ErrorCode.METHOD_NOT_ALLOWED, "GraphQL is asked by GET or POST", {"allow": ALLOWED})
        if self._introspection is Introspection.PUBLIC and "authorization" not in request.headers:
            async with deadline_of(request).kept():
                return await self._introspect(request, media_type)
        deadline = deadline_of(request)
        async with deadline.kept():
            admitted = await self._admission.admit(request)
            content = await read_content(request)
            shows_cost = asks_for_cost(request)
            prepared = self._prepared(request, content)
            await admitted.charge(prepared.cost)
        exchange = Exchange(
            admitted.principal, self._memories, self._version, deadline, self._surfaces, evidence=self._evidence
        )
        if prepared.page is not None and self._pages is not None:
            result = await self._pages.answer(exchange, prepared.page)
        else:
            result = await self._execute(exchange, prepared.asked, prepared.document)
        if isinstance(result, bytes):
            if shows_cost:
                result += b',"extensions":' + encoded(_cost(prepared.cost, admitted))
            return respond_encoded(result + b"}", status=200, media_type=media_type, headers={})
        if exchange.size.refusal is not None:
            self._reports.limit_exceeded("answer_size")
        payload = _payload(prepared.operation, result, exchange.size.refusal)
        if shows_cost:
            payload["extensions"] = _cost(prepared.cost, admitted)
        return respond(payload, status=200, media_type=media_type, headers={})

    def _prepared(self, request: Request, content: bytes | None) -> PreparedRequest:
        """What a request asks, checked and priced. Raises MalformedRequest, DocumentError and TransportError."""
        recurring = None if content is None else self._recurring.find(content)
        asked = parse_request(request, content) if recurring is None else recurring.asked
        document = self._documents.find(query=asked.query, identifier=asked.identifier)
        if recurring is not None and recurring.document is document:
            self._note_operation(request, document, recurring.operation)
            return recurring
        operation = self._operation(document, asked)
        self._note_operation(request, document, operation)
        if operation.operation is not OperationType.QUERY and request.method != "POST":
            raise TransportError(ErrorCode.METHOD_NOT_ALLOWED, "a mutation is asked by POST", {"allow": "POST"})
        prepared = PreparedRequest(
            asked=asked,
            document=document,
            operation=operation,
            cost=self._pricing.check(document, operation, asked.variables),
            page=None if self._pages is None else self._pages.prepare(document, operation, asked.variables),
        )
        if content is not None:
            self._recurring.remember(content, prepared)
        return prepared

    def _operation(self, document: DocumentNode, asked: GraphQLRequest) -> OperationDefinitionNode:
        """The operation of a document that is meant, its variables checked. Raises DocumentError."""
        operation = select_operation(document, asked.operation_name)
        check_variables(self._schema._schema, operation, asked.variables, tells_names=self._tells_names)
        return operation

    def _note_operation(self, request: Request, document: DocumentNode, operation: OperationDefinitionNode) -> None:
        note_operation(request.scope, self._documents.trusted_name(document, operation) or OTHER_OPERATION)

    async def _introspect(self, request: Request, media_type: str) -> Response:
        """Answer somebody without a credential who asks for the schema alone. Raises AuthenticationError otherwise."""
        await self._admission.count_stranger(request)
        try:
            asked = parse_request(request, await read_content(request))
            document = self._documents.find(query=asked.query, identifier=asked.identifier)
            operation = self._operation(document, asked)
            self._pricing.check(document, operation, asked.variables)
        except GatewayError:
            raise AuthenticationError from None
        if not only_introspects(document, operation):
            raise AuthenticationError
        result = await self._execute(None, asked, document)
        return respond(_payload(operation, result, None), status=200, media_type=media_type, headers={})

    async def _execute(
        self, exchange: Exchange | None, asked: GraphQLRequest, document: DocumentNode
    ) -> ExecutionResult:
        try:
            result = execute(
                self._schema._schema,
                document,
                context_value=exchange,
                variable_values=dict(asked.variables),
                operation_name=asked.operation_name,
                max_coercion_errors=1,
                hide_suggestions=True,
                executor_class=self._schema.execution_context_class,
                operation_extensions={},
            )
            return result if isinstance(result, ExecutionResult) else await result
        finally:
            if exchange is not None:
                await exchange.end()


def graphql_routes(  # noqa: PLR0913 # everything that a deployment decides
    *,
    memories: PublicMemoryService | None,
    admission: Admission,
    version: str,
    trusted: TrustedDocuments = NO_TRUSTED_DOCUMENTS,
    count_document: CountDocument = lambda _: None,
    introspection: Introspection = Introspection.AUTHENTICATED,
    reports: Exchanges | None = None,
    encoded_pages: bool = True,
    derived: bool = False,
    evidence: EvidenceService | None = None,
) -> list[Route]:
    """The routes of this transport; without `memories`, or `evidence`, their surface is off.

    With `derived`, derived records are served too.

    `count_document` is told of each document asked for, whether it was known. Raises InvalidManifest.
    `encoded_pages`: what shows one page of plain values leaves the store as JSON, and attributes of other answers are
    shown by projections; no answer tells the difference.
    """
    endpoint = GraphQLEndpoint(
        memories=memories,
        admission=admission,
        version=version,
        trusted=trusted,
        count_document=count_document,
        introspection=introspection,
        reports=reports or NoExchanges(),
        encoded_pages=encoded_pages,
        derived=derived,
        evidence=evidence,
    )
    return [Route(PATH, endpoint)]


def _cost(cost: int, admitted: Admitted) -> dict[str, Any]:  # Any: JSON
    """The extensions of an answer whose cost was asked for."""
    return {"cost": {"requested": cost, "maximum": COST_MAX, "remaining": admitted.remaining}}


def _payload(
    operation: OperationDefinitionNode, result: ExecutionResult, refusal: MalformedRequest | None
) -> dict[str, Any]:  # Any: JSON
    """The body of an executed operation; `refusal` says why it was not shown to its end.

    Raises Unavailable or RetrievalBusy for a query that could not be answered whole, DocumentError for one whose
    answer grew too large, and where nothing was executed.
    """
    is_query = operation.operation is OperationType.QUERY
    if refusal is not None and is_query:
        raise DocumentError(refusal.message, Label.VALIDATION_FAILED)
    errors: list[dict[str, Any]] = []  # Any: JSON
    for error in result.errors or ():
        failure = field_failure(error)
        if error.path is None:
            raise DocumentError(failure.message, Label.BAD_USER_INPUT, error)
        if failure.code in _WHOLE and is_query:
            raise _WHOLE[failure.code](failure.message)
        if len(errors) < ERRORS_MAX:
            errors.append(field_error_body(error, failure))
    return {"errors": errors, "data": result.data} if errors else {"data": result.data}
