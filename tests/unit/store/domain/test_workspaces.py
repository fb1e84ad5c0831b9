"""What companies and workspaces are called: apart from each other, from other keys, from hashes of statements."""

from store.domain.workspaces import company_id, workspace_id
from tests.factories import keyring, owner

KEY = keyring().current
OTHER = keyring(bytes(32)).current


def test_every_name_is_its_own() -> None:
    names = [
        company_id(KEY, "harbour"),
        company_id(KEY, "harbou"),
        company_id(OTHER, "harbour"),
        workspace_id(KEY, owner()),
        workspace_id(KEY, owner("bo")),
        workspace_id(KEY, owner("rada", tenant="harbou")),
        workspace_id(KEY, owner("", tenant="harbour")),
        workspace_id(OTHER, owner()),
    ]
    assert len(names) == len(set(names))
    assert all(len(name) == 64 and bytes.fromhex(name) for name in names)


def test_a_name_is_the_same_every_time() -> None:
    assert workspace_id(KEY, owner()) == workspace_id(KEY, owner())
    assert company_id(KEY, "harbour") == company_id(KEY, "harbour")


def test_no_statement_hashes_to_a_name() -> None:
    for parts in (("company", "harbour", "ada"), ("harbour", "ada", ""), ("", "harbour", "ada")):
        tenant, principal, statement = parts
        hashed = keyring().statement_hash(owner(principal, tenant=tenant), statement).hex()
        assert hashed not in {workspace_id(KEY, owner()), company_id(KEY, "harbour")}
