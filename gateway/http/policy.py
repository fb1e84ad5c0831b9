"""What an operator decides about strangers: how much they may ask, what they may learn, and from which pages."""

from collections.abc import Collection
from dataclasses import dataclass

from gateway.http.rate_limits import RateLimits
from gateway.setting_values import Introspection


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """One deployment's decisions; by default nothing is counted and no foreign page may read."""

    rate_limits: RateLimits | None = None
    introspection: Introspection = Introspection.AUTHENTICATED
    origins: Collection[str] = ()
    """Origins whose pages may read answers, as browsers write them: `https://example.org`."""


DEFAULT_POLICY = Policy()
