"""Operations that show one page, from their document to the bytes of the answer.

The plain path stays the meaning: the same service is asked with the same arguments, and a failure of the field becomes
the same error at the same path. Source: Performance, Recommended design.
"""

from collections.abc import Mapping, Sequence
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
from gateway.graphql.fast.plans import PagePlan, Part, Plans, Slot
from gateway.service.memory_reading import EncodedMemoryPage, MemoryRow, cursor_of
from gateway.service.memory_requests import MemoryPaging, MemorySelection


class FastPages:
    """Answers the operations of one schema that a plan covers."""

    def __init__(self, schema: GraphQLSchema) -> None:
        """Know the schema, which has a page of beliefs."""
        self._schema = schema
        self._plans = Plans(schema)

    async def answer(
        self,
        exchange: Exchange,
        document: DocumentNode,
        operation: OperationDefinitionNode,
        variables: Mapping[str, Any],  # Any: JSON
    ) -> bytes | ExecutionResult | None:
        """The answer of a valid operation: its body without the last brace, or the failure of its field.

        None where it must be executed; nothing was asked then.
        """
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
        try:
            page = await exchange.ask_once(
                lambda reading: reading.browse_encoded(
                    exchange.principal, selection, paging, plan.shape, with_opposite=opposite in plan.flags
                ),
                single=selection.text is None,
            )
        except Exception as error:  # noqa: BLE001 # whatever it is, it is judged where errors of fields are
            return ExecutionResult({plan.key: None}, [located_error(error, plan.nodes, [plan.key])])
        return _rendered(plan, page)


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
                pieces.append(b",".join([_edge(plan.edge, row) for row in page.rows]))
            case Slot.NODES:
                pieces.append(b",".join([row.content for row in page.rows]))
            case _:
                pieces.append(_page_info(part, page))
    return b"".join(pieces)


def _edge(edge: Sequence[Part], row: MemoryRow) -> bytes:
    return b"".join(
        [
            part if isinstance(part, bytes) else row.content if part is Slot.ROW else cursor_of(row).encode()
            for part in edge
        ]
    )


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
            row = page.rows[0 if slot is Slot.START else -1]
            return b'"%b"' % cursor_of(row).encode()
