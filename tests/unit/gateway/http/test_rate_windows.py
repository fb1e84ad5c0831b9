"""Windows in the memory of a process: when one ends, and that those which have ended take no memory."""

from gateway.http.rate_windows import ProcessStorage

SECONDS = 60


async def test_a_window_begins_with_its_first_count_and_ends_after_its_seconds() -> None:
    now = [100.0]
    storage = ProcessStorage(clock=lambda: now[0])
    assert 3 == await storage.incr("ada", SECONDS, 3)
    now[0] = 159.0
    assert 7 == await storage.incr("ada", SECONDS, 4)
    assert (7, 160.0) == (await storage.get("ada"), await storage.get_expiry("ada"))
    now[0] = 160.0
    assert (0, 160.0) == (await storage.get("ada"), await storage.get_expiry("ada"))
    assert 2 == await storage.incr("ada", SECONDS, 2)
    assert 220.0 == await storage.get_expiry("ada")


async def test_keys_are_counted_apart_and_cleared_apart() -> None:
    storage = ProcessStorage(clock=lambda: 100.0)
    await storage.incr("ada", SECONDS, 3)
    assert 1 == await storage.incr("bo", SECONDS, 1)
    await storage.clear("ada")
    assert (0, 1) == (await storage.get("ada"), await storage.get("bo"))
    assert 1 == await storage.reset()
    assert 0 == await storage.get("bo")


async def test_windows_that_have_ended_are_forgotten_and_no_others() -> None:
    now = [100.0]
    storage = ProcessStorage(clock=lambda: now[0])
    for number in range(1_000):
        await storage.incr(f"early {number}", SECONDS)
    now[0] = 130.0
    await storage.incr("late", SECONDS)
    assert 1_001 == len(storage.keys)
    now[0] = 160.0
    assert 2 == await storage.incr("late", SECONDS)
    assert 190.0 == await storage.get_expiry("late")
    assert 1 == len(storage.keys)
