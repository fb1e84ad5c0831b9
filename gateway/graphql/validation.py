"""Whether a document and its variables can be executed, and if not, one reason that names the argument or variable.

The library's own rules stand, in their order; only values are judged by a rule of ours, because the library quotes
them and does not say which argument they belong to. Only the first error is told: finding all of them costs as much
as the document likes.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from graphql import (
    ArgumentNode,
    ASTValidationRule,
    DocumentNode,
    FloatValueNode,
    GraphQLError,
    GraphQLInputType,
    GraphQLSchema,
    Node,
    OperationDefinitionNode,
    StringValueNode,
    Undefined,
    ValidationRule,
    ValueNode,
    ValuesOfCorrectTypeRule,
    VariableDefinitionNode,
    VisitorAction,
    is_input_type,
    is_non_null_type,
    specified_rules,
    type_from_ast,
    validate,
)
from graphql.language import SKIP
from graphql.utilities import validate_input_literal, validate_input_value

from gateway.graphql.errors import DocumentError, Label, input_message
from gateway.graphql.introspection import UNTOLD, VARIABLES_UNTOLD
from gateway.service.errors import MalformedRequest
from store.domain.normalization import well_formed

ILL_FORMED = "must hold neither U+0000 nor a lone surrogate"

_SUGGESTION = " Did you mean"


class WellFormedTextRule(ValidationRule):
    """Refuses string literals with U+0000 or a lone surrogate, which an escape can put into a document."""

    _place = ""

    def enter_argument(self, node: ArgumentNode, *_: object) -> None:
        """Remember the argument."""
        self._place = node.name.value

    def enter_variable_definition(self, node: VariableDefinitionNode, *_: object) -> None:
        """Remember the variable, whose default follows."""
        self._place = f"${node.variable.name.value}"

    def enter_string_value(self, node: StringValueNode, *_: object) -> None:
        """Judge one literal, however deep it stands."""
        if not well_formed(node.value):
            self.report_error(GraphQLError(f"{self._place} {ILL_FORMED}", node))


class FiniteNumbersRule(ValidationRule):
    """Refuses number literals that no finite float stands for: beyond its range they would be read as infinite."""

    def enter_float_value(self, node: FloatValueNode, *_: object) -> None:
        """Judge one literal, however deep it stands."""
        if not math.isfinite(float(node.value)):
            self.report_error(GraphQLError("query must hold finite numbers only", node))


class NamedValuesRule(ValuesOfCorrectTypeRule):
    """The library's rule on values, with messages that name the place and leave the value out."""

    _place = ""

    def enter_argument(self, node: ArgumentNode, *_: object) -> None:
        """Remember the argument."""
        self._place = node.name.value

    def enter_variable_definition(self, node: VariableDefinitionNode, *_: object) -> None:
        """Remember the variable, whose default follows."""
        self._place = f"${node.variable.name.value}"

    def is_valid_value_node(self, node: ValueNode, input_type: GraphQLInputType | None) -> VisitorAction:
        """Judge one literal as a whole."""
        if input_type is not None:

            def refuse(error: GraphQLError, path: Sequence[str | int]) -> None:
                nodes: Sequence[Node] = error.nodes or (node,)
                self.report_error(GraphQLError(input_message(self._place, path, input_type, error.message), nodes))

            validate_input_literal(node, input_type, refuse, None, None, True)
        return SKIP


RULES: tuple[type[ASTValidationRule], ...] = (
    WellFormedTextRule,
    FiniteNumbersRule,
    *(NamedValuesRule if rule is ValuesOfCorrectTypeRule else rule for rule in specified_rules),
)


def check_document(schema: GraphQLSchema, document: DocumentNode, *, tells_names: bool = True) -> None:
    """Raise DocumentError for the first rule that the document breaks; `tells_names` False: not for which one."""
    errors = validate(schema, document, RULES, max_errors=1, hide_suggestions=True)
    if errors and not tells_names:
        raise DocumentError(UNTOLD, Label.VALIDATION_FAILED)
    if errors:
        message, _, _ = errors[0].message.partition(_SUGGESTION)
        raise DocumentError(message, Label.VALIDATION_FAILED, errors[0])


def select_operation(document: DocumentNode, name: str | None) -> OperationDefinitionNode:
    """The one operation that is meant. Raises DocumentError unless there is exactly one."""
    operations = [definition for definition in document.definitions if isinstance(definition, OperationDefinitionNode)]
    if name is not None:
        operations = [each for each in operations if each.name is not None and each.name.value == name]
        if not operations:
            raise DocumentError("operationName names no operation of the document", Label.OPERATION_UNCLEAR)
    if not operations:
        raise DocumentError("query must hold an operation", Label.OPERATION_UNCLEAR)
    if len(operations) > 1:
        raise DocumentError("operationName must say which of the operations is meant", Label.OPERATION_UNCLEAR)
    return operations[0]


def check_variables(
    schema: GraphQLSchema,
    operation: OperationDefinitionNode,
    variables: Mapping[str, Any],  # Any: JSON
    *,
    tells_names: bool = True,
) -> None:
    """Raise DocumentError for the first variable that its type refuses; `tells_names` False: not for which one."""
    for definition in operation.variable_definitions or ():
        name = definition.variable.name.value
        type = type_from_ast(schema, definition.type)
        assert is_input_type(type), "validated before"
        value = variables.get(name, Undefined)
        if value is Undefined and (definition.default_value is not None or not is_non_null_type(type)):
            continue
        refusals: list[str] = []

        def refuse(
            error: GraphQLError,
            path: Sequence[str | int],
            *,
            place: str = f"${name}",
            type: GraphQLInputType = type,
            refusals: list[str] = refusals,
        ) -> None:
            refusals.append(input_message(place, path, type, error.message))

        validate_input_value(value, type, refuse, hide_suggestions=True)
        if refusals and not tells_names:
            raise DocumentError(VARIABLES_UNTOLD, Label.BAD_USER_INPUT)
        if refusals:
            raise DocumentError(refusals[0], Label.BAD_USER_INPUT, GraphQLError("", definition))


def check_text(name: str, value: Any) -> None:  # Any: JSON
    """Raise MalformedRequest if a text in a JSON value, keys included, holds U+0000 or a lone surrogate."""
    if isinstance(value, str):
        if not well_formed(value):
            raise MalformedRequest(name, ILL_FORMED)
    elif isinstance(value, list):
        for item in value:
            check_text(name, item)
    elif isinstance(value, dict):
        for key, item in value.items():
            check_text(name, key)
            check_text(name, item)
