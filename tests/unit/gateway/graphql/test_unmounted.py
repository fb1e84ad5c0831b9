"""Whether a document asks for a surface that is off, however it is written, and what is told of it."""

import pytest
from graphql import parse

from gateway.graphql.documents import Documents, TrustedDocuments, UnmountedManifest, hash_of
from gateway.graphql.errors import DocumentError, SurfaceOff
from gateway.graphql.schema import build_schema, root_fields
from gateway.graphql.unmounted import UnmountedFields
from gateway.http.exchanges import DERIVED_SURFACE, MEMORY_SURFACE

SERVED = build_schema(memory=False)._schema
FIELDS = {surface: root_fields(surface) for surface in (MEMORY_SURFACE, DERIVED_SURFACE)}
UNMOUNTED = UnmountedFields(FIELDS)
PAGE = "memories(ceiling: PUBLIC) { nodes { id } }"


@pytest.mark.parametrize(
    "text",
    [
        f"{{ {PAGE} }}",
        "{ anything: memory(id: 1, ceiling: PUBLIC) { id } }",
        "{ memoryOverview { total } }",
        'mutation { deleteMemory(input: {id: "1"}) { deletedId } }',
        "mutation { reviewMemory { memory { id } } }",
        f"{{ ... {{ ... on Query {{ {PAGE} }} }} }}",
        f"{{ ...a }} fragment a on Query {{ ...b ...a }} fragment b on Query {{ {PAGE} }}",
        f"query One {{ viewer {{ tenant }} }} query Two {{ {PAGE} }}",
    ],
)
def test_a_document_that_asks_for_the_surface_is_recognised(text: str) -> None:
    assert MEMORY_SURFACE == UNMOUNTED.surface_of(parse(text))


@pytest.mark.parametrize(
    "text",
    [
        "{ memoryItems(ceiling: PUBLIC) { nodes { id } } }",
        "{ it: derivedMemory(id: 1, ceiling: PUBLIC) { id } }",
        "{ viewer { scopes } ...a } fragment a on Query { memoryItems }",
    ],
)
def test_a_surface_is_told_from_another(text: str) -> None:
    assert DERIVED_SURFACE == UNMOUNTED.surface_of(parse(text))
    assert UnmountedFields({MEMORY_SURFACE: FIELDS[MEMORY_SURFACE]}).surface_of(parse(text)) is None


@pytest.mark.parametrize(
    "text",
    [
        "{ viewer { tenant } }",
        "{ nothing }",
        "{ memories: viewer { tenant } }",
        "{ viewer { memories } }",
        "{ ...missing ...a } fragment a on Query { ...a viewer { tenant } }",
        "mutation { memories }",
        "subscription { memories }",
        f"fragment unused on Query {{ {PAGE} }}",
    ],
)
def test_any_other_document_is_not(text: str) -> None:
    assert UNMOUNTED.surface_of(parse(text)) is None


@pytest.mark.parametrize("introspection", [True, False])
@pytest.mark.parametrize(
    ("page", "surface"), [(PAGE, MEMORY_SURFACE), (PAGE.replace("memories", "memoryItems"), DERIVED_SURFACE)]
)
def test_the_caller_is_told_what_is_told_of_any_field_that_is_not_known(
    introspection: bool, page: str, surface: str
) -> None:
    plain = Documents(SERVED, introspection=introspection)
    documents = Documents(SERVED, introspection=introspection, unmounted=UNMOUNTED)
    with pytest.raises(DocumentError) as expected:
        plain.find(query=f"{{ {page} }}", identifier=None)
    with pytest.raises(SurfaceOff) as refusal:
        documents.find(query=f"{{ {page} }}", identifier=None)
    assert surface == refusal.value.surface
    assert (expected.value.message, expected.value.label) == (refusal.value.message, refusal.value.label)
    assert expected.value.locations == refusal.value.locations
    with pytest.raises(DocumentError) as other:
        documents.find(query="{ nothing }", identifier=None)
    assert not isinstance(other.value, SurfaceOff)


def test_a_trusted_document_for_it_is_named() -> None:
    text = f"{{ {PAGE} }}"
    with pytest.raises(UnmountedManifest) as refusal:
        Documents(SERVED, TrustedDocuments({hash_of(text): text}), unmounted=UNMOUNTED)
    assert (hash_of(text), MEMORY_SURFACE) == (refusal.value.document, refusal.value.surface)
