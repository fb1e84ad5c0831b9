"""What an administrator reads of a company: its workspaces and the evidence in one; journaled, and nothing beyond."""

from dataclasses import replace
from uuid import UUID

import pytest

from gateway.service.company import CompanyGraph, CompanyService, WorkspacePage
from gateway.service.errors import AuthorizationError, ErrorCode, MalformedRequest, RecordNotFound
from gateway.service.evidence import EvidenceQuery, EvidenceService
from gateway.service.principal import Principal
from store.domain.journal import NO_SESSION, Event
from store.domain.keyring import Keyring
from store.domain.owners import Owner
from store.domain.vocabulary import AccessScope, EventKind, Sensitivity
from store.inmemory.store import InMemoryStore
from tests.factories import NOW, candidate, identifier, keyring, memory, owner
from tests.services.deployment import ADA, Deployment
from tests.services.evidence import keep_world, layered, statuses
from tests.services.test_transfer import exported, take, written

ADMIN = Principal(owner=owner("warden"), scopes=frozenset({AccessScope.MEMORY_ADMIN}))
BO, MOLE = owner("bo"), owner("mole", tenant="inland")
FIVE = identifier(5)


def company(deployment: Deployment, ring: Keyring | None = None) -> CompanyService:
    environment = deployment.environment if ring is None else replace(deployment.environment, keyring=ring)
    return CompanyService(deployment.store, environment, EvidenceService(deployment.store, environment))


async def directory(
    deployment: Deployment, *, admin: Principal = ADMIN, limit: int | None = None, cursor: str | None = None
) -> WorkspacePage:
    return await company(deployment).workspaces(admin, limit=limit, cursor=cursor)


async def workspace_of(deployment: Deployment, of: Owner, *, admin: Principal = ADMIN) -> str:
    """The id of a principal's workspace."""
    page = await directory(deployment, admin=admin)
    [id] = [each.workspace_id for each in page.workspaces if each.scope.agent_id == of.principal]
    return id


async def graph(
    deployment: Deployment, workspace_id: str, *roots: UUID, admin: Principal = ADMIN, ring: Keyring | None = None
) -> CompanyGraph:
    query = EvidenceQuery(ceiling=Sensitivity.RESTRICTED, root_ids=roots or (FIVE,))
    return await company(deployment, ring).graph(admin, workspace_id, query)


async def acts(deployment: Deployment, of: Owner) -> list[Event]:
    """What administrators did, as the owner's journal has it."""
    return [event for event in await deployment.events(of=of) if event.kind is EventKind.OPERATOR_ACCESS]


@pytest.fixture
async def peopled(deployment: Deployment) -> Deployment:
    """Two principals of one company, and one of another, each with the same records."""
    for each in (ADA, BO, MOLE):
        await keep_world(deployment.store, *layered(), owner=each)
    return deployment


async def test_the_directory_holds_the_principals_of_the_company_and_no_others(peopled: Deployment) -> None:
    page = await directory(peopled)

    # Whoever asks has been written down by now.
    assert ["ada", "bo", "warden"] == [each.scope.agent_id for each in page.workspaces]
    assert page.next_cursor is None
    told = " ".join([page.company_id, *(each.model_dump_json() for each in page.workspaces)])
    assert not [name for name in ("harbour", "inland", "mole") if name in told]
    ids = {page.company_id, *(each.workspace_id for each in page.workspaces)}
    assert 4 == len(ids)
    assert all(len(id) == 64 and int(id, 16) for id in ids)
    elsewhere = await directory(peopled, admin=replace(ADMIN, owner=owner("warden", tenant="inland")))
    assert ids.isdisjoint({elsewhere.company_id, *(each.workspace_id for each in elsewhere.workspaces)})


async def test_the_directory_is_walked_page_by_page(deployment: Deployment) -> None:
    names = sorted([f"{number:03}" for number in range(107)])
    for name in names:
        await keep_world(deployment.store, memory(), owner=owner(name))
    walked: list[str | None] = []
    sizes: list[int] = []
    cursor = None
    while True:
        page = await directory(deployment, cursor=cursor, limit=None if cursor is None else 1_000)
        walked += [each.scope.agent_id for each in page.workspaces]
        sizes.append(len(page.workspaces))
        cursor = page.next_cursor
        if cursor is None:
            break

    assert sorted([*names, "warden"]) == walked
    assert [50, 58] == sizes


async def test_a_cursor_carries_the_longest_names(deployment: Deployment) -> None:
    names = sorted(["\x1f" * 256, 'quo"te', "é" * 256, "🛶" * 256, "\U0010ffff" * 256])
    for name in names:
        await keep_world(deployment.store, memory(), owner=owner(name))
    walked: list[str | None] = []
    cursor = None
    while True:
        page = await directory(deployment, limit=1, cursor=cursor)
        walked += [each.scope.agent_id for each in page.workspaces]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert sorted([*names, "warden"]) == walked


@pytest.mark.parametrize(
    "cursor", ["", "x", "e30", "eyJhIjoxfQ", "eyJhIjoieCJ9=", "eyJhIjogIngifQ", "W10", "W" * 5_000]
)
async def test_any_other_cursor_is_refused(deployment: Deployment, cursor: str) -> None:
    with pytest.raises(MalformedRequest, match=r"^after is not a cursor of this server"):
        await directory(deployment, cursor=cursor)


async def test_the_graph_of_a_workspace_is_the_one_that_its_principal_reads(peopled: Deployment) -> None:
    id = await workspace_of(peopled, BO)
    found = await graph(peopled, id)
    own = await EvidenceService(peopled.store, peopled.environment).graph(
        Principal(owner=BO, scopes=frozenset({AccessScope.MEMORY_READ})),
        EvidenceQuery(ceiling=Sensitivity.RESTRICTED, root_ids=(FIVE,)),
    )

    assert (own, id, "bo") == (found.graph, found.workspace.workspace_id, found.workspace.scope.agent_id)
    assert ["unavailable"] == statuses((await graph(peopled, id, identifier(99))).graph)


async def test_a_missing_workspace_and_one_of_another_company_are_not_told_apart(peopled: Deployment) -> None:
    foreign = await workspace_of(peopled, MOLE, admin=replace(ADMIN, owner=owner("warden", tenant="inland")))
    messages = set()
    for id in (foreign, "0" * 64, "", "x" * 10_000, (await directory(peopled)).company_id):
        with pytest.raises(RecordNotFound) as failure:
            await graph(peopled, id)
        messages.add((failure.value.code, failure.value.message, failure.value.detail))
    assert {(ErrorCode.RECORD_NOT_FOUND, "no such workspace", "")} == messages


async def test_a_workspace_is_found_under_the_key_that_it_was_told_under(peopled: Deployment) -> None:
    id = await workspace_of(peopled, ADA)
    rotated = keyring(bytes(range(1, 33)), bytes(range(32)))

    found = await graph(peopled, id, ring=rotated)
    assert found.workspace.workspace_id != id
    assert ["included"] == statuses((await graph(peopled, found.workspace.workspace_id, ring=rotated)).graph)
    with pytest.raises(RecordNotFound):
        await graph(peopled, id, ring=keyring(bytes(range(1, 33))))


async def test_each_use_is_journaled_where_it_belongs(peopled: Deployment) -> None:
    id = await workspace_of(peopled, ADA)
    await graph(peopled, id)
    with pytest.raises(RecordNotFound):
        await graph(peopled, "0" * 64)

    [seen] = await acts(peopled, ADA)
    # Who asks is told as the directory tells it: a payload holds no name.
    by = await workspace_of(peopled, ADMIN.owner)
    assert {"action": "company_graph", "by": by, "found": True} == seen.payload
    assert (NO_SESSION, None, NOW) == (seen.session_id, seen.memory_id, seen.occurred_at)
    assert [
        {"action": "company_workspaces", "by": by},
        {"action": "company_graph", "by": by, "found": False},
    ] == [event.payload for event in await acts(peopled, ADMIN.owner)][:2]
    assert [] == await acts(peopled, BO)


async def test_the_journal_names_nobody_and_is_taken_in_again(deployment: Deployment) -> None:
    """Whoever reads it learns that two acts are of one administrator, and not of whom, whatever the name holds."""
    id = await deployment.formed(candidate())
    bosses = [replace(ADMIN, owner=owner(name)) for name in ("Boss@example.com", "boss")]
    for admin in bosses * 2:
        await graph(deployment, await workspace_of(deployment, ADA, admin=admin), id, admin=admin)

    by = [event.payload["by"] for event in await acts(deployment, ADA)]
    assert (2, by[:2]) == (len(set(by)), by[2:])
    assert all(isinstance(word, str) and "boss" not in word.lower() for word in by)
    other = await Deployment(InMemoryStore()).prepare()
    report = await take(other, written(*await exported(deployment)))
    assert (0, []) == (report.refused, report.errors)
    for of in (ADA, *(admin.owner for admin in bosses)):
        assert await acts(deployment, of) == await acts(other, of)


async def test_whoever_may_only_read_is_no_administrator(peopled: Deployment) -> None:
    scopes = frozenset(AccessScope) - {AccessScope.MEMORY_ADMIN}
    reader = Principal(owner=ADA, scopes=scopes)
    with pytest.raises(AuthorizationError, match=r"memory\.admin"):
        await directory(peopled, admin=reader)
    with pytest.raises(AuthorizationError, match=r"memory\.admin"):
        await graph(peopled, "0" * 64, admin=reader)
    assert [] == await acts(peopled, ADA)
