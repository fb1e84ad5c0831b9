"""Operations that show one page, from their document to the bytes of the answer.

The plain path stays the meaning: the same service is asked with the same arguments, and a failure of the field becomes
the same error at the same path. Source: Performance, Recommended design.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from graphql import (
    DocumentNode,
    ExecutionResult,
    GraphQLError,
    GraphQLSchema,
    OperationDefinitionNode,
    OperationType,
    get_argument_values,
    get_variable_values,
    located_error,
)

from gateway.graphql.context import Exchange
from gateway.graphql.fast.plans import EdgeFormat, PagePlan, Plans, Slot
from gateway.service.memory_reading import EncodedMemoryPage, MemoryRow, cursors_of
from gateway.service.memory_requests import MemoryPaging, MemorySelection


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedPage:
    """What a valid operation asks of the service, and how its answer is written."""

    plan: PagePlan
    selection: MemorySelection
    paging: MemoryPaging
    with_opposite: bool


class FastPages:
    """Answers the operations of one schema that a plan covers."""

    def __init__(self, schema: GraphQLSchema) -> None:
        """Know the schema, which has a page of beliefs."""
        self._schema = schema
        self._plans = Plans(schema)

    def prepare(
        self,
        document: DocumentNode,
        operation: OperationDefinitionNode,
        variables: Mapping[str, Any],  # Any: JSON
    ) -> PreparedPage | None:
        """The page that a valid operation with checked variables shows; None where it must be executed."""
        if operation.operation is not OperationType.QUERY:
            return None
        coerced = get_variable_values(
            self._schema, operation.variable_definitions or (), dict(variables), max_errors=1, hide_suggestions=True
        )
        if isinstance(coerced, list):
            return None
        plan = self._plans.find(document, operation, coerced)
        if plan is None:
            return None
        try:
            arguments = get_argument_values(self._plans.field, plan.nodes[0], coerced, hide_suggestions=True)
        except GraphQLError:
            return None
        selection, paging = _request(arguments)
        opposite = Slot.HAS_NEXT if paging.walks_back else Slot.HAS_PREVIOUS
        return PreparedPage(plan=plan, selection=selection, paging=paging, with_opposite=opposite in plan.flags)

    async def answer(self, exchange: Exchange, page: PreparedPage) -> bytes | ExecutionResult:
        """The answer of an operation: its body without the last brace, or the failure of its field."""
        plan = page.plan
        try:
            shown = await exchange.ask_once(
                lambda reading: reading.browse_encoded(
                    exchange.principal, page.selection, page.paging, plan.shape, with_opposite=page.with_opposite
                ),
                single=page.selection.text is None,
            )
        except Exception as error:  # noqa: BLE001 # whatever it is, it is judged where errors of fields are
            return ExecutionResult({plan.key: None}, [located_error(error, plan.nodes, [plan.key])])
        return _rendered(plan, shown)


def _request(arguments: Mapping[str, Any]) -> tuple[MemorySelection, MemoryPaging]:  # Any: as the schema has it
    """What the arguments ask of the service; one that is left out or null is not given."""
    selection = MemorySelection(
        ceiling=arguments["ceiling"],
        statuses=arguments.get("statuses"),
        belief_types=arguments.get("beliefTypes"),
        sensitivities=arguments.get("sensitivities"),
        subject=arguments.get("subject"),
        session_id=arguments.get("sessionId"),
        text=arguments.get("text"),
        flagged=arguments.get("flagged"),
        confidence_min=arguments.get("confidenceMin"),
        confidence_max=arguments.get("confidenceMax"),
        formed_after=arguments.get("formedAfter"),
        formed_before=arguments.get("formedBefore"),
    )
    paging = MemoryPaging(
        first=arguments.get("first"),
        after=arguments.get("after"),
        last=arguments.get("last"),
        before=arguments.get("before"),
    )
    return selection, paging


def _rendered(plan: PagePlan, page: EncodedMemoryPage) -> bytes:
    pieces: list[bytes] = []
    for part in plan.parts:
        match part:
            case bytes():
                pieces.append(part)
            case Slot.EDGES:
                pieces.append(_edges(plan.edge, page.rows))
            case Slot.NODES:
                pieces.append(b",".join([row.content for row in page.rows]))
            case _:
                pieces.append(_page_info(part, page))
    return b"".join(pieces)


def _edges(edge: EdgeFormat, rows: Sequence[MemoryRow]) -> bytes:
    """All edges by one format: put together one by one they would take longer than everything else of a small page."""
    columns = [[row.content for row in rows] if slot is Slot.ROW else cursors_of(rows) for slot in edge.slots]
    return b",".join([edge.format] * len(rows)) % tuple(chain.from_iterable(zip(*columns, strict=True)))


def _page_info(slot: Slot, page: EncodedMemoryPage) -> bytes:
    match slot:
        case Slot.HAS_NEXT:
            return b"true" if page.has_next_page else b"false"
        case Slot.HAS_PREVIOUS:
            return b"true" if page.has_previous_page else b"false"
        case _:
            assert slot in {Slot.START, Slot.END}, "the other members of PageInfo"
            if not page.rows:
                return b"null"
            return b'"%b"' % cursors_of(page.rows[:1] if slot is Slot.START else page.rows[-1:])[0]
