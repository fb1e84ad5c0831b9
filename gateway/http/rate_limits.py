"""Rate limits: points of cost per principal, and failed authentications per client address, both within a minute.

The windows are fixed: one begins with the first request in it, so that the time until it ends, which a refusal tells,
is true. They are counted by the `limits` library, in this process, or in a Redis that several processes share.

A storage that fails does not take the service down: requests pass uncounted, which is reported, and the storage is left
alone for a moment so that nobody waits for it in vain. What the limits protect, the machine's time, is worth less than
a person's access to what is believed about them.

Neither a principal nor an address is written to the storage, only what is hashed from it. Addresses share a fixed
number of counters: whoever has many of them can't fill the memory, and two that share one lose no valid request by it.
"""

import asyncio
import logging
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import sha256
from ipaddress import IPv6Address, ip_address

from limits.aio.storage import Storage
from limits.storage import storage_from_string

from gateway.http.errors import TransportError
from gateway.http.exchanges import Exchanges
from gateway.http.rate_windows import ProcessStorage
from gateway.service.errors import ErrorCode
from store.domain.owners import Owner

WINDOW_SECONDS = 60
STORAGE_WAIT_SECONDS = 0.5
"""How long the storage may take to answer before it counts as failed."""
STORAGE_PAUSE_SECONDS = 1.0
"""How long a storage that failed is not asked."""
ADDRESS_COUNTERS = 4_096
"""Counters of failed authentications that all addresses share."""
IPV6_PREFIX = 64
"""Bits of an IPv6 address that tell one client from another: the rest is the client's to choose."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """What a window still holds: points or attempts of its limit, until it ends in so many seconds."""

    limit: int
    remaining: int
    reset_seconds: int


class RateLimited(TransportError):
    """More was asked for than a window holds. The allowance is shown in the headers."""

    def __init__(self, message: str, allowance: Allowance) -> None:
        """Say what was exceeded, and after how many seconds there is room again."""
        super().__init__(ErrorCode.RATE_LIMITED, message, {"retry-after": str(max(allowance.reset_seconds, 1))})
        self.allowance = allowance


class RateLimits:
    """The limits of one deployment; a limit of 0 is off."""

    def __init__(
        self,
        storage: Storage,
        *,
        cost_per_minute: int,
        failed_authentications_per_minute: int,
        reports: Exchanges,
        monotonic: Callable[[], float] = time.monotonic,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Count in a storage; `clock` is the one by which the storage tells when a window ends, in seconds."""
        self._storage = storage
        self._cost = cost_per_minute
        self._failures = failed_authentications_per_minute
        self._reports = reports
        self._monotonic = monotonic
        self._clock = clock
        self._paused_until = -math.inf

    async def charge(self, owner: Owner, points: int) -> Allowance | None:
        """Charge a principal; None where nothing is counted. Raises RateLimited beyond the limit."""
        if not self._cost:
            return None
        allowance = await self._counted(f"cost/{_hashed(owner.tenant, owner.principal)}", points, self._cost)
        if allowance is not None and allowance.remaining < 0:
            raise self._refusal("cost", allowance)
        return allowance

    async def charge_further(self, owner: Owner, points: int, allowance: Allowance | None) -> Allowance | None:
        """Charge more for a request that was let in with this allowance; one that is too dear is not charged."""
        if allowance is None or points <= 0:
            return allowance
        if points > allowance.remaining:
            raise self._refusal("cost", allowance)
        return await self.charge(owner, points)

    async def authentication_failed(self, host: str | None) -> None:
        """Count one for the address of a client. Raises RateLimited beyond the limit."""
        if not self._failures:
            return
        allowance = await self._counted(f"failures/{_counter_of(host)}", 1, self._failures)
        if allowance is not None and allowance.remaining < 0:
            raise self._refusal("failed_authentications", allowance)

    async def close(self) -> None:
        """Let go of the connections to a shared storage."""
        bridge = getattr(self._storage, "bridge", None)
        if bridge is not None:
            await bridge.storage.aclose()

    def _refusal(self, limit: str, allowance: Allowance) -> RateLimited:
        self._reports.rate_limited(limit)
        what = "points of cost" if limit == "cost" else "failed authentications"
        return RateLimited(
            f"more than {allowance.limit} {what} within a minute; there is room again in "
            f"{max(allowance.reset_seconds, 1)} seconds",
            replace(allowance, remaining=max(allowance.remaining, 0)),
        )

    async def _counted(self, key: str, amount: int, limit: int) -> Allowance | None:
        """The allowance after counting, negative where the limit is exceeded; None where the storage fails."""
        if self._monotonic() < self._paused_until:
            return None

        try:
            async with asyncio.timeout(STORAGE_WAIT_SECONDS):
                counted = await self._storage.incr(key, WINDOW_SECONDS, amount)
                ends_at = await self._storage.get_expiry(key)
        except Exception as error:  # noqa: BLE001 # whatever a storage raises, the service goes on without it
            self._paused_until = self._monotonic() + STORAGE_PAUSE_SECONDS
            self._reports.rate_limits_failed()
            _log.warning("requests are not counted, the storage of the rate limits failed: %s", type(error).__name__)
            return None
        return Allowance(
            limit=limit,
            remaining=limit - counted,
            reset_seconds=min(max(math.ceil(ends_at - self._clock()), 0), WINDOW_SECONDS),
        )


def rate_limit_storage(url: str | None) -> Storage:
    """The storage at a Redis URL, or one in this process. Nothing is connected yet.

    Raises limits.errors.ConfigurationError where the client of Redis is not installed.
    """
    if url is None:
        return ProcessStorage()
    storage = storage_from_string(
        f"async+{url}",
        implementation="redispy",
        socket_timeout=STORAGE_WAIT_SECONDS,
        socket_connect_timeout=STORAGE_WAIT_SECONDS,
    )
    assert isinstance(storage, Storage), "the asynchronous kind was asked for"
    return storage


def _hashed(*parts: str) -> str:
    """Unambiguous: each part stands behind its length."""
    return sha256("".join(f"{len(part)}:{part}" for part in parts).encode("utf-8", "surrogatepass")).hexdigest()


def _counter_of(host: str | None) -> int:
    return int(_hashed(_network(host or "")), 16) % ADDRESS_COUNTERS


def _network(host: str) -> str:
    """What tells one client from another; a host that is no address stands for itself."""
    try:
        address = ip_address(host)
    except ValueError:
        return host
    if not isinstance(address, IPv6Address):
        return host
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return f"{int(address) >> (128 - IPV6_PREFIX):x}"
