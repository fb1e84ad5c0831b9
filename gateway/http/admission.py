"""Who is let in, and what each request is charged with: the first steps of every operation, alike on both transports.

First the credential, then the rate limit: every request with a valid credential is charged a point before it is looked
at, and the rest of its cost once that is known, which is after its types. A failed authentication is counted for the
client's address, and refused as rate limited instead of as unauthenticated where there were too many; a valid
credential is never refused by that count.
Source: belief store decisions, Errors (the order of failures).
"""

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateway.http.auth import authenticate
from gateway.http.rate_limits import Allowance, RateLimited, RateLimits
from gateway.service.costs import REQUEST
from gateway.service.errors import AuthenticationError
from gateway.service.principal import Principal
from gateway.service.tokens import TokenService

RATE_LIMIT_HEADERS = ("RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset")
"""Points of a window, those left of it, and the seconds until it ends: the names that most clients know."""
_SCOPE_KEY = "rate_limit_allowance"


class Admitted:
    """A request that was let in: who asks, and what is left to them."""

    def __init__(
        self, request: Request, principal: Principal, rate_limits: RateLimits | None, allowance: Allowance | None
    ) -> None:
        """Remember what the answer's headers tell."""
        self.principal = principal
        self._request = request
        self._rate_limits = rate_limits
        self._allowance = allowance

    @property
    def remaining(self) -> int | None:
        """Points that are left in the window; None where they are not counted."""
        return None if self._allowance is None else self._allowance.remaining

    async def charge(self, points: int) -> None:
        """Charge the whole cost of the request, of which a point is charged already. Raises RateLimited."""
        if self._rate_limits is not None:
            self._allowance = await self._rate_limits.charge_further(
                self.principal.owner, points - REQUEST, self._allowance
            )
            _note(self._request, self._allowance)


class Admission:
    """Lets requests in."""

    def __init__(self, tokens: TokenService, rate_limits: RateLimits | None = None) -> None:
        """Ask for a token; without `rate_limits` nothing is counted."""
        self._tokens = tokens
        self._rate_limits = rate_limits

    async def admit(self, request: Request) -> Admitted:
        """Let a request in. Raises AuthenticationError, RateLimited, and StoreUnavailable of the look for the token."""
        try:
            principal = await authenticate(request, self._tokens)
        except AuthenticationError:
            await self.count_stranger(request)
            raise
        allowance = None
        if self._rate_limits is not None:
            try:
                allowance = await self._rate_limits.charge(principal.owner, REQUEST)
            except RateLimited as refusal:
                _note(request, refusal.allowance)
                raise
        _note(request, allowance)
        return Admitted(request, principal, self._rate_limits, allowance)

    async def count_stranger(self, request: Request) -> None:
        """Count a request without a valid credential for the address it came from. Raises RateLimited."""
        if self._rate_limits is None:
            return
        try:
            await self._rate_limits.authentication_failed(None if request.client is None else request.client.host)
        except RateLimited as refusal:
            _note(request, refusal.allowance)
            raise


class RateLimitHeadersMiddleware:
    """Shows in every answer what is left of the window that its request was counted in."""

    def __init__(self, app: ASGIApp) -> None:
        """Wrap an application."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one exchange."""

        async def send_with_allowance(message: Message) -> None:
            allowance: Allowance | None = scope.get(_SCOPE_KEY)
            if message["type"] == "http.response.start" and allowance is not None:
                headers = MutableHeaders(scope=message)
                values = (allowance.limit, allowance.remaining, allowance.reset_seconds)
                for name, value in zip(RATE_LIMIT_HEADERS, values, strict=True):
                    headers[name] = str(value)
            await send(message)

        await self._app(scope, receive, send_with_allowance)


def _note(request: Request, allowance: Allowance | None) -> None:
    if allowance is not None:
        request.scope[_SCOPE_KEY] = allowance
