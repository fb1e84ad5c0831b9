"""Rate limits: what is counted, what is refused, and that a storage which fails takes nobody's access away."""

import asyncio
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from limits.aio.storage import Storage

from gateway.http.exchanges import NoExchanges
from gateway.http.rate_limits import (
    ADDRESS_COUNTERS,
    STORAGE_PAUSE_SECONDS,
    WINDOW_SECONDS,
    RateLimited,
    RateLimits,
    rate_limit_storage,
)
from gateway.http.rate_windows import ProcessStorage
from gateway.service.errors import ErrorCode
from tests.factories import owner

ADA = owner()
BO = owner("bo")
WAIT_SECONDS = 20


class Told(NoExchanges):
    """Keeps what is told."""

    def __init__(self) -> None:
        self.refused: list[str] = []
        self.failures = 0

    def rate_limited(self, limit: str) -> None:
        """One refusal."""
        self.refused.append(limit)

    def rate_limits_failed(self) -> None:
        """One failure of the storage."""
        self.failures += 1


class BrokenStorage(ProcessStorage):
    """A storage that fails as long as it is told to, with words of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.failing = True
        self.asked = 0

    async def incr(self, key: str, expiry: int, amount: int = 1) -> int:
        """Count, or fail."""
        self.asked += 1
        if self.failing:
            raise ConnectionError("heliotrope")
        counted: int = await super().incr(key, expiry, amount)
        return counted


def limits_of(storage: Storage, *, cost: int = 10, failures: int = 2, told: Told | None = None) -> RateLimits:
    return RateLimits(storage, cost_per_minute=cost, failed_authentications_per_minute=failures, reports=told or Told())


async def test_a_principal_is_charged_until_the_window_holds_no_more() -> None:
    told = Told()
    limits = limits_of(ProcessStorage(), told=told)
    first = await limits.charge(ADA, 6)
    assert first is not None
    assert (10, 4) == (first.limit, first.remaining)
    assert 0 < first.reset_seconds <= WINDOW_SECONDS
    second = await limits.charge(ADA, 4)
    assert second is not None
    assert 0 == second.remaining
    with pytest.raises(RateLimited, match="more than 10 points of cost within a minute") as caught:
        await limits.charge(ADA, 1)
    refusal = caught.value
    assert (ErrorCode.RATE_LIMITED, 0) == (refusal.code, refusal.allowance.remaining)
    assert str(refusal.allowance.reset_seconds) == refusal.headers["retry-after"]
    assert ["cost"] == told.refused


async def test_principals_and_tenants_are_counted_apart() -> None:
    limits = limits_of(ProcessStorage())
    await limits.charge(ADA, 10)
    await limits.charge(BO, 10)
    await limits.charge(owner(tenant="inland"), 10)
    for whom in (ADA, BO):
        with pytest.raises(RateLimited):
            await limits.charge(whom, 1)


async def test_what_is_too_dear_is_refused_and_not_charged() -> None:
    limits = limits_of(ProcessStorage())
    admitted = await limits.charge(ADA, 1)
    with pytest.raises(RateLimited):
        await limits.charge_further(ADA, 10, admitted)
    left = await limits.charge_further(ADA, 9, admitted)
    assert left is not None
    assert 0 == left.remaining


async def test_failed_authentications_are_counted_by_address() -> None:
    told = Told()
    limits = limits_of(ProcessStorage(), told=told)
    for _ in range(2):
        await limits.authentication_failed("192.0.2.1")
    with pytest.raises(RateLimited, match="more than 2 failed authentications within a minute"):
        await limits.authentication_failed("192.0.2.1")
    await limits.authentication_failed("192.0.2.2")
    assert ["failed_authentications"] == told.refused


async def test_addresses_of_one_network_are_one_client() -> None:
    limits = limits_of(ProcessStorage())
    for host in ("2001:db8::1", "2001:db8::ffff:1", "2001:db8:0:0:1::1"):
        if host.endswith("1::1"):
            with pytest.raises(RateLimited):
                await limits.authentication_failed(host)
        else:
            await limits.authentication_failed(host)
    await limits.authentication_failed("2001:db8:0:1::1")
    await limits.authentication_failed("::ffff:192.0.2.1")
    await limits.authentication_failed("192.0.2.1")
    with pytest.raises(RateLimited):
        await limits.authentication_failed("192.0.2.1")
    await limits.authentication_failed(None)


async def test_many_addresses_do_not_fill_the_memory() -> None:
    storage = ProcessStorage()
    limits = limits_of(storage, failures=1_000)
    for number in range(3 * ADDRESS_COUNTERS):
        await limits.authentication_failed(f"2001:db8:{number >> 8:x}:{number & 255:x}::1")
    assert len(storage.keys) <= ADDRESS_COUNTERS


async def test_the_storage_learns_neither_principals_nor_addresses() -> None:
    storage = ProcessStorage()
    limits = limits_of(storage)
    await limits.charge(ADA, 1)
    await limits.authentication_failed("192.0.2.77")
    keys = " ".join(storage.keys)
    assert 2 == len(storage.keys)
    for secret in (ADA.tenant, ADA.principal, "192.0.2"):
        assert secret not in keys


async def test_a_limit_of_zero_is_off() -> None:
    storage = ProcessStorage()
    limits = limits_of(storage, cost=0, failures=0)
    assert await limits.charge(ADA, 1_000_000) is None
    assert await limits.charge_further(ADA, 1_000_000, None) is None
    await limits.authentication_failed("192.0.2.1")
    assert not storage.keys


async def test_a_storage_that_fails_lets_everybody_pass_and_is_left_alone_for_a_while(
    caplog: pytest.LogCaptureFixture,
) -> None:
    told, storage, now = Told(), BrokenStorage(), [100.0]
    limits = RateLimits(
        storage,
        cost_per_minute=10,
        failed_authentications_per_minute=2,
        reports=told,
        monotonic=lambda: now[0],
    )
    for _ in range(20):
        assert await limits.charge(ADA, 10) is None
        await limits.authentication_failed("192.0.2.1")
    assert (1, 1) == (told.failures, storage.asked)
    assert "ConnectionError" in caplog.text
    assert "heliotrope" not in caplog.text
    now[0] += STORAGE_PAUSE_SECONDS
    assert await limits.charge(ADA, 10) is None
    assert 2 == storage.asked
    now[0] += STORAGE_PAUSE_SECONDS
    storage.failing = False
    counted = await limits.charge(ADA, 10)
    assert counted is not None
    assert 0 == counted.remaining


@pytest.fixture
def redis_url(tmp_path: Path) -> Iterator[str]:
    """A Redis on a socket of its own; the test is skipped where none is installed."""
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("redis-server is not installed")
    port = _free_port()
    options = ["--bind", "127.0.0.1", "--port", str(port), "--save", "", "--appendonly", "no", "--dir", str(tmp_path)]
    with subprocess.Popen([program, *options], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            for line in process.stdout:
                if "Ready to accept connections" in line:
                    break
            yield f"redis://127.0.0.1:{port}/0"
        finally:
            process.terminate()
            process.communicate(timeout=WAIT_SECONDS)


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


@pytest.mark.e2e
async def test_several_gateways_count_together_in_a_redis(redis_url: str) -> None:
    told = Told()
    gateways = [limits_of(rate_limit_storage(redis_url), cost=100, told=told) for _ in range(2)]
    try:
        charged = await asyncio.gather(*(gateways[number % 2].charge(ADA, 5) for number in range(20)))
        assert [5 * left for left in range(20)] == sorted(each.remaining for each in charged if each is not None)
        for gateway in gateways:
            with pytest.raises(RateLimited):
                await gateway.charge(ADA, 1)
        assert 0 == told.failures
        await gateways[0].authentication_failed("192.0.2.1")
        await gateways[1].authentication_failed("192.0.2.1")
        with pytest.raises(RateLimited):
            await gateways[0].authentication_failed("192.0.2.1")
    finally:
        for gateway in gateways:
            await gateway.close()


@pytest.mark.e2e
async def test_a_redis_that_is_not_there_lets_everybody_pass() -> None:
    told = Told()
    limits = limits_of(rate_limit_storage(f"redis://127.0.0.1:{_free_port()}/0"), told=told)
    try:
        assert await limits.charge(ADA, 1_000_000) is None
        assert 1 == told.failures
    finally:
        await limits.close()
