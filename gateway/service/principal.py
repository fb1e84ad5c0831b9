"""Who is asking: an owner and the scopes granted to the credential."""

from dataclasses import dataclass

from gateway.service.errors import AuthorizationError
from store.domain.owners import Owner
from store.domain.vocabulary import AccessScope


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """An authenticated caller. The ceiling is never derived from it."""

    owner: Owner
    scopes: frozenset[AccessScope]

    def require(self, scope: AccessScope) -> None:
        """Raise AuthorizationError unless the scope is granted."""
        if scope not in self.scopes:
            raise AuthorizationError(scope.value)
