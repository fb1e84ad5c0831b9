"""Access tokens: made, listed, revoked."""

from collections.abc import Sequence
from typing import Annotated
from uuid import UUID

import typer

from gateway.cli.answers import CommandFailed, ExitCode, note, show_json
from gateway.cli.options import (
    AsJson,
    DatabaseUrl,
    DataDirectory,
    OfPrincipal,
    OfTenant,
    PrincipalName,
    Tenant,
    moment,
    owner_meant,
    owner_of,
    with_services,
)
from gateway.cli.terminal import show_table
from gateway.compose import Services
from gateway.service.identifiers import parse_identifier
from store.domain.encodings import wire_time
from store.domain.tokens import AccessToken
from store.domain.vocabulary import AccessScope

commands = typer.Typer(no_args_is_help=True, help="Access tokens of principals.")

Scopes = Annotated[
    list[str],
    typer.Option("--scope", help=f"A permission; repeatable. {', '.join(scope.value for scope in AccessScope)}"),
]
ExpiresAt = Annotated[
    str | None, typer.Option("--expires-at", help="When it ends, such as 2027-01-31T08:00:00Z. Default: never.")
]


@commands.command("create")
def create_token(
    tenant: Tenant,
    principal: PrincipalName,
    scope: Scopes,
    *,
    label: Annotated[str, typer.Option("--label", help="What it is for.")] = "operator",
    expires_at: ExpiresAt = None,
    as_json: AsJson = False,
    data_dir: DataDirectory = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Make a token. Its secret is shown this once; only a hash of it is stored."""
    expiry = None if expires_at is None else moment("--expires-at", expires_at)

    async def work(services: Services) -> tuple[AccessToken, str]:
        owner = owner_of(tenant, principal)
        token, secret = await services.tokens.create(owner, scopes=scope, label=label, expires_at=expiry)
        # Not before, for its id; a token whose entry fails opens nothing, since nobody was shown its secret.
        await services.operators.note("token_create", owner, token=str(token.id))
        return token, secret

    token, secret = with_services(work, data_dir=data_dir, database_url=database_url)
    if as_json:
        show_json(_wire(token) | {"token": secret})
    else:
        print(secret)
        note(f"Token {token.id} of {token.owner.tenant}/{token.owner.principal}. It is not shown again.")


@commands.command("list")
def list_tokens(
    *,
    tenant: OfTenant = None,
    principal: OfPrincipal = None,
    as_json: AsJson = False,
    data_dir: DataDirectory = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Show every token, those that ended too, never a secret."""

    async def work(services: Services) -> Sequence[AccessToken]:
        await services.operators.note("token_list", owner_meant(tenant, principal))
        return await services.tokens.list(tenant=tenant, principal=principal)

    tokens = with_services(work, data_dir=data_dir, database_url=database_url)
    entries = [_wire(token) for token in tokens]
    if as_json:
        show_json(entries)
    elif entries:
        show_table(list(entries[0]), [list(entry.values()) for entry in entries])


@commands.command("revoke")
def revoke_token(
    id: Annotated[str, typer.Argument(metavar="ID", help="The token's identifier, as `token list` shows it.")],
    *,
    data_dir: DataDirectory = None,
    database_url: DatabaseUrl = None,
) -> None:
    """End a token. Running gateways take it for at most a second more."""
    identifier = parse_identifier(id)

    async def work(services: Services, token: UUID) -> bool:
        owners = [each.owner for each in await services.tokens.list() if each.id == token]
        await services.operators.note("token_revoke", *owners, token=str(token))
        return await services.tokens.revoke(token)

    revoked = identifier is not None and with_services(
        lambda services: work(services, identifier), data_dir=data_dir, database_url=database_url
    )
    if not revoked:
        raise CommandFailed("there is no token of that id, or it was revoked before", ExitCode.NOT_FOUND)
    print(f"Revoked {identifier}.")


def _wire(token: AccessToken) -> dict[str, object]:
    return {
        "id": str(token.id),
        "tenant": token.owner.tenant,
        "principal": token.owner.principal,
        "scopes": sorted(scope.value for scope in token.scopes),
        "label": token.label,
        "created_at": wire_time(token.created_at),
        "expires_at": token.expires_at and wire_time(token.expires_at),
        "revoked_at": token.revoked_at and wire_time(token.revoked_at),
        "last_used_at": token.last_used_at and wire_time(token.last_used_at),
    }
