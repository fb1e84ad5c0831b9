"""A manifest of trusted documents that can't be taken keeps the program from serving."""

import json
from collections.abc import AsyncIterator

import pytest

from gateway.graphql.documents import hash_of
from tests.e2e.processes import Place, new_place

pytestmark = [pytest.mark.e2e, pytest.mark.postgres]


@pytest.fixture
async def place() -> AsyncIterator[Place]:
    async with new_place() as place:
        yield place


async def test_a_manifest_that_can_not_be_taken_keeps_the_program_from_serving(place: Place) -> None:
    manifest = place.directory / "manifest.json"
    serve = ("serve", "--port", "0", "--metrics-port", "0", "--documents", manifest)
    absent = await place.run(*serve, expect=1)
    manifest.write_text(json.dumps({hash_of("{ nothing }"): "{ nothing }"}))
    refused = await place.run(*serve, expect=1)
    manifest.write_text(json.dumps({hash_of("{ nothing }"): "{ viewer { scopes } }"}))
    forged = await place.run(*serve, expect=1)
    assert f"The manifest {manifest} can't be read: No such file or directory." in absent.log
    assert f"In {manifest}, the document {hash_of('{ nothing }')} can't be executed: Cannot query field" in refused.log
    assert f"In {manifest}, the document {hash_of('{ nothing }')} must be a text of this hash." in forged.log
