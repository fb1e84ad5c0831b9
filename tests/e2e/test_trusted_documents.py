"""A manifest of trusted documents that can't be taken keeps the program from serving."""

import json

import pytest

from gateway.graphql.documents import hash_of
from tests.e2e.processes import Place

pytestmark = [pytest.mark.e2e, pytest.mark.postgres]


async def test_a_manifest_that_can_not_be_taken_keeps_the_program_from_serving(fresh: Place) -> None:
    manifest = fresh.directory / "manifest.json"
    serve = ("serve", "--port", "0", "--metrics-port", "0", "--documents", manifest)
    absent = await fresh.run(*serve, expect=1)
    manifest.write_text(json.dumps({hash_of("{ nothing }"): "{ nothing }"}))
    refused = await fresh.run(*serve, expect=1)
    manifest.write_text(json.dumps({hash_of("{ nothing }"): "{ viewer { scopes } }"}))
    forged = await fresh.run(*serve, expect=1)
    beliefs = "{ memories(ceiling: PUBLIC) { nodes { id } } }"
    manifest.write_text(json.dumps({hash_of(beliefs): beliefs}))
    switched_off = await fresh.run(*serve, expect=1, api_enabled="false")
    assert (
        f"The manifest {manifest} (AGENT_MEMORY_DOCUMENTS, --documents) holds documents for the memory "
        f"surface, which is off, such as {hash_of(beliefs)}: set AGENT_MEMORY_API_ENABLED to true, or leave them out."
    ) in switched_off.log
    assert f"The manifest {manifest} can't be read: No such file or directory." in absent.log
    assert f"In {manifest}, the document {hash_of('{ nothing }')} can't be executed: Cannot query field" in refused.log
    assert f"In {manifest}, the document {hash_of('{ nothing }')} must be a text of this hash." in forged.log
