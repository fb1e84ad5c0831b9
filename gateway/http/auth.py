"""Bearer credentials: who is asking, or 401."""

from starlette.requests import Request

from gateway.service.errors import AuthenticationError
from gateway.service.principal import Principal
from gateway.service.tokens import TokenService


async def authenticate(request: Request, tokens: TokenService) -> Principal:
    """The principal of the request's one bearer token.

    Raises AuthenticationError for none, several, another scheme, or one that does not resolve, alike;
    StoreUnavailable where the store can't be asked.
    """
    headers = request.headers.getlist("authorization")
    if len(headers) != 1:
        raise AuthenticationError
    scheme, _, secret = headers[0].partition(" ")
    if scheme.lower() != "bearer":
        raise AuthenticationError
    principal = await tokens.resolve(secret.strip(" "))
    if principal is None:
        raise AuthenticationError
    return principal
