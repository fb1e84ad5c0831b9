"""The OpenAPI document: valid, true to the models and the operations, and without what is not mounted."""

import json
from typing import Any

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator
from pydantic import BaseModel

from gateway.http.errors import STATUSES
from gateway.rest.examples import DERIVED, ITEM_PAGE, MEMORY, PAGE
from gateway.rest.openapi import openapi_document
from gateway.rest.operations import MEMORY_OPERATIONS, MEMORY_OPERATIONS_WITH_DERIVED, Operation
from gateway.rest.pages import ErrorEnvelope, ItemPage, MemoryItem, Page
from gateway.service.errors import ErrorCode
from gateway.views.derived import DerivedContentView, DerivedView
from gateway.views.memories import MemoryView
from store.domain.vocabulary import MemoryStatus, Sensitivity

Document = dict[str, Any]  # Any: JSON


@pytest.fixture
def document() -> Document:
    return openapi_document(memory=True, version="1.2.3")


@pytest.fixture
def document_with_derived() -> Document:
    return openapi_document(memory=True, derived=True, version="1.2.3")


def described(document: Document, operation: Operation) -> Document:
    found: Document = document["paths"][operation.path][operation.method.lower()]
    return found


def examples(node: object) -> list[object]:
    """The values of all examples of media types beneath a node."""
    if isinstance(node, dict):
        own = (
            [example["value"] for example in node["examples"].values()]
            if isinstance(node.get("examples"), dict)
            else []
        )
        return own + [value for child in node.values() for value in examples(child)]
    return [value for child in node for value in examples(child)] if isinstance(node, list) else []


@pytest.mark.parametrize(("memory", "derived"), [(True, True), (True, False), (False, False), (False, True)])
def test_the_document_is_valid_and_plain_json(memory: bool, derived: bool) -> None:
    document = openapi_document(memory=memory, derived=derived, version="1.2.3")

    OpenAPIV31SpecValidator(document).validate()
    assert "1.2.3" == document["info"]["version"]
    assert document == json.loads(json.dumps(document))


@pytest.mark.parametrize("derived", [True, False])
def test_nothing_of_the_memory_surface_appears_without_it(derived: bool) -> None:
    document = openapi_document(memory=False, derived=derived, version="1.2.3")

    assert {"/livez", "/readyz", "/openapi.json"} == set(document["paths"])
    assert "memor" not in json.dumps(document["paths"]).lower()
    assert {"ErrorCode", "Error", "ErrorEnvelope", "Health"} == set(document["components"]["schemas"])


def test_nothing_of_derived_records_appears_without_them(document: Document) -> None:
    assert not [name for name in document["components"]["schemas"] if "Derived" in name or "Item" in name]
    assert "oneOf" not in json.dumps(document)


def test_with_derived_records_whatever_shows_a_belief_may_show_one_of_them(document_with_derived: Document) -> None:
    schemas = document_with_derived["components"]["schemas"]
    both = [{"$ref": f"#/components/schemas/{name}"} for name in ("MemoryView", "DerivedView")]
    assert both == schemas["MemoryItem"]["oneOf"] == schemas["ItemPage"]["properties"]["items"]["items"]["oneOf"]
    shown = {
        operation["operationId"]: operation["responses"]["200"]["content"]["application/json"]["schema"]["$ref"]
        for path in document_with_derived["paths"].values()
        for operation in path.values()
        if "memories" in operation["tags"] and "200" in operation["responses"]
    }
    item = "#/components/schemas/MemoryItem"
    assert {"browseMemories": "#/components/schemas/ItemPage", "readMemory": item, "reviewMemory": item} == shown
    views: dict[str, type[BaseModel]] = {"DerivedView": DerivedView, "DerivedContentView": DerivedContentView}
    for name, view in views.items():
        assert set(view.model_fields) == set(schemas[name]["properties"]) == set(schemas[name]["required"])
        assert not schemas[name]["additionalProperties"]
    [derived] = [
        parameter["schema"]
        for parameter in document_with_derived["paths"]["/v1/memories"]["get"]["parameters"]
        if parameter["name"] == "include_derived"
    ]
    assert {"type": "boolean", "default": False} == derived


def test_with_derived_records_nothing_else_changes(document: Document, document_with_derived: Document) -> None:
    assert list(document["paths"]) == list(document_with_derived["paths"])
    for kept in document["components"]["schemas"].keys() - {"Page_MemoryView_"}:
        assert document["components"]["schemas"][kept] == document_with_derived["components"]["schemas"][kept]
    for plain, other in zip(MEMORY_OPERATIONS, MEMORY_OPERATIONS_WITH_DERIVED, strict=True):
        assert (plain.id, plain.method, plain.path, plain.scope) == (other.id, other.method, other.path, other.scope)
        assert [each.name for each in plain.parameters] == [each.name for each in other.parameters]


@pytest.mark.parametrize("operation", MEMORY_OPERATIONS, ids=lambda operation: operation.id)
def test_an_operation_documents_its_scope_its_parameters_and_its_failures(
    document: Document, operation: Operation
) -> None:
    documented = described(document, operation)
    places = {(parameter["in"], parameter["name"]): parameter for parameter in documented["parameters"]}

    assert [{"bearer": [operation.scope.value]}] == documented["security"]
    assert {parameter.name for parameter in operation.parameters} == {name for at, name in places if at == "query"}
    assert (("header", "Idempotency-Key") in places) == operation.is_write
    assert places["query", "ceiling"]["required"]
    assert [sensitivity.value for sensitivity in Sensitivity] == places["query", "ceiling"]["schema"]["enum"]
    assert all(parameter["description"] for parameter in documented["parameters"])
    assert {"400", "401", "403", "500", "503"} <= set(documented["responses"])
    assert ("409" in documented["responses"]) == operation.is_write


def test_every_operation_documents_what_the_server_refuses_before_it(document: Document) -> None:
    for path in document["paths"].values():
        for operation in path.values():
            assert {"408", "431"} <= set(operation["responses"])


def test_only_what_is_taken_of_a_parameter_is_documented(document: Document) -> None:
    parameters = document["paths"]["/v1/memories"]["get"]["parameters"]
    [derived] = [each["schema"] for each in parameters if each["name"] == "include_derived"]
    assert derived["const"] is False


def test_a_repeatable_parameter_is_a_list(document: Document) -> None:
    [browse] = [operation for operation in MEMORY_OPERATIONS if operation.id == "browseMemories"]
    [status] = [each for each in described(document, browse)["parameters"] if each["name"] == "status"]

    assert [status_.value for status_ in MemoryStatus] == status["schema"]["items"]["enum"]
    assert status["explode"]


def test_the_schema_of_a_belief_is_the_view(document: Document) -> None:
    schema = document["components"]["schemas"]["MemoryView"]

    assert set(MemoryView.model_fields) == set(schema["properties"])
    assert set(MemoryView.model_fields) == set(schema["required"])
    assert not schema["additionalProperties"]
    assert all("description" in field or "$ref" in field for field in schema["properties"].values())


@pytest.mark.parametrize("name", ["document", "document_with_derived"])
def test_every_response_shows_an_example_of_its_kind(request: pytest.FixtureRequest, name: str) -> None:
    document: Document = request.getfixturevalue(name)
    MemoryView.model_validate(MEMORY)
    DerivedView.model_validate(DERIVED)
    Page[MemoryView].model_validate(PAGE)
    for items in (PAGE, ITEM_PAGE):
        assert items == json.loads(ItemPage.model_validate(items).model_dump_json())
    assert isinstance(MemoryItem.model_validate(DERIVED).root, DerivedView)
    for path in document["paths"].values():
        for operation in path.values():
            for status, response in operation["responses"].items():
                shown = examples(response)
                assert shown or status == "204" or operation["operationId"] == "openapi"
                # The status of a head that is too large is known before any code: it has none of its own.
                if int(status) >= 400 and status != "431":
                    assert [int(status)] == [
                        STATUSES[ErrorCode(ErrorEnvelope.model_validate(example).error.code)] for example in shown
                    ]
