"""The library's executor, except that attributes of objects are shown by projections, many objects at a time.

Wherever the library is about to complete a list, or to execute the fields of an object, the part that a plan covers is
shown by its projection. The other fields are executed by the library's own functions, which resolve, count, refuse and
locate errors as ever. A list is taken only where the fields that are left can't fail beyond themselves: their values
are then put into what is there already, and all that have to be awaited are awaited together.

It declines where more than attributes are read: for types that judge their objects, under middleware, and in parts of
an answer that are delivered later. What is overridden here is the library's own matter, so its versions are pinned.
Source: Performance, Recommended design.
"""

from collections.abc import Awaitable, Iterable
from typing import Any, TypeAlias

from graphql import DocumentNode, GraphQLObjectType, GraphQLOutputType, GraphQLResolveInfo, GraphQLSchema
from graphql.pyutils import AwaitableOrValue, Path, gather_with_cancel
from strawberry.schema.schema import StrawberryGraphQLCoreExecutionContext

from gateway.graphql.document_notes import DocumentNotes
from gateway.graphql.fast.plans import Choice, choice_of
from gateway.graphql.fast.projection_plans import Fields, Groups, KnownPlans, ProjectionPlans, Selection, is_directed
from gateway.graphql.fast.projections import SEQUENCES, Codec, Column, Object, Shown

Position: TypeAlias = Any  # Any: the library's own; None where nothing is delivered later
Answer: TypeAlias = Any  # Any: JSON
Pending: TypeAlias = list[tuple[Shown, str, Awaitable[Answer]]]
"""Values that are awaited, and where each of them is missing."""

_NOTES: DocumentNotes[Choice, KnownPlans] = DocumentNotes()
"""A document belongs to one schema, and so do the types that are noted of it."""


class ProjectingExecutor(StrawberryGraphQLCoreExecutionContext):
    """Executes one operation."""

    _projected: ProjectionPlans | None = None

    @classmethod
    def build(cls, schema: GraphQLSchema, document: DocumentNode, *arguments: Any, **named: Any) -> Any:  # Any: its own
        """The executor of an operation of the document, or what is wrong with it."""
        executor = super().build(schema, document, *arguments, **named)
        if isinstance(executor, cls) and executor.middleware_manager is None and executor.abort_signal is None:
            known = _NOTES.find(document, executor.operation, choice_of(executor.variable_values), dict)
            executor._projected = ProjectionPlans(executor.collect_subfields, known)
        return executor

    def complete_iterable_value(
        self,
        item_type: GraphQLOutputType,
        field_details_list: Fields,
        info: GraphQLResolveInfo[Any],  # Any: the context
        path: Path,
        items: Iterable[Object],
        position_context: Position,
    ) -> AwaitableOrValue[list[Answer]]:
        """The items as the answer shows them."""
        plans = self._projected
        # An empty list would let nothing go wrong in what is selected.
        if plans is not None and position_context is None and type(items) in SEQUENCES and items:
            codec = None if is_directed(field_details_list) else plans.codec(item_type, field_details_list)
            shown = None if codec is None else _tried(codec, list(items))
            if shown is not None:
                pending: Pending = []
                self._fill(plans.within(item_type, field_details_list), items, shown, path, pending)
                return _filled(shown, pending) if pending else shown
        return super().complete_iterable_value(item_type, field_details_list, info, path, items, position_context)

    def execute_fields(
        self,
        parent_type: GraphQLObjectType,
        source_value: Object,
        path: Path | None,
        grouped_field_set: Groups,
        position_context: Position,
    ) -> AwaitableOrValue[Shown]:
        """An object as the answer shows it; the root, which has no path, is the library's."""
        if self._projected is not None and position_context is None and path is not None:
            selection = self._projected.selection(parent_type, grouped_field_set)
            column = None if selection.plan is None else _tried(selection.plan.projection.show, [source_value])
            if selection.plan is not None and column is not None:
                return self._completed(selection, source_value, column[0], path, absorbs=selection.plan.absorbs)
        return super().execute_fields(parent_type, source_value, path, grouped_field_set, position_context)

    def _completed(
        self, selection: Selection, source: Object, shown: Shown, path: Path, *, absorbs: bool
    ) -> AwaitableOrValue[Shown]:
        if absorbs:
            pending: Pending = []
            self._fill(selection, source, shown, path, pending)
            return _filled(shown, pending) if pending else shown
        groups = {left.key: left.fields for left in selection.left}
        rest = super().execute_fields(selection.type, source, path, groups, None)
        return shown | rest if isinstance(rest, dict) else _joined(shown, rest)

    def _fill(self, selection: Selection | None, source: Object, shown: Answer, path: Path, pending: Pending) -> None:
        """Put what a projection left into what it showed, in the library's own order."""
        if selection is None or not selection.left or shown is None:
            return
        if isinstance(shown, list):
            for index, item in enumerate(shown):
                self._fill(selection, source[index], item, path.add_key(index, None), pending)
            return
        for left in selection.left:
            place = Path(path, left.key, selection.type.name)
            if left.read is not None:
                self._fill(left.within, left.read(source), shown[left.key], place, pending)
                continue
            value = self.execute_field(selection.type, source, left.fields, place, None)
            if self.is_awaitable(value):
                pending.append((shown, left.key, value))
            else:
                shown[left.key] = value


def _tried(codec: Codec, column: Column) -> Column | None:
    """What a projection shows; None where it meets anything that it does not expect."""
    try:
        return codec(column)
    except Exception:  # noqa: BLE001 # whatever it is, the library meets it again, and says what is wrong
        return None


async def _filled(shown: Answer, pending: Pending) -> Answer:
    """What is shown, once all that it waits for is there."""
    if len(pending) == 1:
        [(target, key, value)] = pending
        target[key] = await value
        return shown
    values = await gather_with_cancel(*[value for _, _, value in pending])
    for (target, key, _), value in zip(pending, values, strict=True):
        target[key] = value
    return shown


async def _joined(shown: Shown, rest: Awaitable[Shown]) -> Shown:
    return shown | await rest
