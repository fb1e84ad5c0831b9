"""The real program serves the demo: its printed lines work, a restart finds the data, a signal stops everything."""

import json
import shlex
import signal

import httpx
import pytest

from gateway.service.demonstration import DEMO_OWNERS
from tests.e2e.processes import Place, Server

pytestmark = [pytest.mark.e2e, pytest.mark.postgres]

CEILING = {"ceiling": "internal"}


async def run_curl_lines(server: Server) -> list[httpx.Response]:
    """Send what the printed curl lines send."""
    lines = [line for line in server.output.splitlines() if line.startswith("curl ")]
    async with server.client() as client:
        return [await client.send(request_of(line)) for line in lines]


def request_of(line: str) -> httpx.Request:
    words = iter(shlex.split(line)[2:])
    headers, body, url = {}, None, ""
    for word in words:
        if word == "-H":
            name, _, value = next(words).partition(": ")
            headers[name] = value
        elif word == "-d":
            body = next(words)
        else:
            url = word
    return httpx.Request("GET" if body is None else "POST", url, headers=headers, content=body)


async def first_page(server: Server, token: str) -> httpx.Response:
    async with server.client(token) as client:
        return await client.get("/v1/memories", params=CEILING)


async def test_the_printed_lines_work_and_a_restart_finds_everything_as_it_was(fresh: Place) -> None:
    async with fresh.serving(log_level="debug") as server:
        health = [(await server.ask("GET", path)).status_code for path in ("/livez", "/readyz")]
        graphql, rest, review = await run_curl_lines(server)
        before = await first_page(server, fresh.token(DEMO_OWNERS[0]))
        tokens = fresh.data.joinpath("demo.json").read_text().partition("principals")[2]
        second = await fresh.run("serve", "--port", server.url.rpartition(":")[2], expect=1)
        metrics = await server.metrics()

    assert [200, 200] == health
    nodes = graphql.json()["data"]["memories"]["nodes"]
    assert 3 == len(nodes)
    assert [node["id"] for node in nodes] == [item["id"] for item in rest.json()["items"]]
    assert (200, False) == (review.status_code, review.json()["flagged_for_review"])
    assert "already listens" in second.log
    assert 'belief_gateway_operations_total{ceiling="internal",operation="review",outcome="ok"} 1.0' in metrics
    assert not fresh.postgres.joinpath("data", "postmaster.pid").exists()
    statements = [item["statement"] for item in before.json()["items"]]
    written = server.log + fresh.postgres_log()
    assert [] == [statement for statement in statements if statement in written]
    assert review.json()["id"] not in written

    async with fresh.serving() as server:
        after = await first_page(server, fresh.token(DEMO_OWNERS[0]))
    assert before.content == after.content
    assert tokens == fresh.data.joinpath("demo.json").read_text().partition("principals")[2]
    assert 0o600 == fresh.data.joinpath("demo.json").stat().st_mode & 0o777


async def test_a_token_that_is_missing_or_ended_is_minted_anew(place: Place) -> None:
    async with place.serving():
        path = place.data / "demo.json"
        demo = json.loads(path.read_bytes())
    listed = (await place.run("token", "list", "--tenant", "northwind", "--json")).answer
    ended = next(token["id"] for token in listed if "memory.write" in token["scopes"])
    await place.run("token", "revoke", ended)
    former = [dict(principal) for principal in demo["principals"]]
    del demo["principals"][0]["read_only_token"]
    path.write_text(json.dumps(demo))

    async with place.serving():
        principals = json.loads(path.read_bytes())["principals"]

    changed = [
        (principal["principal"], name)
        for principal, old in zip(principals, former, strict=True)
        for name in ("token", "read_only_token")
        if principal[name] != old[name]
    ]
    assert [("mara", "read_only_token"), ("tomas", "token")] == changed


async def test_ctrl_c_stops_the_database_too_and_a_second_one_is_harmless(place: Place) -> None:
    async with place.started(log_format="json", api_enabled="false") as server:
        off = await server.ask("GET", "/v1/memories?ceiling=public")
        server.process.send_signal(signal.SIGINT)
        server.process.send_signal(signal.SIGINT)
        await server.stop()

    assert 404 == off.status_code
    assert not place.postgres.joinpath("data", "postmaster.pid").exists()
    lines = [json.loads(line) for line in server.log.splitlines()]
    exchanges = [line["route"] for line in lines if line["event"] == "exchange"]
    assert ["/readyz", "none"] == exchanges
    assert "stopping" == lines[-1]["event"]
