"""The demo as it is presented: its tokens in `demo.json`, and lines that can be pasted into a terminal."""

import json
import os
import shlex
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any
from uuid import UUID

from gateway.cli.terminal import progress
from gateway.compose import Services
from gateway.service.demonstration import DEMO_OWNERS, FULL_SCOPES, READ_SCOPES
from store.domain.owners import Owner
from store.domain.vocabulary import AccessScope, Sensitivity

CEILING = Sensitivity.INTERNAL
_FILE = "demo.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoPrincipal:
    """One principal of the demo with its two tokens."""

    owner: Owner
    token: str
    read_only_token: str


async def prepare_demo(services: Services, url: str) -> list[str]:
    """Load the demo if it was not loaded yet, see to its tokens, write `demo.json`; the lines to print."""
    content = files("gateway").joinpath("demo", "beliefs.jsonl").read_bytes()
    with progress("Loading the demo", len(content)) as advance:
        await services.demonstration.load(content, progress=advance)
    path = services.settings.data_dir / _FILE
    former = _read(path)
    principals = [
        DemoPrincipal(
            owner=owner,
            token=await _token(services, owner, FULL_SCOPES, former.get((owner, "token"))),
            read_only_token=await _token(services, owner, READ_SCOPES, former.get((owner, "read_only_token"))),
        )
        for owner in DEMO_OWNERS
    ]
    _write(path, url, principals)
    flagged = await services.demonstration.find_flagged(principals[0].owner, CEILING)
    return [
        *(_sign_in_lines(url, principals[0]) if services.settings.browser_enabled else ()),
        *_token_lines(principals, path),
        *(_curl_lines(url, principals[0], flagged) if services.settings.api_enabled else _switched_off()),
    ]


async def _token(services: Services, owner: Owner, scopes: frozenset[AccessScope], former: str | None) -> str:
    """The former token while it is valid, else a new one."""
    if former is not None and await services.demonstration.opens(former, owner, scopes):
        return former
    return await services.demonstration.mint(owner, scopes)


def _read(path: Path) -> Mapping[tuple[Owner, str], str]:
    """The tokens of an earlier start, by owner and name; none from a file that is missing or damaged."""
    try:
        principals = json.loads(path.read_bytes())["principals"]
        return {
            (Owner(tenant=entry["tenant"], principal=entry["principal"]), name): str(entry[name])
            for entry in principals
            for name in ("token", "read_only_token")
            if name in entry
        }
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def _write(path: Path, url: str, principals: Sequence[DemoPrincipal]) -> None:
    """Write the file whole or not at all, readable by its owner alone."""
    content: dict[str, Any] = {  # Any: JSON
        "url": url,
        "principals": [
            {
                "tenant": principal.owner.tenant,
                "principal": principal.owner.principal,
                "token": principal.token,
                "read_only_token": principal.read_only_token,
            }
            for principal in principals
        ],
    }
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with os.fdopen(descriptor, "w") as stream:
            json.dump(content, stream, indent=2)
            stream.write("\n")
        Path(temporary).replace(path)
    finally:
        Path(temporary).unlink(missing_ok=True)


def _sign_in_lines(url: str, principal: DemoPrincipal) -> list[str]:
    """How a person begins; the token stands alone in its line, to be taken with three clicks."""
    name = f"{principal.owner.tenant}/{principal.owner.principal}"
    return ["", f"Open {url}/ in a browser, and sign in with this token of {name}:", "", principal.token, ""]


def _token_lines(principals: Sequence[DemoPrincipal], path: Path) -> list[str]:
    lines = [f"Tokens (also in {path}):"]
    for principal in principals:
        name = f"{principal.owner.tenant}/{principal.owner.principal}"
        lines += [f"  {name:<18} {principal.token}", f"  {'  read only':<18} {principal.read_only_token}"]
    return lines


def _switched_off() -> list[str]:
    return ["", "AGENT_MEMORY_API_ENABLED turns the memory surface off: nothing of it can be asked."]


def _curl_lines(url: str, principal: DemoPrincipal, flagged: UUID | None) -> list[str]:
    """A query in GraphQL, the same in REST, and a write: dismissing what waits for review, else a page of it."""
    authorization = f"Authorization: Bearer {principal.token}"
    query = (
        f"{{ memories(ceiling: {CEILING.name}, first: 3) "
        "{ nodes { id subject statement } pageInfo { hasNextPage endCursor } } }"
    )
    json_type = "Content-Type: application/json"
    lines = [
        "",
        "Try, in another terminal:",
        "",
        _curl("-H", authorization, "-H", json_type, "-d", json.dumps({"query": query}), f"{url}/graphql"),
        "",
        _curl("-H", authorization, f"{url}/v1/memories?ceiling={CEILING.value}&limit=3"),
        "",
    ]
    if flagged is None:
        lines.append(_curl("-H", authorization, f"{url}/v1/memories?ceiling={CEILING.value}&flagged=true"))
    else:
        lines.append(
            _curl(
                *("-H", authorization, "-H", json_type, "-H", f"Idempotency-Key: demo-{flagged}"),
                *("-d", json.dumps({"outcome": "dismiss"})),
                f"{url}/v1/memories/{flagged}/review?ceiling={CEILING.value}",
            )
        )
    return lines


def _curl(*arguments: str) -> str:
    return shlex.join(["curl", "-s", *arguments])
